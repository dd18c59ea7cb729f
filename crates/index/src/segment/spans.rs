//! Spans of a segment: for each name a list of starts and lengths, and a dictionary-coded column per attribute.
//!
//! A span lies in one document. Values of attributes are sorted and compressed in blocks, because those of names have a
//! long tail; the codes are bit-packed. The empty value stands for a missing attribute.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::write::SegmentSource;
use crate::checked::CheckedSlice;
use crate::codec::{BitSet, ListedSpan, SpanBlock, SpanList, SpanListWriter, read_packed, width_of, write_packed};
use crate::error::{Error, Result, damaged};
use crate::sections::{SectionId, SectionWriter, Sections};

/// Values per compressed block.
const VALUES_A_BLOCK: usize = 256;
/// Codes that are packed at once; a multiple of eight, so that each piece ends at a byte.
const CODES_A_PIECE: usize = 4096;
/// Maximum size of a decompressed block; protects against damaged sizes.
const MAX_BLOCK_BYTES: usize = 64 << 20;
const LEVEL: i32 = 6;

/// Spans of one name in the header of a segment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpanMeta {
    /// Name.
    pub name: String,
    /// Number of spans.
    pub spans: u32,
    /// Attributes with their numbers of distinct values, the empty one included.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<(String, u32)>,
}

/// A span of a new segment: its tokens and the code of its value of each attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NewSpan {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) codes: Vec<u32>,
}

/// Spans of one name of a new segment.
pub(super) struct NewSpans {
    pub(super) name: String,
    /// Names and values of the attributes, in any order; values that no span has are not written.
    pub(super) attributes: Vec<(String, Vec<String>)>,
}

fn section(name: &str, what: &str) -> String {
    format!("span.{name}.{what}")
}

/// Calls `each` with the spans of a name in all documents, sorted by start.
fn each_span(
    source: &mut impl SegmentSource,
    index: usize,
    starts: &[u32],
    mut each: impl FnMut(&NewSpan) -> Result<()>,
) -> Result<()> {
    let mut spans = Vec::new();
    for (document, start) in starts.iter().enumerate().take(source.documents()) {
        spans.clear();
        source.spans(index, document, *start, &mut spans);
        spans.iter().try_for_each(&mut each)?;
    }
    Ok(())
}

/// Writes the spans of all names; returns their headers. Names without spans are left out.
pub(super) fn write_spans(
    file: &mut SectionWriter,
    source: &mut impl SegmentSource,
    starts: &[u32],
) -> Result<Vec<SpanMeta>> {
    let mut metas = Vec::new();
    for (index, NewSpans { name, attributes }) in source.span_names().into_iter().enumerate() {
        let mut used: Vec<BitSet> = attributes.iter().map(|(_, values)| BitSet::new(values.len())).collect();
        let mut count = 0u32;
        each_span(source, index, starts, |span| {
            count += 1;
            used.iter_mut().zip(&span.codes).for_each(|(used, code)| used.set(*code));
            Ok(())
        })?;
        if count == 0 {
            continue;
        }
        write_list(file, source, index, &name, starts)?;
        let mut written = Vec::new();
        for (column, ((attribute, values), used)) in attributes.iter().zip(&used).enumerate() {
            let has_value = used.iter().any(|code| !values[code as usize].is_empty());
            if has_value {
                let full = format!("{name}.{attribute}");
                let ranks = write_values(file, &full, values, used)?;
                write_codes(file, source, &full, (index, column), starts, &ranks)?;
                written.push((attribute.clone(), used.count() as u32));
            }
        }
        metas.push(SpanMeta { name, spans: count, attributes: written });
    }
    Ok(metas)
}

fn write_list(
    file: &mut SectionWriter,
    source: &mut impl SegmentSource,
    index: usize,
    name: &str,
    starts: &[u32],
) -> Result<()> {
    let mut list = SpanListWriter::default();
    file.begin(&section(name, "spans"))?;
    each_span(source, index, starts, |span| match list.push(span.start, span.end) {
        Some(block) => file.write(block),
        None => Ok(()),
    })?;
    if let Some(block) = list.finish() {
        file.write(block)?;
    }
    let blocks = list.blocks().ok_or(Error::TooLarge { limit: super::MAX_TOKENS })?;
    file.section(&section(name, "blocks"), blocks)
}

