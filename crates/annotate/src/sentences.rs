//! Where a sentence ends: the places in question, and what the rules say about each.

use std::ops::Range;

use crate::chars::Kind;
use crate::hash::{self, Hash};
use crate::line::Line;
use crate::table::{Ordinal, Short, Table};
use crate::tokens;

/// The tokens of a stretch of text, as places in its line.
pub type Tokens = [Range<usize>];

/// What a token is to the sentence around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It opens a quotation or a parenthesis.
    Opens,
    /// It closes one.
    Closes,
    /// It is part of what is said.
    Says,
}

/// A stretch of text with its tokens and what each of them is.
#[derive(Debug, Clone, Copy)]
pub struct Passage<'l> {
    pub line: &'l Line,
    pub tokens: &'l Tokens,
    pub roles: &'l [Role],
    /// The marks before each token, and those before its end.
    pub marks: &'l [Marks],
}

/// Parentheses and quotation marks, counted from the beginning of the stretch.
#[derive(Debug, Clone, Copy, Default)]
pub struct Marks {
    depth: i32,
    quotes: u32,
}

/// Counts the marks before each token.
pub fn count_marks(line: &Line, tokens: &Tokens, marks: &mut Vec<Marks>) {
    marks.clear();
    let mut so_far = Marks::default();
    marks.push(so_far);
    for token in tokens {
        match line.kind(token.start) {
            Kind::Open => so_far.depth += 1,
            Kind::Close => so_far.depth -= 1,
            Kind::Quote => so_far.quotes += 1,
            _ => {}
        }
        marks.push(so_far);
    }
}

/// Tells marks that open from marks that close: by their form, by the blanks around them, and by what is open.
pub fn assign_roles(line: &Line, tokens: &Tokens, roles: &mut Vec<Role>) {
    roles.clear();
    // Neutral quotation marks that are open, and low ones, which the high one closes.
    let (mut neutral, mut low) = (false, false);
    for token in tokens {
        let first = line.kind(token.start);
        let low_commas = first == Kind::Comma && token.len() == 2;
        let is_mark = matches!(first, Kind::Open | Kind::Close | Kind::Quote | Kind::Apostrophe) && token.len() <= 2;
        if !(is_mark || low_commas) || line.kind(token.end - 1) != first {
            roles.push(Role::Says);
            continue;
        }
        let blank_before = token.start == 0 || line.kind(token.start - 1).is_blank();
        let blank_after = line.kind(token.end).is_blank();
        let by_blanks = |open: bool| match (blank_before, blank_after) {
            (true, false) => Role::Opens,
            (false, true) => Role::Closes,
            _ if open => Role::Closes,
            _ => Role::Opens,
        };
        let role = match (first, line.char(token.start)) {
            (Kind::Open | Kind::Comma, _) | (_, '„' | '‚') => Role::Opens,
            (Kind::Close, _) => Role::Closes,
            // Quotation marks of the typewriter: ``so''.
            (Kind::Apostrophe, '`') if token.len() == 2 => Role::Opens,
            (Kind::Apostrophe, _) if token.len() == 2 => Role::Closes,
            (_, '“') if low => Role::Closes,
            (_, '“' | '‘') => by_blanks(false),
            (_, '”' | '’') => by_blanks(true),
            _ => by_blanks(neutral),
        };
        match line.char(token.start) {
            '„' => low = true,
            '“' | '”' => low = false,
            '"' | '\'' | '«' | '»' | '`' => neutral = role == Role::Opens,
            _ => {}
        }
        roles.push(role);
    }
}

/// What the rules say about the end of a token, and which of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    pub ends: bool,
    pub rule: Rule,
}

/// The rules by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Rule {
    NoStop,
    GoesOnLower,
    GoesOnMark,
    Quoted,
    Stop,
    Ellipsis,
    Initial,
    Title,
    Abbreviation,
    Ordinal,
    ListNumber,
    NoBlank,
    Period,
    BeforeClosing,
    AfterOpening,
}

fn ends(rule: Rule) -> Verdict {
    Verdict { ends: true, rule }
}

fn goes_on(rule: Rule) -> Verdict {
    Verdict { ends: false, rule }
}

