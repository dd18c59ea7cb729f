//! The reporting verb and the speaker of a quotation.

use std::borrow::Cow;
use std::ops::Range;

use super::habits::Habits;
use super::marks;
use super::pairing::Pair;
use super::speaker::Speakers;
use super::text::{Text, is_capitalised, is_colon, is_comma, is_dash, is_final, is_word};

/// The farthest verb before a quotation that it may belong to, in tokens.
const MAX_BEFORE: usize = 30;
/// The farthest verb after a quotation.
const MAX_AFTER: usize = 14;
/// The longest source after a quotation that fills the rest of its paragraph.
const MAX_CREDIT: usize = 10;

/// How a quotation is introduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Introduction {
    /// By nothing.
    #[default]
    None,
    /// By a verb somewhere before it in its sentence.
    Embedded,
    /// By a colon without a verb.
    Colon,
    /// By a verb next to it, or a source.
    Reported,
}

/// Verb and speaker of a quotation.
#[derive(Debug, Clone, Default)]
pub(super) struct Attribution {
    pub(super) introduction: Introduction,
    pub(super) verb: Option<usize>,
    pub(super) speaker: Option<Range<usize>>,
}

/// Finds verbs and speakers around quotations.
pub(super) struct Attributor<'t, 'a> {
    text: &'t Text<'a>,
    habits: &'static Habits,
    speakers: Speakers<'t, 'a>,
}

impl<'t, 'a> Attributor<'t, 'a> {
    pub(super) fn new(text: &'t Text<'a>, habits: &'static Habits) -> Attributor<'t, 'a> {
        Attributor { text, habits, speakers: Speakers { text, habits } }
    }

    /// The attribution of a quotation by the words around it; `earlier` are the quotations before it.
    pub(super) fn find(&self, pair: &Pair, earlier: &[Pair]) -> Attribution {
        if let Some(inside) = self.inside(pair) {
            return inside;
        }
        let opens_sentence = self.opens_sentence(pair);
        let before = self.before(pair, earlier);
        if let Some(before) = &before
            && (before.introduction == Introduction::Reported || !opens_sentence)
        {
            return before.clone();
        }
        self.after(pair, opens_sentence).or_else(|| self.credit(pair)).or(before).unwrap_or_default()
    }

    /// Returns true if nothing of its sentence stands before a quotation.
    pub(super) fn opens_sentence(&self, pair: &Pair) -> bool {
        let open = pair.start.saturating_sub(1);
        let start = self.text.paragraphs[pair.paragraph].start;
        open <= start
            || self.text.starts_sentence(open)
            || is_final(self.text.word(open - 1))
            || (is_dash(self.text.word(open - 1)) && open - 1 == start)
    }

