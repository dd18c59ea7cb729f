//! Facts about the tokens of a document, and the document's evidence for each word: a capital inside a sentence, or
//! the same word in lower case.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasherDefault;
use std::ops::Range;

use tidings_model::{Annotated, Token};
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

use super::words::{NameWords, Role, Roles};
use crate::{codes, table};

/// Word class, as far as it matters for names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordClass {
    ProperNoun,
    Noun,
    Adjective,
    Verb,
    /// Determiners, pronouns, adpositions, conjunctions, auxiliaries, particles.
    Function,
    Numeral,
    Punctuation,
    /// Adverbs, interjections, foreign words and unknown tags.
    Other,
    Untagged,
}

impl WordClass {
    /// The class of a tag of Universal Dependencies; of a token of several words that of the first. Proper nouns of
    /// the Penn and Stuttgart tag sets are known too, because external taggers use them.
    fn of(tag: &str) -> WordClass {
        match tag.split('+').next().unwrap_or_default() {
            "PROPN" | "NNP" | "NNPS" | "NE" => WordClass::ProperNoun,
            "NOUN" | "NN" | "NNS" => WordClass::Noun,
            "ADJ" | "JJ" | "ADJA" => WordClass::Adjective,
            "VERB" => WordClass::Verb,
            "DET" | "PRON" | "ADP" | "CCONJ" | "SCONJ" | "AUX" | "PART" => WordClass::Function,
            "NUM" => WordClass::Numeral,
            "PUNCT" | "SYM" => WordClass::Punctuation,
            "" => WordClass::Untagged,
            _ => WordClass::Other,
        }
    }
}

/// Letters of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Lower,
    /// First letter in upper case.
    Capital,
    /// Two letters or more, all in upper case.
    Upper,
    /// An initial with a full stop, or one upper-case letter.
    Initial,
    /// An upper-case letter inside: *iPhone*.
    Mixed,
    /// Letters of a script without case.
    Uncased,
    /// No letters, or an address.
    Other,
}

impl Shape {
    pub fn of(word: &str) -> Shape {
        // Most words, at the cost of one look at each byte.
        if !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return Shape::Lower;
        }
        if word.contains(['@', '/', '_', '#']) || word.starts_with("www.") {
            return Shape::Other;
        }
        let (mut letters, mut upper, mut uncased) = (0, 0, 0);
        let mut starts_upper = None;
        for letter in word.chars().filter(|letter| letter.is_alphabetic()) {
            letters += 1;
            upper += usize::from(letter.is_uppercase());
            uncased += usize::from(!letter.is_uppercase() && !letter.is_lowercase());
            starts_upper.get_or_insert(letter.is_uppercase());
        }
        let starts_with_digit = word.starts_with(|first: char| first.is_ascii_digit());
        match starts_upper {
            None => Shape::Other,
            Some(_) if uncased * 2 > letters => Shape::Uncased,
            Some(_) if starts_with_digit => Shape::Other,
            Some(true) if letters == 1 => Shape::Initial,
            // A genitive in lower case does not make an acronym a word: *NASA's*.
            Some(true) if upper >= 2 && upper + 1 >= letters => Shape::Upper,
            Some(true) => Shape::Capital,
            Some(false) if upper > 0 => Shape::Mixed,
            Some(false) => Shape::Lower,
        }
    }

    pub fn is_capital(self) -> bool {
        matches!(self, Shape::Capital | Shape::Upper | Shape::Initial | Shape::Mixed)
    }
}

/// Position of a token, which says whether its capital means anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// The first word of a sentence, or after a quotation mark or colon.
    Start,
    Inside,
    /// In a sentence whose words are all capitalised.
    Headline,
}

/// A token with its facts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Word<'a> {
    pub token: &'a Token,
    pub class: WordClass,
    pub shape: Shape,
    pub position: Position,
    /// Roles of the form and of the lemma; only for words with a capital or of a script without case.
    pub roles: Roles,
    /// Hash of the form in lower case.
    form: u64,
}

/// Uses of a form in the document.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FormUses {
    /// In lower case.
    pub lower: u32,
    /// Capitalised inside a sentence.
    pub inside: u32,
    /// Capitalised and tagged as a proper noun.
    pub proper: u32,
    /// Capitalised and tagged as another word class.
    pub common: u32,
}

