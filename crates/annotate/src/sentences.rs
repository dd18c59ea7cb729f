//! Sentence boundaries: candidates, rules, and features for the boundary model.

use std::ops::Range;

use crate::chars::CharClass;
use crate::hash::{self, Hash};
use crate::table::{Ordinal, Short, Table};
use crate::text_line::TextLine;
use crate::tokens;

/// Tokens as ranges of characters of a [`TextLine`].
pub type Tokens = [Range<usize>];

/// Role of a token in bracketing the text around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BracketRole {
    /// Opening quotation mark or parenthesis.
    Opens,
    /// Closing quotation mark or parenthesis.
    Closes,
    /// Any other token.
    Text,
}

/// Line with its tokens and their bracket roles.
#[derive(Debug, Clone, Copy)]
pub struct Passage<'l> {
    pub line: &'l TextLine,
    pub tokens: &'l Tokens,
    pub roles: &'l [BracketRole],
    /// Marks before each token, and before the end of the line.
    pub marks: &'l [MarkCounts],
}

/// Counts of parentheses and quotation marks from the start of the line.
#[derive(Debug, Clone, Copy, Default)]
pub struct MarkCounts {
    depth: i32,
    quotes: u32,
}

/// Counts the marks before each token.
pub fn count_marks(line: &TextLine, tokens: &Tokens, marks: &mut Vec<MarkCounts>) {
    marks.clear();
    let mut so_far = MarkCounts::default();
    marks.push(so_far);
    for token in tokens {
        match line.class(token.start) {
            CharClass::Open => so_far.depth += 1,
            CharClass::Close => so_far.depth -= 1,
            CharClass::Quote => so_far.quotes += 1,
            _ => {}
        }
        marks.push(so_far);
    }
}

/// Tells opening from closing marks by their form, the spaces around them, and the marks that are
/// open.
pub fn assign_roles(line: &TextLine, tokens: &Tokens, roles: &mut Vec<BracketRole>) {
    roles.clear();
    // State of open marks: neutral quotation marks, and low ones, which a high one closes.
    let (mut neutral, mut low) = (false, false);
    for token in tokens {
        let first = line.class(token.start);
        let low_commas = first == CharClass::Comma && token.len() == 2;
        let is_mark = matches!(first, CharClass::Open | CharClass::Close | CharClass::Quote | CharClass::Apostrophe)
            && token.len() <= 2;
        if !(is_mark || low_commas) || line.class(token.end - 1) != first {
            roles.push(BracketRole::Text);
            continue;
        }
        let blank_before = token.start == 0 || line.class(token.start - 1).is_blank();
        let blank_after = line.class(token.end).is_blank();
        let by_blanks = |open: bool| match (blank_before, blank_after) {
            (true, false) => BracketRole::Opens,
            (false, true) => BracketRole::Closes,
            _ if open => BracketRole::Closes,
            _ => BracketRole::Opens,
        };
        let role = match (first, line.char(token.start)) {
            (CharClass::Open | CharClass::Comma, _) | (_, '„' | '‚') => BracketRole::Opens,
            (CharClass::Close, _) => BracketRole::Closes,
            // Typewriter quotation marks: ``so''.
            (CharClass::Apostrophe, '`') if token.len() == 2 => BracketRole::Opens,
            (CharClass::Apostrophe, _) if token.len() == 2 => BracketRole::Closes,
            (_, '“') if low => BracketRole::Closes,
            (_, '“' | '‘') => by_blanks(false),
            (_, '”' | '’') => by_blanks(true),
            _ => by_blanks(neutral),
        };
        match line.char(token.start) {
            '„' => low = true,
            '“' | '”' => low = false,
            '"' | '\'' | '«' | '»' | '`' => neutral = role == BracketRole::Opens,
            _ => {}
        }
        roles.push(role);
    }
}

/// Decision of the rules about a sentence boundary, and the rule that applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    pub ends: bool,
    pub rule: SentenceRule,
}

/// Sentence rules. Their order is part of every trained model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum SentenceRule {
    NoStop,
    ContinuesLower,
    ContinuesMark,
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

