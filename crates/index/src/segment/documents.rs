//! Document metadata of a segment: ids, days, URLs, titles, fields.

use super::write::SegmentSource;
use crate::checked::CheckedSlice;
use crate::codec::{BitSet, read_packed, width_of, write_packed};
use crate::error::{Error, Result, damaged};
use crate::sections::{SectionId, SectionWriter, Sections};
use tidings_model::Day;

/// Documents per compressed block of URLs and titles: neighbours often share a site.
pub(super) const TEXTS_A_BLOCK: usize = 64;
/// Maximum size of a decompressed block; protects against damaged sizes.
const MAX_BLOCK_BYTES: usize = 256 << 20;
const LEVEL: i32 = 6;

/// Writes the metadata columns; returns the fields with their numbers of values.
pub(super) fn write_documents(file: &mut SectionWriter, source: &mut impl SegmentSource) -> Result<Vec<(String, u32)>> {
    let documents = source.documents();
    let ids: Vec<u128> = (0..documents).map(|document| source.id(document)).collect();
    file.section("ids", &ids)?;
    let seen: Vec<i32> = (0..documents).map(|document| source.seen(document).0).collect();
    file.section("seen", &seen)?;

    file.begin("texts")?;
    let mut offsets = vec![0u32];
    let mut text = String::new();
    for first in (0..documents).step_by(TEXTS_A_BLOCK) {
        text.clear();
        for document in first..documents.min(first + TEXTS_A_BLOCK) {
            source.text(document, &mut text)?;
        }
        let packed = zstd::bulk::compress(text.as_bytes(), LEVEL).expect("the buffer grows as needed");
        file.write(&packed)?;
        let offset = u64::from(*offsets.last().expect("never empty")) + packed.len() as u64;
        offsets.push(u32::try_from(offset).map_err(|_| Error::TooLarge { limit: super::MAX_TOKENS })?);
    }
    file.section("texts.places", &offsets)?;

    let mut fields = Vec::new();
    for (index, name) in source.fields().into_iter().enumerate() {
        let (values, codes) = source.values(index);
        fields.push((name.clone(), write_field(file, &name, &values, &codes)?));
    }
    Ok(fields)
}

/// Writes the values in use, sorted, and the value code of each document.
fn write_field(file: &mut SectionWriter, name: &str, values: &[String], codes: &[u32]) -> Result<u32> {
    let mut used = BitSet::new(values.len());
    codes.iter().for_each(|code| used.set(*code));
    let mut order: Vec<u32> = used.iter().collect();
    order.sort_unstable_by_key(|code| &values[*code as usize]);
    let (mut text, mut starts) = (String::new(), vec![0u32]);
    let mut ranks = vec![0u32; values.len()];
    for (rank, code) in order.iter().enumerate() {
        ranks[*code as usize] = rank as u32;
        text.push_str(&values[*code as usize]);
        starts.push(u32::try_from(text.len()).map_err(|_| Error::TooLarge { limit: super::MAX_TOKENS })?);
    }
    let width = width_of(order.len().saturating_sub(1) as u32);
    let mut packed = vec![width as u8];
    write_packed(&codes.iter().map(|code| ranks[*code as usize]).collect::<Vec<_>>(), width, &mut packed);
    file.section(&format!("field.{name}.text"), text.as_bytes())?;
    file.section(&format!("field.{name}.starts"), &starts)?;
    file.section(&format!("field.{name}.codes"), &packed)?;
    Ok(order.len() as u32)
}

/// Ranges of the metadata columns in the file.
#[derive(Debug)]
pub(super) struct DocumentOffsets {
    ids: SectionId,
    seen: SectionId,
    texts: SectionId,
    text_offsets: SectionId,
    fields: Vec<FieldOffsets>,
}

#[derive(Debug)]
struct FieldOffsets {
    name: String,
    text: SectionId,
    starts: SectionId,
    codes: SectionId,
}

