//! Tokenizes tags: lower-case names, deduplicated attributes, decoded values.

use std::collections::HashSet;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{Tag, TagKind};
use html5ever::{Attribute, LocalName, QualName, ns};
use memchr::{memchr, memchr2};

use super::references;

/// Maximum number of attributes kept per tag; real tags have far fewer.
const MAX_ATTRIBUTES: usize = 4000;
/// The same for formatting elements, whose attributes the tree builder compares with all open ones.
const MAX_FORMATTING_ATTRIBUTES: usize = 64;
/// Up to this many attributes a linear scan finds duplicates fastest.
const FEW_ATTRIBUTES: usize = 32;

/// Attributes that are dropped, with the reason why they cannot matter.
pub(super) const DROPPED_ATTRIBUTES: &[(&str, &str)] = &[
    ("srcset", "image variants; the URL is in src"),
    ("sizes", "image variants; the URL is in src"),
    ("imagesrcset", "image variants; the URL is in href"),
    ("imagesizes", "image variants; the URL is in href"),
    ("integrity", "a checksum"),
    ("nonce", "a one-time token of the content security policy"),
    ("crossorigin", "a fetch option of the browser"),
    ("referrerpolicy", "a fetch option of the browser"),
    ("fetchpriority", "a fetch option of the browser"),
    ("decoding", "a rendering hint of the browser"),
    ("d", "SVG geometry"),
    ("points", "SVG geometry"),
    ("viewbox", "SVG geometry"),
    ("transform", "SVG geometry"),
    ("fill", "SVG painting"),
    ("fill-rule", "SVG painting"),
    ("clip-rule", "SVG painting"),
    ("stroke", "SVG painting"),
    ("stroke-width", "SVG painting"),
    ("stroke-linecap", "SVG painting"),
    ("stroke-linejoin", "SVG painting"),
];

/// Returns whether an attribute is dropped: one in the table, or an event handler such as
/// `onclick`.
pub(super) fn is_dropped(name: &str) -> bool {
    name.starts_with("on") || DROPPED_ATTRIBUTES.iter().any(|(dropped, _)| *dropped == name)
}

/// Returns whether an element is a formatting element. The tree builder keeps at most three open
/// ones with equal attributes (the Noah's Ark clause), so dropping an attribute could change the
/// tree.
pub(super) fn is_formatting(name: &str) -> bool {
    matches!(
        name,
        "a" | "b" | "big" | "code" | "em" | "font" | "i" | "nobr" | "s" | "small" | "strike" | "strong" | "tt" | "u"
    )
}

// Bit flags of a byte class: the tokens that a byte ends.
const SPACE: u8 = 1;
const TAG_NAME: u8 = 2;
const ATTRIBUTE_NAME: u8 = 4;
const UNQUOTED: u8 = 8;
/// Not an end, but the name needs lower-casing or replacement.
const DECODE_NAME: u8 = 16;
const DECODE_VALUE: u8 = 32;

const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b' ' | b'\t' | b'\n' | 0x0c => SPACE | TAG_NAME | ATTRIBUTE_NAME | UNQUOTED,
            b'/' => TAG_NAME | ATTRIBUTE_NAME,
            b'>' => TAG_NAME | ATTRIBUTE_NAME | UNQUOTED,
            b'=' => ATTRIBUTE_NAME,
            b'A'..=b'Z' => DECODE_NAME,
            b'&' => DECODE_VALUE,
            0 => DECODE_NAME | DECODE_VALUE,
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
    names: NameCache,
    value: String,
}

/// A tag with its position.
pub(super) struct ScannedTag {
    pub(super) tag: Tag,
    /// Offset after the name.
    pub(super) name_end: usize,
    /// Offset after the tag.
    pub(super) end: usize,
}

impl<'a> Tags<'a> {
    pub(super) fn new(page: &'a StrTendril, has_null: bool) -> Tags<'a> {
        Tags { page, has_null, names: NameCache::new(), value: String::new() }
    }

    /// Reads a tag from the first letter of its name; `None` if the page ends inside it.
    pub(super) fn read(&mut self, kind: TagKind, start: usize) -> Option<ScannedTag> {
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

    /// Reads an attribute; returns the offset after it.
    fn attribute(&mut self, start: usize, attributes: &mut Attributes) -> Option<usize> {
        let html = self.page.as_bytes();
        let (name, name_end) = self.name(start, ATTRIBUTE_NAME);
        let equals = skip_space(html, name_end);
        let (value, end) = if html.get(equals) == Some(&b'=') {
            self.value(skip_space(html, equals + 1))?
        } else {
            (Value::default(), equals)
        };
        if attributes.accepts(&name) {
            let value = self.text_of(value);
            attributes.push(name.name, value);
        }
        Some(end)
    }

    /// Finds the extent of a value.
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
            return Some((Value { start, end, needs_decoding: classes & DECODE_VALUE != 0 }, end));
        }
        let start = start + 1;
        let mut end = start + memchr2(quote, b'&', &html[start..])?;
        let mut needs_decoding = false;
        if html[end] == b'&' {
            needs_decoding = true;
            end += memchr(quote, &html[end..])?;
        }
        needs_decoding |= self.has_null && memchr(0, &html[start..end]).is_some();
        Some((Value { start, end, needs_decoding }, end + 1))
    }

