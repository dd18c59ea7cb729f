//! Names in scripts without case: proper nouns by their tags, with rules for Chinese, which has no spaces either.

use std::collections::HashSet;
use std::hash::BuildHasherDefault;

use xxhash_rust::xxh3::Xxh3Default;

use super::evidence::{Shape, Text, Word, WordClass};
use super::kind::kind;
use super::words::Role;
use super::{Mention, NameKind};

/// Longest name of an organisation in tokens.
const MAX_ORGANISATION_TOKENS: usize = 7;

/// Characters that transcribe foreign names in Chinese.
const TRANSCRIPTION: &str = "阿埃艾爱安奥丹娅琪萝蒂尤巴班邦鲍贝本比彼宾波伯博勃布茨查德登迪蒂丁东杜顿多厄恩尔法凡范菲芬丰弗夫福盖甘冈戈格葛古瓜圭哈海汉豪赫\
    亨洪胡华怀惠霍基吉加贾简杰金喀卡凯坎康考柯科可克肯库夸奎拉莱赖兰朗劳勒雷蕾里李丽利莉连廉良列烈林琳龄留隆卢鲁路露伦罗洛马玛迈曼\
    芒毛梅门蒙米密缅明摩莫默姆穆内纳娜南尼妮宁纽努诺欧帕潘庞佩彭皮平珀普奇契恰乔切琼丘曲让热日荣茹儒瑞若萨塞赛桑瑟森沙莎山尚绍舍\
    申圣施什史舒斯丝思司苏索塔泰坦唐陶特滕提廷图托瓦万汪旺威韦维魏温文翁沃乌伍武西希锡席夏香肖谢辛欣休许雪逊雅亚扬杨耶叶伊易\
    因英永尤于约云泽扎赞詹章珍芝朱祖佐翰昂拜保达戴邓狄费冯高贡果韩捷坤来乐黎礼龙吕麦孟弥墨牟倪聂齐钦饶阮撒珊盛诗松宋孙汤腾田铁卫吴悟\
    晓辛熊修旭宣燕耀依宜应雍约曾张哲真志兹宗";

/// Characters that end names of authorities and other organisations, as tokens of their own: 中国民航局.
const ORGANISATION_SUFFIXES: [&str; 12] = ["局", "部", "署", "院", "厅", "委", "社", "厂", "馆", "党", "队", "团"];

/// Words after the name of a competition or prize that belong to it: 中超联赛.
const EVENT_HEADS: [&str; 7] = ["联赛", "锦标赛", "公开赛", "世界杯", "杯", "奖", "电影节"];

/// Verbs that a tokenizer joins to a transcription: 科菲说.
const JOINED_VERBS: [char; 3] = ['说', '称', '道'];

/// The names of a document, in reading order.
pub(super) fn mentions(text: &Text<'_>) -> Vec<Mention> {
    let first_pass = pass(text, &HashSet::default());
    let mut known: HashSet<String, FastHash> = HashSet::default();
    for mention in first_pass.iter().filter(|mention| mention.kind == Some(NameKind::Person)) {
        let name = text.surface(mention.start, mention.end);
        // The last part of a transcription is the surname.
        let last = name.rsplit(['·', '•', '・', '‧']).next().unwrap_or_default();
        if last.chars().nth(1).is_some() {
            known.insert(last.to_owned());
        }
        known.insert(name);
    }
    match known.is_empty() {
        true => first_pass,
        false => pass(text, &known),
    }
}

// Keys are names of one document, whose number is bounded by its length.
type FastHash = BuildHasherDefault<Xxh3Default>;