impl DocumentOffsets {
    pub(super) fn find(file: &Sections, documents: usize, fields: &[(String, u32)]) -> Result<DocumentOffsets> {
        let places_of = |(name, values): &(String, u32)| {
            let codes = file.find(&format!("field.{name}.codes"))?;
            let width = file.bytes(codes).get(0).unwrap_or(0);
            if !(1..=32).contains(&width) || file.bytes(codes).len() != 1 + (documents * width as usize).div_ceil(8) {
                return damaged(file.path(), format!("the field {name} has the wrong size"));
            }
            Ok(FieldOffsets {
                name: name.clone(),
                text: file.find(&format!("field.{name}.text"))?,
                starts: file.find_numbers::<u32>(&format!("field.{name}.starts"), *values as usize + 1)?,
                codes,
            })
        };
        Ok(DocumentOffsets {
            ids: file.find_numbers::<u128>("ids", documents)?,
            seen: file.find_numbers::<i32>("seen", documents)?,
            texts: file.find("texts")?,
            text_offsets: file.find_numbers::<u32>("texts.places", documents.div_ceil(TEXTS_A_BLOCK) + 1)?,
            fields: fields.iter().map(places_of).collect::<Result<_>>()?,
        })
    }

    pub(super) fn ids<'f>(&self, file: &'f Sections) -> CheckedSlice<'f, u128> {
        file.numbers(self.ids)
    }

    pub(super) fn seen<'f>(&self, file: &'f Sections) -> CheckedSlice<'f, i32> {
        file.numbers(self.seen)
    }

    pub(super) fn field<'f>(&self, file: &'f Sections, name: &str) -> Option<Field<'f>> {
        let offsets = self.fields.iter().find(|offsets| offsets.name == name)?;
        let codes = file.bytes(offsets.codes);
        let (text, starts) = (file.bytes(offsets.text), file.numbers(offsets.starts));
        Some(Field { text, starts, width: u32::from(codes.get(0)?), codes: codes.skip(1) })
    }

    /// Decompresses the block with a document's texts; returns it with the document's index in it.
    pub(super) fn texts(&self, file: &Sections, document: u32) -> Result<(Vec<u8>, usize)> {
        let block = document as usize / TEXTS_A_BLOCK;
        let offsets: CheckedSlice<'_, u32> = file.numbers(self.text_offsets);
        let packed = offsets
            .get(block)
            .zip(offsets.get(block + 1))
            .and_then(|(start, end)| file.bytes(self.texts).slice(start as usize..end as usize));
        let texts = packed.and_then(|packed| zstd::bulk::decompress(packed, claimed_size(packed)?).ok());
        match texts {
            Some(texts) => Ok((texts, document as usize % TEXTS_A_BLOCK)),
            None => damaged(file.path(), format!("the text of document {document} cannot be decompressed")),
        }
    }
}

fn claimed_size(packed: &[u8]) -> Option<usize> {
    let size = zstd::zstd_safe::get_frame_content_size(packed).ok()??;
    usize::try_from(size).ok().filter(|size| *size <= MAX_BLOCK_BYTES)
}

/// URL and title at an index of a decompressed block.
pub(super) fn text_at(texts: &[u8], index: usize) -> (String, String) {
    let mut lines = texts.split(|byte| *byte == b'\n').skip(index * 2);
    let mut line = || String::from_utf8_lossy(lines.next().unwrap_or_default()).into_owned();
    (line(), line())
}

/// A metadata field, dictionary-coded: sorted distinct values and a code per document.
#[derive(Debug, Clone, Copy)]
pub struct Field<'s> {
    text: CheckedSlice<'s, u8>,
    starts: CheckedSlice<'s, u32>,
    codes: CheckedSlice<'s, u8>,
    width: u32,
}

impl<'s> Field<'s> {
    /// Number of distinct values; codes are below.
    pub fn count(&self) -> u32 {
        self.starts.len() as u32 - 1
    }

    /// The value of a code; values are sorted.
    pub fn value(&self, code: u32) -> &'s str {
        let bounds = self.starts.get(code as usize).zip(self.starts.get(code as usize + 1));
        let bytes = bounds.and_then(|(start, end)| self.text.slice(start as usize..end as usize));
        bytes.and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
    }

    /// The code of a document's value.
    #[inline]
    pub fn code(&self, document: u32) -> u32 {
        read_packed(self.codes, self.width, document as usize)
    }

    /// A document's value.
    pub fn of(&self, document: u32) -> &'s str {
        self.value(self.code(document))
    }
}

/// Metadata of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentView {
    /// 128-bit id.
    pub id: u128,
    /// URL.
    pub url: String,
    /// Title.
    pub title: String,
    /// Day of publication.
    pub day: Day,
    /// Day on which it was first seen.
    pub seen: Day,
    /// Other fields.
    pub fields: Vec<(String, String)>,
}