// The hash is of words of one document, whose number is bounded by its length.
type FastHash = BuildHasherDefault<Xxh3Default>;

/// The tokens of a document with facts and evidence.
pub(super) struct Text<'a> {
    pub tokens: Vec<Word<'a>>,
    pub sentences: Vec<Range<usize>>,
    pub words: &'static NameWords,
    /// True if all nouns are capitalised, as in German.
    pub has_capital_nouns: bool,
    /// True if the language is written in Latin letters.
    pub is_latin: bool,
    /// Stop words of the language: words that are common nouns and verbs.
    pub stop_words: Option<&'static tidings_lang::StopList>,
    forms: HashMap<u64, FormUses, FastHash>,
    /// Stems of surnames that the document has in full names.
    surnames: HashSet<u64, FastHash>,
    /// First and last word of the full names of two words that the document has.
    full_names: HashSet<(u64, u64), FastHash>,
}

impl<'a> Text<'a> {
    pub fn new(document: &'a Annotated, language: &str, words: &'static NameWords) -> Text<'a> {
        let mut text = Text {
            tokens: Vec::new(),
            sentences: Vec::new(),
            words,
            has_capital_nouns: table::of(codes::short_code(language)).capital_nouns,
            is_latin: tidings_lang::language(language)
                .and_then(|known| known.scripts.first().copied())
                .is_none_or(|script| script == tidings_lang::Script::Latin),
            stop_words: tidings_lang::stop_list(language),
            forms: HashMap::default(),
            surnames: HashSet::default(),
            full_names: HashSet::default(),
        };
        let mut lower = String::new();
        for sentence in document.paragraphs.iter().flat_map(|paragraph| &paragraph.sentences) {
            let start = text.tokens.len();
            text.tokens.extend(sentence.iter().map(|token| word(token, words, &mut lower)));
            text.sentences.push(start..text.tokens.len());
            text.set_positions(start);
            text.count_forms(start);
        }
        text
    }

    /// Sets the positions of the last sentence, which begins at `start`.
    fn set_positions(&mut self, start: usize) {
        let sentence = &mut self.tokens[start..];
        if is_headline(sentence, self.has_capital_nouns) {
            sentence.iter_mut().for_each(|word| word.position = Position::Headline);
            return;
        }
        let mut is_start = true;
        for word in sentence {
            match word.shape {
                // Quotation marks and colons may be followed by a sentence; brackets and numbers change nothing.
                Shape::Other => is_start |= is_opening(&word.token.word),
                _ => {
                    word.position = if is_start { Position::Start } else { Position::Inside };
                    is_start = false;
                }
            }
        }
    }

    fn count_forms(&mut self, start: usize) {
        for word in &self.tokens[start..] {
            if word.shape == Shape::Other || word.shape == Shape::Uncased {
                continue;
            }
            let uses = self.forms.entry(word.form).or_default();
            if word.shape == Shape::Lower {
                uses.lower += 1;
                continue;
            }
            if word.position == Position::Headline {
                continue;
            }
            uses.inside += u32::from(word.position == Position::Inside);
            let is_proper = word.class == WordClass::ProperNoun;
            uses.proper += u32::from(is_proper);
            uses.common += u32::from(!is_proper);
        }
    }

    /// Remembers the last words of full names of persons.
    pub fn learn_surnames(&mut self, mentions: &[super::Mention]) {
        for mention in mentions {
            let last = self.tokens[mention.end - 1];
            let is_untyped = mention.kind.is_none() && last.class == WordClass::ProperNoun;
            let is_person = mention.kind == Some(super::NameKind::Person) || is_untyped;
            let is_full = mention.end - mention.start >= 2 && is_person;
            if is_full && last.shape == Shape::Capital {
                self.surnames.insert(self.stem_hash(clean(&last.token.word)));
            }
            let first = self.tokens[mention.start];
            let is_pair = mention.end - mention.start == 2 && first.shape == Shape::Capital;
            let is_other = [first, last].iter().any(|word| {
                word.roles.has_any(&[Role::PlaceName, Role::OrganisationName, Role::Organisation, Role::NotName])
            });
            if is_full && is_pair && !is_other && last.shape == Shape::Capital && first.class == WordClass::ProperNoun {
                self.full_names.insert((first.form, last.form));
            }
        }
    }

    /// Returns true if a capitalised word is the surname of a person of the document.
    pub fn is_surname(&self, index: usize) -> bool {
        let word = clean(&self.tokens[index].token.word);
        let is_known = |word: &str| self.surnames.contains(&self.stem_hash(word));
        let genitive = || self.words.genitives.iter().filter_map(|ending| word.strip_suffix(ending)).any(is_known);
        !self.surnames.is_empty() && (is_known(word) || genitive())
    }

    /// Returns true if a token and the next one are the full name of a person that the document has elsewhere: *FSFE |
    /// Karsten Gerloff*.
    pub fn begins_full_name(&self, index: usize) -> bool {
        let next = self.tokens.get(index + 1);
        !self.full_names.is_empty()
            && next.is_some_and(|next| self.full_names.contains(&(self.tokens[index].form, next.form)))
    }

    fn stem_hash(&self, word: &str) -> u64 {
        xxh3_64(super::canonical::stem(&word.to_lowercase(), &self.words.endings).as_bytes())
    }

    /// The document's uses of the form of a token.
    pub fn uses(&self, index: usize) -> FormUses {
        self.forms.get(&self.tokens[index].form).copied().unwrap_or_default()
    }

    /// Returns true if the document has a form in lower case or with a capital; it is given in lower case.
    pub fn has_form(&self, lower: &str) -> bool {
        self.forms.contains_key(&xxh3_64(lower.as_bytes()))
    }

    /// True if words have case endings that are merged by lemma and stem.
    pub fn is_inflecting(&self) -> bool {
        !self.words.endings.is_empty()
    }

    /// The roles of any token, also of one in lower case.
    pub fn roles(&self, index: usize) -> Roles {
        let word = &self.tokens[index];
        match word.shape {
            Shape::Lower | Shape::Other => lookup(word.token, self.words, &mut String::new()),
            _ => word.roles,
        }
    }

    /// Returns true if a token is the head noun of organisations, by its form or lemma.
    pub fn is_organisation(&self, index: usize) -> bool {
        self.roles(index).has(Role::Organisation)
    }

    /// Returns true if a mention has the head noun of organisations.
    pub fn is_organisation_name(&self, mention: &super::Mention) -> bool {
        (mention.start..mention.end).any(|index| self.is_organisation(index))
    }

    /// Returns true if a token before `start` in the same sentence is a title or role of persons.
    pub fn follows_title(&self, start: usize) -> bool {
        let Some(before) = start.checked_sub(1) else { return false };
        let is_inside = self.sentence_start(start) < start;
        // Where nouns are capitalised, a title is too: *beauftragte Software*.
        let is_noun = !self.has_capital_nouns || self.tokens[before].shape != Shape::Lower;
        is_inside && is_noun && self.roles(before).has(Role::Title)
    }

    /// Returns false if case features show that a name depends on the title before it: *глава Мордовии*.
    pub fn agrees_with_title(&self, start: usize) -> bool {
        let case = |index: usize| case(&self.tokens[index].token.feats);
        match start.checked_sub(1).map(|before| (case(before), case(start))) {
            Some((Some(title), Some(name))) if self.is_inflecting() => title == name,
            _ => true,
        }
    }

    /// The first token of the sentence of a token.
    pub fn sentence_start(&self, index: usize) -> usize {
        let after = self.sentences.partition_point(|sentence| sentence.start <= index);
        after.checked_sub(1).map_or(0, |sentence| self.sentences[sentence].start)
    }

    /// The words of tokens in lower case without genitive marks, joined by spaces where the text has them.
    pub fn lower_text(&self, start: usize, end: usize) -> String {
        self.surface(start, end).to_lowercase()
    }

    /// The words of tokens as written, without the genitive mark at the end.
    pub fn surface(&self, start: usize, end: usize) -> String {
        let mut surface = String::new();
        for index in start..end {
            let token = self.tokens[index].token;
            match index + 1 == end {
                true => surface.push_str(clean(&token.word)),
                false => surface.push_str(&token.word),
            }
            if token.space_after && index + 1 < end {
                surface.push(' ');
            }
        }
        surface
    }
}

