//! Words in and around names, read from `languages/CODE/names.tsv`.
//!
//! A row is a key, a tab, and words in lower case separated by spaces; `_` stands for a space inside an entry.
//!
//! | key | words |
//! | --- | --- |
//! | `title` | honorifics and roles before a person's name; they are outside of the name |
//! | `title-modifier` | capitalised words that belong to a title: *Prime* Minister |
//! | `given-name` | given names |
//! | `surname` | family names, where they are a closed set (Chinese, Korean) |
//! | `joiner` | prepositions and articles of the language that occur inside names: Bank *of* England |
//! | `conjunction` | conjunctions inside names of organisations |
//! | `organisation` | head nouns of organisations |
//! | `organisation-ending` | endings of such nouns in languages with compounds or without spaces |
//! | `organisation-definite` | endings of compounds that name one organisation after a definite article: die Wahl*kommission* |
//! | `organisation-name` | names of organisations |
//! | `legal-form` | legal forms of companies |
//! | `place` | head nouns of places: *Lake* Victoria |
//! | `place-ending` | endings of places |
//! | `place-name` | names of places |
//! | `not-name` | capitalised words that are no names by themselves: nationalities, languages |
//! | `calendar` | months and weekdays, where they are capitalised |
//! | `title-ending` | endings of compound titles: Bundesbank*präsident* |
//! | `apposition` | nouns before a name that are outside of it: the *Zeitung* Asahi Shimbun |
//! | `organisation-adjective` | adjectives that begin names of organisations |
//! | `organisation-start` | nouns that begin names of organisations, in languages without case |
//! | `town-ending` | endings of towns, which count after a preposition only |
//! | `landscape-ending` | endings of woods and lakes, which count after a preposition with an article only |
//! | `ending` | case endings of names, to merge inflected forms |
//! | `genitive` | genitive endings that are removed only if the rest is a name of the document |
//! | `extension` | words in lower case after the head noun that belong to the name: `adjective` (*Banque centrale*) or `genitive` (*Министерство обороны*) |

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::{LazyLock, OnceLock};

use xxhash_rust::xxh3::Xxh3Default;

use crate::codes;

/// Role of a word in names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Title,
    TitleModifier,
    GivenName,
    Surname,
    Joiner,
    Conjunction,
    Organisation,
    OrganisationName,
    LegalForm,
    Place,
    PlaceName,
    NotName,
    Calendar,
    Apposition,
    OrganisationAdjective,
    OrganisationStart,
    /// The first word of an entry of several words.
    ListStart,
}

/// Keys of rows whose words have a role.
const ROLES: [(&str, Role); 16] = [
    ("title", Role::Title),
    ("title-modifier", Role::TitleModifier),
    ("given-name", Role::GivenName),
    ("surname", Role::Surname),
    ("joiner", Role::Joiner),
    ("conjunction", Role::Conjunction),
    ("organisation", Role::Organisation),
    ("organisation-name", Role::OrganisationName),
    ("legal-form", Role::LegalForm),
    ("place", Role::Place),
    ("place-name", Role::PlaceName),
    ("not-name", Role::NotName),
    ("calendar", Role::Calendar),
    ("apposition", Role::Apposition),
    ("organisation-adjective", Role::OrganisationAdjective),
    ("organisation-start", Role::OrganisationStart),
];

/// Set of roles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Roles(u32);

impl Roles {
    pub fn has(self, role: Role) -> bool {
        self.0 & (1 << role as u32) != 0
    }

    pub fn has_any(self, roles: &[Role]) -> bool {
        roles.iter().any(|role| self.has(*role))
    }

    pub fn or(self, other: Roles) -> Roles {
        Roles(self.0 | other.0)
    }

    fn add(&mut self, role: Role) {
        self.0 |= 1 << role as u32;
    }
}

/// Particles of persons' names in any language. One that is a preposition of the text's language is a `joiner` there.
const PARTICLES: &str = "von van der den ten ter de la le du des del della di da do dos das bin ibn ben bint al el abu \
    zu zur vom af los las d' d’ dell' dell’ l' l’ фон ван де дер да ди ла ле бин ибн аль эль оглы";

// The tables are fixed, so that a hash without protection against collisions is safe.
type FastHash = BuildHasherDefault<Xxh3Default>;

/// Words of names of one language.
#[derive(Debug, Default)]
pub(super) struct NameWords {
    roles: HashMap<Box<str>, Roles, FastHash>,
    pub organisation_endings: Vec<&'static str>,
    pub definite_endings: Vec<&'static str>,
    pub place_endings: Vec<&'static str>,
    pub title_endings: Vec<&'static str>,
    pub town_endings: Vec<&'static str>,
    pub landscape_endings: Vec<&'static str>,
    /// Case endings, the longest first.
    pub endings: Vec<&'static str>,
    pub genitives: Vec<&'static str>,
    pub extension: Extension,
}

/// Words in lower case that follow the capitalised head noun of an organisation and belong to its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Extension {
    #[default]
    None,
    /// Adjectives: *Banque centrale européenne*.
    Adjective,
    /// Adjectives before the head noun, and nouns in the genitive after it: *Министерство обороны*.
    Genitive,
}

