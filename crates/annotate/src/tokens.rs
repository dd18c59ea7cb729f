//! Token boundaries: candidates, rules, and features for the boundary model.

use crate::chars::CharClass;
use crate::hash::{self, Hash};
use crate::table::{Ordinal, Table};
use crate::text_line::{MAX_CONTEXT, TextLine};

/// Decision of the rules about a token boundary, and the rule that applied; models trust some rules
/// more than others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    pub split: bool,
    pub rule: TokenRule,
}

/// Token rules. Their order is part of every trained model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum TokenRule {
    LettersAndDigits,
    Dictionary,
    Scripts,
    Apostrophe,
    AtTheEdge,
    Before,
    After,
    Whole,
    Hyphen,
    LooseHyphen,
    InnerPeriod,
    Ellipsis,
    Initials,
    Initial,
    Abbreviation,
    Ordinal,
    LastPeriod,
    InNumber,
    Repeated,
    Ampersand,
    Underscore,
    Thousands,
    Blank,
    Other,
    Gershayim,
}

fn split(rule: TokenRule) -> Verdict {
    Verdict { split: true, rule }
}

fn join(rule: TokenRule) -> Verdict {
    Verdict { split: false, rule }
}

/// Returns true if a token may end before `index`, which must be inside a run of non-blank
/// characters.
#[inline]
pub fn is_candidate(line: &TextLine, index: usize) -> bool {
    let (before, here) = (line.chars[index - 1], line.chars[index]);
    if here.no_break {
        return false;
    }
    let same_word = before.class.is_letter() && here.class.is_letter();
    let same_number = before.class == CharClass::Digit && here.class == CharClass::Digit;
    !same_word && !same_number
}

/// Returns true if a space may be part of a token: in Vietnamese words, and in numbers such as `10
/// 000`.
pub fn is_candidate_blank(line: &TextLine, blank: usize, table: &Table) -> bool {
    if blank == 0 || blank + 1 >= line.len() {
        return false;
    }
    let (before, after) = (line.class(blank - 1), line.class(blank + 1));
    if table.blank_in_words && before.is_letter() && after.is_letter() {
        return true;
    }
    table.blank_in_numbers && before == CharClass::Digit && after == CharClass::Digit
}

/// Applies the rules to a candidate space.
pub fn apply_blank_rules(line: &TextLine, blank: usize) -> Verdict {
    if line.class(blank - 1) != CharClass::Digit {
        return split(TokenRule::Blank);
    }
    let (start, end) = (line.word_before(blank), line.word_after(blank + 1));
    let digits = |range: std::ops::Range<usize>| range.into_iter().all(|at| line.class(at) == CharClass::Digit);
    let is_group = end == blank + 4 && digits(blank + 1..end);
    let is_head = blank - start <= 3 && line.char(start) != '0' && digits(start..blank);
    if is_group && is_head { join(TokenRule::Thousands) } else { split(TokenRule::Thousands) }
}

/// Applies the rules to the candidate boundary before `index`. `run` is the run of non-blank
/// characters around it.
pub fn apply_rules(line: &TextLine, index: usize, run: &std::ops::Range<usize>, table: &Table) -> Verdict {
    use CharClass::{Ampersand, Apostrophe, Comma, Dash, Hyphen, Period, Quote, Stop, Symbol, Underscore};
    let (before, here) = (line.class(index - 1), line.class(index));
    if before.is_unspaced() && here.is_unspaced() {
        let begins = line.chars[index].word_start;
        return Verdict { split: begins, rule: TokenRule::Dictionary };
    }
    if before.is_word() && here.is_word() {
        return join(TokenRule::LettersAndDigits);
    }
    if (before.is_unspaced() && here.is_word()) || (before.is_word() && here.is_unspaced()) {
        return split(TokenRule::Scripts);
    }
    if in_number(line, index) || in_number(line, index - 1) {
        return join(TokenRule::InNumber);
    }
    match (before, here) {
        (Period, Period) => join(TokenRule::Ellipsis),
        (Stop, Stop) | (Stop, Period) => join(TokenRule::Repeated),
        (Hyphen | Dash | Underscore | Comma | Apostrophe, _) | (Symbol, Symbol)
            if line.char(index - 1) == line.char(index) =>
        {
            join(TokenRule::Repeated)
        }
        // Hebrew gershayim and geresh: abbreviations and foreign sounds.
        (_, Apostrophe | Quote)
            if is_hebrew(line.char(index - 1)) && (here == Apostrophe || is_hebrew(line.char(index + 1))) =>
        {
            join(TokenRule::Gershayim)
        }
        (Apostrophe | Quote, _) if is_hebrew(line.char(index)) && index >= 2 && is_hebrew(line.char(index - 2)) => {
            join(TokenRule::Gershayim)
        }
        (_, Apostrophe) if before.is_word() => at_mark(line, index, table).0,
        (Apostrophe, _) if here.is_word() => at_mark(line, index - 1, table).1,
        (_, Hyphen) if before.is_word() => at_mark(line, index, table).0,
        (Hyphen, _) if here.is_word() => at_mark(line, index - 1, table).1,
        (_, Period) if before.is_word() => at_period(line, index, run, table),
        (Period, _) if here.is_word() && index >= 2 && line.class(index - 2).is_word() => inner_period(line, index - 1),
        // J.-C.
        (Period, Hyphen) if index >= 2 && line.word_before(index - 1) + 1 == index - 1 => join(TokenRule::Initials),
        (_, Ampersand) | (Ampersand, _) => {
            let mark = if here == Ampersand { index } else { index - 1 };
            let capitals =
                mark > 0 && line.class(mark - 1) == CharClass::Upper && line.class(mark + 1) == CharClass::Upper;
            Verdict { split: !capitals, rule: TokenRule::Ampersand }
        }
        (_, Underscore) if before.is_word() => join(TokenRule::Underscore),
        (Underscore, _) if here.is_word() => join(TokenRule::Underscore),
        _ => split(TokenRule::Other),
    }
}

