//! Direct speech that a dash opens at the start of a paragraph.
//!
//! Lists begin with dashes too: a run of such paragraphs is dialogue only if one of them has a reporting verb after a dash.

use super::attribution::{Attribution, Introduction, lower};
use super::habits::Habits;
use super::speaker::Speakers;
use super::text::{Text, is_comma, is_dash, is_word};

/// A stretch of speech with its attribution.
pub(super) struct Speech {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) attribution: Attribution,
}

/// All speech that dashes open.
pub(super) fn speeches(text: &Text<'_>) -> Vec<Speech> {
    let mut found = Vec::new();
    let mut number = 0;
    while number < text.paragraphs.len() {
        let run = text.paragraphs[number..].iter().take_while(|one| {
            one.habits.has_dialogue_dash && !one.is_heading && one.start + 1 < one.end && is_dash(text.word(one.start))
        });
        let length = run.count();
        let paragraphs = &text.paragraphs[number..number + length];
        let from = found.len();
        let mut is_dialogue = false;
        for paragraph in paragraphs {
            let dialogue = Dialogue { text, habits: paragraph.habits, end: paragraph.end };
            is_dialogue |= dialogue.split(paragraph.start + 1, &mut found);
        }
        if !is_dialogue {
            found.truncate(from);
        }
        number += length.max(1);
    }
    found
}

struct Dialogue<'t, 'a> {
    text: &'t Text<'a>,
    habits: &'static Habits,
    end: usize,
}

impl Dialogue<'_, '_> {
    /// Splits a paragraph into speech and words of the writer; returns true if it has a reporting verb after a dash.
    fn split(&self, from: usize, found: &mut Vec<Speech>) -> bool {
        let mut has_verb = false;
        let mut start = from;
        let mut at = from;
        let mut attribution = Attribution::default();
        while at < self.end {
            if !is_dash(self.text.word(at)) {
                at += 1;
                continue;
            }
            let Some(verb) = (at + 1..self.end.min(at + 5)).find(|verb| self.is_verb(*verb)) else {
                at += 1;
                continue;
            };
            has_verb = true;
            let stop = (verb + 1..self.end).find(|at| is_dash(self.text.word(*at))).unwrap_or(self.end);
            let speakers = Speakers { text: self.text, habits: self.habits };
            let speaker =
                speakers.after(verb + 1, stop).or_else(|| speakers.before(at + 1, verb).filter(|_| verb > at + 1));
            attribution = Attribution { introduction: Introduction::Reported, verb: Some(verb), speaker };
            self.push(start, at, &attribution, found);
            start = (stop + 1).min(self.end);
            at = start;
        }
        self.push(start, self.end, &attribution, found);
        has_verb
    }

    fn push(&self, start: usize, end: usize, attribution: &Attribution, found: &mut Vec<Speech>) {
        let mut end = end;
        while end > start && is_comma(self.text.word(end - 1)) {
            end -= 1;
        }
        if (start..end).any(|at| is_word(self.text.word(at))) {
            found.push(Speech { start, end, attribution: attribution.clone() });
        }
    }

    fn is_verb(&self, index: usize) -> bool {
        let is_listed = |word: &str| self.habits.verbs.contains(word) || self.habits.adjacent_verbs.contains(word);
        !matches!(self.text.tag(index), "NOUN" | "PROPN" | "ADP" | "DET")
            && (is_listed(&lower(self.text.word(index))) || is_listed(&lower(&self.text.token(index).lemma)))
    }
}
