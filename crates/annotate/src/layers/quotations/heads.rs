//! Which noun phrases can be speakers: names, and phrases whose head noun is a person, a role or an organisation.
//!
//! The word before or after a reporting verb is often no subject (*I think “easy” …*) or no person (*the file says “…”*).
//! A wrong speaker is worse than none, because people count speakers.

use std::ops::Range;

use super::speaker::{Class, Speakers, is_border};
use super::text::{NameRange, is_capitalised, is_comma};
use crate::layers::names::{self, NameKind};

/// The most characters of a person's name in a language without spaces.
const MAX_CLAUSE_NAME: usize = 4;

impl Speakers<'_, '_> {
    /// The part of a noun phrase that is a speaker: a name, the whole phrase if its head noun can speak, else nothing.
    pub(super) fn accept(&self, phrase: Range<usize>) -> Option<Range<usize>> {
        if phrase.is_empty() {
            return None;
        }
        if !self.text.has_names() {
            let narrowed = self.narrow(phrase.clone());
            let is_name = narrowed.clone().any(|at| self.class(at) == Class::Proper) && narrowed != phrase
                || phrase.clone().all(|at| self.class(at) == Class::Proper);
            return (is_name || !self.knows_heads() || self.has_speaking_head(&narrowed)).then_some(narrowed);
        }
        if let Some(name) = self.name_in(&phrase) {
            return Some(name.start..name.end);
        }
        if self.has_speaking_head(&phrase) {
            return Some(phrase);
        }
        self.tagged_name(&phrase)
    }

    /// Returns true for a word that has a capital only because it begins sentences: *Myth: “…”*. The document has it as a
    /// name nowhere else, and it is no short form of a full name.
    pub(super) fn is_label(&self, speaker: &Range<usize>) -> bool {
        let word = self.text.word(speaker.start);
        let is_doubtful = |name: &NameRange| name.kind.is_none() && !name.is_full;
        let stands_inside = || {
            self.text.names().any(|name| self.text.word(name.start) == word && !self.text.starts_sentence(name.start))
        };
        speaker.len() == 1
            && self.text.starts_sentence(speaker.start)
            && self.text.names_in(speaker).next().is_some_and(is_doubtful)
            && !stands_inside()
    }

    /// A run of proper nouns that the layer of names left out; a capital at the start of a sentence, or where all nouns
    /// have one, is no evidence.
    fn tagged_name(&self, phrase: &Range<usize>) -> Option<Range<usize>> {
        let is_name = |at: &usize| {
            self.text.tag(*at) == "PROPN"
                && is_capitalised(self.text.word(*at))
                && !self.text.starts_sentence(*at)
                && !self.habits.capitalises_nouns
                && !self.text.is_name(*at)
        };
        let start = phrase.clone().find(is_name)?;
        let end = (start..phrase.end).find(|at| !is_name(at)).unwrap_or(phrase.end);
        let is_linked = start > phrase.start && (phrase.start..start).any(|at| self.class(at) == Class::Link);
        (!is_linked && end == phrase.end).then_some(start..end)
    }

    /// The speaker of a clause of a language without spaces, if it has a name or can be judged and ends as a person.
    pub(super) fn accept_clause(&self, clause: Range<usize>) -> Option<Range<usize>> {
        if !self.knows_heads() || clause.is_empty() {
            return Some(clause).filter(|clause| !clause.is_empty());
        }
        let has_name = self.text.names_in(&clause).next().is_some();
        let is_evidence = |at: usize| {
            let is_transcription = names::is_transcription(self.text.word(at));
            self.class(at) == Class::Pronoun
                || self.text.tag(at) == "PROPN"
                || is_transcription && self.text.word(at).chars().nth(1).is_some()
                || self.is_speaking(at)
        };
        let joined = || -> String { clause.clone().map(|at| self.text.word(at)).collect() };
        // Segmentation splits names into nouns, verbs and single characters: a short clause is a speaker unless it ends with
        // another word class.
        let is_nominal = matches!(self.text.tag(clause.end - 1), "NOUN" | "X" | "" | "ADJ" | "NUM");
        let is_listed = |joined: &str| {
            let length = joined.chars().count();
            self.habits.ends_speaking(joined)
                || length <= MAX_CLAUSE_NAME && (is_nominal || self.habits.begins_with_surname(joined))
        };
        (has_name || clause.clone().any(is_evidence) || is_listed(&joined())).then_some(clause)
    }

    /// Returns true if the tables of the language have head nouns.
    fn knows_heads(&self) -> bool {
        self.habits.knows_heads()
    }

    /// The name that a phrase refers to: persons first, then full names, and no name that only qualifies another noun (*the
    /// head of the Red Cross*, *Ada's brother*).
    fn name_in(&self, phrase: &Range<usize>) -> Option<NameRange> {
        let rank = |name: &&NameRange| match name.kind {
            Some(NameKind::Person) => 0,
            None if name.end - name.start >= 2 => 1,
            _ => 2,
        };
        self.text.names_in(phrase).filter(|name| !self.qualifies(name, phrase)).min_by_key(rank).copied()
    }

