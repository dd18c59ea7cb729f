//! A lenient JSON parser.
//!
//! JSON feeds are truncated, have raw line breaks in strings or superfluous commas. This parser returns what is
//! there. It borrows strings from the input and bounds the nesting depth and the number of values in memory.

use std::borrow::Cow;

use memchr::memchr2;
use tidings_model::Repair;

use crate::limits::Limits;
use crate::repairs::Repairs;

/// The maximum nesting depth of values; each level is a recursion of the parser.
const MAX_DEPTH: usize = 64;

/// A JSON value.
#[derive(Debug, PartialEq)]
pub(crate) enum Value<'a> {
    Null,
    Bool(bool),
    /// A number, verbatim.
    Number(&'a str),
    String(Cow<'a, str>),
    Array(Vec<Value<'a>>),
    Object(Vec<(Cow<'a, str>, Value<'a>)>),
}

impl<'a> Value<'a> {
    /// The member with this name, ignoring case.
    pub(crate) fn get(&self, name: &str) -> Option<&Value<'a>> {
        match self {
            Value::Object(members) => members.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, v)| v),
            _ => None,
        }
    }

    /// A string, or a number as a string.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            Value::Number(text) => Some(text),
            _ => None,
        }
    }

    /// The elements of an array; any other value but null counts as an array of one.
    pub(crate) fn list(&self) -> &[Value<'a>] {
        match self {
            Value::Array(values) => values,
            Value::Null => &[],
            value => std::slice::from_ref(value),
        }
    }
}

/// Parses the value at the start of the text.
///
/// Values beyond the limit of [`Limits::max_values`] are parsed and dropped: a value of two bytes takes dozens in memory.
pub(crate) fn parse<'a>(text: &'a str, limits: &Limits, repairs: &mut Repairs) -> Option<Value<'a>> {
    Parser { text, at: 0, max_depth: limits.max_depth.min(MAX_DEPTH), values_left: limits.max_values, repairs }.value(0)
}

struct Parser<'a, 'm> {
    text: &'a str,
    at: usize,
    max_depth: usize,
    /// Values that may still be kept.
    values_left: usize,
    repairs: &'m mut Repairs,
}