fn pass(text: &Text<'_>, known: &HashSet<String, FastHash>) -> Vec<Mention> {
    let mut mentions = Vec::new();
    for sentence in &text.sentences {
        let finder = Finder { text, known, start: sentence.start, end: sentence.end };
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
    /// Names of persons that the first pass found.
    known: &'t HashSet<String, FastHash>,
    start: usize,
    end: usize,
}

impl Finder<'_, '_> {
    fn word(&self, index: usize) -> &Word<'_> {
        &self.text.tokens[index]
    }

    fn name(&self, first: usize) -> Option<Mention> {
        let word = self.word(first);
        match word.shape {
            Shape::Uncased => {}
            Shape::Capital | Shape::Upper | Shape::Mixed => return Some(self.latin(first)),
            _ => return None,
        }
        if let Some(end) = self.known(first) {
            return Some(Mention { start: first, end, kind: Some(NameKind::Person) });
        }
        if word.roles.has_any(&[Role::NotName, Role::Title]) || self.begins_title(first) {
            return None;
        }
        let found = self
            .transcription(first)
            .or_else(|| self.organisation(first))
            .or_else(|| self.listed(first))
            .or_else(|| self.person(first))
            .or_else(|| self.proper_nouns(first));
        found.map(|(end, kind)| Mention { start: first, end, kind })
    }

    /// The tokens from `first` on as one word, while there is no space between them.
    fn joined(&self, first: usize, end: usize) -> Option<String> {
        let is_joined = end <= self.end && (first..end - 1).all(|index| !self.word(index).token.space_after);
        is_joined.then(|| (first..end).map(|index| self.word(index).token.word.as_str()).collect())
    }

    /// The end of a person's name that occurs elsewhere in the document.
    fn known(&self, first: usize) -> Option<usize> {
        if self.known.is_empty() {
            return None;
        }
        let is_known = |end: &usize| self.joined(first, *end).is_some_and(|name| self.known.contains(&name));
        (first + 1..=self.end.min(first + 4)).rev().find(is_known)
    }

    /// 发言 + 人: a title of several tokens begins here.
    fn begins_title(&self, first: usize) -> bool {
        let is_title =
            |end: usize| self.joined(first, end).is_some_and(|joined| self.text.words.roles(&joined).has(Role::Title));
        is_title(first + 2) || is_title(first + 3)
    }

    /// Returns true if the tokens before `first` are a title, in one token or several.
    fn follows_title(&self, first: usize) -> bool {
        (1..=3).any(|length| {
            first >= self.start + length
                && self
                    .joined(first - length, first)
                    .is_some_and(|joined| self.text.words.roles(&joined).has(Role::Title))
        })
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
            let word = word.strip_suffix(JOINED_VERBS).filter(|rest| !rest.is_empty()).unwrap_or(word);
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
        matches!(word.class, WordClass::ProperNoun | WordClass::Noun)
            || is_short && !matches!(word.class, WordClass::Verb | WordClass::Function)
    }

    /// A place or proper noun, followed by nouns that end as an organisation.
    fn organisation(&self, first: usize) -> Option<(usize, Option<NameKind>)> {
        let begins = self.word(first);
        let is_strong = |end: usize| {
            (first + 1..end).any(|index| {
                self.joined(index, end).is_some_and(|tail| self.text.words.roles(&tail).has(Role::Organisation))
            })
        };
        let is_long = begins.token.word.chars().nth(1).is_some();
        // 大英博物馆: a noun is enough before the strongest endings.
        let before_strong =
            is_long && begins.class == WordClass::Noun && (2..=3).any(|length| is_strong(first + length));
        let is_start = begins.class == WordClass::ProperNoun
            || begins.roles.has_any(&[Role::PlaceName, Role::OrganisationName, Role::OrganisationStart])
            || before_strong
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
            let is_verb = word.class == WordClass::Verb
                && word.token.word.chars().nth(1).is_some()
                && !self.ends_as_organisation_at(index);
            let is_closed = word.shape != Shape::Uncased || !is_open || word.roles.has(Role::NotName);
            let is_noun_phrase_end = is_title || is_function || is_verb || word.token.word == "的";
            if is_closed || is_noun_phrase_end {
                break;
            }
            joined.push_str(&word.token.word);
            let is_suffix = index > first + 1 && ORGANISATION_SUFFIXES.contains(&word.token.word.as_str());
            if is_suffix || self.ends_as_organisation(&joined) {
                best = Some(index + 1);
            }
        }
        let end = best?;
        let is_plain = begins.class != WordClass::ProperNoun
            && !begins.roles.has_any(&[Role::PlaceName, Role::OrganisationName, Role::OrganisationStart]);
        if is_plain && end - first > 3 {
            return None;
        }
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
        let listed = |end: &usize| {
            let joined = self.joined(first, *end)?;
            let roles = self.text.words.roles(&joined);
            match (roles.has(Role::OrganisationName), roles.has(Role::PlaceName)) {
                (true, _) => Some((*end, Some(NameKind::Organisation))),
                (_, true) => Some((*end, Some(NameKind::Place))),
                _ => None,
            }
        };
        if let Some(found) = (first + 2..=self.end.min(first + 4)).rev().find_map(|end| listed(&end)) {
            return Some(found);
        }
        if word.roles.has(Role::OrganisationName) {
            return Some((first + 1, Some(NameKind::Organisation)));
        }
        if let Some(team) = self.team(first) {
            return Some(team);
        }
        let is_place_name = word.roles.has(Role::PlaceName);
        let is_proper = is_place_name || word.class == WordClass::ProperNoun;
        let next = first + 1;
        // 上海 + 体育 + 场
        let is_kind = |end: &usize| {
            let tail = self.joined(first + 1, *end);
            tail.is_some_and(|tail| self.text.words.place_endings.contains(&tail.as_str()))
        };
        if let Some(end) = (first + 3..=self.end.min(first + 5)).find(is_kind).filter(|_| is_proper) {
            return Some((end, Some(NameKind::Place)));
        }
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

    /// 上海 + 海港 before 队: a club with its place.
    fn team(&self, first: usize) -> Option<(usize, Option<NameKind>)> {
        if !self.word(first).roles.has(Role::PlaceName) {
            return None;
        }
        let is_name =
            |index: usize| matches!(self.word(index).class, WordClass::ProperNoun | WordClass::Noun | WordClass::Other);
        let end = (first + 2..self.end.min(first + 4)).find(|end| self.word(*end).token.word == "队")?;
        (first + 1..end).all(is_name).then_some((end, Some(NameKind::Organisation)))
    }

    /// A family name with the given name after it, in one token or two.
    fn person(&self, first: usize) -> Option<(usize, Option<NameKind>)> {
        let word = self.word(first);
        let length = word.token.word.chars().count();
        let next = first + 1;
        let after_title = self.follows_title(first);
        let is_surname = word.roles.has(Role::Surname) && length <= 2;
        let is_open = |index: usize| index < self.end && self.is_given_part(index);
        if is_surname && is_open(next) {
            let given = self.word(next);
            let is_given = given.class == WordClass::ProperNoun
                || after_title && !(given.class == WordClass::Function && given.token.word.chars().count() > 1);
            if is_given {
                let is_third = given.token.word.chars().count() == 1
                    && is_open(next + 1)
                    && self.word(next + 1).token.word.chars().count() == 1;
                return Some((if is_third { next + 2 } else { next + 1 }, Some(NameKind::Person)));
            }
        }
        // 王志 + 强: the second character of the given name is a token of its own.
        if after_title && length == 2 && self.begins_as_surname(first) && is_open(next) {
            let is_one = self.word(next).token.word.chars().count() == 1;
            return Some((if is_one { next + 1 } else { next }, Some(NameKind::Person)));
        }
        let begins_as_surname = self.begins_as_surname(first);
        let is_proper = word.class == WordClass::ProperNoun || after_title && word.class == WordClass::Noun;
        let is_likely = is_proper || after_title && word.class != WordClass::Function;
        (begins_as_surname && is_likely && (2..=3).contains(&length)).then_some((next, Some(NameKind::Person)))
    }

    /// Chinese has a closed list of surnames.
    fn is_chinese(&self) -> bool {
        self.text.words.roles("王").has(Role::Surname)
    }

    fn begins_as_surname(&self, index: usize) -> bool {
        let first = self.word(index).token.word.chars().next();
        first.is_some_and(|letter| self.text.words.roles(letter.encode_utf8(&mut [0; 4])).has(Role::Surname))
    }

    /// Returns true if a token can be a given name or a part of one: not a frequent verb or function word.
    fn is_given_part(&self, index: usize) -> bool {
        const CLOSED: &str = "说在和与是将对也的了从到被把向曾已为有等及称指出表示认为今年当天率";
        let word = self.word(index);
        let length = word.token.word.chars().count();
        word.shape == Shape::Uncased
            && length <= 2
            && !word.roles.has_any(&[Role::Title, Role::NotName])
            && !word.token.word.chars().any(|letter| CLOSED.contains(letter))
            && (length == 1 || !matches!(word.class, WordClass::Verb | WordClass::Function))
    }

    /// Neighbouring proper nouns.
    fn proper_nouns(&self, first: usize) -> Option<(usize, Option<NameKind>)> {
        let is_proper = |index: usize| {
            let word = self.word(index);
            word.class == WordClass::ProperNoun
                && word.shape == Shape::Uncased
                && !word.roles.has_any(&[Role::NotName, Role::Title])
                && !is_reporting_verb(&word.token.word)
        };
        if !is_proper(first) {
            return None;
        }
        let is_known = |index: usize| self.word(index).roles.has_any(&[Role::PlaceName, Role::OrganisationName]);
        let mut end = first + 1;
        // Without spaces only parts of a transcription belong together.
        let belongs = |index: usize| {
            let is_transcribed = |index: usize| self.word(index).token.word.chars().all(is_transcription);
            let is_spaced = self.word(index - 1).token.space_after;
            is_spaced || !self.is_chinese() || is_transcribed(index) && is_transcribed(index - 1)
        };
        while end < self.end && end - first < super::MAX_TOKENS && is_proper(end) && !is_known(end) && belongs(end) {
            end += 1;
        }
        if end < self.end && self.is_chinese() && EVENT_HEADS.contains(&self.word(end).token.word.as_str()) {
            return Some((end + 1, None));
        }
        let is_character = end - first == 1 && self.word(first).token.word.chars().count() == 1;
        let is_person = self.follows_title(first);
        (!is_character).then(|| (end, if is_person { Some(NameKind::Person) } else { kind(self.text, first, end) }))
    }
}

/// Returns true for verbs that report speech; after a name the tagger often takes them for a part of it.
fn is_reporting_verb(word: &str) -> bool {
    crate::layers::quotations::is_reporting_verb("zh", word)
}

pub(super) fn is_transcription(letter: char) -> bool {
    TRANSCRIPTION.contains(letter)
}