/// A row that cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BadRow(pub String);

impl NameWords {
    fn parse(text: &'static str) -> Result<NameWords, BadRow> {
        let mut words = NameWords::default();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (key, value) = line.split_once('\t').ok_or_else(|| BadRow(line.to_owned()))?;
            let values = value.split(' ');
            match key {
                "organisation-ending" => words.organisation_endings.extend(values),
                "organisation-definite" => words.definite_endings.extend(values),
                "place-ending" => words.place_endings.extend(values),
                "title-ending" => words.title_endings.extend(values),
                "landscape-ending" => words.landscape_endings.extend(values),
                "town-ending" => words.town_endings.extend(values),
                "ending" => words.endings.extend(values),
                "genitive" => words.genitives.extend(values),
                "extension" if value == "adjective" => words.extension = Extension::Adjective,
                "extension" if value == "genitive" => words.extension = Extension::Genitive,
                _ => {
                    let known = ROLES.iter().find(|(name, _)| *name == key);
                    let (_, role) = known.ok_or_else(|| BadRow(line.to_owned()))?;
                    for value in values {
                        words.roles.entry(value.replace('_', " ").into_boxed_str()).or_default().add(*role);
                        if let Some((first, _)) = value.split_once(['_', '-']) {
                            words.roles.entry(first.into()).or_default().add(Role::ListStart);
                        }
                    }
                }
            }
        }
        words.endings.sort_by_key(|ending| std::cmp::Reverse(ending.len()));
        Ok(words)
    }

    /// The words of a language; an empty table if it has none.
    pub fn of(language: &str) -> &'static NameWords {
        static TABLES: LazyLock<Vec<OnceLock<NameWords>>> =
            LazyLock::new(|| tidings_lang::languages().iter().map(|_| OnceLock::new()).collect());
        static NOTHING: OnceLock<NameWords> = OnceLock::new();
        let code = codes::short_code(language);
        let index = tidings_lang::languages().binary_search_by(|known| known.code.cmp(code)).ok();
        match index.and_then(|index| Some((index, tidings_lang::languages()[index].names_tsv?))) {
            Some((index, rows)) => {
                TABLES[index].get_or_init(|| NameWords::parse(rows).expect("a test reads every table"))
            }
            None => NOTHING.get_or_init(NameWords::default),
        }
    }

    /// Returns true for the table of a language that has none.
    pub fn is_empty(&self) -> bool {
        self.roles.is_empty()
    }

    /// The roles of a word in lower case that the lists give.
    pub fn roles(&self, lower: &str) -> Roles {
        self.roles.get(lower).copied().unwrap_or_default()
    }

    /// The roles of a word in lower case by the lists and by its ending.
    pub fn roles_with_endings(&self, lower: &str) -> Roles {
        let mut roles = self.roles(lower);
        let ends_with = |endings: &[&str]| endings.iter().any(|ending| lower.ends_with(ending));
        if ends_with(&self.title_endings) {
            roles.add(Role::Title);
        }
        if ends_with(&self.organisation_endings) {
            roles.add(Role::Organisation);
        }
        roles
    }

    /// Returns true if a word in lower case is the head noun of places or a compound of one.
    pub fn is_place(&self, lower: &str) -> bool {
        let is_compound = |ending: &&str| lower.len() > ending.len() && lower.ends_with(ending);
        self.roles(lower).has(Role::Place) || self.place_endings.iter().any(is_compound)
    }
}

/// Returns true for particles of persons' names, in lower case.
pub(super) fn is_particle(lower: &str) -> bool {
    lower.len() <= 12 && PARTICLES.split_ascii_whitespace().any(|particle| particle == lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_can_be_read() {
        let mut tables = 0;
        for language in tidings_lang::languages() {
            let Some(rows) = language.names_tsv else { continue };
            assert!(NameWords::parse(rows).is_ok(), "{}: {:?}", language.code, NameWords::parse(rows).err());
            for (key, value) in rows.lines().filter_map(|line| line.split_once('\t')) {
                let is_lower = key.starts_with('#') || value.to_lowercase() == value;
                assert!(is_lower, "{}: the words of {key} are not in lower case", language.code);
            }
            tables += 1;
        }
        assert!(tables >= 5, "{tables}");
    }

    #[test]
    fn a_row_with_an_unknown_key_is_rejected() {
        assert_eq!(NameWords::parse("titel\tfrau").unwrap_err(), BadRow("titel\tfrau".to_owned()));
    }

    #[test]
    fn a_word_may_have_several_roles() {
        let words = NameWords::parse("given-name\tpaul\nplace-name\tst._paul\nsurname\tpaul").unwrap();
        assert!(words.roles("paul").has(Role::GivenName) && words.roles("paul").has(Role::Surname));
        assert!(words.roles("st. paul").has(Role::PlaceName) && !words.roles("paul").has(Role::Title));
        assert!(is_particle("von") && !is_particle("vor"));
    }
}
