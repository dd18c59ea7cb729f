//! Reads tags: names in lower case, attributes once each, values with their references read.

use std::collections::HashSet;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{Tag, TagKind};
use html5ever::{Attribute, LocalName, QualName, ns};
use memchr::{memchr, memchr2};

use super::references;

/// Attributes of one tag that are kept; no honest tag has as many.
const MOST_ATTRIBUTES: usize = 4000;
/// The same for elements whose attributes the tree builder compares with those of all others.
const MOST_COMPARED: usize = 64;
/// Up to so many attributes, looking through all of them finds a repeated one fastest.
const FEW_ATTRIBUTES: usize = 32;

/// Attributes that are not kept, and why they cannot matter.
pub(super) const USELESS: &[(&str, &str)] = &[
    ("srcset", "pictures in other sizes; the address is in src"),
    ("sizes", "pictures in other sizes; the address is in src"),
    ("imagesrcset", "pictures in other sizes; the address is in href"),
    ("imagesizes", "pictures in other sizes; the address is in href"),
    ("integrity", "a checksum"),
    ("nonce", "a secret between page and browser"),
    ("crossorigin", "how a browser asks for a file"),
    ("referrerpolicy", "how a browser asks for a file"),
    ("fetchpriority", "how a browser asks for a file"),
    ("decoding", "when a browser paints a picture"),
    ("d", "the outline of a drawing"),
    ("points", "the outline of a drawing"),
    ("viewbox", "the frame of a drawing"),
    ("transform", "the place of a shape in a drawing"),
    ("fill", "the colour of a drawing"),
    ("fill-rule", "the colour of a drawing"),
    ("clip-rule", "the colour of a drawing"),
    ("stroke", "the line of a drawing"),
    ("stroke-width", "the line of a drawing"),
    ("stroke-linecap", "the line of a drawing"),
    ("stroke-linejoin", "the line of a drawing"),
];

/// Whether an attribute is left out: one in the table, or a script such as `onclick`.
pub(super) fn is_useless(name: &str) -> bool {
    name.starts_with("on") || USELESS.iter().any(|(useless, _)| *useless == name)
}

/// Formatting elements. The tree builder lets only three of the same attributes stand open, so an
/// attribute left out could change the tree.
pub(super) fn is_compared(name: &str) -> bool {
    matches!(
        name,
        "a" | "b" | "big" | "code" | "em" | "font" | "i" | "nobr" | "s" | "small" | "strike" | "strong" | "tt" | "u"
    )
}

// What a byte ends; several can be true of one.
const SPACE: u8 = 1;
const TAG_NAME: u8 = 2;
const ATTRIBUTE_NAME: u8 = 4;
const UNQUOTED: u8 = 8;
/// Not an end, but nothing that can be taken as it is.
const UNCLEAN_NAME: u8 = 16;
const UNCLEAN_VALUE: u8 = 32;

const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b' ' | b'\t' | b'\n' | 0x0c => SPACE | TAG_NAME | ATTRIBUTE_NAME | UNQUOTED,
            b'/' => TAG_NAME | ATTRIBUTE_NAME,
            b'>' => TAG_NAME | ATTRIBUTE_NAME | UNQUOTED,
            b'=' => ATTRIBUTE_NAME,
            b'A'..=b'Z' => UNCLEAN_NAME,
            b'&' => UNCLEAN_VALUE,
            0 => UNCLEAN_NAME | UNCLEAN_VALUE,
            _ => 0,
        };
        byte += 1;
    }
    classes
};

/// Reads the tags of one page.
pub(super) struct Tags<'a> {
    page: &'a StrTendril,
    has_null: bool,
    names: Names,
    value: String,
}

/// A tag as it was found.
pub(super) struct Found {
    pub(super) tag: Tag,
    /// Where its name ends.
    pub(super) name_end: usize,
    /// Where it ends.
    pub(super) end: usize,
}