/// The token that may have ended the sentence: the last one before closing marks.
fn core(passage: Passage<'_>, last: usize) -> usize {
    let Passage { line, tokens, roles, .. } = passage;
    let mut core = last;
    while core > 0 && last - core < 4 && roles[core] == Role::Closes {
        core -= 1;
    }
    // Closing marks after a word close nothing that matters here.
    let kind = line.kind(tokens[core].end - 1);
    if matches!(kind, Kind::Stop | Kind::Period) { core } else { last }
}

/// Whether a sentence might end after this token, which is not the last one.
pub fn in_question(passage: Passage<'_>, last: usize, table: &Table) -> bool {
    let Passage { line, tokens, .. } = passage;
    let (here, next) = (&tokens[last], &tokens[last + 1]);
    if here.end < next.start {
        return true;
    }
    let kind = line.kind(tokens[core(passage, last)].end - 1);
    matches!(kind, Kind::Stop | Kind::Period) || table.stops.contains(&line.char(here.end - 1))
}

/// Whether a sentence ends after this token, which is in question and not the last one.
pub fn judge(passage: Passage<'_>, last: usize, first: usize, table: &Table) -> Verdict {
    let Passage { line, tokens, roles, .. } = passage;
    let here = &tokens[last];
    let next = &tokens[last + 1];
    let core_at = core(passage, last);
    let core = &tokens[core_at];
    let stop = line.kind(core.end - 1);
    let parted = here.end < next.start;
    let is_stop = stop == Kind::Stop || table.stops.contains(&line.char(core.end - 1));
    if !is_stop && stop != Kind::Period {
        return goes_on(Rule::NoStop);
    }
    // The word that follows, behind what opens a quotation or a parenthesis.
    let mut follows = next.start;
    while follows < next.start + 4
        && matches!(
            line.kind(follows),
            Kind::Open | Kind::Quote | Kind::Apostrophe | Kind::Dash | Kind::Hyphen | Kind::Space | Kind::Stop
        )
    {
        follows += 1;
    }
    let lower = line.kind(follows) == Kind::Lower;
    // A mark that closes belongs to the sentence before it.
    let next_kind = line.kind(next.start);
    if roles[last + 1] == Role::Closes {
        return goes_on(Rule::BeforeClosing);
    }
    // A mark that opens belongs to the sentence after it.
    if roles[last] == Role::Opens {
        return goes_on(Rule::AfterOpening);
    }
    if matches!(next_kind, Kind::Comma | Kind::Colon | Kind::Semicolon) {
        return goes_on(Rule::GoesOnMark);
    }
    if matches!(line.char(core.end - 1), '。' | '！' | '？' | '｡' | '．') {
        return ends(Rule::Stop);
    }
    if !parted {
        return goes_on(Rule::NoBlank);
    }
    if line.char(core.end - 1) == '…' || core.len() > 1 && line.kind(core.start) == Kind::Period {
        return Verdict { ends: !lower, rule: Rule::Ellipsis };
    }
    if is_stop {
        // “Really?” she asked.
        let quoted = core_at < last && lower;
        return if quoted { goes_on(Rule::Quoted) } else { Verdict { ends: !lower, rule: Rule::Stop } };
    }
    if lower {
        return goes_on(Rule::GoesOnLower);
    }
    let period = core.end - 1;
    let (start, initials) = tokens::abbreviation_before(line, period, 0);
    let capital = line.kind(follows) == Kind::Upper && !table.capital_nouns;
    match table.short.get(&line.hash(start, period)) {
        Some(Short::NeverEnds) => return goes_on(Rule::Title),
        Some(Short::MayEnd) => return Verdict { ends: capital, rule: Rule::Abbreviation },
        None if start + 1 == period && line.kind(start) == Kind::Upper => return goes_on(Rule::Initial),
        None if initials => return Verdict { ends: capital, rule: Rule::Abbreviation },
        None => {}
    }
    if period > 0 && line.kind(period - 1) == Kind::Digit {
        // The number of a chapter or of an item of a list.
        if start == tokens[first].start && period - start <= 3 {
            return goes_on(Rule::ListNumber);
        }
        if table.ordinal != Ordinal::Plain && tokens::ordinal_goes_on(line, period, table) {
            return goes_on(Rule::Ordinal);
        }
    }
    ends(Rule::Period)
}

