//! One canonical form per name and document.
//!
//! Mentions are grouped by the groups of their words: forms of one lemma or stem are one group. All lookups are by
//! hash, so that the work is linear in the number of mentions.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use tidings_model::TokenSpan;
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

use super::evidence::{Shape, Text, WordClass, case, clean};
use super::kind::NameKind;
use super::words::Role;
use super::{Mention, NAME, SPAN, TYPE};

// Keys are words of one document, whose number is bounded by its length.
type FastHash = BuildHasherDefault<Xxh3Default>;

/// Fewest letters of a stem.
const MIN_STEM_LETTERS: usize = 3;
/// Most words of a full name whose parts are looked up.
const MAX_FULL_NAME: usize = 5;

/// The mentions as spans with canonical forms and types.
pub(super) fn spans(text: &Text<'_>, mentions: &[Mention]) -> Vec<TokenSpan> {
    let forms = Forms::new(text, mentions);
    let groups = Groups::new(text, mentions, &forms);
    let span = |(mention, group): (&Mention, &usize)| {
        let group = &groups.groups[groups.target(*group)];
        let kind = mention.kind.filter(|_| group.kind().is_none()).or(group.kind());
        let (start, end) = (u32::try_from(mention.start).ok()?, u32::try_from(mention.end).ok()?);
        Some(TokenSpan::new(SPAN, start, end).with(NAME, &group.name).with(TYPE, kind.map_or("", NameKind::code)))
    };
    mentions.iter().zip(&groups.of_mention).filter_map(span).collect()
}

/// Forms of words in names, joined to groups of inflected forms (union-find).
struct Forms {
    ids: HashMap<String, usize, FastHash>,
    parents: Vec<usize>,
    /// The base form of each group's root, if one is known.
    bases: Vec<Option<String>>,
}

impl Forms {
    fn new(text: &Text<'_>, mentions: &[Mention]) -> Forms {
        let mut forms = Forms { ids: HashMap::default(), parents: Vec::new(), bases: Vec::new() };
        let tokens = || mentions.iter().flat_map(|mention| mention.start..mention.end);
        let mut lemmas: Vec<Option<&str>> = Vec::new();
        let mut nominative: Vec<Option<String>> = Vec::new();
        for index in tokens() {
            let token = text.tokens[index].token;
            let word = clean(&token.word);
            let id = forms.insert(word.to_lowercase());
            if id == lemmas.len() {
                lemmas.push(Some(token.lemma.as_str()).filter(|lemma| !lemma.is_empty()));
                nominative.push(None);
            }
            if case(&token.feats) == Some("Nom") && nominative[id].is_none() {
                nominative[id] = Some(word.to_owned());
            }
        }
        if text.is_inflecting() {
            forms.join_inflected(text, &lemmas, &nominative);
        }
        forms.join_genitives(text);
        forms
    }

    fn insert(&mut self, lower: String) -> usize {
        let next = self.parents.len();
        let id = *self.ids.entry(lower).or_insert(next);
        if id == next {
            self.parents.push(next);
            self.bases.push(None);
        }
        id
    }

    fn root(&self, mut id: usize) -> usize {
        while self.parents[id] != id {
            id = self.parents[id];
        }
        id
    }

    /// Joins forms of the same lemma, and forms with the same stem.
    fn join_inflected(&mut self, text: &Text<'_>, lemmas: &[Option<&str>], nominative: &[Option<String>]) {
        let mut keys: HashMap<(bool, String), usize, FastHash> = HashMap::default();
        let mut sorted: Vec<(usize, String)> = self.ids.iter().map(|(form, id)| (*id, form.clone())).collect();
        sorted.sort_unstable();
        for (id, form) in &sorted {
            let lemma = lemmas[*id].map(str::to_lowercase).filter(|lemma| shares_stem(lemma, form));
            let stem = stem(form, &text.words.endings).to_owned();
            for key in [Some((false, stem)), lemma.map(|lemma| (true, lemma))].into_iter().flatten() {
                let other = *keys.entry(key).or_insert(*id);
                let (a, b) = (self.root(*id), self.root(other));
                // Ids grow in reading order: the first form stays the root, so that paths stay short.
                let (low, high) = (a.min(b), a.max(b));
                self.parents[high] = low;
            }
            let root = self.root(*id);
            self.parents[*id] = root;
        }
        // A form in the nominative is the base; without one, the lemma.
        for (id, _) in &sorted {
            let root = self.root(*id);
            if self.bases[root].is_none() {
                self.bases[root].clone_from(&nominative[*id]);
            }
        }
        for (id, form) in &sorted {
            let root = self.root(*id);
            if self.bases[root].is_none() {
                self.bases[root] =
                    lemmas[*id].filter(|lemma| shares_stem(&lemma.to_lowercase(), form)).map(str::to_owned);
            }
        }
    }