fn is_hebrew(c: char) -> bool {
    matches!(c, '\u{5d0}'..='\u{5ea}')
}

/// Returns true if a mark is a separator inside a number.
fn in_number(line: &TextLine, mark: usize) -> bool {
    let separates = matches!(
        line.class(mark),
        CharClass::Period | CharClass::Comma | CharClass::Colon | CharClass::Slash | CharClass::Apostrophe
    );
    separates && mark > 0 && line.class(mark - 1) == CharClass::Digit && line.class(mark + 1) == CharClass::Digit
}

/// Applies the rules before and after an apostrophe or hyphen that touches a word.
fn at_mark(line: &TextLine, mark: usize, table: &Table) -> (Verdict, Verdict) {
    let is_hyphen = line.class(mark) == CharClass::Hyphen;
    let (start, end) = (line.word_before(mark), line.word_after(mark + 1));
    let (left, right) = (start < mark, end > mark + 1);
    let listed = |list: &std::collections::HashSet<Hash>, from: usize, to: usize| {
        !list.is_empty() && list.contains(&line.hash(from, to))
    };
    if listed(&table.whole, start, end) {
        return (join(TokenRule::Whole), join(TokenRule::Whole));
    }
    if left && listed(&table.before, start, mark + 1) {
        return (join(TokenRule::Before), split(TokenRule::Before));
    }
    if right && listed(&table.after, mark, end) {
        return (split(TokenRule::After), join(TokenRule::After));
    }
    match (left && right, is_hyphen) {
        (true, true) if table.splits_hyphens => (split(TokenRule::Hyphen), split(TokenRule::Hyphen)),
        (true, true) => (join(TokenRule::Hyphen), join(TokenRule::Hyphen)),
        (true, false) if table.elides => (join(TokenRule::Apostrophe), split(TokenRule::Apostrophe)),
        (true, false) => (join(TokenRule::Apostrophe), join(TokenRule::Apostrophe)),
        // The first half of a coordination: *Nord- und Südsee*.
        (false, true) if left && line.class(mark + 1).is_blank() => {
            (join(TokenRule::LooseHyphen), split(TokenRule::LooseHyphen))
        }
        (false, true) => (split(TokenRule::LooseHyphen), split(TokenRule::LooseHyphen)),
        (false, false) => {
            let years = right && line.class(mark + 1) == CharClass::Digit && end <= mark + 5;
            let after = if years { join(TokenRule::AtTheEdge) } else { split(TokenRule::AtTheEdge) };
            (split(TokenRule::AtTheEdge), after)
        }
    }
}

/// Applies the rules before a full stop that follows a word.
fn at_period(line: &TextLine, period: usize, run: &std::ops::Range<usize>, table: &Table) -> Verdict {
    let next = line.class(period + 1);
    if next == CharClass::Period {
        return split(TokenRule::Ellipsis);
    }
    if next.is_word() {
        return inner_period(line, period);
    }
    let (start, initials) = abbreviation_before(line, period, run.start);
    if initials {
        return join(TokenRule::Initials);
    }
    let joined = |rule: TokenRule| Verdict { split: table.splits_periods, rule };
    if table.short.contains_key(&line.hash(start, period)) {
        return joined(TokenRule::Abbreviation);
    }
    if start + 1 == period && line.class(start) == CharClass::Upper {
        return joined(TokenRule::Initial);
    }
    if line.class(period - 1) == CharClass::Digit && table.ordinal == Ordinal::Joined {
        let continues = ordinal_continues(line, period, table);
        return Verdict { split: !continues, rule: TokenRule::Ordinal };
    }
    split(TokenRule::LastPeriod)
}

