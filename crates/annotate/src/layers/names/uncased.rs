//! Names in scripts without case: proper nouns by their tags, with rules for Chinese, which has no spaces either.

use super::evidence::{Shape, Text, Word, WordClass};
use super::kind::kind;
use super::words::Role;
use super::{Mention, NameKind};

/// Longest name of an organisation in tokens.
const MAX_ORGANISATION_TOKENS: usize = 7;

/// Characters that transcribe foreign names in Chinese.
const TRANSCRIPTION: &str = "阿埃艾爱安奥巴班邦鲍贝本比彼宾波伯博勃布茨查德登迪蒂丁东杜顿多厄恩尔法凡范菲芬丰弗夫福盖甘冈戈格葛古瓜圭哈海汉豪赫\
    亨洪胡华怀惠霍基吉加贾简杰金喀卡凯坎康考柯科可克肯库夸奎拉莱赖兰朗劳勒雷蕾里李丽利莉连廉良列烈林琳龄留隆卢鲁路露伦罗洛马玛迈曼\
    芒毛梅门蒙米密缅明摩莫默姆穆内纳娜南尼妮宁纽努诺欧帕潘庞佩彭皮平珀普奇契恰乔切琼丘曲让热日荣茹儒瑞若萨塞赛桑瑟森沙莎山尚绍舍\
    申圣施什史舒斯丝思司苏索塔泰坦唐陶特滕提廷图托瓦万汪旺威韦维魏温文翁沃乌伍武西希锡席夏香肖谢辛欣休许雪逊雅亚扬杨耶叶伊易\
    因英永尤于约云泽扎赞詹章珍芝朱祖佐";

/// The names of a document, in reading order.
pub(super) fn mentions(text: &Text<'_>) -> Vec<Mention> {
    let mut mentions = Vec::new();
    for sentence in &text.sentences {
        let finder = Finder { text, start: sentence.start, end: sentence.end };
        let mut index = sentence.start;
        while index < sentence.end {
            match finder.name(index) {
                Some(mention) => {
                    index = mention.end.max(index + 1);
                    mentions.push(mention);
                }
                None => index += 1,
            }
        }
    }
    mentions
}

/// Finds the names of one sentence.
struct Finder<'t, 'a> {
    text: &'t Text<'a>,
    start: usize,
    end: usize,
}