    /// Joins a form with a genitive ending to the form without it, if the document has that.
    fn join_genitives(&mut self, text: &Text<'_>) {
        let stripped = |form: &str| {
            let endings = text.words.genitives.iter();
            endings.filter_map(|ending| form.strip_suffix(ending)).find_map(|rest| self.ids.get(rest).copied())
        };
        let joins: Vec<(usize, usize)> =
            self.ids.iter().filter_map(|(form, id)| Some((*id, stripped(form)?))).collect();
        for (id, base) in joins {
            let (id, base) = (self.root(id), self.root(base));
            if id != base {
                self.parents[id] = base;
            }
        }
    }

    fn group(&self, word: &str) -> Option<usize> {
        self.ids.get(&clean(word).to_lowercase()).map(|id| self.root(*id))
    }
}

/// A form without its longest case ending.
pub(super) fn stem<'a>(form: &'a str, endings: &[&str]) -> &'a str {
    let is_long = |rest: &&str| rest.chars().nth(MIN_STEM_LETTERS - 1).is_some();
    endings.iter().find_map(|ending| form.strip_suffix(ending).filter(is_long)).unwrap_or(form)
}

/// Returns true if a lemma can belong to a form: half of the letters agree.
fn shares_stem(lemma: &str, form: &str) -> bool {
    let same = lemma.chars().zip(form.chars()).take_while(|(a, b)| a == b).count();
    same * 2 >= form.chars().count()
}

/// All mentions of one name.
struct Group {
    name: String,
    /// Mentions of each type, in the order of [`NameKind::ALL`].
    kinds: [u32; 3],
    /// The group that this one is a part or an acronym of.
    target: Option<usize>,
}

impl Group {
    fn kind(&self) -> Option<NameKind> {
        let (best, count) = self.kinds.iter().enumerate().max_by_key(|(index, count)| (**count, 3 - index))?;
        (*count > 0).then_some(NameKind::ALL[best])
    }
}

struct Groups {
    groups: Vec<Group>,
    of_mention: Vec<usize>,
}

/// A group as it is built: its words, and the mention that its name is taken from.
struct Draft {
    words: Vec<u64>,
    best: usize,
    rank: u8,
    /// True if the first word is a head noun or a place, which does not stand for the whole name.
    begins_with_head: bool,
}

impl Groups {
    fn new(text: &Text<'_>, mentions: &[Mention], forms: &Forms) -> Groups {
        let mut by_key: HashMap<u64, usize, FastHash> = HashMap::default();
        let mut groups = Groups { groups: Vec::new(), of_mention: Vec::with_capacity(mentions.len()) };
        let mut drafts: Vec<Draft> = Vec::new();
        for (number, mention) in mentions.iter().enumerate() {
            let words = word_keys(text, mention, forms);
            let group = *by_key.entry(key(&words)).or_insert(drafts.len());
            let rank = rank(text, mention);
            if group == drafts.len() {
                let roles = text.roles(mention.start);
                let begins_with_head = text.is_organisation(mention.start)
                    || roles.has_any(&[Role::PlaceName, Role::NotName, Role::GivenName, Role::OrganisationAdjective]);
                drafts.push(Draft { words, best: number, rank, begins_with_head });
                groups.groups.push(Group { name: String::new(), kinds: [0; 3], target: None });
            } else if rank > drafts[group].rank {
                (drafts[group].best, drafts[group].rank) = (number, rank);
            }
            if let Some(kind) = mention.kind {
                groups.groups[group].kinds[kind as usize] += 1;
            }
            groups.of_mention.push(group);
        }
        for (group, draft) in groups.groups.iter_mut().zip(&drafts) {
            group.name = name(text, &mentions[draft.best], draft.rank, forms);
        }
        groups.link_acronyms(text, mentions);
        groups.link_parts(&drafts, &by_key);
        groups
    }

    /// The group whose name a group has: acronyms and surnames are followed at most twice.
    fn target(&self, group: usize) -> usize {
        let next = self.groups[group].target.unwrap_or(group);
        self.groups[next].target.unwrap_or(next)
    }