    fn lower(&self, index: usize) -> Cow<'a, str> {
        lower(self.text.word(index))
    }

    fn is_verb(&self, index: usize, is_adjacent: bool) -> bool {
        let next = self.text.word_or_empty(index + 1);
        let is_tagged = matches!(self.text.tag(index), "NOUN" | "PROPN" | "ADP" | "DET" | "PRON" | "NUM" | "PUNCT");
        // Before a colon the list is surer than the tag (*Max Mehl comments: “…”*), and words of unspaced scripts often
        // are no words of the tagger.
        if is_tagged && !is_colon(next) && self.habits.subject_end.is_empty() || next == "的" {
            return false;
        }
        let is_listed =
            |word: &str| self.habits.verbs.contains(word) || (is_adjacent && self.habits.adjacent_verbs.contains(word));
        is_listed(&self.lower(index)) || is_listed(&lower(&self.text.token(index).lemma))
    }

    /// Words of the writer between dashes inside the marks: «Да, — сказал он. — Идём».
    fn inside(&self, pair: &Pair) -> Option<Attribution> {
        if !self.habits.has_dialogue_dash {
            return None;
        }
        let is_pause = |word: &str| is_comma(word) || is_final(word);
        let mut depth = 0_usize;
        for at in pair.start + 1..pair.end {
            match marks::glyph(self.text.word(at)) {
                Some(('«' | '„' | '‹', _)) => depth += 1,
                Some(('»' | '“' | '›', _)) => depth = depth.saturating_sub(1),
                _ => {}
            }
            let word = self.text.word(at);
            let begins = is_dash(word) && (is_pause(self.text.word(at - 1)) || !self.text.space_after(at));
            if depth > 0 || !begins {
                continue;
            }
            let end = pair.end.min(at + 12);
            let verb = (at + 1..end.min(at + 4)).find(|verb| self.is_verb(*verb, true));
            if let Some(verb) = verb {
                let stop = (verb + 1..end).find(|at| is_dash(self.text.word(*at))).unwrap_or(end);
                let speaker = self.speakers.after(verb + 1, stop);
                let speaker = speaker.or_else(|| self.speakers.before(at + 1, verb).filter(|_| at + 1 < verb));
                return Some(Attribution { introduction: Introduction::Reported, verb: Some(verb), speaker });
            }
        }
        None
    }

    /// *“…”, said X*; *“…,” X told reporters*; *“…”, according to X*.
    fn after(&self, pair: &Pair, opens_sentence: bool) -> Option<Attribution> {
        let end = self.text.paragraphs[pair.last_paragraph].end;
        let last = self.text.word(pair.end - 1);
        let mut at = pair.end + 1;
        let mut is_joined = is_comma(last) || (is_final(last) && !matches!(last, "." | "..." | "…"));
        while at < end && at <= pair.end + 4 {
            let word = self.text.word(at);
            if is_comma(word) || is_dash(word) {
                is_joined = true;
            } else if is_final(word) && word != "." {
                // A question mark outside the marks.
            } else if marks::glyph(word).is_none() || self.text.space_after(at - 1) {
                break;
            }
            at += 1;
        }
        if at >= end || is_final(self.text.word(at)) {
            return None;
        }
        let first = self.text.word(at);
        if !is_joined && matches!(last, "." | "…" | "...") && is_capitalised(first) {
            return None;
        }
        if self.text.tag(at) == "CCONJ" || marks::glyph(first).is_some() {
            return None;
        }
        // Japanese and Korean have a particle between quotation and verb: 「…」と述べた.
        let particles = if self.habits.subject_after.is_empty() { 1 } else { 3 };
        let window = if opens_sentence || is_joined { MAX_AFTER } else { particles };
        let stop = self.clause_end(at, end.min(at + window));
        let words = (pair.start..pair.end.min(pair.start + 8)).filter(|at| is_word(self.text.word(*at))).count();
        let mut found = self.reported_after(at, stop, end, opens_sentence);
        if let Some(found) = &mut found
            && (found.speaker.is_none() || !self.habits.subject_after.is_empty())
        {
            // In verb-final languages the subject stands before the quotation.
            found.speaker = self.subject_before_quotation(pair).or(found.speaker.take());
        }
        // A comma inside the marks announces the words of the writer, whatever they are.
        let announced = || opens_sentence && is_comma(last) && words >= 3;
        found.or_else(|| {
            announced().then(|| Attribution {
                introduction: Introduction::Reported,
                verb: None,
                speaker: self.speakers.first(at, stop),
            })
        })
    }

    /// The subject in the part of the sentence before a quotation.
    fn subject_before_quotation(&self, pair: &Pair) -> Option<Range<usize>> {
        let open = pair.start.checked_sub(1)?;
        let (sentence, _) = self.text.sentence(open);
        let paragraph = self.text.paragraphs[pair.paragraph].start;
        let start = sentence.max(paragraph).max(open.saturating_sub(MAX_BEFORE));
        (start < open).then(|| self.speakers.introduced(start, open)).flatten()
    }

    fn reported_after(&self, at: usize, stop: usize, end: usize, opens_sentence: bool) -> Option<Attribution> {
        if let Some(length) = self.habits.according.matches(|n| (at + n < stop).then(|| self.lower(at + n))) {
            let speaker = self.speakers.after(at + length, self.clause_end(at + length, end));
            return Some(Attribution { introduction: Introduction::Reported, verb: None, speaker });
        }
        let is_short = self.habits.after_quote.contains(&self.lower(at));
        let verb = if is_short { Some(at) } else { (at..stop).find(|at| self.is_verb(*at, opens_sentence)) }?;
        if !opens_sentence && verb > at + 2 {
            return None;
        }
        let commas = (at..verb).filter(|at| is_comma(self.text.word(*at))).count();
        let first = (at < verb && commas == 0).then(|| self.speakers.before(at, verb)).flatten();
        let name = (at < verb && commas > 0).then(|| self.speakers.first(at, verb)).flatten();
        let before = first.or(name);
        let after = || self.speakers.after(verb + 1, self.clause_end(verb + 1, end));
        // Without tags an auxiliary looks like a noun: *“…”, ha detto Ada Neri*.
        let is_sure = |range: &Range<usize>| !self.text.tag(verb).is_empty() || self.speakers.has_name(range);
        let speaker = match before {
            Some(range) if is_sure(&range) || !self.habits.subject_end.is_empty() => Some(range),
            Some(range) => Some(after().filter(|after| self.speakers.has_name(after)).unwrap_or(range)),
            None => after(),
        };
        let verb = Some(verb).filter(|_| !is_short);
        Some(Attribution { introduction: Introduction::Reported, verb, speaker })
    }

    /// The end of the clause: sentence-final punctuation, a colon or a quotation mark.
    fn clause_end(&self, from: usize, end: usize) -> usize {
        let end = end.min(from + MAX_BEFORE).max(from);
        let ends = |at: &usize| {
            let word = self.text.word(*at);
            is_final(word)
                || is_colon(word)
                || marks::glyph(word).is_some_and(|(glyph, _)| glyph != '’' && glyph != '\'')
        };
        (from..end).find(ends).unwrap_or(end)
    }

    /// *X said: “…”*; *X called it “…”*; *according to X, “…”*.
    fn before(&self, pair: &Pair, earlier: &[Pair]) -> Option<Attribution> {
        let open = pair.start.checked_sub(1)?;
        let (sentence, _) = self.text.sentence(open);
        let paragraph = self.text.paragraphs[pair.paragraph].start;
        let enclosing = earlier.iter().rev().take(8).find(|other| other.end > pair.end).map_or(0, |outer| outer.start);
        let start = sentence.max(paragraph).max(enclosing).max(open.saturating_sub(MAX_BEFORE));
        if open <= start {
            return None;
        }
        let has_colon = is_colon(self.text.word(open - 1));
        let is_next = has_colon || is_comma(self.text.word(open - 1));
        let (verb, crossed) = self.verb_before(start, open, is_next, earlier);
        let introduction = |at: usize| match is_next && crossed == 0 && open - at <= 16 {
            true => Introduction::Reported,
            false => Introduction::Embedded,
        };
        if let Some(verb) = verb {
            let stop = self.clause_end(verb + 1, open);
            // The subject does not stand within an earlier quotation.
            let others = earlier.iter().rev().take(8).filter(|other| other.end < verb).map(|other| other.end + 1);
            let speaker = self.subject(start.max(others.max().unwrap_or(0)), verb, stop);
            return Some(Attribution { introduction: introduction(verb), verb: Some(verb), speaker });
        }
        if let Some(source) = self.source(start, open) {
            return Some(Attribution { introduction: Introduction::Embedded, verb: None, speaker: Some(source) });
        }
        has_colon.then(|| Attribution {
            introduction: Introduction::Colon,
            verb: None,
            speaker: self.speakers.introduced(start, open - 1),
        })
    }

    /// The nearest reporting verb before a quotation, and the number of quotations between them.
    fn verb_before(&self, start: usize, open: usize, is_next: bool, earlier: &[Pair]) -> (Option<usize>, usize) {
        let mut crossed = 0;
        let mut others = earlier.iter().rev().filter(|other| other.end < open).take(8).peekable();
        let mut at = open;
        while at > start {
            at -= 1;
            if let Some(other) = others.peek()
                && at <= other.end
            {
                at = at.min(other.start.saturating_sub(1));
                others.next();
                crossed += 1;
                continue;
            }
            if self.is_verb(at, is_next && crossed == 0) {
                return (Some(at), crossed);
            }
        }
        (None, crossed)
    }

    fn subject(&self, start: usize, verb: usize, stop: usize) -> Option<Range<usize>> {
        let before = self.speakers.before(start, verb);
        if !self.habits.subject_end.is_empty() {
            return before;
        }
        if verb > start && self.text.tag(verb - 1) == "CCONJ" {
            // *called it “a mistake” and said “…”*: the subject is that of the verb before.
            return self.speakers.first(start, verb - 1);
        }
        // *Am Montag sagte Merkel*: what stands before the verb is an object or adverbial.
        let is_subject = before.as_ref().is_some_and(|range| self.speakers.may_be_subject(range));
        let after = || self.speakers.after(verb + 1, stop);
        if is_subject {
            before
        } else {
            after().filter(|range| self.speakers.has_name(range)).or(before).or_else(after)
        }
    }

    /// The source of *according to X* within a range.
    fn source(&self, start: usize, end: usize) -> Option<Range<usize>> {
        for at in start..end {
            let word = |n: usize| (at + n < end).then(|| self.lower(at + n));
            if let Some(length) = self.habits.according.matches(word) {
                return self.speakers.after(at + length, self.clause_end(at + length, end));
            }
            if at > start && self.habits.according_after.contains(&self.lower(at)) {
                return self.speakers.before(start, at).or_else(|| self.speakers.first(start, at));
            }
        }
        None
    }

    /// A source that fills the rest of the paragraph: *“…” – Dan Neale, Social Media Today*.
    fn credit(&self, pair: &Pair) -> Option<Attribution> {
        let paragraph = self.text.paragraphs[pair.last_paragraph];
        let opens = pair.start <= self.text.paragraphs[pair.paragraph].start + 1;
        let from = (pair.end + 1..paragraph.end.min(pair.end + 4)).find(|at| is_word(self.text.word(*at)))?;
        let fits = paragraph.end - from <= MAX_CREDIT;
        if !opens || !fits || !is_capitalised(self.text.word(from)) || is_final(self.text.word(paragraph.end - 1)) {
            return None;
        }
        let speaker = self.speakers.first(from, paragraph.end)?;
        Some(Attribution { introduction: Introduction::Reported, verb: None, speaker: Some(speaker) })
    }

    /// The subject of the sentence before a quotation that stands alone: *Vance laughed. “Ask me!”*
    pub(super) fn previous_sentence(&self, pair: &Pair) -> Option<Range<usize>> {
        let open = pair.start.checked_sub(1)?;
        let paragraph = self.text.paragraphs[pair.paragraph].start;
        let (start, _) = self.text.sentence(open.checked_sub(1)?);
        if start < paragraph || open - start > MAX_BEFORE {
            return None;
        }
        let is_mark = |word: &str| marks::glyph(word).is_some_and(|(one, _)| !matches!(one, '’' | '\''));
        if (start..open).any(|at| is_mark(self.text.word(at))) {
            return None;
        }
        self.speakers.first(start, open)
    }
}

/// A word in lower case.
pub(super) fn lower(word: &str) -> Cow<'_, str> {
    match word.chars().any(char::is_uppercase) {
        true => Cow::Owned(word.to_lowercase()),
        false => Cow::Borrowed(word),
    }
}
