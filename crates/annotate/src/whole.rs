//! Finds what is one token whatever the language: addresses, hashtags, mentions, faces.

use crate::chars::Kind;
use crate::line::Line;

/// Addresses longer than this are noise.
const LONGEST: usize = 2048;

/// Marks the insides of such tokens in a chunk, that is, between two blanks.
pub fn glue(line: &mut Line, chunk: std::ops::Range<usize>) {
    let mut place = chunk.start;
    while place < chunk.end {
        let end = whole_at(line, place, &chunk);
        if end > place + 1 {
            line.chars[place + 1..end].iter_mut().for_each(|inside| inside.glued = true);
            place = end;
        } else {
            // The next place at which a word begins.
            place += 1;
            while place < chunk.end && line.kind(place).is_word() && line.kind(place - 1).is_word() {
                place += 1;
            }
        }
    }
}

/// Where the token ends that begins here, if it is one of these.
fn whole_at(line: &Line, place: usize, chunk: &std::ops::Range<usize>) -> usize {
    match line.kind(place) {
        Kind::Hash | Kind::At if !follows_word(line, place) => tag(line, place, chunk.end),
        Kind::Colon | Kind::Semicolon | Kind::Symbol if place == chunk.start => face(line, place, chunk.end),
        Kind::Upper | Kind::Lower | Kind::Letter | Kind::Digit => {
            let address = url(line, place, chunk.end);
            if address > place { address } else { mail(line, place, chunk.end) }
        }
        _ => place,
    }
}

fn follows_word(line: &Line, place: usize) -> bool {
    place > 0 && line.kind(place - 1).is_word()
}

/// `#hashtag`, `@mention`: at least one letter.
fn tag(line: &Line, place: usize, end: usize) -> usize {
    let mut next = place + 1;
    let mut letters = false;
    while next < end {
        let kind = line.kind(next);
        letters |= kind.is_letter() || kind.is_unspaced();
        if !(kind.is_word() || kind.is_unspaced() || kind == Kind::Underscore) {
            break;
        }
        next += 1;
    }
    if letters { next } else { place }
}

/// `:-)`, `;)`, `=D` on their own.
fn face(line: &Line, place: usize, end: usize) -> usize {
    if !matches!(line.char(place), ':' | ';' | '=') || end - place > 12 {
        return place;
    }
    let mut next = place + 1;
    if matches!(line.char(next), '-' | 'o' | '^' | '\'') {
        next += 1;
    }
    let mouth = line.char(next);
    let mut after = next;
    while after < end && line.char(after) == mouth {
        after += 1;
    }
    let is_mouth = matches!(mouth, ')' | '(' | 'D' | 'P' | 'p' | '|' | '*' | ']' | '[' | '3');
    if is_mouth && after == end { end } else { place }
}

fn url(line: &Line, place: usize, end: usize) -> usize {
    let starts = ["http://", "https://", "ftp://", "www."];
    if !starts.iter().any(|start| starts_with(line, place, start)) && !host_with_path(line, place, end) {
        return place;
    }
    let mut next = place;
    let furthest = end.min(place + LONGEST);
    while next < furthest && in_address(line, next) {
        next += 1;
    }
    trimmed(line, place, next)
}

fn starts_with(line: &Line, place: usize, start: &str) -> bool {
    start.chars().enumerate().all(|(offset, c)| line.char(place + offset).to_ascii_lowercase() == c)
}

/// `example.org/path`: a host of at least two labels, the last of letters, and a path.
fn host_with_path(line: &Line, place: usize, end: usize) -> bool {
    let mut next = place;
    let mut label = place;
    let mut dots = 0;
    let furthest = end.min(place + 64);
    while next < furthest {
        match line.char(next) {
            '.' if next > label => (dots, label) = (dots + 1, next + 1),
            '/' => {
                let is_top = next >= label + 2 && (label..next).all(|at| line.char(at).is_ascii_lowercase());
                return dots > 0 && is_top && line.kind(next + 1).is_word();
            }
            '-' => {}
            c if c.is_ascii_alphanumeric() => {}
            _ => return false,
        }
        next += 1;
    }
    false
}

fn in_address(line: &Line, place: usize) -> bool {
    match line.kind(place) {
        Kind::Quote | Kind::Other | Kind::Han | Kind::Hiragana | Kind::Katakana => false,
        Kind::Stop | Kind::Open | Kind::Close | Kind::Symbol | Kind::Comma => {
            line.char(place).is_ascii() && !matches!(line.char(place), '<' | '>' | '{' | '}' | '|' | '^')
        }
        _ => true,
    }
}

/// An address without the punctuation of the sentence it stands in.
fn trimmed(line: &Line, place: usize, mut end: usize) -> usize {
    let opened = (place..end).filter(|at| line.char(*at) == '(').count();
    let mut closed = (place..end).filter(|at| line.char(*at) == ')').count();
    while end > place + 1 {
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
fn mail(line: &Line, place: usize, end: usize) -> usize {
    let mut next = place;
    let furthest = end.min(place + 64);
    while next < furthest && (line.kind(next).is_word() || matches!(line.char(next), '.' | '-' | '_' | '+')) {
        next += 1;
    }
    if line.char(next) != '@' || next == place {
        return place;
    }
    let host = next + 1;
    next = host;
    let furthest = end.min(host + 255);
    let mut last_dot = None;
    while next < furthest && (line.kind(next).is_word() || matches!(line.char(next), '.' | '-')) {
        if line.char(next) == '.' && line.kind(next + 1).is_word() {
            last_dot = Some(next);
        }
        next += 1;
    }
    while next > host && !line.kind(next - 1).is_word() {
        next -= 1;
    }
    if last_dot.is_some_and(|dot| dot > host) { next } else { place }
}