fn ends(rule: SentenceRule) -> Verdict {
    Verdict { ends: true, rule }
}

fn continues(rule: SentenceRule) -> Verdict {
    Verdict { ends: false, rule }
}

/// The token that may end the sentence: the last one before closing marks.
fn core(passage: Passage<'_>, last: usize) -> usize {
    let Passage { line, tokens, roles, .. } = passage;
    let mut core = last;
    while core > 0 && last - core < 4 && roles[core] == BracketRole::Closes {
        core -= 1;
    }
    // Closing marks count only after a sentence terminal.
    let class = line.class(tokens[core].end - 1);
    if matches!(class, CharClass::Stop | CharClass::Period) { core } else { last }
}

/// Returns true if a sentence may end after token `last`, which must not be the final one.
pub fn is_candidate(passage: Passage<'_>, last: usize, table: &Table) -> bool {
    let Passage { line, tokens, .. } = passage;
    let (here, next) = (&tokens[last], &tokens[last + 1]);
    if here.end < next.start {
        return true;
    }
    let class = line.class(tokens[core(passage, last)].end - 1);
    matches!(class, CharClass::Stop | CharClass::Period) || table.stops.contains(&line.char(here.end - 1))
}

/// Returns true for words of scripts such as Thai.
fn is_complex(line: &TextLine, token: &Range<usize>) -> bool {
    line.class(token.start) == CharClass::Complex
}

/// Applies the rules to the candidate boundary after token `last`, which must not be the final one.
pub fn apply_rules(passage: Passage<'_>, last: usize, first: usize, table: &Table) -> Verdict {
    let Passage { line, tokens, roles, .. } = passage;
    let here = &tokens[last];
    let next = &tokens[last + 1];
    let core_at = core(passage, last);
    let core = &tokens[core_at];
    let stop = line.class(core.end - 1);
    let parted = here.end < next.start;
    let is_stop = stop == CharClass::Stop || table.stops.contains(&line.char(core.end - 1));
    if !is_stop && stop != CharClass::Period {
        return continues(SentenceRule::NoStop);
    }
    let follows = next_word_start(line, next.start);
    let lower = line.class(follows) == CharClass::Lower;
    // A closing mark belongs to the sentence before it.
    let next_class = line.class(next.start);
    if roles[last + 1] == BracketRole::Closes {
        return continues(SentenceRule::BeforeClosing);
    }
    // An opening mark belongs to the sentence after it.
    if roles[last] == BracketRole::Opens {
        return continues(SentenceRule::AfterOpening);
    }
    if matches!(next_class, CharClass::Comma | CharClass::Colon | CharClass::Semicolon) {
        return continues(SentenceRule::ContinuesMark);
    }
    if matches!(line.char(core.end - 1), '。' | '！' | '？' | '｡' | '．') {
        return ends(SentenceRule::Stop);
    }
    if !parted {
        return continues(SentenceRule::NoBlank);
    }
    if line.char(core.end - 1) == '…' || core.len() > 1 && line.class(core.start) == CharClass::Period {
        return Verdict { ends: !lower, rule: SentenceRule::Ellipsis };
    }
    if is_stop {
        // “Really?” she asked.
        let quoted = core_at < last && lower;
        return if quoted {
            continues(SentenceRule::Quoted)
        } else {
            Verdict { ends: !lower, rule: SentenceRule::Stop }
        };
    }
    if lower {
        return continues(SentenceRule::ContinuesLower);
    }
    apply_period_rules(passage, core.end - 1, follows, first, table)
}

/// Start of the next word, skipping opening marks and dashes.
fn next_word_start(line: &TextLine, from: usize) -> usize {
    use CharClass::{Apostrophe, Dash, Hyphen, Open, Quote, Space, Stop};
    let mut start = from;
    while start < from + 4 && matches!(line.class(start), Open | Quote | Apostrophe | Dash | Hyphen | Space | Stop) {
        start += 1;
    }
    start
}

