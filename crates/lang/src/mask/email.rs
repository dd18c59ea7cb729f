//! E-mail addresses, also of other alphabets and written so that programs overlook them.

use super::cues::is_unspaced;

/// Longest local part and longest host, in bytes.
const MAX_LOCAL: usize = 128;
const MAX_HOST: usize = 253;

/// Words for `@` in brackets, and between spaces before a word for the dot.
const AT_WORDS: [&str; 7] = ["at", "ät", "arroba", "@", "kukac", "zavináč", "собака"];
const DOT_WORDS: [&str; 6] = ["dot", "punkt", "punto", "point", "ponto", "точка"];

/// Top-level domains that are believed when both marks are words: other words may follow *at* and *dot*.
const SPOKEN_DOMAINS: [&str; 24] = [
    "com", "org", "net", "edu", "gov", "info", "example", "de", "at", "ch", "fr", "es", "it", "pt", "nl", "be", "pl",
    "cz", "se", "dk", "fi", "uk", "eu", "br",
];

/// The address whose `@`, or bracket of a word for it, is at `place`; it does not begin before `from`.
pub fn email(text: &str, place: usize, from: usize) -> Option<(usize, usize)> {
    let rest = &text[place..];
    let (local_end, host_start) = match rest.as_bytes()[0] {
        b'@' => around_blanks(text, place, place + 1)?,
        _ => around_blanks(text, place, place + bracketed(rest, &AT_WORDS)?)?,
    };
    let is_plain = rest.starts_with('@') && host_start == place + 1;
    let start = local_part(text, local_end, from)?;
    let end = host(text, host_start, is_plain)?;
    (start < local_end).then_some((start, end))
}

/// The address with *at* and *dot* as words, whose *at* (with its blanks) is at `place`: *jane at example dot org*.
pub fn spoken_email(text: &str, place: usize, from: usize) -> Option<(usize, usize)> {
    let at = ["at ", "AT ", "arroba "].iter().find(|at| text[place..].starts_with(**at))?;
    let local_end = text[..place].strip_suffix(' ')?.len();
    let host_start = place + at.len();
    let start = local_part(text, local_end, from)?;
    let end = host(text, host_start, false)?;
    // The dot must be a word as well, or the sentence is about a place: *meet at example.org*.
    let (_, last) = text[host_start..end].rsplit_once(' ')?;
    let is_spoken = SPOKEN_DOMAINS.contains(&last.to_lowercase().as_str());
    (start < local_end && is_spoken).then_some((start, end))
}

/// The end of the local part and the start of the host around an `@` with blanks on both sides or on none.
fn around_blanks(text: &str, at: usize, after: usize) -> Option<(usize, usize)> {
    let before = text[..at].strip_suffix(' ').map_or(at, str::len);
    let behind = text[after..].strip_prefix(' ').map_or(after, |_| after + 1);
    if (before == at) == (behind == after) { Some((before, behind)) } else { Some((before.max(at), behind.min(after))) }
}

/// The length of a word in brackets at the start of the text, with an equal word of the list.
fn bracketed(text: &str, words: &[&str]) -> Option<usize> {
    let close = match text.chars().next()? {
        '(' => ')',
        '[' => ']',
        '{' => '}',
        '<' => '>',
        _ => return None,
    };
    let inside = &text[1..];
    let end = inside.char_indices().take(12).find(|(_, c)| *c == close)?.0;
    let word = inside[..end].trim().to_lowercase();
    words.contains(&word.as_str()).then_some(end + 2)
}

fn local_part(text: &str, end: usize, from: usize) -> Option<usize> {
    let last = text[from..end].chars().next_back()?;
    let own = script(last);
    let is_mark = |c: char| matches!(c, '.' | '_' | '%' | '+' | '-' | '\'');
    let fits =
        |c: char| is_mark(c) || c.is_ascii_alphanumeric() || c.is_alphanumeric() && own.is_some() && script(c) == own;
    let mut start = end;
    for (place, c) in text[from..end].char_indices().rev() {
        if !fits(c) || end - (from + place) > MAX_LOCAL {
            break;
        }
        start = from + place;
    }
    while start < end && matches!(text.as_bytes()[start], b'.' | b'-' | b'\'' | b'+') {
        start += 1;
    }
    Some(start)
}

/// The script of a letter as far as addresses need it: letters of one script make a word. None for marks, digits and
/// scripts without spaces, where an address could not be told from the words around it.
fn script(c: char) -> Option<u8> {
    match c {
        _ if !c.is_alphabetic() || is_unspaced(c) => None,
        _ if c.is_ascii() || ('\u{c0}'..='\u{24f}').contains(&c) || ('\u{1e00}'..='\u{1eff}').contains(&c) => Some(0),
        '\u{370}'..='\u{3ff}' => Some(1),
        '\u{400}'..='\u{52f}' => Some(2),
        '\u{530}'..='\u{58f}' => Some(3),
        '\u{590}'..='\u{5ff}' => Some(4),
        '\u{600}'..='\u{6ff}' => Some(5),
        '\u{900}'..='\u{97f}' => Some(6),
        _ => Some(7),
    }
}

/// The end of the host that begins at `start`: labels and dots, which are words or in brackets if the `@` was.
fn host(text: &str, start: usize, is_plain: bool) -> Option<usize> {
    let mut labels: Vec<&str> = Vec::new();
    let mut place = start;
    let mut end = None;
    loop {
        let label = label(&text[place..]);
        if label.is_empty() || label.starts_with('-') || place + label.len() - start > MAX_HOST {
            break;
        }
        let trimmed = label.trim_end_matches('-');
        labels.push(trimmed);
        place += trimmed.len();
        if labels.len() >= 2 && trimmed.chars().count() >= 2 && trimmed.chars().all(char::is_alphabetic) {
            end = Some(place);
        } else if labels.len() >= 2 {
            end = None;
        }
        if trimmed.len() < label.len() {
            break;
        }
        let Some(dot) = dot(&text[place..], is_plain) else { break };
        place += dot;
    }
    end
}

/// The label of a host at the start of the text.
fn label(text: &str) -> &str {
    // Labels have at most 63 characters.
    let own = text.chars().take(63).find(|c| c.is_alphabetic()).and_then(script);
    let fits =
        |c: char| c == '-' || c.is_ascii_alphanumeric() || c.is_alphanumeric() && own.is_some() && script(c) == own;
    &text[..text.find(|c| !fits(c)).unwrap_or(text.len())]
}

/// The length of a dot at the start of the text.
fn dot(text: &str, is_plain: bool) -> Option<usize> {
    if text.starts_with('.') {
        return Some(1);
    }
    if is_plain {
        return None;
    }
    let blanks = text.len() - text.trim_start_matches(' ').len();
    let rest = &text[blanks..];
    let after = |length: usize| length + rest[length..].len() - rest[length..].trim_start_matches(' ').len();
    if let Some(length) = bracketed(rest, &DOT_WORDS) {
        return Some(blanks + after(length));
    }
    let word = rest.split(' ').next().unwrap_or_default();
    let is_word =
        blanks == 1 && DOT_WORDS.contains(&word.to_lowercase().as_str()) && rest[word.len()..].starts_with(' ');
    is_word.then(|| blanks + word.len() + 1)
}