/// A word without the genitive mark of English: *'s* or a final apostrophe.
pub(super) fn clean(word: &str) -> &str {
    if !word.ends_with(['s', 'S', '\'', '’']) {
        return word;
    }
    let rest = ["'s", "’s", "'S", "’S"].iter().find_map(|mark| word.strip_suffix(mark));
    let rest = rest.unwrap_or_else(|| word.strip_suffix(['\'', '’']).unwrap_or(word));
    if rest.is_empty() { word } else { rest }
}

/// The value of the feature `Case`.
pub(super) fn case(feats: &str) -> Option<&str> {
    feats.split(['|', '+']).find_map(|feature| feature.strip_prefix("Case="))
}

fn word<'a>(token: &'a Token, words: &NameWords, lower: &mut String) -> Word<'a> {
    let shape = Shape::of(&token.word);
    let roles = match shape {
        Shape::Lower | Shape::Other => Roles::default(),
        _ => lookup(token, words, lower),
    };
    let form = match shape {
        Shape::Other => 0,
        Shape::Lower => xxh3_64(clean(&token.word).as_bytes()),
        _ => {
            set_lower(lower, clean(&token.word));
            xxh3_64(lower.as_bytes())
        }
    };
    Word { token, class: WordClass::of(&token.tag), shape, position: Position::Inside, roles, form }
}

