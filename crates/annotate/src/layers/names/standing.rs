//! What a capitalised token can be in a name: tags, lists, and the document's other uses of the word.

use super::cased::{RunBuilder, Standing, is_hyphen};
use super::evidence::{Position, Shape, WordClass};
use super::words::{Extension, Role, is_particle};

impl RunBuilder<'_, '_> {
    /// What a token can be in a name; `first` is the start of the run that it would continue.
    pub(super) fn standing(&self, index: usize, first: Option<usize>) -> Standing {
        let word = self.word(index);
        if !word.shape.is_capital() {
            return Standing::None;
        }
        let roles = word.roles;
        if roles.has(Role::Calendar) {
            return Standing::None;
        }
        let next_is_organisation =
            index + 1 < self.end && self.word(index + 1).shape.is_capital() && self.text.is_organisation(index + 1);
        if roles.has_any(&[Role::Title, Role::TitleModifier]) {
            let is_surname = first.is_some_and(|first| {
                self.is_after_given(index, first) || self.text.is_organisation(first) && !self.text.has_capital_nouns
            });
            return match (is_surname, next_is_organisation && !self.text.has_capital_nouns) {
                (true, _) => Standing::Name,
                (false, true) => Standing::Attribute,
                (false, false) => Standing::None,
            };
        }
        match word.shape {
            Shape::Initial if word.token.word.ends_with('.') || first.is_some() => return Standing::Attribute,
            Shape::Initial => return Standing::None,
            Shape::Mixed if word.class != WordClass::ProperNoun => return Standing::None,
            _ => {}
        }
        if roles.has(Role::Apposition) && first.is_none() {
            return Standing::None;
        }
        if self.is_particle_start(index) {
            return Standing::Attribute;
        }
        if self.text.has_capital_nouns && roles.has(Role::OrganisationAdjective) {
            let next = index + 1;
            let is_before_noun = next < self.end
                && self.word(next).shape == Shape::Capital
                && matches!(self.word(next).class, WordClass::Noun | WordClass::ProperNoun)
                && (word.position == Position::Inside || self.text.is_organisation(next));
            return if is_before_noun { Standing::Attribute } else { Standing::None };
        }
        if roles.has(Role::NotName) {
            // *Wiener Linien*
            let begins_name = self.text.has_capital_nouns
                && self.is_place_adjective(index)
                && self.word(index + 1).class == WordClass::ProperNoun;
            return if self.text.has_capital_nouns && !begins_name { Standing::None } else { Standing::Attribute };
        }
        match word.position {
            Position::Headline => self.in_headline(index),
            Position::Start => self.at_start(index, first, next_is_organisation),
            Position::Inside if self.text.has_capital_nouns => self.among_capital_nouns(index, first),
            Position::Inside => self.inside(index),
        }
    }

    /// *Von der Leyen* at the start of a sentence, after the full name.
    fn is_particle_start(&self, index: usize) -> bool {
        let lower = |index: usize| self.word(index).token.word.to_lowercase();
        if self.word(index).position != Position::Start || !is_particle(&lower(index)) {
            return false;
        }
        let is_between = |index: usize| is_particle(&lower(index)) || is_hyphen(&self.word(index).token.word);
        let name = (index + 1..self.end.min(index + 4)).find(|next| !is_between(*next));
        name.is_some_and(|name| self.word(name).shape == Shape::Capital && self.text.is_surname(name))
    }

    fn is_listed(&self, index: usize) -> bool {
        self.word(index).roles.has_any(&[Role::PlaceName, Role::OrganisationName])
    }

    /// In a headline only words that the body uses as names count.
    fn in_headline(&self, index: usize) -> Standing {
        let uses = self.text.uses(index);
        let is_name = uses.inside > 0 && uses.lower == 0 && uses.proper > 0 || self.text.is_surname(index);
        let is_known = self.is_listed(index) && uses.lower == 0;
        if is_name || is_known { Standing::Name } else { Standing::None }
    }