impl<'a> Tags<'a> {
    pub(super) fn new(page: &'a StrTendril, has_null: bool) -> Tags<'a> {
        Tags { page, has_null, names: Names::new(), value: String::new() }
    }

    /// Reads a tag from the first letter of its name; nothing where the page ends within.
    pub(super) fn read(&mut self, kind: TagKind, start: usize) -> Option<Found> {
        let html = self.page.as_bytes();
        let (name, name_end) = self.name(start, TAG_NAME);
        let mut attributes = Attributes::of(kind, &name);
        let mut at = name_end;
        loop {
            at = skip_space(html, at);
            match *html.get(at)? {
                b'>' => return Some(found(kind, name, attributes, false, name_end, at + 1)),
                b'/' if *html.get(at + 1)? == b'>' => {
                    return Some(found(kind, name, attributes, true, name_end, at + 2));
                }
                b'/' => at += 1,
                _ => at = self.attribute(at, &mut attributes)?,
            }
        }
    }

    /// Reads an attribute and says where it ends.
    fn attribute(&mut self, start: usize, attributes: &mut Attributes) -> Option<usize> {
        let html = self.page.as_bytes();
        let (name, name_end) = self.name(start, ATTRIBUTE_NAME);
        let equals = skip_space(html, name_end);
        let (value, end) = if html.get(equals) == Some(&b'=') {
            self.value(skip_space(html, equals + 1))?
        } else {
            (Value::default(), equals)
        };
        if attributes.wants(&name) {
            let value = self.text_of(value);
            attributes.push(name.name, value);
        }
        Some(end)
    }

    /// Finds where a value ends.
    fn value(&self, start: usize) -> Option<(Value, usize)> {
        let html = self.page.as_bytes();
        let quote = *html.get(start)?;
        if quote != b'"' && quote != b'\'' {
            let mut classes = 0;
            let length = html[start..].iter().position(|byte| {
                let class = CLASSES[usize::from(*byte)];
                classes |= class;
                class & UNQUOTED != 0
            })?;
            let end = start + length;
            return Some((Value { start, end, unclean: classes & UNCLEAN_VALUE != 0 }, end));
        }
        let start = start + 1;
        let mut end = start + memchr2(quote, b'&', &html[start..])?;
        let mut unclean = false;
        if html[end] == b'&' {
            unclean = true;
            end += memchr(quote, &html[end..])?;
        }
        unclean |= self.has_null && memchr(0, &html[start..end]).is_some();
        Some((Value { start, end, unclean }, end + 1))
    }

    fn text_of(&mut self, value: Value) -> StrTendril {
        if !value.unclean {
            return self.page.subtendril(value.start as u32, (value.end - value.start) as u32);
        }
        self.value.clear();
        references::decode(&self.page[value.start..value.end], true, &mut self.value);
        StrTendril::from_slice(&self.value)
    }

    /// Reads the name that begins here, whatever its first character.
    fn name(&mut self, start: usize, ends: u8) -> (Known, usize) {
        let html = self.page.as_bytes();
        let mut classes = CLASSES[usize::from(html[start])];
        let length = html[start + 1..].iter().position(|byte| {
            let class = CLASSES[usize::from(*byte)];
            classes |= class;
            class & ends != 0
        });
        let end = length.map_or(html.len(), |length| start + 1 + length);
        let written = &self.page[start..end];
        if classes & UNCLEAN_NAME == 0 {
            return (self.names.get(written), end);
        }
        let mut name = written.to_ascii_lowercase();
        if name.contains('\0') {
            name = name.replace('\0', "\u{fffd}");
        }
        (self.names.get(&name), end)
    }
}

fn found(kind: TagKind, name: Known, attributes: Attributes, self_closing: bool, name_end: usize, end: usize) -> Found {
    let attrs = attributes.kept;
    let tag = Tag { kind, name: name.name, self_closing, attrs, had_duplicate_attributes: false };
    Found { tag, name_end, end }
}

fn skip_space(html: &[u8], at: usize) -> usize {
    let space = html[at..].iter().take_while(|byte| CLASSES[usize::from(**byte)] & SPACE != 0).count();
    at + space
}

/// Where a value stands in the page.
#[derive(Default)]
struct Value {
    start: usize,
    end: usize,
    /// Whether it holds references or null characters.
    unclean: bool,
}

/// The attributes of one tag.
struct Attributes {
    kept: Vec<Attribute>,
    most: usize,
    keeps_all: bool,
    /// The names that are kept, once there are many.
    names: HashSet<String>,
}

impl Attributes {
    fn of(kind: TagKind, name: &Known) -> Attributes {
        let most = match kind {
            // Nobody reads the attributes of an end tag.
            TagKind::EndTag => 0,
            TagKind::StartTag if name.compared => MOST_COMPARED,
            TagKind::StartTag => MOST_ATTRIBUTES,
        };
        Attributes { kept: Vec::new(), most, keeps_all: name.compared, names: HashSet::new() }
    }

    fn wants(&mut self, name: &Known) -> bool {
        if self.kept.len() >= self.most || (name.useless && !self.keeps_all) {
            return false;
        }
        if self.kept.len() < FEW_ATTRIBUTES {
            return !self.kept.iter().any(|known| known.name.local == name.name);
        }
        if self.names.is_empty() {
            self.names = self.kept.iter().map(|known| known.name.local.to_string()).collect();
        }
        self.names.insert(name.name.to_string())
    }

    fn push(&mut self, name: LocalName, value: StrTendril) {
        self.kept.push(Attribute { name: QualName::new(None, ns!(), name), value });
    }
}

/// A name, and what is known of it.
#[derive(Clone)]
struct Known {
    name: LocalName,
    useless: bool,
    compared: bool,
}

/// The names met last: making one anew costs more than the rest of a tag.
struct Names {
    places: Vec<Option<Known>>,
}

impl Names {
    const PLACES: usize = 512;

    fn new() -> Names {
        Names { places: vec![None; Names::PLACES] }
    }

    fn get(&mut self, name: &str) -> Known {
        let hash =
            name.bytes().fold(0_u32, |hash, byte| (hash.rotate_left(5) ^ u32::from(byte)).wrapping_mul(0x9e37_79b9));
        let place = &mut self.places[(hash >> 16) as usize % Names::PLACES];
        if let Some(known) = place
            && *known.name == *name
        {
            return known.clone();
        }
        let known = Known { name: LocalName::from(name), useless: is_useless(name), compared: is_compared(name) };
        place.insert(known).clone()
    }
}