impl<'a> Parser<'a, '_> {
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    fn value(&mut self, depth: usize) -> Option<Value<'a>> {
        match self.peek()? {
            b'"' => Some(Value::String(self.string())),
            b'{' | b'[' if depth >= self.max_depth => {
                self.repairs.add(Repair::LimitReached);
                self.skip();
                Some(Value::Null)
            }
            b'{' => Some(self.object(depth)),
            b'[' => Some(self.array(depth)),
            _ => self.word(),
        }
    }

    /// Counts a value before it is parsed, so that containers come before their contents. False beyond the limit.
    fn may_keep(&mut self) -> bool {
        if self.values_left == 0 {
            self.repairs.add(Repair::LimitReached);
            return false;
        }
        self.values_left -= 1;
        true
    }

    /// Skips a value beyond the depth limit.
    fn skip(&mut self) {
        let mut open = 0usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    self.string();
                    continue;
                }
                b'{' | b'[' => open += 1,
                b'}' | b']' => open -= 1,
                _ => {}
            }
            self.at += 1;
            if open == 0 {
                return;
            }
        }
        self.repairs.add(Repair::Truncated);
    }

    fn object(&mut self, depth: usize) -> Value<'a> {
        self.at += 1;
        let mut members = Vec::new();
        loop {
            match self.peek() {
                Some(b'"') => {
                    let key = self.string();
                    if self.peek() == Some(b':') {
                        self.at += 1;
                    } else {
                        self.repairs.add(Repair::LooseJson);
                    }
                    let is_kept = self.may_keep();
                    match self.value(depth + 1) {
                        Some(value) if is_kept => members.push((key, value)),
                        Some(_) => {}
                        None => self.repairs.add(Repair::Truncated),
                    }
                }
                Some(b'}') => {
                    self.at += 1;
                    break;
                }
                Some(b',') => self.at += 1,
                Some(b']') => {
                    // The object was not closed; the bracket closes the array around it.
                    self.repairs.add(Repair::LooseJson);
                    break;
                }
                Some(_) => self.stray(),
                None => {
                    self.repairs.add(Repair::Truncated);
                    break;
                }
            }
        }
        Value::Object(members)
    }

    fn array(&mut self, depth: usize) -> Value<'a> {
        self.at += 1;
        let mut values = Vec::new();
        loop {
            match self.peek() {
                Some(b']') => {
                    self.at += 1;
                    break;
                }
                Some(b',') => self.at += 1,
                Some(b'}' | b':') => {
                    self.repairs.add(Repair::LooseJson);
                    break;
                }
                Some(_) => {
                    let is_kept = self.may_keep();
                    match self.value(depth + 1) {
                        Some(value) if is_kept => values.push(value),
                        Some(_) => {}
                        None => self.stray(),
                    }
                }
                None => {
                    self.repairs.add(Repair::Truncated);
                    break;
                }
            }
        }
        Value::Array(values)
    }

    /// Skips an unexpected character.
    fn stray(&mut self) {
        self.repairs.add(Repair::LooseJson);
        self.at += self.text[self.at..].chars().next().map_or(0, char::len_utf8);
    }

    fn word(&mut self) -> Option<Value<'a>> {
        let rest = &self.text[self.at..];
        let end =
            rest.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.'))).unwrap_or(rest.len());
        let word = &rest[..end];
        self.at += end;
        Some(match word {
            "" => return None,
            "null" => Value::Null,
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            number if number.starts_with(|c: char| c.is_ascii_digit() || c == '-') => Value::Number(number),
            _ => {
                self.repairs.add(Repair::LooseJson);
                Value::Null
            }
        })
    }

    fn string(&mut self) -> Cow<'a, str> {
        let from = self.at + 1;
        let bytes = self.text.as_bytes();
        let mut piece = from;
        let mut owned: Option<String> = None;
        loop {
            let Some(stop) = memchr2(b'"', b'\\', &bytes[piece..]).map(|stop| piece + stop) else {
                self.repairs.add(Repair::Truncated);
                self.at = bytes.len();
                return match owned {
                    None => Cow::Borrowed(&self.text[from..]),
                    Some(text) => Cow::Owned(text + &self.text[piece..]),
                };
            };
            if bytes[stop] == b'"' {
                self.at = stop + 1;
                return match owned {
                    None => Cow::Borrowed(&self.text[from..stop]),
                    Some(text) => Cow::Owned(text + &self.text[piece..stop]),
                };
            }
            let text = owned.get_or_insert_default();
            text.push_str(&self.text[piece..stop]);
            piece = stop + 1 + self.escape(stop + 1, text);
        }
    }

    /// Resolves the escape after a backslash and returns its length.
    fn escape(&mut self, at: usize, out: &mut String) -> usize {
        let bytes = self.text.as_bytes();
        let unit = |at: usize| {
            let digits = self.text.get(at..at + 4)?;
            u32::from_str_radix(digits, 16).ok()
        };
        let Some(byte) = bytes.get(at) else { return 0 };
        let plain = match byte {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' | b'f' => ' ',
            b'"' | b'\\' | b'/' => *byte as char,
            b'u' => {
                let Some(first) = unit(at + 1) else {
                    self.repairs.add(Repair::LooseJson);
                    return 1;
                };
                let second = || {
                    let low = (bytes.get(at + 5) == Some(&b'\\') && bytes.get(at + 6) == Some(&b'u'))
                        .then(|| unit(at + 7))??;
                    (0xdc00..0xe000).contains(&low).then_some(low)
                };
                if (0xd800..0xdc00).contains(&first)
                    && let Some(low) = second()
                {
                    out.extend(char::from_u32(0x10000 + ((first - 0xd800) << 10) + (low - 0xdc00)));
                    return 11;
                }
                match char::from_u32(first) {
                    Some(c) if !c.is_control() || c.is_whitespace() => out.push(c),
                    Some(_) => {}
                    None => out.push('\u{fffd}'),
                }
                return 5;
            }
            _ => {
                // Unknown escape: drop the backslash, keep the character.
                self.repairs.add(Repair::LooseJson);
                return 0;
            }
        };
        out.push(plain);
        1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Value<'_>, Vec<Repair>) {
        let mut repairs = Repairs::default();
        let value = parse(text, &Limits { max_depth: 20, ..Limits::default() }, &mut repairs).unwrap();
        (value, repairs.list())
    }

    #[test]
    fn valid_json_needs_no_repair() {
        let (value, repairs) = read(r#"{"a": [1, -2.5, "x\u00e9\n\ud83d\ude00"], "b": null, "c": true}"#);
        assert_eq!(value.get("a").unwrap().list()[2].text(), Some("xé\n😀"));
        assert_eq!(value.get("B"), Some(&Value::Null));
        assert_eq!(repairs, []);
    }

    #[test]
    fn a_truncated_document_keeps_what_precedes_the_cut() {
        let (value, repairs) = read(r#"{"items": [{"id": "1"}, {"id": "2", "title": "cut o"#);
        let items = value.get("items").unwrap().list();
        assert_eq!(items[1].get("title").and_then(Value::text), Some("cut o"));
        assert_eq!(repairs, [Repair::Truncated]);
    }

    #[test]
    fn superfluous_commas_and_unknown_escapes_are_tolerated() {
        let (value, repairs) = read("{\"a\": [1,,2,], \"b\": \"line\nbreak \\x\",}");
        assert_eq!(value.get("a").unwrap().list().len(), 2);
        assert_eq!(value.get("b").and_then(Value::text), Some("line\nbreak x"));
        assert_eq!(repairs, [Repair::LooseJson]);
    }

    #[test]
    fn values_beyond_the_limit_are_dropped() {
        let mut repairs = Repairs::default();
        let limits = Limits { max_values: 5, ..Limits::default() };
        let value = parse(r#"{"a": [1, 2, 3, [4, 5, 6]], "b": 7}"#, &limits, &mut repairs).unwrap();
        assert_eq!(value.get("a").unwrap().list().len(), 4);
        assert_eq!((value.get("a").unwrap().list()[3].list().len(), value.get("b")), (0, None));
        assert_eq!(repairs.list(), [Repair::LimitReached]);
    }

    #[test]
    fn nesting_is_bounded() {
        let deep = "[".repeat(100_000);
        assert_eq!(read(&deep).1, [Repair::Truncated, Repair::LimitReached]);
        let deep = format!("[{}{}, 7]", "[".repeat(50), "]".repeat(50));
        assert_eq!(read(&deep).0.list().len(), 2);
    }
}
