//! The speaker: the subject of a reporting verb.
//!
//! Tags give noun phrases; without a model, capital letters and the borders of clauses must do. Speakers are narrowed to the
//! proper noun where the phrase has one, because people count names.

use std::ops::Range;

use super::habits::Habits;
use super::marks;
use super::text::{Text, is_capitalised, is_colon, is_comma, is_dash, is_final, is_word};

/// The largest number of tokens of a speaker.
const MAX_SPEAKER_TOKENS: usize = 12;
/// The largest number of tokens between a verb and its subject.
const MAX_SKIPPED: usize = 4;

/// The word class of a token, as far as noun phrases need it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Proper,
    Nominal,
    Pronoun,
    /// Adpositions, which may link two parts of a phrase.
    Link,
    /// Adverbs, auxiliaries and particles between subject and verb.
    Filler,
    Other,
}

/// Finds speakers in a text of one language.
#[derive(Clone, Copy)]
pub(super) struct Speakers<'t, 'a> {
    pub(super) text: &'t Text<'a>,
    pub(super) habits: &'static Habits,
}

impl Speakers<'_, '_> {
    pub(super) fn class(&self, index: usize) -> Class {
        let word = self.text.word(index);
        if self.text.is_name(index) {
            return Class::Proper;
        }
        if is_border(word) {
            return Class::Other;
        }
        // Capitals and tags say less than the layer of names, where it has run.
        let is_proper = !self.text.has_names();
        match self.text.tag(index) {
            "PROPN" if is_proper => Class::Proper,
            "PROPN" | "NOUN" | "ADJ" | "DET" | "NUM" | "X" | "SYM" => Class::Nominal,
            "PRON" => Class::Pronoun,
            "ADP" => Class::Link,
            "ADV" | "AUX" | "PART" => Class::Filler,
            "" if !is_word(word) => Class::Other,
            "" if is_proper && is_capitalised(word) => Class::Proper,
            "" => Class::Nominal,
            // Abbreviations such as *Dr.* and hyphens within names.
            "PUNCT" if is_word(word) => Class::Nominal,
            _ => Class::Other,
        }
    }

    fn is_nominal(&self, index: usize) -> bool {
        matches!(self.class(index), Class::Proper | Class::Nominal)
    }

    /// The subject that follows a verb: *said Merkel*.
    pub(super) fn after(&self, from: usize, end: usize) -> Option<Range<usize>> {
        let end = end.min(from + MAX_SPEAKER_TOKENS + MAX_SKIPPED);
        let mut at = from;
        for _ in 0..MAX_SKIPPED {
            if at < end && self.class(at) == Class::Filler {
                at += 1;
            } else if at < end && self.class(at) == Class::Link {
                // A prepositional phrase stands between verb and subject: *dijo a este diario una médica*.
                at = self.skip_phrase(at + 1, end);
            } else {
                break;
            }
        }
        if at < end && self.class(at) == Class::Pronoun {
            let is_reflexive = at + 1 < end && matches!(self.class(at + 1), Class::Proper | Class::Nominal);
            if !is_reflexive {
                return is_personal(self.text, at).then_some(at..at + 1);
            }
            at += 1;
        }
        let stop = self.phrase_end(at, end);
        let phrase = self.accept(at..stop)?;
        Some(self.name_after_comma(&phrase, stop, end).unwrap_or(phrase))
    }

    /// The end of an adpositional phrase: a determiner, adjectives and one noun.
    fn skip_phrase(&self, from: usize, end: usize) -> usize {
        let mut at = from;
        while at < end && self.class(at) == Class::Nominal {
            let is_noun = matches!(self.text.tag(at), "NOUN" | "");
            at += 1;
            if is_noun {
                break;
            }
        }
        while at < end && at == from && self.class(at) == Class::Proper {
            at += 1;
        }
        at
    }

    fn phrase_end(&self, from: usize, end: usize) -> usize {
        let end = end.min(from + MAX_SPEAKER_TOKENS);
        let mut at = from;
        while at < end {
            let links = at > from && self.class(at) == Class::Link && at + 1 < end && self.is_nominal(at + 1);
            if !self.is_nominal(at) && !links {
                break;
            }
            at += 1;
        }
        at
    }

