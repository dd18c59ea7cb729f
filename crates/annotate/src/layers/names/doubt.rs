//! Evidence against names: capitalised words that the document also has in lower case, words inside titles, and nouns of
//! languages that capitalise all nouns.

use super::cased::RunBuilder;
use super::evidence::{Shape, WordClass};
use super::words::Role;
use super::{Mention, NameKind};

/// Roles that make a word sure to be part of a name.
const KNOWN: [Role; 5] =
    [Role::PlaceName, Role::OrganisationName, Role::GivenName, Role::LegalForm, Role::OrganisationAdjective];

impl RunBuilder<'_, '_> {
    /// Returns true if a run that looks like a name is a title, a term or a common noun.
    pub(super) fn is_doubtful(&self, mention: &Mention) -> bool {
        let (start, end) = (mention.start, mention.end);
        if self.is_inside_title(start, end) {
            return true;
        }
        match self.text.has_capital_nouns {
            true => end - start == 1 && mention.kind.is_none() && self.is_common_noun(start),
            false => self.is_term(mention),
        }
    }

    /// *Chief Information Officer*: what stands between two words of a title belongs to it.
    fn is_inside_title(&self, start: usize, end: usize) -> bool {
        let is_title = |index: usize| self.text.roles(index).has_any(&[Role::Title, Role::TitleModifier]);
        start > self.start
            && end < self.end
            && is_title(start - 1)
            && self.word(start - 1).shape == Shape::Capital
            && self.text.roles(end).has(Role::Title)
            && self.word(end).shape == Shape::Capital
            && (start..end).all(|index| !self.is_known(index))
    }

    fn is_known(&self, index: usize) -> bool {
        let word = self.word(index);
        word.roles.has_any(&KNOWN)
            || matches!(word.shape, Shape::Upper | Shape::Mixed | Shape::Initial)
            || self.text.is_surname(index)
    }

    /// *Open Standards* in a document that also speaks of open standards: a term with capitals.
    fn is_term(&self, mention: &Mention) -> bool {
        let is_single = mention.end - mention.start == 1;
        let may_be_term = match mention.kind {
            None => true,
            // *the Department*, if the document also has departments in lower case.
            Some(NameKind::Organisation) => is_single,
            Some(_) => false,
        };
        let is_common = |index: usize| {
            let word = self.word(index);
            match word.shape {
                Shape::Capital => !self.is_known(index) && self.text.uses(index).lower > 0,
                Shape::Lower | Shape::Other => true,
                _ => false,
            }
        };
        let outnumbers = |index: usize| {
            let uses = self.text.uses(index);
            uses.lower > uses.inside
        };
        may_be_term
            && (mention.start..mention.end).all(is_common)
            && (!is_single || mention.kind.is_none() || outnumbers(mention.start))
    }

    /// A noun that the tagger takes for a name: after an adjective in lower case (*neue Technologien*), or a frequent word
    /// (*in Bezug auf*).
    fn is_common_noun(&self, index: usize) -> bool {
        let word = self.word(index);
        if word.shape != Shape::Capital || self.is_known(index) {
            return false;
        }
        let before = index.checked_sub(1).filter(|before| *before >= self.start).map(|before| self.word(before));
        let follows_adjective =
            before.is_some_and(|before| before.class == WordClass::Adjective && before.shape == Shape::Lower);
        let lower = word.token.word.to_lowercase();
        // Names have no plural, except those of the lists.
        let is_plural = word.token.feats.split(['|', '+']).any(|feature| feature == "Number=Plur");
        follows_adjective
            || is_plural
            || self.is_attribute_of_noun(index, &lower)
            || self.text.stop_words.is_some_and(|words| words.contains(&lower))
    }

    /// *Freier Software*: an adjective with a capital before a noun. One in *-er* may be a surname, and counts only if the
    /// document has another form of it.
    fn is_attribute_of_noun(&self, index: usize, lower: &str) -> bool {
        const ENDINGS: [&str; 5] = ["e", "er", "en", "es", "em"];
        let next = index + 1;
        let precedes_noun = next < self.end
            && self.word(index).token.space_after
            && self.word(next).class == WordClass::Noun
            && self.word(next).shape == Shape::Capital;
        let Some(ending) = ENDINGS.iter().rev().find(|ending| lower.ends_with(*ending)).filter(|_| precedes_noun)
        else {
            return false;
        };
        let stem = &lower[..lower.len() - ending.len()];
        let has_form = |other: &&str| *other != *ending && self.text.has_form(&format!("{stem}{other}"));
        stem.len() >= 3 && (*ending != "er" || ENDINGS.iter().any(has_form))
    }
}