/// Writes the values in use, sorted; returns the rank of each code.
fn write_values(file: &mut SectionWriter, name: &str, values: &[String], used: &BitSet) -> Result<Vec<u32>> {
    let mut order: Vec<u32> = used.iter().collect();
    order.sort_unstable_by_key(|code| &values[*code as usize]);
    let mut ranks = vec![0u32; values.len()];
    (0..).zip(&order).for_each(|(rank, code)| ranks[*code as usize] = rank);
    file.begin(&section(name, "text"))?;
    let mut offsets = vec![0u32];
    for block in order.chunks(VALUES_A_BLOCK) {
        let mut text = String::new();
        block.iter().for_each(|code| text.extend([&values[*code as usize], "\n"]));
        let packed = zstd::bulk::compress(text.as_bytes(), LEVEL).expect("the buffer grows as needed");
        file.write(&packed)?;
        let offset = u64::from(*offsets.last().expect("never empty")) + packed.len() as u64;
        offsets.push(u32::try_from(offset).map_err(|_| Error::TooLarge { limit: super::MAX_TOKENS })?);
    }
    file.section(&section(name, "places"), &offsets)?;
    Ok(ranks)
}

fn write_codes(
    file: &mut SectionWriter,
    source: &mut impl SegmentSource,
    name: &str,
    (index, column): (usize, usize),
    starts: &[u32],
    ranks: &[u32],
) -> Result<()> {
    let largest = ranks.iter().copied().max().unwrap_or(0);
    let width = width_of(largest);
    file.begin(&section(name, "codes"))?;
    let mut pending = Vec::with_capacity(CODES_A_PIECE);
    let mut packed = Vec::new();
    each_span(source, index, starts, |span| {
        let code = span.codes.get(column).copied().unwrap_or(0);
        pending.push(ranks.get(code as usize).copied().unwrap_or(0));
        if pending.len() == CODES_A_PIECE {
            packed.clear();
            write_packed(&pending, width, &mut packed);
            pending.clear();
            file.write(&packed)?;
        }
        Ok(())
    })?;
    packed.clear();
    write_packed(&pending, width, &mut packed);
    file.write(&packed)
}

/// Ranges of the spans of one name in the file.
#[derive(Debug)]
pub(super) struct SpanOffsets {
    meta: SpanMeta,
    blocks: SectionId,
    data: SectionId,
    attributes: Vec<AttributeOffsets>,
}

#[derive(Debug)]
struct AttributeOffsets {
    count: u32,
    text: SectionId,
    offsets: SectionId,
    codes: SectionId,
}

impl SpanOffsets {
    pub(super) fn find(file: &Sections, meta: &SpanMeta) -> Result<SpanOffsets> {
        let attribute = |(attribute, count): &(String, u32)| {
            let name = format!("{}.{attribute}", meta.name);
            let blocks = (*count as usize).div_ceil(VALUES_A_BLOCK);
            Ok(AttributeOffsets {
                count: *count,
                text: file.find(&section(&name, "text"))?,
                offsets: file.find_numbers::<u32>(&section(&name, "places"), blocks + 1)?,
                codes: file.find(&section(&name, "codes"))?,
            })
        };
        Ok(SpanOffsets {
            blocks: file.find_numbers::<SpanBlock>(&section(&meta.name, "blocks"), SpanList::blocks_for(meta.spans))?,
            data: file.find(&section(&meta.name, "spans"))?,
            attributes: meta.attributes.iter().map(attribute).collect::<Result<_>>()?,
            meta: meta.clone(),
        })
    }
}

/// Spans of one name in a segment.
#[derive(Debug, Clone, Copy)]
pub struct Spans<'s> {
    file: &'s Sections,
    offsets: &'s SpanOffsets,
}