    fn qualifies(&self, name: &NameRange, phrase: &Range<usize>) -> bool {
        let is_person = name.kind == Some(NameKind::Person);
        let is_linked = name.start > phrase.start && {
            let before = name.start - 1;
            // *die Sprecherin der Partei*: an article between two nouns is a genitive.
            let links = |at: usize| self.class(at) == Class::Link || self.is_common(at);
            let is_article = self.text.tag(before) == "DET" && before > phrase.start;
            // *директор МИД*: a name in the genitive after the noun of a person.
            let is_short = name.kind.is_some() || name.end - name.start == 1;
            let is_genitive = !self.habits.has_last_heads && !is_person && is_short && self.is_speaking(before);
            self.class(before) == Class::Link || is_article && links(before - 1) || is_genitive
        };
        // *the FSFE president*: a noun follows that is the head.
        let is_attribute = name.end < phrase.end && self.is_common(name.end) && !is_person;
        let is_possessive = name.end < phrase.end && is_possessive(self.text.word(name.end - 1));
        is_linked || is_attribute || is_possessive
    }

    /// The name before the comma that separates it from an apposition: *Ada Neri, head of the office, said*.
    pub(super) fn name_before_comma(&self, start: usize, comma: usize) -> Option<Range<usize>> {
        let name = self.text.names_in(&(comma.checked_sub(1)?..comma)).next()?;
        let is_whole = name.end == comma && name.start >= start && name.kind != Some(NameKind::Place);
        is_whole.then_some(name.start..name.end)
    }

    /// The name in apposition to a phrase without one: *the candidate of the party, Ada Neri,*.
    pub(super) fn name_after_comma(&self, phrase: &Range<usize>, comma: usize, end: usize) -> Option<Range<usize>> {
        let has_name = self.text.names_in(phrase).any(|name| !self.qualifies(name, phrase));
        if has_name || comma + 1 >= end || !is_comma(self.text.word(comma)) {
            return None;
        }
        let name = self.text.names_in(&(comma + 1..end.min(comma + 3))).next()?;
        let is_person = name.kind == Some(NameKind::Person) || name.kind.is_none() && name.end - name.start >= 2;
        let is_set_off = name.end >= end || is_border(self.text.word(name.end));
        (is_person && is_set_off).then_some(name.start..name.end)
    }

    /// Returns true for a common noun.
    fn is_common(&self, at: usize) -> bool {
        self.class(at) == Class::Nominal && matches!(self.text.tag(at), "NOUN" | "")
    }

    /// Returns true if the head noun of a phrase is a person, a role or an organisation.
    fn has_speaking_head(&self, phrase: &Range<usize>) -> bool {
        let is_noun = |at: &usize| {
            matches!(self.text.tag(*at), "NOUN" | "PROPN" | "X" | "")
                && matches!(self.class(*at), Class::Nominal | Class::Proper)
                && !is_possessive(self.text.word(*at))
        };
        let end = self.first_part(phrase);
        let part = phrase.start..end;
        let mut nouns = part.clone().filter(is_noun);
        let head = if self.habits.has_last_heads { nouns.next_back() } else { nouns.next() };
        match head {
            // Languages without a model: any word may be the noun.
            Some(head) if self.text.tag(head).is_empty() => {
                part.clone().any(|at| self.is_speaking(at) && !is_possessive(self.text.word(at)))
            }
            Some(head) => self.is_speaking(head),
            // Adjectives as nouns: *der Beauftragte*, *los vecinos*.
            None if part.clone().any(|at| self.text.tag(at) == "ADJ" && self.is_speaking(at)) => true,
            // *one of the residents*
            None => end < phrase.end && self.has_speaking_head(&(end + 1..phrase.end)),
        }
    }

    /// The end of the part of a phrase before its first adposition, or an article after a noun.
    fn first_part(&self, phrase: &Range<usize>) -> usize {
        let ends = |at: &usize| {
            let is_article = self.text.tag(*at) == "DET" && matches!(self.text.tag(at - 1), "NOUN" | "PROPN");
            self.class(*at) == Class::Link || is_article
        };
        (phrase.start + 1..phrase.end).find(ends).unwrap_or(phrase.end)
    }

    /// Returns true if the tables list a word or its lemma as a person, a role or an organisation.
    fn is_speaking(&self, at: usize) -> bool {
        let token = self.text.token(at);
        // *der Sprecher* and *die Sprecher*; German adjectives do not begin with a capital.
        let is_noun = !self.habits.capitalises_nouns || is_capitalised(&token.word);
        is_noun
            && (self.habits.is_speaking(&super::attribution::lower(&token.word))
                || !token.lemma.is_empty() && self.habits.is_speaking(&super::attribution::lower(&token.lemma)))
    }
}

/// Returns true for *Ada's* and *engineers’*.
fn is_possessive(word: &str) -> bool {
    ["'s", "’s", "s'", "s’"].iter().any(|mark| word.ends_with(mark))
}