    fn text_of(&mut self, value: Value) -> StrTendril {
        if !value.needs_decoding {
            return self.page.subtendril(value.start as u32, (value.end - value.start) as u32);
        }
        self.value.clear();
        references::decode(&self.page[value.start..value.end], true, &mut self.value);
        StrTendril::from_slice(&self.value)
    }

    /// Reads the name at `start`; its first character is never a terminator.
    fn name(&mut self, start: usize, ends: u8) -> (InternedName, usize) {
        let html = self.page.as_bytes();
        let mut classes = CLASSES[usize::from(html[start])];
        let length = html[start + 1..].iter().position(|byte| {
            let class = CLASSES[usize::from(*byte)];
            classes |= class;
            class & ends != 0
        });
        let end = length.map_or(html.len(), |length| start + 1 + length);
        let written = &self.page[start..end];
        if classes & DECODE_NAME == 0 {
            return (self.names.get(written), end);
        }
        let mut name = written.to_ascii_lowercase();
        if name.contains('\0') {
            name = name.replace('\0', "\u{fffd}");
        }
        (self.names.get(&name), end)
    }
}

fn found(
    kind: TagKind,
    name: InternedName,
    attributes: Attributes,
    self_closing: bool,
    name_end: usize,
    end: usize,
) -> ScannedTag {
    let attrs = attributes.kept;
    let tag = Tag { kind, name: name.name, self_closing, attrs, had_duplicate_attributes: false };
    ScannedTag { tag, name_end, end }
}

fn skip_space(html: &[u8], at: usize) -> usize {
    let space = html[at..].iter().take_while(|byte| CLASSES[usize::from(**byte)] & SPACE != 0).count();
    at + space
}

/// Extent of an attribute value in the page.
#[derive(Default)]
struct Value {
    start: usize,
    end: usize,
    /// Whether it contains character references or null characters.
    needs_decoding: bool,
}

/// The attributes of one tag.
struct Attributes {
    kept: Vec<Attribute>,
    most: usize,
    keeps_all: bool,
    /// NameCache of the kept attributes, filled once there are many.
    names: HashSet<String>,
}

impl Attributes {
    fn of(kind: TagKind, name: &InternedName) -> Attributes {
        let most = match kind {
            // Attributes of end tags have no effect.
            TagKind::EndTag => 0,
            TagKind::StartTag if name.formatting => MAX_FORMATTING_ATTRIBUTES,
            TagKind::StartTag => MAX_ATTRIBUTES,
        };
        Attributes { kept: Vec::new(), most, keeps_all: name.formatting, names: HashSet::new() }
    }

    fn accepts(&mut self, name: &InternedName) -> bool {
        if self.kept.len() >= self.most || (name.dropped && !self.keeps_all) {
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

/// An interned name with its properties.
#[derive(Clone)]
struct InternedName {
    name: LocalName,
    dropped: bool,
    formatting: bool,
}

/// A direct-mapped cache of interned names. Interning costs more than the rest of a tag.
struct NameCache {
    slots: Vec<Option<InternedName>>,
}

impl NameCache {
    const SLOTS: usize = 512;

    fn new() -> NameCache {
        NameCache { slots: vec![None; NameCache::SLOTS] }
    }

    fn get(&mut self, name: &str) -> InternedName {
        let hash =
            name.bytes().fold(0_u32, |hash, byte| (hash.rotate_left(5) ^ u32::from(byte)).wrapping_mul(0x9e37_79b9));
        let place = &mut self.slots[(hash >> 16) as usize % NameCache::SLOTS];
        if let Some(known) = place
            && *known.name == *name
        {
            return known.clone();
        }
        let known =
            InternedName { name: LocalName::from(name), dropped: is_dropped(name), formatting: is_formatting(name) };
        place.insert(known).clone()
    }
}