/// Applies the rules to a full stop before a word that starts at `follows` and is not lowercase.
fn apply_period_rules(passage: Passage<'_>, period: usize, follows: usize, first: usize, table: &Table) -> Verdict {
    let Passage { line, tokens, .. } = passage;
    let (start, initials) = tokens::abbreviation_before(line, period, 0);
    let capital = line.class(follows) == CharClass::Upper && !table.capital_nouns;
    match table.short.get(&line.hash(start, period)) {
        Some(Short::NeverEnds) => return continues(SentenceRule::Title),
        Some(Short::MayEnd) => return Verdict { ends: capital, rule: SentenceRule::Abbreviation },
        None if start + 1 == period && line.class(start) == CharClass::Upper => {
            return continues(SentenceRule::Initial);
        }
        None if initials => return Verdict { ends: capital, rule: SentenceRule::Abbreviation },
        None => {}
    }
    if period > 0 && line.class(period - 1) == CharClass::Digit {
        // Number of a heading or a list item.
        if start == tokens[first].start && period - start <= 3 {
            return continues(SentenceRule::ListNumber);
        }
        if table.ordinal != Ordinal::Plain && tokens::ordinal_continues(line, period, table) {
            return continues(SentenceRule::Ordinal);
        }
    }
    ends(SentenceRule::Period)
}

/// Features of a sentence boundary after token `last`; the sentence starts with token `first`.
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
        && (roles[word_at] == BracketRole::Opens || is_dash(line.class(tokens[word_at].start)))
    {
        word_at += 1;
    }
    let word = tokens[word_at].clone();
    let opened = (word_at - last - 1) as u64;
    let before = if core_at > 0 { tokens[core_at - 1].clone() } else { 0..0 };
    let earlier = if core_at > 1 { tokens[core_at - 2].clone() } else { 0..0 };
    let rule = (verdict.rule as u64) << 1 | verdict.ends as u64;
    let text =
        |token: &Range<usize>| line.hash(token.start, token.end.min(token.start + crate::text_line::MAX_CONTEXT));
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
    if is_complex(line, &here) || is_complex(line, &next) {
        // A space may end a sentence or a clause, and no mark and no capital tells: the words on both sides do.
        let (here, next, after) = (text(&here), text(&next), text(&after));
        add(24, mixed(here, gap));
        add(25, mixed(next, gap));
        add(26, mixed(mixed(here, next), gap));
        add(27, mixed(mixed(next, after), gap));
        add(28, mixed(mixed(text(&before), here), gap));
        add(29, mixed(length, gap));
        let (run_before, run_after) = unbroken(tokens, last);
        add(30, run_before << 8 | gap);
        add(31, run_after << 8 | gap);
        add(32, mixed(length, run_before << 8 | run_after));
        add(33, mixed(text(&before), gap));
        add(34, mixed(after, gap));
    }
}

/// Numbers of tokens without a space between them, up to 12: those that end with token `last`, and those after it.
fn unbroken(tokens: &Tokens, last: usize) -> (u64, u64) {
    let joined = |at: &usize| *at > 0 && *at < tokens.len() && tokens[*at - 1].end == tokens[*at].start;
    let before = (last.saturating_sub(11)..=last).rev().take_while(joined).count();
    let after = (last + 2..last + 14).take_while(joined).count();
    (before as u64, after as u64)
}

fn is_dash(class: CharClass) -> bool {
    matches!(class, CharClass::Dash | CharClass::Hyphen)
}

/// Shape of a token: classes of its first two characters and its last one, and its length.
fn shape(line: &TextLine, token: &Range<usize>) -> u64 {
    if token.is_empty() {
        return 1 << 30;
    }
    let second = if token.len() > 1 { line.class(token.start + 1) as u64 } else { 63 };
    let size = token.len().min(5) as u64;
    (line.class(token.start) as u64) << 20 | second << 14 | (line.class(token.end - 1) as u64) << 8 | size
}

/// Nesting depth of parentheses, and parity of quotation marks, at the end of token `last`.
fn open_marks(passage: Passage<'_>, first: usize, last: usize) -> (u64, u64) {
    let (before, now) = (passage.marks[first], passage.marks[last + 1]);
    let depth = (now.depth - before.depth).clamp(0, 3);
    (depth as u64, u64::from((now.quotes ^ before.quotes) & 1))
}