/// Start of the dotted abbreviation that ends at `period` (*U.S*, *z.B*), and whether there is one.
pub fn abbreviation_before(line: &TextLine, period: usize, earliest: usize) -> (usize, bool) {
    let mut start = line.word_before(period);
    let mut initials = false;
    let furthest = period.saturating_sub(MAX_CONTEXT).max(earliest);
    while start > furthest + 1 && line.class(start - 1) == CharClass::Period && line.class(start - 2).is_letter() {
        let earlier = line.word_before(start - 1);
        if start - 1 - earlier > 4 {
            break;
        }
        start = earlier;
        initials = true;
    }
    (start, initials)
}

/// Returns true if the sentence continues after an ordinal number with a full stop.
pub fn ordinal_continues(line: &TextLine, period: usize, table: &Table) -> bool {
    let next = line.skip_blanks(period + 1);
    match line.class(next) {
        CharClass::Lower => next > period + 1,
        CharClass::Upper => table.months.contains(&line.hash(next, line.word_after(next))),
        // 3. – 5. Mai, 12. 4. 1990
        CharClass::Digit => next > period + 1 && period - line.word_before(period) <= 2,
        _ => false,
    }
}

/// Applies the rules to a full stop between two words.
fn inner_period(line: &TextLine, period: usize) -> Verdict {
    let (start, end) = (line.word_before(period), line.word_after(period + 1));
    let forgotten_blank = period - start > 3
        && line.class(period - 1) == CharClass::Lower
        && line.class(period + 1) == CharClass::Upper
        && end > period + 2;
    Verdict { split: forgotten_blank, rule: TokenRule::InnerPeriod }
}

/// Features of a candidate token boundary.
pub fn features(line: &TextLine, index: usize, run: &std::ops::Range<usize>, verdict: Verdict, out: &mut Vec<u32>) {
    let mut add = |template: u64, value: u64| out.push((hash::mix(hash::mix(0x7_0ce2, template), value) >> 32) as u32);
    let back = |offset: usize| {
        let c = if index >= offset { line.char(index - offset) } else { ' ' };
        c as u64
    };
    let ahead = |offset: usize| line.char(index + offset) as u64;
    let class_at = |offset: isize| {
        let at = index as isize + offset;
        if at < 0 { CharClass::Space as u64 } else { line.class(at as usize) as u64 }
    };
    let rule = (verdict.rule as u64) << 1 | verdict.split as u64;
    let two = |a: u64, b: u64| a << 21 | b;
    let three = |a: u64, b: u64, c: u64| a << 42 | b << 21 | c;
    add(0, rule);
    add(1, back(1));
    add(2, ahead(0));
    add(3, two(back(1), ahead(0)));
    add(4, three(back(2), back(1), ahead(0)));
    add(5, three(back(1), ahead(0), ahead(1)));
    let classes = (-3..3).fold(0, |classes, offset| classes << 6 | class_at(offset));
    add(6, classes);
    add(7, two(classes & 0xff_ffff, rule));
    if line.class(index).is_unspaced() || line.class(index - 1).is_unspaced() {
        unspaced(line, index, &mut add);
        return;
    }
    add(8, three(back(3), back(2), back(1)));
    add(9, three(ahead(0), ahead(1), ahead(2)));
    // Words on both sides, each with the mark between it and the boundary.
    let left_end = if line.class(index - 1).is_word() { index } else { index - 1 };
    let right_start = if line.class(index).is_word() { index } else { index + 1 };
    let (left_start, right_end) = (line.word_before(left_end), line.word_after(right_start));
    let left = line.hash(left_start, index);
    let right = line.hash(index, right_end.min(line.len()));
    add(10, left);
    add(11, right);
    add(12, hash::mix(left, right));
    let lengths = two(((left_end - left_start).min(6)) as u64, (right_end.saturating_sub(right_start)).min(6) as u64);
    add(13, three(lengths & 7 | lengths >> 21 << 3, class_at(-1) << 6 | class_at(0), class_at(1)));
    // The text after the run distinguishes abbreviations from sentence ends.
    let next = line.class(line.skip_blanks(run.end)) as u64;
    let ends = (right_end >= run.end) as u64;
    add(14, three(left, next << 1 | ends, 0));
    add(15, three(rule, next << 1 | ends, back(1) << 3 | (left_end - left_start).min(6) as u64));
    add(16, three(left, ahead(0), class_at(1)));
    add(17, three(right, back(1), class_at(-2)));
}