/// What a model sees of the end of a token. `first` is the token that the sentence begins with.
pub fn features(passage: Passage<'_>, last: usize, first: usize, verdict: Verdict, out: &mut Vec<u32>) {
    let Passage { line, tokens, roles, .. } = passage;
    let mut add = |template: u64, value: u64| out.push((hash::mix(hash::mix(0x5_e27, template), value) >> 32) as u32);
    let core_at = core(passage, last);
    let core = tokens[core_at].clone();
    let mark = line.char(core.end - 1);
    let stop = mark as u64;
    let closed = (last - core_at) as u64;
    let here = tokens[last].clone();
    let next = tokens[last + 1].clone();
    let gap = (next.start - here.end).min(2) as u64;
    let mut word_at = last + 1;
    while word_at + 1 < tokens.len()
        && word_at < last + 3
        && (roles[word_at] == Role::Opens || is_dash(line.kind(tokens[word_at].start)))
    {
        word_at += 1;
    }
    let word = tokens[word_at].clone();
    let opened = (word_at - last - 1) as u64;
    let before = if core_at > 0 { tokens[core_at - 1].clone() } else { 0..0 };
    let earlier = if core_at > 1 { tokens[core_at - 2].clone() } else { 0..0 };
    let rule = (verdict.rule as u64) << 1 | verdict.ends as u64;
    let text = |token: &Range<usize>| line.hash(token.start, token.end.min(token.start + crate::line::FAR));
    let shape_core = shape(line, &core);
    let shape_word = shape(line, &word);
    let shape_before = shape(line, &before);
    let length = (last + 1 - first) as u64;
    let length = if length < 4 { length } else { 4 + (length / 4).min(8) };
    let mixed = |a: Hash, b: Hash| hash::mix(a, b);
    add(0, rule);
    add(1, stop << 2 | closed.min(3));
    add(2, text(&core));
    add(3, mixed(text(&before), stop));
    add(4, mixed(mixed(shape_before, stop), shape_word));
    add(5, mixed(text(&word), stop));
    add(6, mixed(mixed(shape_word, line.char(next.start) as u64), stop << 2 | closed.min(3)));
    add(7, gap << 40 | stop);
    add(8, length << 40 | shape_core);
    let role = roles[last + 1] as u64;
    add(9, mixed(line.char(next.start) as u64, stop << 2 | role));
    add(23, mixed(rule, (roles[last] as u64) << 2 | role));
    add(10, mixed(shape_core, shape_word));
    add(11, mixed(mixed(rule, shape_before), shape_word));
    add(12, mixed(rule, opened << 4 | closed));
    add(13, mixed(mixed(text(&core), shape_word), gap));
    add(14, mixed(mixed(text(&before), text(&core)), shape_word));
    add(15, mixed(mixed(rule, length), shape_word));
    let (depth, quotes) = open_marks(passage, first, last);
    add(16, mixed(rule << 4 | depth << 1 | quotes, opened << 4 | closed));
    add(17, mixed(mixed(shape_core, shape_before), mixed(shape(line, &earlier), shape_word)));
    add(18, mixed(rule, text(&word)));
    add(19, mixed(shape(line, &tokens[first]) << 4 | length.min(15), rule));
    let after = if word_at + 1 < tokens.len() { tokens[word_at + 1].clone() } else { 0..0 };
    add(20, mixed(mixed(rule, shape_word), shape(line, &after)));
    let ending = line.hash(before.end.saturating_sub(3).max(before.start), before.end);
    add(21, mixed(mixed(ending, stop), shape_word));
    let ending = line.hash(core.end.saturating_sub(3).max(core.start), core.end);
    add(22, mixed(ending, shape_word));
}

fn is_dash(kind: Kind) -> bool {
    matches!(kind, Kind::Dash | Kind::Hyphen)
}

/// A token's looks: its first two kinds, its last one, its length.
fn shape(line: &Line, token: &Range<usize>) -> u64 {
    if token.is_empty() {
        return 1 << 30;
    }
    let second = if token.len() > 1 { line.kind(token.start + 1) as u64 } else { 63 };
    let size = token.len().min(5) as u64;
    (line.kind(token.start) as u64) << 20 | second << 14 | (line.kind(token.end - 1) as u64) << 8 | size
}

/// Parentheses and quotation marks that are open at the end of a token.
fn open_marks(passage: Passage<'_>, first: usize, last: usize) -> (u64, u64) {
    let (before, now) = (passage.marks[first], passage.marks[last + 1]);
    let depth = (now.depth - before.depth).clamp(0, 3);
    (depth as u64, u64::from((now.quotes ^ before.quotes) & 1))
}