    /// Links surnames to full names, unless two names of the document have the same surname.
    fn link_parts(&mut self, drafts: &[Draft], by_key: &HashMap<u64, usize, FastHash>) {
        let mut owners: HashMap<u64, Option<usize>, FastHash> = HashMap::default();
        for (group, draft) in drafts.iter().enumerate() {
            let words = &draft.words;
            let kind = self.groups[group].kind();
            if kind == Some(NameKind::Organisation) && words.len() >= 2 && !draft.begins_with_head {
                // *Harlow* for *Harlow Motors*.
                let owner = owners.entry(key(&words[..1])).or_insert(Some(group));
                if *owner != Some(group) {
                    *owner = None;
                }
            }
            let is_person = matches!(kind, None | Some(NameKind::Person));
            if !is_person || words.len() < 2 || words.len() > MAX_FULL_NAME || self.groups[group].target.is_some() {
                continue;
            }
            let mut own = |part: &[u64]| {
                let owner = owners.entry(key(part)).or_insert(Some(group));
                if *owner != Some(group) {
                    *owner = None;
                }
            };
            if kind == Some(NameKind::Person) {
                own(&words[..1]);
            }
            for start in 1..words.len() {
                (start + 1..=words.len()).for_each(|end| own(&words[start..end]));
            }
        }
        for (part, owner) in owners {
            let (Some(&part), Some(owner)) = (by_key.get(&part), owner) else { continue };
            let kind = self.groups[part].kind();
            let owner_kind = self.groups[owner].kind();
            let is_person = matches!(kind, None | Some(NameKind::Person)) || kind == owner_kind;
            let owner_is_person = owner_kind == Some(NameKind::Person) || kind == Some(NameKind::Person);
            let is_short_form = owner_kind == Some(NameKind::Organisation);
            // A full name without a type and a part without one may be *New York* and *York*: the part must look
            // like a surname, the last word.
            let is_last = drafts[owner].words.last() == drafts[part].words.last();
            if part != owner
                && is_person
                && (owner_is_person || is_last || is_short_form)
                && self.groups[part].target.is_none()
            {
                self.groups[part].target = Some(owner);
                for kind in 0..3 {
                    self.groups[owner].kinds[kind] += self.groups[part].kinds[kind];
                }
            }
        }
    }

    /// Links acronyms in brackets to the name before them: *European Central Bank (ECB)*.
    fn link_acronyms(&mut self, text: &Text<'_>, mentions: &[Mention]) {
        for (pair, number) in mentions.windows(2).zip(0..) {
            let [first, second] = pair else { continue };
            let is_bracket = |index: usize, brackets: [&str; 2]| {
                text.tokens.get(index).is_some_and(|word| brackets.contains(&word.token.word.as_str()))
            };
            let in_brackets = second.start == first.end + 1
                && is_bracket(first.end, ["(", "（"])
                && is_bracket(second.end, [")", "）"]);
            if !in_brackets {
                continue;
            }
            let is_acronym = |mention: &Mention| {
                mention.end - mention.start == 1 && text.tokens[mention.start].shape == Shape::Upper
            };
            let (long, short) = match (is_acronym(first), is_acronym(second)) {
                (false, true) => (0, 1),
                (true, false) => (1, 0),
                _ => continue,
            };
            let (long, short) = (self.of_mention[number + long], self.of_mention[number + short]);
            let matches = is_acronym_of(&self.groups[short].name, &self.groups[long].name);
            let is_organisation = self.groups[long].kind() == Some(NameKind::Organisation);
            if long != short && (matches || is_organisation) && self.groups[long].target.is_none() {
                self.groups[short].target = Some(long);
                for kind in 0..3 {
                    self.groups[long].kinds[kind] += self.groups[short].kinds[kind];
                }
                if is_organisation {
                    self.groups[short].kinds[NameKind::Organisation as usize] += 1;
                }
            }
        }
    }
}

/// Returns true if the letters of an acronym occur in a name in order, the first one at the start of a word.
fn is_acronym_of(acronym: &str, name: &str) -> bool {
    let name = name.to_lowercase();
    let acronym = acronym.to_lowercase();
    let mut letters = acronym.chars().filter(|letter| letter.is_alphabetic());
    let Some(first) = letters.next() else { return false };
    let Some(start) = name.split(' ').position(|word| word.starts_with(first)) else { return false };
    let mut rest = name.split(' ').skip(start).flat_map(str::chars).skip(1);
    letters.all(|letter| rest.any(|other| other == letter))
}