    /// The subject that precedes a verb: *Merkel said*, *Tom Okafor, who leads the opposition, called*.
    pub(super) fn before(&self, start: usize, verb: usize) -> Option<Range<usize>> {
        if !self.habits.subject_after.is_empty() {
            return self.marked(start, verb).and_then(|range| self.accept_clause(range));
        }
        if !self.habits.subject_end.is_empty() {
            return self.clause(start, verb).and_then(|range| self.accept_clause(range));
        }
        let mut at = verb;
        for _ in 0..MAX_SKIPPED {
            if at > start && self.class(at - 1) == Class::Filler {
                at -= 1;
            }
        }
        if at > start && self.class(at - 1) == Class::Pronoun {
            if is_personal(self.text, at - 1) {
                return Some(at - 1..at);
            }
            // A relative pronoun: the speaker is the noun before it.
            at -= 1;
        }
        if at > start && is_comma(self.text.word(at - 1)) {
            return self.apposition(start, at - 1).or_else(|| self.first(start, verb));
        }
        let mut from = at;
        while from > start && at - from < MAX_SPEAKER_TOKENS {
            let links =
                from < at && self.class(from - 1) == Class::Link && from - 1 > start && self.is_nominal(from - 2);
            if !self.is_nominal(from - 1) && !links {
                break;
            }
            from -= 1;
        }
        // After a preposition the phrase is no subject.
        let is_object = from > start && self.class(from - 1) == Class::Link;
        if from < at && !is_object {
            // *Georg Greve, president of the FSFE says*: the name stands before the comma.
            let has_comma = from > start + 1 && is_comma(self.text.word(from - 1));
            if has_comma && self.text.has_names() {
                return self.name_before_comma(start, from - 1).or_else(|| self.accept(from..at));
            }
            let name = has_comma.then(|| start..from - 1);
            let is_name =
                |range: &Range<usize>| range.len() <= 4 && range.clone().all(|at| self.class(at) == Class::Proper);
            return name.filter(is_name).or_else(|| self.accept(from..at));
        }
        let found = self.first(start, verb);
        // Names that the tagger does not know often have other tags.
        let is_name = verb > start
            && !self.text.has_names()
            && is_capitalised(self.text.word(verb - 1))
            && !matches!(self.text.tag(verb - 1), "ADV" | "SCONJ" | "CCONJ" | "ADJ" | "PART" | "PRON" | "DET" | "ADP");
        found.or_else(|| is_name.then(|| verb - 1..verb))
    }

    /// The name right before a comma: *the president of the FSFE, Karsten Gerloff, says*.
    fn apposition(&self, start: usize, comma: usize) -> Option<Range<usize>> {
        let mut from = comma;
        while from > start && comma - from < 4 && self.class(from - 1) == Class::Proper {
            from -= 1;
        }
        let is_set_off = from > start && is_comma(self.text.word(from - 1));
        (from < comma && is_set_off).then_some(from..comma)
    }

    /// The speaker before a colon without a verb: the first name, else the first phrase.
    pub(super) fn introduced(&self, start: usize, colon: usize) -> Option<Range<usize>> {
        if !self.habits.subject_after.is_empty() || !self.habits.subject_end.is_empty() {
            return self.before(start, colon);
        }
        self.first(start, colon).filter(|speaker| !self.is_label(speaker))
    }

    /// Returns true if a phrase has a proper noun or is a pronoun.
    pub(super) fn has_name(&self, range: &Range<usize>) -> bool {
        range.clone().any(|at| matches!(self.class(at), Class::Proper | Class::Pronoun))
    }

    /// Returns false if case or word class show that a phrase before a verb is not its subject.
    pub(super) fn may_be_subject(&self, range: &Range<usize>) -> bool {
        if self.has_name(range) {
            return true;
        }
        let case = |name: &str| range.clone().any(|at| self.text.token(at).feats.contains(name));
        let is_oblique = case("Case=") && !case("Case=Nom");
        let is_attribute = range.clone().all(|at| self.text.tag(at) == "ADJ");
        !is_oblique && !is_attribute
    }