impl<'s> Spans<'s> {
    pub(super) fn new(file: &'s Sections, offsets: &'s SpanOffsets) -> Spans<'s> {
        Spans { file, offsets }
    }

    /// Name.
    pub fn name(&self) -> &'s str {
        &self.offsets.meta.name
    }

    /// Starts and lengths of all spans, deleted documents included.
    pub fn list(&self) -> SpanList<'s> {
        let (blocks, data) = (self.file.numbers(self.offsets.blocks), self.file.bytes(self.offsets.data));
        SpanList::new(blocks, data, self.offsets.meta.spans)
    }

    /// Appends the spans of a document with these tokens. Damaged spans may leave it; they are cut.
    pub fn of_document(&self, tokens: &Range<u32>, into: &mut Vec<ListedSpan>) {
        self.list().each_from(tokens.start, tokens.end, |span| {
            into.push(ListedSpan { end: span.end.min(tokens.end), ..span });
            true
        });
    }

    /// Names of the attributes.
    pub fn attribute_names(&self) -> impl Iterator<Item = &'s str> + use<'s> {
        self.offsets.meta.attributes.iter().map(|(name, _)| name.as_str())
    }

    /// An attribute; `None` if no span of the segment has it.
    pub fn attribute(&self, name: &str) -> Option<SpanAttribute<'s>> {
        let index = self.attribute_names().position(|known| known == name)?;
        Some(SpanAttribute { file: self.file, offsets: &self.offsets.attributes[index] })
    }
}

/// An attribute of spans, dictionary-coded: sorted distinct values and a code per span.
#[derive(Debug, Clone, Copy)]
pub struct SpanAttribute<'s> {
    file: &'s Sections,
    offsets: &'s AttributeOffsets,
}

impl SpanAttribute<'_> {
    /// Number of distinct values, the empty one included if a span has none; codes are below.
    pub fn count(&self) -> u32 {
        self.offsets.count
    }

    /// The code of a span's value.
    #[inline]
    pub fn code(&self, span: u32) -> u32 {
        let width = width_of(self.offsets.count.saturating_sub(1));
        read_packed(self.file.bytes(self.offsets.codes), width, span as usize)
    }

    /// The value of a code.
    pub fn value(&self, code: u32) -> Result<String> {
        let block = self.block(code as usize / VALUES_A_BLOCK)?;
        let mut lines = block.split(|byte| *byte == b'\n').skip(code as usize % VALUES_A_BLOCK);
        Ok(String::from_utf8_lossy(lines.next().unwrap_or_default()).into_owned())
    }

    /// Calls `each` with every code and its value; values are sorted.
    pub fn each(&self, mut each: impl FnMut(u32, &str)) -> Result<()> {
        let blocks = (self.offsets.count as usize).div_ceil(VALUES_A_BLOCK);
        for block in 0..blocks {
            let first = (block * VALUES_A_BLOCK) as u32;
            let values = VALUES_A_BLOCK.min((self.offsets.count - first) as usize);
            let text = self.block(block)?;
            let text = String::from_utf8_lossy(&text);
            (first..).zip(text.split_terminator('\n').take(values)).for_each(|(code, value)| each(code, value));
        }
        Ok(())
    }

    fn block(&self, block: usize) -> Result<Vec<u8>> {
        let offsets: CheckedSlice<'_, u32> = self.file.numbers(self.offsets.offsets);
        let packed = offsets
            .get(block)
            .zip(offsets.get(block + 1))
            .and_then(|(start, end)| self.file.bytes(self.offsets.text).slice(start as usize..end as usize));
        let text = packed.and_then(|packed| {
            let size = zstd::zstd_safe::get_frame_content_size(packed).ok()??;
            let size = usize::try_from(size).ok().filter(|size| *size <= MAX_BLOCK_BYTES)?;
            zstd::bulk::decompress(packed, size).ok()
        });
        match text {
            Some(text) => Ok(text),
            None => damaged(self.file.path(), "values of an attribute of spans cannot be decompressed"),
        }
    }
}