/// The roles of the form and of the lemma of a token.
fn lookup(token: &Token, words: &NameWords, lower: &mut String) -> Roles {
    set_lower(lower, clean(&token.word));
    let roles = words.roles_with_endings(lower);
    if token.lemma.is_empty() || token.lemma == *lower {
        return roles;
    }
    set_lower(lower, &token.lemma);
    roles.or(words.roles_with_endings(lower))
}

fn set_lower(lower: &mut String, word: &str) {
    lower.clear();
    lower.extend(word.chars().flat_map(char::to_lowercase));
}

/// Returns true for marks after which a sentence may begin.
fn is_opening(word: &str) -> bool {
    matches!(
        word,
        "\"" | "“"
            | "„"
            | "”"
            | "«"
            | "‹"
            | "»"
            | "‘"
            | "‚"
            | "'"
            | ":"
            | "—"
            | "–"
            | "•"
            | "…"
            | "..."
            | "¿"
            | "¡"
            | "*"
            | "·"
    )
}

/// Returns true if nearly all words are capitalised, so that capitals say nothing. Sentences that are full of names
/// have nouns or verbs in lower case.
fn is_headline(sentence: &[Word<'_>], has_capital_nouns: bool) -> bool {
    let (mut words, mut lower, mut upper) = (0usize, 0usize, 0usize);
    let is_word = |word: &&Word<'_>| word.shape != Shape::Other && word.shape != Shape::Uncased;
    for word in sentence.iter().filter(is_word).skip(1) {
        let is_long = word.token.word.chars().nth(3).is_some();
        words += usize::from(is_long);
        lower += usize::from(is_long && word.shape == Shape::Lower && word.class != WordClass::Function);
        upper += usize::from(is_long && word.shape == Shape::Upper);
    }
    let ends_as_sentence = sentence.last().is_some_and(|word| word.token.word == ".");
    let is_title_case = !has_capital_nouns && !ends_as_sentence && lower * 6 <= words;
    words >= 3 && (upper * 4 >= words * 3 || is_title_case)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_told_from_letters() {
        let cases = [
            ("Wien", Shape::Capital),
            ("NASA's", Shape::Upper),
            ("UN", Shape::Upper),
            ("F.", Shape::Initial),
            ("iPhone", Shape::Mixed),
            ("wien", Shape::Lower),
            ("北京", Shape::Uncased),
            ("1990er", Shape::Other),
            ("www.example.org", Shape::Other),
            ("a@b.c", Shape::Other),
            ("", Shape::Other),
        ];
        for (word, shape) in cases {
            assert_eq!(Shape::of(word), shape, "{word}");
        }
    }

    #[test]
    fn genitive_marks_are_removed() {
        assert_eq!((clean("Europe's"), clean("James’"), clean("'s"), clean("'")), ("Europe", "James", "'s", "'"));
    }

    #[test]
    fn the_case_is_read_from_features() {
        assert_eq!(case("Animacy=Anim|Case=Gen|Number=Sing"), Some("Gen"));
        assert_eq!((case(""), case("Number=Sing")), (None, None));
    }
}