    /// At the start of a sentence the capital says nothing: the tag and the document's other uses decide.
    fn at_start(&self, index: usize, first: Option<usize>, next_is_organisation: bool) -> Standing {
        let word = self.word(index);
        let uses = self.text.uses(index);
        let is_proper = word.class == WordClass::ProperNoun;
        let is_foreign =
            !self.text.is_latin && word.token.word.starts_with(|letter: char| letter.is_ascii_alphabetic());
        let is_acronym = word.shape == Shape::Upper && (word.class != WordClass::Function || self.is_listed(index));
        if is_acronym || is_foreign || self.text.is_surname(index) {
            return Standing::Name;
        }
        if is_proper && (uses.lower == 0 || uses.inside > uses.lower) {
            let is_outvoted = self.text.has_capital_nouns && uses.common > uses.proper;
            return if is_outvoted { Standing::None } else { Standing::Name };
        }
        if self.is_listed(index) && uses.lower == 0 && word.class != WordClass::Function {
            return Standing::Name;
        }
        let is_used = uses.inside > 0 && uses.lower == 0;
        match word.class {
            WordClass::Function => Standing::None,
            WordClass::Adjective | WordClass::Noun if self.text.has_capital_nouns => {
                let is_given = word.roles.has(Role::GivenName) && self.precedes_capital(index);
                let is_name = uses.proper > uses.common || is_given || self.is_surname_here(index, first);
                let is_adjective = word.class == WordClass::Adjective && (is_used || next_is_organisation);
                if is_name {
                    Standing::Name
                } else if is_adjective {
                    Standing::Attribute
                } else {
                    Standing::None
                }
            }
            WordClass::Untagged => {
                let next_is_capital = index + 1 < self.end && self.word(index + 1).shape == Shape::Capital;
                let is_name = is_used || word.roles.has(Role::GivenName) && next_is_capital;
                if is_name { Standing::Name } else { Standing::None }
            }
            _ if is_used => self.inside(index),
            _ if word.roles.has(Role::GivenName) && uses.lower == 0 => Standing::Name,
            WordClass::Adjective if next_is_organisation => Standing::Attribute,
            WordClass::Adjective if self.text.words.extension == Extension::Genitive => {
                let is_usual = word.roles.has(Role::OrganisationAdjective);
                let is_name = is_usual && self.extend_genitive(index, index + 1) > index + 1;
                if is_name { Standing::Name } else { Standing::None }
            }
            WordClass::Noun if self.text.is_organisation(index) && self.precedes_joiner(index) => Standing::Name,
            _ => Standing::None,
        }
    }

    fn precedes_capital(&self, index: usize) -> bool {
        index + 1 < self.end && self.word(index + 1).shape == Shape::Capital
    }

    /// Returns true for *Ministerio de*, *Министерство обороны*: the head noun of a name.
    fn precedes_joiner(&self, index: usize) -> bool {
        let next = index + 1;
        next < self.end
            && (self.text.roles(next).has(Role::Joiner)
                || self.text.words.extension == Extension::Genitive && self.extend_genitive(index, next) > next)
    }

    fn inside(&self, index: usize) -> Standing {
        let word = self.word(index);
        let uses = self.text.uses(index);
        match word.class {
            WordClass::ProperNoun => Standing::Name,
            _ if word.shape == Shape::Upper && self.is_listed(index) => Standing::Name,
            _ if self.text.is_surname(index) => Standing::Name,
            WordClass::Adjective | WordClass::Function => Standing::Attribute,
            _ if word.shape == Shape::Upper => Standing::Name,
            WordClass::Numeral | WordClass::Punctuation => Standing::Attribute,
            _ if uses.lower > uses.inside => Standing::Attribute,
            _ => Standing::Name,
        }
    }

    /// Where all nouns have a capital, the tag decides, outvoted by the document's other uses.
    fn among_capital_nouns(&self, index: usize, first: Option<usize>) -> Standing {
        let word = self.word(index);
        let uses = self.text.uses(index);
        // *Merkels Rede*: what follows a genitive is a noun.
        let is_known = self.is_listed(index) || word.roles.has(Role::GivenName);
        if index > self.start && self.is_genitive(index - 1) && !is_known {
            return Standing::None;
        }
        // *Ein Wolf*: an indefinite article is not followed by a name.
        let is_indefinite = index > self.start && is_indefinite_article(&self.word(index - 1).token.word);
        if is_indefinite && !is_known && word.shape == Shape::Capital {
            return Standing::None;
        }
        if self.is_place_adjective(index) {
            let next = index + 1;
            let is_part = self.word(next).class != WordClass::Noun
                || self.text.is_organisation(next)
                || is_street(&self.word(next).token.word);
            return if is_part { Standing::Attribute } else { Standing::None };
        }
        if self.is_glued_particle(index) {
            return Standing::Attribute;
        }
        match word.class {
            _ if word.shape == Shape::Upper => Standing::Name,
            _ if first.is_some_and(|first| self.is_between_names(index, first)) => Standing::Name,
            _ if self.is_organisation_compound(index) => Standing::Name,
            WordClass::ProperNoun if self.is_outvoted(index, first) => Standing::None,
            WordClass::ProperNoun => Standing::Name,
            WordClass::Adjective => Standing::Attribute,
            _ if self.is_listed(index) || uses.proper > uses.common => Standing::Name,
            _ if self.text.is_surname(index) && !self.follows_article(index) => Standing::Name,
            _ if word.roles.has(Role::GivenName) && self.precedes_capital(index) => Standing::Name,
            WordClass::Noun if first.is_some_and(|first| self.continues_adjective(index, first)) => Standing::Name,
            WordClass::Noun if self.is_town(index) || self.is_street_name(index) => Standing::Name,
            _ if self.is_surname_here(index, first) => Standing::Name,
            WordClass::Noun if self.is_organisation_for(index) || self.is_definite_organisation(index) => {
                Standing::Name
            }
            WordClass::Noun if self.is_landscape(index) => Standing::Name,
            WordClass::Other | WordClass::Untagged if word.shape == Shape::Capital => Standing::Attribute,
            _ => Standing::None,
        }
    }