/// Features in scripts without spaces: the characters around the boundary and the dictionary
/// segmentation.
fn unspaced(line: &TextLine, index: usize, add: &mut impl FnMut(u64, u64)) {
    let at = |offset: isize| {
        let at = index as isize + offset;
        let c = if at < 0 { ' ' } else { line.char(at as usize) };
        c as u64
    };
    let three = |a: u64, b: u64, c: u64| a << 42 | b << 21 | c;
    for offset in [-3, -2, 1, 2] {
        add((40 + offset) as u64, at(offset));
    }
    for offset in -3..2 {
        add((50 + offset) as u64, three(0, at(offset), at(offset + 1)));
    }
    for offset in -3..1 {
        add((60 + offset) as u64, three(at(offset), at(offset + 1), at(offset + 2)));
    }
    add(66, hash::mix(three(at(-2), at(-1), at(0)), at(1)));
    // Dictionary words on both sides of the boundary, or the word that contains it.
    let begins = |index: usize| index >= line.len() || line.chars[index].word_start || !line.class(index).is_unspaced();
    let furthest_back = index.saturating_sub(6);
    let mut left = index - 1;
    while left > furthest_back && !begins(left) {
        left -= 1;
    }
    let mut right = index + 1;
    while right < index + 6 && !begins(right) {
        right += 1;
    }
    let breaks = begins(index) as u64;
    let sizes = breaks << 8 | ((index - left) as u64) << 4 | (right - index) as u64;
    let classes = (line.class(index - 1) as u64) << 6 | line.class(index) as u64;
    add(70, sizes);
    add(71, sizes << 12 | classes);
    let (before, after) = (line.hash(left, index), line.hash(index, right.min(line.len())));
    add(72, hash::mix(before, breaks));
    add(73, hash::mix(after, breaks));
    add(74, hash::mix(hash::mix(before, after), breaks));
    add(75, three(at(-1), at(0), breaks));
    let near = (-2..=2)
        .fold(breaks, |near, offset: isize| near << 1 | begins((index as isize + offset).max(0) as usize) as u64);
    add(76, near << 12 | classes);
}

/// Features of a candidate space. `joined`: the space before it is part of a token.
pub fn blank_features(line: &TextLine, blank: usize, verdict: Verdict, joined: bool, out: &mut Vec<u32>) {
    let mut add = |template: u64, value: u64| out.push((hash::mix(hash::mix(0xb_1a2c, template), value) >> 32) as u32);
    let syllable_before = |end: usize| (line.word_before(end), end);
    let (left_start, left_end) = syllable_before(blank);
    let (right_start, right_end) = (blank + 1, line.word_after(blank + 1));
    let touches = |at: usize| at > 0 && line.class(at - 1) == CharClass::Space;
    let (before_start, before_end) =
        if touches(left_start) { syllable_before(left_start - 1) } else { (left_start, left_start) };
    let (after_start, after_end) = if line.class(right_end) == CharClass::Space && right_end < line.len() {
        (right_end + 1, line.word_after(right_end + 1))
    } else {
        (right_end, right_end)
    };
    let left = line.hash(left_start, left_end);
    let right = line.hash(right_start, right_end);
    let before = line.hash(before_start, before_end);
    let after = line.hash(after_start, after_end);
    let shape = |start: usize, end: usize| {
        let second = line.class(start + 1) as u64;
        if start == end { line.class(start) as u64 } else { 64 | (line.class(start) as u64) << 7 | second << 13 }
    };
    let mixed = |a: Hash, b: Hash| hash::mix(a, b);
    add(0, (verdict.rule as u64) << 1 | verdict.split as u64);
    add(1, left);
    add(2, right);
    add(3, mixed(left, right));
    add(4, mixed(mixed(before, left), right));
    add(5, mixed(mixed(left, right), after));
    add(6, mixed(before, left));
    add(7, mixed(right, after));
    let shapes = mixed(shape(left_start, left_end), shape(right_start, right_end));
    add(8, shapes);
    add(9, mixed(mixed(shapes, shape(before_start, before_end)), shape(after_start, after_end)));
    add(10, mixed(mixed(left, right), joined as u64));
    add(11, mixed(shapes, joined as u64));
    add(12, mixed(left, joined as u64));
    add(13, mixed(right, joined as u64));
    add(14, mixed(shapes, left));
    add(15, mixed(shapes, right));
    add(16, mixed(before, right));
    add(17, mixed(left, after));
}