    /// The first noun phrase of a clause, with a name if one of the first phrases has one.
    pub(super) fn first(&self, start: usize, end: usize) -> Option<Range<usize>> {
        let end = end.min(start + 3 * MAX_SPEAKER_TOKENS);
        let mut at = start;
        let mut best: Option<Range<usize>> = None;
        while at < end {
            match self.class(at) {
                Class::Link => at = self.phrase_end(at + 1, end).max(at + 1),
                Class::Pronoun if at == start && is_personal(self.text, at) => return Some(at..at + 1),
                Class::Pronoun if best.is_none() && is_personal(self.text, at) => {
                    best = Some(at..at + 1);
                    at += 1;
                }
                Class::Proper | Class::Nominal => {
                    let stop = self.phrase_end(at, end).max(at + 1);
                    let accepted = self.accept(at..stop);
                    if accepted.as_ref().is_some_and(|range| self.has_name(range)) {
                        return accepted;
                    }
                    best = best.or(accepted);
                    at = stop;
                }
                _ => at += 1,
            }
        }
        best
    }

    /// The subject of a clause in languages without spaces: from the last border to a word that ends subjects.
    fn clause(&self, start: usize, verb: usize) -> Option<Range<usize>> {
        let from = (start..verb).rev().find(|at| is_border(self.text.word(*at))).map_or(start, |at| at + 1);
        let ends = |at: &usize| self.habits.subject_end.contains(self.text.word(*at));
        let found = |from: usize, verb: usize| {
            let first = (from..verb).find(|at| !ends(at))?;
            let end = (first..verb).find(|at| ends(at)).unwrap_or(verb);
            Some(first.max(end.saturating_sub(MAX_SPEAKER_TOKENS))..end).filter(|found| !found.is_empty())
        };
        let own = found(from, verb);
        if own.is_some() || from <= start + 1 {
            return own;
        }
        // The clause of the verb has no subject of its own: *X在接受采访时，表示*.
        let border = from - 1;
        let from = (start..border).rev().find(|at| is_border(self.text.word(*at))).map_or(start, |at| at + 1);
        found(from, border)
    }

    /// The phrase before a particle that marks subjects, as Japanese は.
    fn marked(&self, start: usize, end: usize) -> Option<Range<usize>> {
        let is_particle = |at: usize| self.habits.subject_after.ends(self.text.word(at));
        let particle = (start..end).find(|at| is_particle(*at))?;
        let is_suffix = !self.habits.subject_after.contains(self.text.word(particle));
        let stop = if is_suffix { particle + 1 } else { particle };
        let from = (start..particle).rev().find(|at| is_border(self.text.word(*at))).map_or(start, |at| at + 1);
        Some(from.max(stop.saturating_sub(MAX_SPEAKER_TOKENS))..stop).filter(|found| !found.is_empty())
    }

    /// The proper noun of a phrase, unless it only qualifies another noun: *the head of the Red Cross*.
    pub(super) fn narrow(&self, phrase: Range<usize>) -> Range<usize> {
        let Some(from) = phrase.clone().find(|at| self.class(*at) == Class::Proper) else { return phrase };
        let mut to = from + 1;
        while to < phrase.end {
            let joins = self.class(to) == Class::Link || !is_capitalised(self.text.word(to));
            if self.class(to) == Class::Proper {
                to += 1;
            } else if joins && to + 1 < phrase.end && self.class(to + 1) == Class::Proper {
                to += 2;
            } else {
                break;
            }
        }
        let qualifies = phrase.start < from && {
            let before = self.class(from - 1);
            let is_article = self.text.tag(from - 1) == "DET" && from - 1 > phrase.start;
            before == Class::Link || (is_article && self.class(from - 2) == Class::Link)
        };
        if qualifies { phrase } else { from..to }
    }
}

/// Returns true for pronouns that can be speakers; relative, reflexive and possessive pronouns and objects are not.
fn is_personal(text: &Text<'_>, index: usize) -> bool {
    let feats = &text.token(index).feats;
    let has = |feature: &str| feats.split(['|', '+']).any(|one| one == feature);
    let is_subject = !feats.contains("Case=") || feats.contains("Case=Nom");
    feats.is_empty() || has("PronType=Prs") && !has("Reflex=Yes") && !has("Poss=Yes") && is_subject
}

/// Returns true for tokens that end a clause.
pub(super) fn is_border(word: &str) -> bool {
    is_comma(word)
        || is_final(word)
        || is_colon(word)
        || is_dash(word)
        || matches!(word, ";" | "；" | "(" | ")" | "（" | "）")
        || marks::glyph(word).is_some()
}