    /// *Berliner Polizei*: an adjective of a place in *-er* is no name.
    fn is_place_adjective(&self, index: usize) -> bool {
        let word = self.word(index);
        let ends_so = word.token.word.ends_with("er") && word.shape == Shape::Capital;
        if !ends_so || !self.precedes_capital(index) {
            return false;
        }
        let stem = word.token.word.strip_suffix("er").map(str::to_lowercase).unwrap_or_default();
        let is_of_place = ["", "en", "e", "n"]
            .iter()
            .any(|ending| self.text.words.roles(&format!("{stem}{ending}")).has(Role::PlaceName));
        let before_street = is_street(&self.word(index + 1).token.word);
        is_of_place || before_street || word.class == WordClass::Adjective && word.token.lemma == word.token.word
    }

    /// *Karlsplatz*: a compound that names a street or square.
    fn is_street_name(&self, index: usize) -> bool {
        let lower = self.word(index).token.word.to_lowercase();
        let is_compound = |ending: &&str| lower.len() > ending.len() + 3 && lower.ends_with(ending);
        self.text.words.place_endings.iter().any(is_compound)
    }

    /// A noun after an article or adjective is no surname: *die Blume*.
    fn follows_article(&self, index: usize) -> bool {
        index > self.start && {
            let before = self.word(index - 1);
            before.token.tag.contains("DET") || before.class == WordClass::Adjective && before.shape == Shape::Lower
        }
    }

    /// A noun that ends like a town, after a preposition without article: *in Schwerin*.
    fn is_town(&self, index: usize) -> bool {
        let word = self.word(index);
        let before = index.checked_sub(1).filter(|before| *before >= self.start);
        let has_preposition = before.is_some_and(|before| {
            matches!(
                self.word(before).token.word.as_str(),
                "in" | "nach" | "aus" | "bei" | "über" | "In" | "Nach" | "Bei"
            )
        });
        let lower = word.token.word.to_lowercase();
        let is_common = self.text.stop_words.is_some_and(|words| words.contains(&lower));
        has_preposition
            && !is_common
            && lower.chars().nth(4).is_some()
            && self.text.words.town_endings.iter().any(|ending| lower.ends_with(ending))
    }

    /// *Europäische Zentralbank*: a noun after a capitalised adjective inside a sentence.
    fn continues_adjective(&self, index: usize, first: usize) -> bool {
        let before = self.word(index - 1);
        let is_adjective = before.class == WordClass::Adjective
            || before.roles.has(Role::OrganisationAdjective)
            || self.is_place_adjective(index - 1);
        let is_short = self.text.is_organisation(index - 1) && before.shape == Shape::Upper;
        // Other pairs are terms: *Freie Software*, *Offener Brief*.
        let is_head = self.text.is_organisation(index)
            || self.text.roles(index).has(Role::Place)
            || is_street(&self.word(index).token.word)
            || before.roles.has(Role::OrganisationAdjective);
        let is_street = before.token.word.ends_with("er") && is_street(&self.word(index).token.word);
        index > first && (is_adjective && is_head && before.shape == Shape::Capital || is_short || is_street)
    }

    /// A noun after a given name or a title is a surname that the tagger does not know.
    fn is_surname_here(&self, index: usize, first: Option<usize>) -> bool {
        let word = self.word(index);
        if word.shape != Shape::Capital
            || !matches!(word.class, WordClass::Noun | WordClass::Adjective | WordClass::Other)
        {
            return false;
        }
        match first {
            Some(first) => self.word(index - 1).roles.has(Role::GivenName) && index > first,
            None => self.text.follows_title(index) && !self.text.roles(index).has(Role::Title),
        }
    }