/// Keys of the words of a mention: groups of names, hashes of other words.
fn word_keys(text: &Text<'_>, mention: &Mention, forms: &Forms) -> Vec<u64> {
    let mut keys = Vec::with_capacity(mention.end - mention.start);
    for index in mention.start..mention.end {
        let word = &text.tokens[index].token.word;
        if text.tokens[index].shape == Shape::Other {
            continue;
        }
        let is_inner = index + 1 < mention.end && text.has_capital_nouns;
        if let Some(rest) = adjective_stem(word).filter(|_| is_inner) {
            keys.push(xxh3_64(rest.to_lowercase().as_bytes()));
            continue;
        }
        keys.push(forms.group(word).map_or_else(|| xxh3_64(word.as_bytes()), |group| group as u64));
    }
    keys
}

fn key(words: &[u64]) -> u64 {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    xxh3_64(&bytes)
}

/// A German adjective without its ending.
fn adjective_stem(word: &str) -> Option<&str> {
    let endings = ["en", "em", "er", "es", "e"];
    endings.iter().find_map(|ending| word.strip_suffix(ending)).filter(|rest| rest.chars().nth(3).is_some())
}

/// How well a mention shows the canonical form: 2 in the nominative, 1 with the usual capitals, else 0.
fn rank(text: &Text<'_>, mention: &Mention) -> u8 {
    let tokens = &text.tokens[mention.start..mention.end];
    let is_shouted = tokens.len() > 1 && tokens.iter().all(|word| word.shape == Shape::Upper);
    let is_nominative = case(&tokens[0].token.feats).is_none_or(|case| case == "Nom");
    let is_weak = text.has_capital_nouns
        && tokens.len() > 1
        && tokens[0].token.word.ends_with("en")
        && tokens[0].class == WordClass::Adjective;
    match (is_shouted, is_nominative && !is_weak) {
        (true, _) => 0,
        (false, false) => 1,
        (false, true) => 2,
    }
}

/// The canonical form of a mention.
fn name(text: &Text<'_>, mention: &Mention, rank: u8, forms: &Forms) -> String {
    if text.is_inflecting() && (rank < 2 || mention.end - mention.start == 1) {
        return inflected_name(text, mention, forms);
    }
    let surface = text.surface(mention.start, mention.end);
    if text.has_capital_nouns {
        return german_name(text, mention, surface, forms);
    }
    surface
}

/// *Europäischen Zentralbank* → *Europäische Zentralbank*; *Merkels* → *Merkel*.
fn german_name(text: &Text<'_>, mention: &Mention, surface: String, forms: &Forms) -> String {
    let first = &text.tokens[mention.start];
    let is_single = mention.end - mention.start == 1;
    let is_adjective = first.class == WordClass::Adjective || first.roles.has(Role::OrganisationAdjective);
    if !is_single && is_adjective {
        let (word, rest) = surface.split_once(' ').unwrap_or((&surface, ""));
        if let Some(word) = word.strip_suffix(['n', 'm']).filter(|word| word.ends_with('e')) {
            return format!("{word} {rest}").trim_end().to_owned();
        }
    }
    let surface = surface.replace(" Allgemeinen ", " Allgemeine ");
    let last = text.tokens[mention.end - 1].token;
    let genitive = last.word.strip_suffix('s').filter(|rest| {
        let has_base = forms.ids.contains_key(&rest.to_lowercase());
        let before_noun = text.tokens.get(mention.end).is_some_and(|next| next.class == WordClass::Noun);
        let is_given = text.tokens[mention.end - 1].roles.has_any(&[Role::GivenName, Role::PlaceName])
            && !text.words.roles(&rest.to_lowercase()).has_any(&[Role::GivenName, Role::PlaceName]);
        let is_listed = text.words.roles(&rest.to_lowercase()).has_any(&[Role::GivenName, Role::PlaceName]);
        has_base || !is_given && (is_listed || last.lemma == **rest && before_noun)
    });
    match genitive.and_then(|_| surface.strip_suffix('s')) {
        Some(base) => base.to_owned(),
        None => surface,
    }
}

