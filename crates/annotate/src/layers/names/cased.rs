//! Runs of capitalised words, for scripts with case.

use super::evidence::{Position, Shape, Text, Word, WordClass};
use super::kind::kind;
use super::words::{Extension, Role, is_particle};
use super::{MAX_TOKENS, Mention};

/// What a token can be in a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// Not part of a name, or only as a particle.
    None,
    /// Part of a name, but no name by itself: adjectives, initials, numerals.
    Attribute,
    /// A name by itself.
    Name,
}

/// The names of a document, in reading order.
pub(super) fn mentions(text: &Text<'_>) -> Vec<Mention> {
    let mut mentions = Vec::new();
    for sentence in &text.sentences {
        let builder = RunBuilder { text, end: sentence.end, start: sentence.start };
        let mut index = sentence.start;
        while index < sentence.end {
            let (next, mention) = builder.run(index);
            mentions.extend(mention);
            index = next.max(index + 1);
        }
    }
    mentions
}

/// Builds the runs of one sentence.
pub(super) struct RunBuilder<'t, 'a> {
    pub text: &'t Text<'a>,
    pub start: usize,
    pub end: usize,
}

impl RunBuilder<'_, '_> {
    pub(super) fn word(&self, index: usize) -> &Word<'_> {
        &self.text.tokens[index]
    }

    /// The run that begins at a token, if it is a name, and the token after it.
    fn run(&self, first: usize) -> (usize, Option<Mention>) {
        if let Some(end) = self.listed(first) {
            return (end, Some(Mention { start: first, end, kind: kind(self.text, first, end) }));
        }
        if self.standing(first, None) == Standing::None {
            return (first + 1, None);
        }
        let mut end = first + 1;
        let mut has_name = self.standing(first, None) == Standing::Name;
        let mut has_joiner = false;
        while let Some((next, standing)) = self.next_part(first, end, has_joiner) {
            has_joiner |= next > end;
            has_name |= standing == Standing::Name;
            end = next + 1;
            if end - first > MAX_TOKENS {
                // The rest of the run is skipped as well: it is a list or a title.
                while end < self.end && self.standing(end, Some(first)) != Standing::None {
                    end += 1;
                }
                return (end, None);
            }
        }
        if let Some(compound) = self.compound(first, end) {
            return compound;
        }
        let extended = self.extend(first, end);
        has_name |= extended > end;
        end = extended;
        (end, self.finish(first, end, has_name))
    }

    /// The end of a name of several words that the lists have, unless a longer name begins with it.
    fn listed(&self, first: usize) -> Option<usize> {
        let word = self.word(first);
        let is_start = word.shape.is_capital() && word.roles.has(Role::ListStart);
        if !is_start || word.position == Position::Headline {
            return None;
        }
        let is_listed = |end: &usize| {
            let last = self.word(end - 1);
            last.shape.is_capital()
                && self
                    .text
                    .words
                    .roles(&self.text.lower_text(first, *end))
                    .has_any(&[Role::PlaceName, Role::OrganisationName])
        };
        let end = (first + 2..=self.end.min(first + 4)).rev().find(is_listed)?;
        let is_last = end >= self.end || !self.word(end).shape.is_capital();
        is_last.then_some(end)
    }

    /// Decides whether a run is a name, and trims it.
    fn finish(&self, mut first: usize, mut end: usize, has_name: bool) -> Option<Mention> {
        // A numeral or an initial at the edge is no part of a name of one word: *Part II*, *Plan B*.
        while end > first + 1 && self.is_trailing(end - 1, first) {
            end -= 1;
        }
        if !has_name {
            let all_attributes = (first..end).all(|index| self.word(index).class != WordClass::ProperNoun);
            let has_organisation = end - first >= 2 && self.text.is_organisation(end - 1);
            if all_attributes && !has_organisation {
                return None;
            }
        }
        // *French President*: a nationality before a title; *Foreign Minister*: part of the title.
        let is_modifier = |index: usize| self.word(index).roles.has_any(&[Role::TitleModifier, Role::NotName]);
        let before_title = end < self.end && self.text.roles(end).has(Role::Title);
        if before_title && (first..end).all(is_modifier) {
            return None;
        }
        let mut kind = kind(self.text, first, end);
        let is_sure = |kind| matches!(kind, Some(super::NameKind::Organisation | super::NameKind::Place));
        while !is_sure(kind) && end - first >= 2 && self.strips_attribute(first, end) {
            first += 1;
            kind = super::kind::kind(self.text, first, end);
        }
        let is_not_name = end - first == 1 && self.word(first).roles.has(Role::NotName);
        let mention = Mention { start: first, end, kind };
        (!is_not_name && !self.is_doubtful(&mention)).then_some(mention)
    }

    /// Returns true if the first word is a nationality before a name: *American John Smith*.
    fn strips_attribute(&self, first: usize, end: usize) -> bool {
        let roles = self.word(first).roles;
        let is_nationality = roles.has(Role::NotName) && !roles.has(Role::PlaceName);
        let rest = self.text.roles(first + 1);
        // *Geigerin Noah Bendix*: a noun before a given name says what the person does.
        let is_role = (self.text.has_capital_nouns || self.text.is_inflecting())
            && !roles.has_any(&[Role::GivenName, Role::PlaceName, Role::OrganisationName])
            && self.word(first).shape == Shape::Capital
            && end - first >= 3;
        is_role && rest.has(Role::GivenName)
            || is_nationality
                && (rest.has_any(&[Role::GivenName, Role::PlaceName]) || end - first == 2 && self.is_proper(first + 1))
    }

    fn is_proper(&self, index: usize) -> bool {
        self.word(index).class == WordClass::ProperNoun && self.word(index).shape == Shape::Capital
    }

    /// Returns true for a last token that does not end names.
    fn is_trailing(&self, index: usize, first: usize) -> bool {
        let word = self.word(index);
        let is_title = word.roles.has_any(&[Role::Title, Role::TitleModifier])
            && !self.is_after_given(index, first)
            && !self.text.is_organisation(first);
        let is_function = word.class == WordClass::Function && word.shape != Shape::Upper;
        is_title && !word.roles.has(Role::Organisation) || is_function
    }

    /// The next part of a run that ends at `end`: its last token and standing.
    fn next_part(&self, first: usize, end: usize, has_joiner: bool) -> Option<(usize, Standing)> {
        if end >= self.end {
            return None;
        }
        let standing = self.standing(end, Some(first));
        if standing != Standing::None {
            let is_apart = self.is_genitive(end - 1)
                || self.is_other_case(end - 1, end)
                || self.text.begins_full_name(end)
                    && !self.text.roles(end - 1).has_any(&[Role::GivenName, Role::Organisation]);
            return (!is_apart).then_some((end, standing));
        }
        let word = &self.word(end).token.word;
        let next = end + 1;
        if next >= self.end {
            return None;
        }
        // Parts of a hyphenated name: *Hans-Peter*. Other compounds are judged by `compound`.
        if is_hyphen(word) && !self.word(end - 1).token.space_after && !self.word(end).token.space_after {
            let standing = self.standing(next, Some(first));
            return (standing != Standing::None).then_some((next, standing));
        }
        if word == "&" && self.word(next).shape.is_capital() {
            return Some((next, Standing::Name));
        }
        let lower = word.to_lowercase();
        if self.text.words.roles(&lower).has(Role::Conjunction) {
            let standing = self.standing(next, Some(first));
            return (standing != Standing::None && self.joins_over_conjunction(first, end, has_joiner))
                .then_some((next, standing));
        }
        self.joined(first, end)
    }

    /// The part after prepositions and particles that belong to names.
    fn joined(&self, first: usize, end: usize) -> Option<(usize, Standing)> {
        let mut next = end;
        let (mut all_particles, mut all_joiners) = (true, true);
        while next < self.end && next - end < 3 {
            let lower = self.word(next).token.word.to_lowercase();
            let (particle, joiner) = (is_particle(&lower), self.text.words.roles(&lower).has(Role::Joiner));
            // *al-Rashidi*, in tokens or in one.
            let is_glued = next > end && is_hyphen(&lower) && !self.word(next - 1).token.space_after;
            if is_glued {
                next += 1;
                continue;
            }
            if !particle && !joiner {
                break;
            }
            all_particles &= particle;
            all_joiners &= joiner;
            next += 1;
        }
        if next == end || next >= self.end {
            return None;
        }
        let mut standing = self.standing(next, Some(first));
        let begins = self.word(end).token.word.to_lowercase();
        let is_article = matches!(
            begins.as_str(),
            "the" | "der" | "des" | "dem" | "den" | "la" | "las" | "los" | "le" | "el" | "les" | "i" | "gli"
        );
        let is_head = self.text.is_organisation(end - 1)
            || self.text.is_organisation(first)
            || self.text.roles(first).has(Role::Place)
            || self.text.roles(end - 1).has(Role::Place);
        let is_noun = self.text.has_capital_nouns && self.word(next).shape == Shape::Capital;
        let is_person = all_particles && !is_article && self.text.roles(end - 1).has(Role::GivenName);
        if (is_head || is_person) && is_noun && standing == Standing::None {
            standing = if is_person { Standing::Name } else { Standing::Attribute };
        }
        if standing == Standing::None {
            return None;
        }
        let right = self.text.roles(next);
        let is_acronym = self.word(next).shape == Shape::Upper;
        let joins = if is_head && all_joiners && (!is_article || self.text.has_capital_nouns && is_noun) {
            !right.has(Role::GivenName) || self.text.roles(first).has(Role::Place)
        } else if all_particles && !all_joiners {
            !is_acronym
        } else if all_particles && !is_article {
            let is_first_place = self.text.words.roles(&self.text.lower_text(first, end)).has(Role::PlaceName);
            let is_full_name = end - first >= 2 && self.text.roles(first).has(Role::GivenName);
            let all_given = (first..end).all(|index| self.text.roles(index).has(Role::GivenName));
            let is_known = right.has_any(&[Role::PlaceName, Role::OrganisationName]) && self.text.has_capital_nouns;
            let is_person = all_given || end - first == 1 || !self.text.has_capital_nouns;
            let is_other = right.has(Role::GivenName) && !all_given;
            is_person && !is_first_place && (!is_full_name || all_given) && !is_acronym && !is_known && !is_other
        } else {
            false
        };
        joins.then_some((next, standing))
    }

    /// Returns true if a conjunction after `end` is inside the name of an organisation.
    fn joins_over_conjunction(&self, first: usize, end: usize, has_joiner: bool) -> bool {
        let next = end + 1;
        let right = self.text.roles(next);
        let is_other_name = right.has_any(&[Role::GivenName, Role::PlaceName, Role::OrganisationName]);
        if is_other_name || self.word(next).shape == Shape::Upper {
            return false;
        }
        if has_joiner && (first..end).any(|index| self.text.is_organisation(index)) {
            return true;
        }
        // *Food and Drug Administration*: one word before, and an organisation at the end.
        // *U.S. Patent and Trademark Office*: a place before it.
        let has_place = end - first == 2 && self.text.roles(first).has(Role::PlaceName);
        let word = if has_place { first + 1 } else { first };
        let left = self.text.roles(word);
        let mut last = next;
        while last + 1 < self.end && last - next < 3 && self.standing(last + 1, Some(first)) != Standing::None {
            last += 1;
        }
        let is_plain = !left.has_any(&[Role::GivenName, Role::PlaceName, Role::OrganisationName, Role::NotName]);
        !self.text.has_capital_nouns
            && (end - first == 1 || has_place)
            && is_plain
            && (has_place || self.text.stop_words.is_some_and(|words| words.contains(&self.word(word).token.word)))
            && self.word(word).shape == Shape::Capital
            && last > next
            && self.text.roles(last).has(Role::Organisation)
    }

    /// A hyphenated compound whose last part is a common noun: *EU-Kommission* is a name, *CDU-Chef* is none.
    fn compound(&self, first: usize, end: usize) -> Option<(usize, Option<Mention>)> {
        let is_glued = |index: usize| index < self.end && !self.word(index - 1).token.space_after;
        if !(is_glued(end) && is_hyphen(&self.word(end).token.word) && is_glued(end + 1)) {
            return None;
        }
        let tail = end + 1;
        if self.text.has_capital_nouns && self.text.is_organisation(tail) && self.word(tail).shape.is_capital() {
            let kind = Some(super::NameKind::Organisation);
            return Some((tail + 1, Some(Mention { start: first, end: tail + 1, kind })));
        }
        // The words before the compound's first part are a name of their own.
        let mut last = tail;
        while last + 2 < self.end && is_hyphen(&self.word(last + 1).token.word) && is_glued(last + 1) {
            last += 2;
        }
        let has_name = (first..end - 1).any(|index| self.standing(index, Some(first)) == Standing::Name);
        let before = (end - first >= 2 && has_name && !is_hyphen(&self.word(end - 2).token.word))
            .then(|| self.finish(first, end - 1, true))
            .flatten();
        Some((last + 1, before))
    }

    /// Extends a run by words in lower case that belong to names of organisations.
    fn extend(&self, first: usize, end: usize) -> usize {
        match self.text.words.extension {
            Extension::None => end,
            Extension::Adjective => {
                let is_adjective = |index: usize| {
                    let word = self.word(index);
                    word.class == WordClass::Adjective && word.shape == Shape::Lower
                };
                let mut extended = end;
                while self.text.is_organisation(end - 1)
                    && extended < self.end
                    && extended - end < 2
                    && is_adjective(extended)
                {
                    extended += 1;
                }
                extended
            }
            Extension::Genitive => self.extend_genitive(first, end),
        }
    }

    /// *Европейский* + *центральный банк*, then *Министерство* + *обороны* + *России*.
    pub(super) fn extend_genitive(&self, first: usize, end: usize) -> usize {
        let is_lower = |index: usize, class: WordClass| {
            index < self.end && self.word(index).shape == Shape::Lower && self.word(index).class == class
        };
        let mut head = end - 1;
        if end - first == 1 && self.word(first).class == WordClass::Adjective {
            let mut next = end;
            while next - end < 3 && is_lower(next, WordClass::Adjective) {
                next += 1;
            }
            if is_lower(next, WordClass::Noun) && self.text.roles(next).has(Role::Place) {
                return next + 1;
            }
            if !(is_lower(next, WordClass::Noun) && self.text.is_organisation(next)) {
                return end;
            }
            head = next;
        }
        if !self.text.is_organisation(head) {
            return end;
        }
        let is_genitive = |index: usize| super::evidence::case(&self.word(index).token.feats) == Some("Gen");
        let mut extended = head + 1;
        let mut next = extended;
        while next < self.end && next - head <= 4 && is_genitive(next) {
            if is_lower(next, WordClass::Noun) {
                extended = next + 1;
            } else if !is_lower(next, WordClass::Adjective) {
                break;
            }
            next += 1;
        }
        let is_owner = |index: usize| {
            index < self.end
                && self.word(index).class == WordClass::ProperNoun
                && self.word(index).shape.is_capital()
                && (is_genitive(index) || self.word(index).shape == Shape::Upper)
                && self.text.roles(index).has_any(&[Role::PlaceName, Role::OrganisationName])
        };
        // *Центральный банк России*; other owners are names of their own.
        let is_bank = extended == head + 1 && head > first && self.word(head).token.lemma == "банк";
        if is_bank && is_owner(extended) { extended + 1 } else { extended }
    }

    /// Returns true if a token is a genitive before another name: *Merkels Berlin*.
    pub(super) fn is_genitive(&self, index: usize) -> bool {
        let word = &self.word(index).token.word;
        let is_marked = ["'s", "’s", "'", "’"].iter().any(|mark| word.ends_with(mark));
        let is_inflected = self.text.has_capital_nouns && word.ends_with('s') && self.text.is_surname(index);
        is_marked || is_inflected && self.text.words.roles(&word.to_lowercase()) == Default::default()
    }

    /// *президент Франции Эмманюэль Макрон*: cases separate two names.
    fn is_other_case(&self, index: usize, next: usize) -> bool {
        if !self.text.is_inflecting() {
            return false;
        }
        let case = |index: usize| super::evidence::case(&self.word(index).token.feats);
        let is_known = |index: usize| self.text.roles(index).has_any(&[Role::PlaceName, Role::OrganisationName]);
        let is_given = self.text.roles(next).has(Role::GivenName);
        let is_owner = self.word(index).class == WordClass::ProperNoun && self.word(index).shape != Shape::Initial;
        let differs = matches!((case(index), case(next)), (Some("Gen" | "Loc" | "Dat"), Some("Nom")));
        let is_place = self.text.roles(next).has(Role::PlaceName);
        let is_acronym = self.word(index).shape == Shape::Upper && self.word(next).shape == Shape::Capital;
        if is_acronym || is_known(index) && is_place {
            return true;
        }
        // *мэр Гданьска Кшиштоф Завадский*: the owner of the title, then the person.
        let before = index.checked_sub(1).filter(|before| *before >= self.start);
        let has_title = before.is_some_and(|before| self.text.roles(before).has_any(&[Role::Title, Role::Apposition]));
        if is_owner && has_title && (differs || is_known(index)) {
            return true;
        }
        is_owner && (is_given && (is_known(index) || differs) || is_known(index) && differs)
    }

    /// Returns true if a title-like word is a surname: *Stephen King*.
    pub(super) fn is_after_given(&self, index: usize, first: usize) -> bool {
        index == first + 1 && self.word(first).roles.has(Role::GivenName)
    }
}

pub(super) fn is_hyphen(word: &str) -> bool {
    matches!(word, "-" | "‐" | "‑" | "–")
}