impl Finder<'_, '_> {
    fn word(&self, index: usize) -> &Word<'_> {
        &self.text.tokens[index]
    }

    fn name(&self, first: usize) -> Option<Mention> {
        let word = self.word(first);
        if word.roles.has_any(&[Role::NotName, Role::Title]) {
            return None;
        }
        match word.shape {
            Shape::Uncased => {}
            Shape::Capital | Shape::Upper | Shape::Mixed => return Some(self.latin(first)),
            _ => return None,
        }
        let found = self
            .transcription(first)
            .or_else(|| self.organisation(first))
            .or_else(|| self.listed(first))
            .or_else(|| self.person(first))
            .or_else(|| self.proper_nouns(first));
        found.map(|(end, kind)| Mention { start: first, end, kind })
    }

    /// Words in Latin letters inside the text: brands, acronyms.
    fn latin(&self, first: usize) -> Mention {
        let mut end = first + 1;
        while end < self.end
            && end - first < super::MAX_TOKENS
            && matches!(self.word(end).shape, Shape::Capital | Shape::Upper | Shape::Mixed)
            && self.word(end - 1).token.space_after
        {
            end += 1;
        }
        Mention { start: first, end, kind: kind(self.text, first, end) }
    }

    /// Foreign names around a middle dot: 安格拉·默克尔.
    fn transcription(&self, first: usize) -> Option<(usize, Option<NameKind>)> {
        let is_part = |index: usize| {
            let word = &self.word(index).token.word;
            index < self.end && self.word(index).shape == Shape::Uncased && word.chars().all(is_transcription)
        };
        let is_dot =
            |index: usize| index < self.end && matches!(self.word(index).token.word.as_str(), "·" | "•" | "・" | "‧");
        let part = |from: usize| (from..self.end.min(from + 4)).take_while(|index| is_part(*index)).count();
        let mut end = first + part(first);
        if end == first || !is_dot(end) {
            return None;
        }
        while is_dot(end) {
            let length = part(end + 1);
            if length == 0 {
                return None;
            }
            // Only the first token of the last part is sure, unless the next ones are tagged as names too.
            let mut next = end + 2;
            while next < end + 1 + length && (is_dot(end + 1 + length) || self.is_name_part(next)) {
                next += 1;
            }
            end = next;
        }
        Some((end, Some(NameKind::Person)))
    }

    fn is_name_part(&self, index: usize) -> bool {
        let word = self.word(index);
        let is_short = word.token.word.chars().nth(1).is_none();
        word.class == WordClass::ProperNoun || is_short && !matches!(word.class, WordClass::Verb | WordClass::Function)
    }

    /// A place or proper noun, followed by nouns that end as an organisation.
    fn organisation(&self, first: usize) -> Option<(usize, Option<NameKind>)> {
        let begins = self.word(first);
        let is_start = begins.class == WordClass::ProperNoun
            || begins.roles.has_any(&[Role::PlaceName, Role::OrganisationName])
            || matches!(begins.class, WordClass::Noun | WordClass::Untagged)
                && self.ends_as_organisation(&begins.token.word)
                && begins.token.word.chars().nth(3).is_some();
        if !is_start {
            return None;
        }
        let mut joined = String::new();
        let mut best = None;
        for index in first..self.end.min(first + MAX_ORGANISATION_TOKENS) {
            let word = self.word(index);
            let is_open = matches!(
                word.class,
                WordClass::ProperNoun
                    | WordClass::Noun
                    | WordClass::Adjective
                    | WordClass::Other
                    | WordClass::Untagged
                    | WordClass::Verb
                    | WordClass::Function
            );
            let is_title = word.roles.has(Role::Title) && !self.ends_as_organisation_at(index);
            let is_function = word.class == WordClass::Function && word.token.tag != "PART";
            if word.shape != Shape::Uncased || !is_open || is_title || is_function || word.token.word == "的" {
                break;
            }
            if word.class == WordClass::Verb && best.is_some() {
                break;
            }
            joined.push_str(&word.token.word);
            if self.ends_as_organisation(&joined) {
                best = Some(index + 1);
            }
        }
        let end = best?;
        let has_ending_only = end - first == 1 && self.text.words.roles(&begins.token.word).has(Role::Organisation);
        (!has_ending_only).then_some((end, Some(NameKind::Organisation)))
    }

    /// 委员 + 会: the title is the first part of the ending.
    fn ends_as_organisation_at(&self, index: usize) -> bool {
        index + 1 < self.end && {
            let joined = format!("{}{}", self.word(index).token.word, self.word(index + 1).token.word);
            self.text.words.organisation_endings.iter().any(|ending| joined == *ending)
        }
    }

    fn ends_as_organisation(&self, joined: &str) -> bool {
        let is_ending = |ending: &&str| joined.len() > ending.len() && joined.ends_with(ending);
        self.text.words.organisation_endings.iter().any(is_ending)
    }

    /// Places and organisations of the lists, with the word for their kind: 深圳 + 市.
    fn listed(&self, first: usize) -> Option<(usize, Option<NameKind>)> {
        let word = self.word(first);
        if word.roles.has(Role::OrganisationName) {
            return Some((first + 1, Some(NameKind::Organisation)));
        }
        let is_place_name = word.roles.has(Role::PlaceName);
        let is_proper = is_place_name || word.class == WordClass::ProperNoun;
        let next = first + 1;
        let has_kind = is_proper
            && next < self.end
            && !word.token.space_after
            && self.text.words.place_endings.contains(&self.word(next).token.word.as_str());
        if has_kind {
            return Some((next + 1, Some(NameKind::Place)));
        }
        if is_place_name {
            return Some((next, Some(NameKind::Place)));
        }
        let length = word.token.word.chars().count();
        (is_proper && length >= 3 && self.text.words.is_place(&word.token.word))
            .then_some((next, Some(NameKind::Place)))
    }

    /// A family name with the given name after it, in one token or two.
    fn person(&self, first: usize) -> Option<(usize, Option<NameKind>)> {
        let word = self.word(first);
        let length = word.token.word.chars().count();
        let next = first + 1;
        let after_title = self.text.follows_title(first);
        if word.roles.has(Role::Surname) && next < self.end {
            let given = self.word(next);
            let given_length = given.token.word.chars().count();
            let is_given = given.shape == Shape::Uncased
                && given_length <= 2
                && (given.class == WordClass::ProperNoun
                    || after_title && !matches!(given.class, WordClass::Function | WordClass::Verb));
            if is_given && length <= 2 {
                let third = next + 1;
                let is_third = given_length == 1
                    && third < self.end
                    && self.word(third).class == WordClass::ProperNoun
                    && self.word(third).shape == Shape::Uncased
                    && self.word(third).token.word.chars().count() == 1;
                return Some((if is_third { third + 1 } else { next + 1 }, Some(NameKind::Person)));
            }
        }
        let mut letters = word.token.word.chars();
        let begins_as_surname = letters
            .next()
            .is_some_and(|letter| self.text.words.roles(letter.encode_utf8(&mut [0; 4])).has(Role::Surname));
        let is_proper = word.class == WordClass::ProperNoun || after_title && word.class == WordClass::Noun;
        (begins_as_surname && is_proper && (2..=3).contains(&length)).then_some((next, Some(NameKind::Person)))
    }

    /// Neighbouring proper nouns.
    fn proper_nouns(&self, first: usize) -> Option<(usize, Option<NameKind>)> {
        let is_proper = |index: usize| {
            let word = self.word(index);
            word.class == WordClass::ProperNoun
                && word.shape == Shape::Uncased
                && !word.roles.has_any(&[Role::NotName, Role::Title])
        };
        if !is_proper(first) {
            return None;
        }
        let is_known = |index: usize| self.word(index).roles.has_any(&[Role::PlaceName, Role::OrganisationName]);
        let mut end = first + 1;
        while end < self.end && end - first < super::MAX_TOKENS && is_proper(end) && !is_known(end) {
            end += 1;
        }
        let is_character = end - first == 1 && self.word(first).token.word.chars().count() == 1;
        let is_person = self.text.follows_title(first) && first > self.start;
        (!is_character).then(|| (end, if is_person { Some(NameKind::Person) } else { kind(self.text, first, end) }))
    }
}

fn is_transcription(letter: char) -> bool {
    TRANSCRIPTION.contains(letter)
}