    /// Returns true if the document has a proper noun more often with the tags of other words; inside a run it must be twice as
    /// often.
    fn is_outvoted(&self, index: usize, first: Option<usize>) -> bool {
        let uses = self.text.uses(index);
        let proper = if first.is_some() { uses.proper * 2 } else { uses.proper };
        uses.common > proper && !self.is_listed(index)
    }

    /// Returns true if a hyphen without spaces joins a token to the one after it.
    fn is_hyphenated(&self, index: usize) -> bool {
        index + 2 < self.end
            && is_hyphen(&self.word(index + 1).token.word)
            && !self.word(index).token.space_after
            && !self.word(index + 1).token.space_after
    }

    /// *Al-Qaida*: a particle that a hyphen joins to a name.
    fn is_glued_particle(&self, index: usize) -> bool {
        self.is_hyphenated(index)
            && is_particle(&self.word(index).token.word.to_lowercase())
            && self.word(index + 2).shape == Shape::Capital
    }

    /// *Goethe-Institut*: a noun that a hyphen joins to the head noun of organisations.
    fn is_organisation_compound(&self, index: usize) -> bool {
        self.is_hyphenated(index)
            && self.word(index + 2).shape == Shape::Capital
            && self.text.is_organisation(index + 2)
            && !self.text.roles(index).has_any(&[Role::NotName, Role::Title])
    }

    /// *im Grunewald*, *am Bodensee*: a compound of a landscape after a preposition with an article.
    fn is_landscape(&self, index: usize) -> bool {
        let lower = self.word(index).token.word.to_lowercase();
        let before = index.checked_sub(1).filter(|before| *before >= self.start);
        let has_preposition = before.is_some_and(|before| {
            let word = self.word(before).token.word.to_lowercase();
            matches!(word.as_str(), "im" | "am" | "vom" | "zum")
        });
        let is_compound = |ending: &&str| lower.len() > ending.len() + 3 && lower.ends_with(ending);
        has_preposition
            && !self.word(index).roles.has(Role::NotName)
            && self.text.words.landscape_endings.iter().any(is_compound)
    }

    /// *Free Software Foundation*: a noun between two proper nouns is part of a foreign name.
    fn is_between_names(&self, index: usize, first: usize) -> bool {
        let is_proper = |index: usize| {
            let word = self.word(index);
            word.class == WordClass::ProperNoun
                && word.shape == Shape::Capital
                && !word.roles.has_any(&[Role::GivenName, Role::PlaceName, Role::Calendar, Role::Title])
        };
        index > first
            && index + 1 < self.end
            && is_proper(index - 1)
            && is_proper(index + 1)
            && !self.text.is_surname(index - 1)
            && self.word(index - 1).token.space_after
    }

    /// *die Wahlkommission*: a compound of the head noun of organisations with the definite article stands for one of them.
    fn is_definite_organisation(&self, index: usize) -> bool {
        let lower = self.word(index).token.word.to_lowercase();
        let is_compound = |ending: &&str| lower.len() >= ending.len() + 4 && lower.ends_with(ending);
        let before = index.checked_sub(1).filter(|before| *before >= self.start);
        let is_definite = before.is_some_and(|before| {
            let article = self.word(before).token.word.to_lowercase();
            matches!(article.as_str(), "der" | "die" | "das" | "dem" | "des" | "vom" | "zum" | "zur" | "beim" | "im")
        });
        is_definite && self.text.words.definite_endings.iter().any(is_compound)
    }

    /// *Bundesamt für Verfassungsschutz*.
    fn is_organisation_for(&self, index: usize) -> bool {
        self.text.is_organisation(index)
            && index + 2 < self.end
            && self.word(index + 1).token.word == "für"
            && self.word(index + 2).shape == Shape::Capital
    }
}

/// Returns true for indefinite articles of German.
fn is_indefinite_article(word: &str) -> bool {
    matches!(word.to_lowercase().as_str(), "ein" | "eine" | "einen" | "einem" | "einer" | "eines" | "kein" | "keine")
}

/// Returns true for the German head nouns of streets, squares and buildings.
fn is_street(word: &str) -> bool {
    matches!(
        word,
        "Straße" | "Strasse" | "Platz" | "Allee" | "Gasse" | "Heide" | "Tor" | "Dom" | "Ring" | "Damm" | "Ufer"
    )
}