/// The base forms of a mention's words, adjectives in agreement with the noun after them.
fn inflected_name(text: &Text<'_>, mention: &Mention, forms: &Forms) -> String {
    let mut name = String::new();
    let mut is_after_head = false;
    for index in mention.start..mention.end {
        let word = &text.tokens[index];
        let surface = clean(&word.token.word);
        // Words in the genitive after the head noun stay: *Министерство обороны*.
        let base = match is_after_head && text.is_organisation_name(mention) {
            true => surface.to_owned(),
            false => base(text, index, mention.end, forms),
        };
        is_after_head |= matches!(word.class, WordClass::Noun | WordClass::ProperNoun);
        name.push_str(&base);
        if word.token.space_after && index + 1 < mention.end {
            name.push(' ');
        }
    }
    name
}

fn base(text: &Text<'_>, index: usize, end: usize, forms: &Forms) -> String {
    let word = &text.tokens[index];
    let surface = clean(&word.token.word);
    let lemma =
        Some(word.token.lemma.as_str()).filter(|lemma| shares_stem(&lemma.to_lowercase(), &surface.to_lowercase()));
    if surface.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
        return surface.to_owned();
    }
    let is_noun = word.class != WordClass::Adjective;
    if let Some(listed) = is_noun.then(|| listed_base(text, surface)).flatten() {
        return recased(&listed, surface);
    }
    let known = forms.group(surface).and_then(|group| forms.bases[group].as_deref());
    let base = recased(known.or(lemma).unwrap_or(surface), surface);
    if word.class != WordClass::Adjective {
        return base;
    }
    let head = (index + 1..end).find(|next| text.tokens[*next].class != WordClass::Adjective);
    let head = head.map(|head| text.tokens[head].token.lemma.to_lowercase()).unwrap_or_default();
    agreeing(&base, &head)
}

/// The nominative of a form, if the lists have it: the form itself, or its stem with another ending.
fn listed_base(text: &Text<'_>, surface: &str) -> Option<String> {
    const NOMINATIVE: [&str; 9] = ["", "а", "я", "ь", "й", "ия", "о", "е", "ы"];
    let is_listed =
        |form: &str| text.words.roles(form).has_any(&[Role::PlaceName, Role::GivenName, Role::OrganisationName]);
    let lower = surface.to_lowercase();
    if is_listed(&lower) {
        return Some(lower);
    }
    let stems = text.words.endings.iter().filter_map(|ending| lower.strip_suffix(ending));
    stems
        .filter(|stem| stem.chars().nth(MIN_STEM_LETTERS - 1).is_some())
        .flat_map(|stem| NOMINATIVE.iter().map(move |ending| format!("{stem}{ending}")))
        .find(|form| is_listed(form))
}

/// A Russian or Ukrainian adjective in the gender of its noun.
fn agreeing(adjective: &str, noun: &str) -> String {
    let replaced = |ending: &str, by: &str| adjective.strip_suffix(ending).map(|rest| format!("{rest}{by}"));
    let agreed = match noun.chars().last() {
        Some('а' | 'я') => replaced("ый", "ая").or_else(|| replaced("ой", "ая")).or_else(|| replaced("ий", "ая")),
        Some('о' | 'е') => replaced("ый", "ое").or_else(|| replaced("ой", "ое")).or_else(|| replaced("ий", "ое")),
        _ => None,
    };
    agreed.unwrap_or_else(|| adjective.to_owned())
}

/// A base form with the capitals of the surface.
fn recased(base: &str, surface: &str) -> String {
    match Shape::of(surface) {
        Shape::Upper => base.to_uppercase(),
        Shape::Capital | Shape::Initial if base.starts_with(char::is_lowercase) => {
            let mut letters = base.chars();
            letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
        }
        _ => base.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_acronym_has_the_letters_of_its_expansion_in_order() {
        assert!(
            is_acronym_of("EZB", "Europäische Zentralbank") && is_acronym_of("ЕЦБ", "Европейский центральный банк")
        );
        assert!(is_acronym_of("IMF", "International Monetary Fund") && !is_acronym_of("USA", "European Central Bank"));
        assert!(!is_acronym_of("", "x") && !is_acronym_of("X", ""));
    }

    #[test]
    fn stems_keep_three_letters() {
        assert_eq!((stem("москвы", &["ы"]), stem("уфы", &["ы"])), ("москв", "уфы"));
    }

    #[test]
    fn base_forms_take_the_capitals_of_the_text() {
        assert_eq!((recased("собянин", "Собянина").as_str(), recased("оон", "ООН").as_str()), ("Собянин", "ООН"));
        assert_eq!(agreeing("Государственный", "дума"), "Государственная");
        assert_eq!(agreeing("Верховный", "суд"), "Верховный");
    }
}
