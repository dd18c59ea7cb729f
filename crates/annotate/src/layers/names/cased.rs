//! Runs of capitalised words, for scripts with case.

use super::evidence::{Position, Shape, Text, Word, WordClass};
use super::kind::kind;
use super::words::{Extension, Role, is_particle};
use super::{MAX_TOKENS, Mention};

/// What a token can be in a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
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
struct RunBuilder<'t, 'a> {
    text: &'t Text<'a>,
    start: usize,
    end: usize,
}

impl RunBuilder<'_, '_> {
    fn word(&self, index: usize) -> &Word<'_> {
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
        if !self.word(first).shape.is_capital() || self.word(first).position == Position::Headline {
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
        (!is_not_name).then_some(Mention { start: first, end, kind })
    }

    /// Returns true if the first word is a nationality before a name: *American John Smith*.
    fn strips_attribute(&self, first: usize, end: usize) -> bool {
        let roles = self.word(first).roles;
        let is_nationality = roles.has(Role::NotName) && !roles.has(Role::PlaceName);
        let rest = self.text.roles(first + 1);
        // *Geigerin Noah Bendix*: a noun before a given name says what the person does.
        let is_role = self.text.has_capital_nouns
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
        let is_title = word.roles.has_any(&[Role::Title, Role::TitleModifier]) && !self.is_after_given(index, first);
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
            let is_apart = self.is_genitive(end - 1) || self.is_other_case(end - 1, end);
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
            is_person && !is_first_place && (!is_full_name || all_given) && !is_acronym && !is_known
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
        let left = self.text.roles(first);
        let mut last = next;
        while last + 1 < self.end && last - next < 3 && self.standing(last + 1, Some(first)) != Standing::None {
            last += 1;
        }
        let is_plain = !left.has_any(&[Role::GivenName, Role::PlaceName, Role::OrganisationName, Role::NotName]);
        !self.text.has_capital_nouns
            && end - first == 1
            && is_plain
            && self.text.stop_words.is_some_and(|words| words.contains(&self.word(first).token.word))
            && self.word(first).shape == Shape::Capital
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
    fn extend_genitive(&self, first: usize, end: usize) -> usize {
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
    fn is_genitive(&self, index: usize) -> bool {
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
        let is_acronym = self.word(index).shape == Shape::Upper && self.text.roles(next).has(Role::PlaceName);
        is_acronym || is_owner && (is_given && (is_known(index) || differs) || is_known(index) && differs)
    }

    /// Returns true if a title-like word is a surname: *Stephen King*.
    fn is_after_given(&self, index: usize, first: usize) -> bool {
        index == first + 1 && self.word(first).roles.has(Role::GivenName)
    }

    /// What a token can be in a name; `first` is the start of the run that it would continue.
    fn standing(&self, index: usize, first: Option<usize>) -> Standing {
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
            return if self.text.has_capital_nouns { Standing::None } else { Standing::Attribute };
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
        if self.is_place_adjective(index) {
            let next = index + 1;
            let is_part = self.word(next).class != WordClass::Noun || self.text.is_organisation(next);
            return if is_part { Standing::Attribute } else { Standing::None };
        }
        match word.class {
            _ if word.shape == Shape::Upper => Standing::Name,
            WordClass::ProperNoun if uses.common > uses.proper * 2 && !self.is_listed(index) => Standing::None,
            WordClass::ProperNoun => Standing::Name,
            WordClass::Adjective => Standing::Attribute,
            _ if self.is_listed(index) || uses.proper > uses.common => Standing::Name,
            _ if self.text.is_surname(index) && !self.follows_article(index) => Standing::Name,
            _ if word.roles.has(Role::GivenName) && self.precedes_capital(index) => Standing::Name,
            WordClass::Noun if first.is_some_and(|first| self.continues_adjective(index, first)) => Standing::Name,
            WordClass::Noun if self.is_town(index) => Standing::Name,
            _ if self.is_surname_here(index, first) => Standing::Name,
            WordClass::Noun if self.is_organisation_for(index) => Standing::Name,
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
        is_of_place || word.class == WordClass::Adjective && word.token.lemma == word.token.word
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
        let is_adjective = before.class == WordClass::Adjective || before.roles.has(Role::OrganisationAdjective);
        let is_short = self.text.is_organisation(index - 1) && before.shape == Shape::Upper;
        index > first && (is_adjective && before.shape == Shape::Capital || is_short)
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

    /// *Bundesamt für Verfassungsschutz*.
    fn is_organisation_for(&self, index: usize) -> bool {
        self.text.is_organisation(index)
            && index + 2 < self.end
            && self.word(index + 1).token.word == "für"
            && self.word(index + 2).shape == Shape::Capital
    }
}

fn is_hyphen(word: &str) -> bool {
    matches!(word, "-" | "‐" | "‑" | "–")
}
