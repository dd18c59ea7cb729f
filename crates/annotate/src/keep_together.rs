//! Tokens that are never split in any language: URLs, e-mail addresses, hashtags, mentions,
//! emoticons.

use crate::chars::CharClass;
use crate::text_line::TextLine;

/// Maximum length of a URL in characters; the rest of a longer one is tokenized as text.
const MAX_URL_CHARS: usize = 2048;

/// Marks the inside of such tokens in a run of non-blank characters.
pub fn mark(line: &mut TextLine, run: std::ops::Range<usize>) {
    let mut index = run.start;
    while index < run.end {
        let end = token_end_at(line, index, &run);
        if end > index + 1 {
            line.chars[index + 1..end].iter_mut().for_each(|inside| inside.no_break = true);
            index = end;
        } else {
            // Skip to the start of the next word.
            index += 1;
            while index < run.end && line.class(index).is_word() && line.class(index - 1).is_word() {
                index += 1;
            }
        }
    }
}

/// End of the token that starts at `index` if it is of such a kind; `index` otherwise.
fn token_end_at(line: &TextLine, index: usize, run: &std::ops::Range<usize>) -> usize {
    match line.class(index) {
        CharClass::Hash | CharClass::At if !follows_word(line, index) => hashtag_or_mention(line, index, run.end),
        CharClass::Colon | CharClass::Semicolon | CharClass::Symbol if index == run.start => {
            emoticon(line, index, run.end)
        }
        CharClass::Upper | CharClass::Lower | CharClass::Letter | CharClass::Digit => {
            let url_end = url(line, index, run.end);
            if url_end > index { url_end } else { mail(line, index, run.end) }
        }
        _ => index,
    }
}

fn follows_word(line: &TextLine, index: usize) -> bool {
    index > 0 && line.class(index - 1).is_word()
}

/// `#hashtag` or `@mention` with at least one letter.
fn hashtag_or_mention(line: &TextLine, index: usize, end: usize) -> usize {
    let mut next = index + 1;
    let mut letters = false;
    while next < end {
        let class = line.class(next);
        letters |= class.is_letter() || class.is_unspaced();
        if !(class.is_word() || class.is_unspaced() || class == CharClass::Underscore) {
            break;
        }
        next += 1;
    }
    if letters { next } else { index }
}

/// Emoticon that is a run of its own: `:-)`, `;)`, `=D`.
fn emoticon(line: &TextLine, index: usize, end: usize) -> usize {
    if !matches!(line.char(index), ':' | ';' | '=') || end - index > 12 {
        return index;
    }
    let mut next = index + 1;
    if matches!(line.char(next), '-' | 'o' | '^' | '\'') {
        next += 1;
    }
    let mouth = line.char(next);
    let mut after = next;
    while after < end && line.char(after) == mouth {
        after += 1;
    }
    let is_mouth = matches!(mouth, ')' | '(' | 'D' | 'P' | 'p' | '|' | '*' | ']' | '[' | '3');
    if is_mouth && after == end { end } else { index }
}

fn url(line: &TextLine, index: usize, end: usize) -> usize {
    let starts = ["http://", "https://", "ftp://", "www."];
    if !starts.iter().any(|start| starts_with(line, index, start)) && !host_with_path(line, index, end) {
        return index;
    }
    let mut next = index;
    let furthest = end.min(index + MAX_URL_CHARS);
    while next < furthest && in_url(line, next) {
        next += 1;
    }
    trimmed(line, index, next)
}

fn starts_with(line: &TextLine, index: usize, start: &str) -> bool {
    start.chars().enumerate().all(|(offset, c)| line.char(index + offset).to_ascii_lowercase() == c)
}

/// `example.org/path`: a host of at least two labels, the last alphabetic, followed by a path.
fn host_with_path(line: &TextLine, index: usize, end: usize) -> bool {
    let mut next = index;
    let mut label = index;
    let mut dots = 0;
    let furthest = end.min(index + 64);
    while next < furthest {
        match line.char(next) {
            '.' if next > label => (dots, label) = (dots + 1, next + 1),
            '/' => {
                let is_top = next >= label + 2 && (label..next).all(|at| line.char(at).is_ascii_lowercase());
                return dots > 0 && is_top && line.class(next + 1).is_word();
            }
            '-' => {}
            c if c.is_ascii_alphanumeric() => {}
            _ => return false,
        }
        next += 1;
    }
    false
}

fn in_url(line: &TextLine, index: usize) -> bool {
    match line.class(index) {
        CharClass::Quote | CharClass::Other | CharClass::Han | CharClass::Hiragana | CharClass::Katakana => false,
        CharClass::Stop | CharClass::Open | CharClass::Close | CharClass::Symbol | CharClass::Comma => {
            line.char(index).is_ascii() && !matches!(line.char(index), '<' | '>' | '{' | '}' | '|' | '^')
        }
        _ => true,
    }
}

/// End of a URL without the punctuation of the surrounding sentence.
fn trimmed(line: &TextLine, index: usize, mut end: usize) -> usize {
    let opened = (index..end).filter(|at| line.char(*at) == '(').count();
    let mut closed = (index..end).filter(|at| line.char(*at) == ')').count();
    while end > index + 1 {
        match line.char(end - 1) {
            ')' if closed <= opened => break,
            ')' => closed -= 1,
            '.' | ',' | ';' | ':' | '!' | '?' | '\'' | '’' | ']' | '*' | '…' | '(' | '[' => {}
            _ => break,
        }
        end -= 1;
    }
    end
}

/// `name@example.org`.
fn mail(line: &TextLine, index: usize, end: usize) -> usize {
    let mut next = index;
    let furthest = end.min(index + 64);
    while next < furthest && (line.class(next).is_word() || matches!(line.char(next), '.' | '-' | '_' | '+')) {
        next += 1;
    }
    if line.char(next) != '@' || next == index {
        return index;
    }
    let host = next + 1;
    next = host;
    let furthest = end.min(host + 255);
    let mut last_dot = None;
    while next < furthest && (line.class(next).is_word() || matches!(line.char(next), '.' | '-')) {
        if line.char(next) == '.' && line.class(next + 1).is_word() {
            last_dot = Some(next);
        }
        next += 1;
    }
    while next > host && !line.class(next - 1).is_word() {
        next -= 1;
    }
    if last_dot.is_some_and(|dot| dot > host) { next } else { index }
}
