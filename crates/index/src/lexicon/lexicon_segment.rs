//! Segments of the lexicon: the strings and lexemes that were new in one batch.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Layer, Strings};
use crate::casefold::look_up_key;
use crate::error::{Result, damaged};
use crate::sections::{FIRST, FileKind, SectionWriter, Sections, WITH_FEATS};

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Meta {
    first_lexeme: u32,
    lexemes: u32,
    /// First number and count of strings of each layer.
    strings: BTreeMap<String, (u32, u32)>,
}

/// A segment that is not written yet.
#[derive(Debug, Default)]
pub(crate) struct NewLexiconSegment {
    pub(super) first_lexeme: u32,
    pub(super) lexemes: Vec<[u32; Layer::COUNT]>,
    pub(super) first_string: [u32; Layer::COUNT],
    pub(super) strings: [Vec<Box<str>>; Layer::COUNT],
}

impl NewLexiconSegment {
    /// Joins neighbouring segments; numbers stay.
    pub(crate) fn join(segments: &[Arc<LexiconSegment>]) -> NewLexiconSegment {
        let mut joined = NewLexiconSegment::default();
        if let Some(first) = segments.first() {
            joined.first_lexeme = first.first_lexeme();
            joined.first_string = Layer::ALL.map(|layer| first.strings(layer).first());
        }
        for segment in segments {
            joined.lexemes.extend((0..segment.lexemes() as usize).map(|lexeme| segment.ids(lexeme)));
            for layer in Layer::ALL {
                let strings = segment.strings(layer);
                let texts = (strings.first()..strings.first() + strings.len()).map(|id| strings.get(id).into());
                joined.strings[layer.index()].extend(texts);
            }
        }
        joined
    }

    /// Returns true if a layer is written: features only if some lexeme has them.
    fn has_layer(&self, layer: Layer) -> bool {
        layer != Layer::Feats || self.lexemes.iter().any(|ids| ids[layer.index()] != 0)
    }

    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let version = if self.has_layer(Layer::Feats) { WITH_FEATS } else { FIRST };
        let mut file = SectionWriter::create_as(path, FileKind::Lexicon, version)?;
        let told = |layer: &Layer| self.has_layer(*layer) || self.first_string[layer.index()] > layer.first_number();
        let counts = Layer::ALL.into_iter().filter(told).map(|layer| {
            let index = layer.index();
            (layer.name().to_owned(), (self.first_string[index], self.strings[index].len() as u32))
        });
        let meta =
            Meta { first_lexeme: self.first_lexeme, lexemes: self.lexemes.len() as u32, strings: counts.collect() };
        file.section("meta", &serde_json::to_vec(&meta).expect("plain values"))?;
        for layer in Layer::ALL.into_iter().filter(|layer| self.has_layer(*layer)) {
            let column: Vec<u32> = self.lexemes.iter().map(|ids| ids[layer.index()]).collect();
            let mut order: Vec<u32> = (0..column.len() as u32).collect();
            order.sort_by_key(|lexeme| column[*lexeme as usize]);
            file.section(&name(layer, "of"), &column)?;
            file.section(&name(layer, "lexemes"), &order)?;
            write_strings(&mut file, layer, &self.strings[layer.index()])?;
        }
        file.publish()?;
        Ok(())
    }
}

fn name(layer: Layer, what: &str) -> String {
    format!("{}.{what}", layer.name())
}

fn write_strings(file: &mut SectionWriter, layer: Layer, strings: &[Box<str>]) -> Result<()> {
    let mut ids: Vec<u32> = (0..strings.len() as u32).collect();
    ids.sort_unstable_by(|a, b| strings[*a as usize].as_bytes().cmp(strings[*b as usize].as_bytes()));
    let mut text = Vec::with_capacity(strings.iter().map(|string| string.len() + 1).sum());
    let mut starts = Vec::with_capacity(ids.len() + 1);
    let mut ranks = vec![0; ids.len()];
    for (rank, id) in ids.iter().enumerate() {
        starts.push(text.len() as u32);
        text.extend_from_slice(strings[*id as usize].as_bytes());
        text.push(b'\n');
        ranks[*id as usize] = rank as u32;
    }
    starts.push(text.len() as u32);
    let mut folds: Vec<u32> = (0..ids.len() as u32).collect();
    folds.sort_by_cached_key(|rank| look_up_key(&strings[ids[*rank as usize] as usize]).into_owned());
    file.section(&name(layer, "text"), &text)?;
    file.section(&name(layer, "starts"), &starts)?;
    file.section(&name(layer, "ids"), &ids)?;
    file.section(&name(layer, "ranks"), &ranks)?;
    file.section(&name(layer, "folds"), &folds)
}

#[derive(Debug, Default)]
struct LayerOffsets {
    first: u32,
    of: Range<usize>,
    lexemes: Range<usize>,
    text: Range<usize>,
    starts: Range<usize>,
    ids: Range<usize>,
    ranks: Range<usize>,
    folds: Range<usize>,
}

/// A segment of the lexicon, open for reading.
#[derive(Debug)]
pub(crate) struct LexiconSegment {
    file: Sections,
    meta: Meta,
    layers: [LayerOffsets; Layer::COUNT],
}

impl LexiconSegment {
    pub(crate) fn open(path: &Path) -> Result<LexiconSegment> {
        let file = Sections::open(path, FileKind::Lexicon)?;
        let meta: Meta = file.json("meta")?;
        if meta.first_lexeme.checked_add(meta.lexemes).is_none() {
            return damaged(path, "numbers out of range");
        }
        let offsets = |layer: Layer| -> Result<LayerOffsets> {
            let known = meta.strings.get(layer.name()).copied();
            let Some((first, count)) = known.or((layer == Layer::Feats).then_some((layer.first_number(), 0))) else {
                return damaged(path, format!("the layer {} is missing", layer.name()));
            };
            if first.checked_add(count).is_none() {
                return damaged(path, "numbers out of range");
            }
            if layer == Layer::Feats && !file.has(&name(layer, "of")) {
                return Ok(LayerOffsets { first, ..LayerOffsets::default() });
            }
            let (lexemes, count) = (meta.lexemes as usize, count as usize);
            Ok(LayerOffsets {
                first,
                of: file.find_numbers::<u32>(&name(layer, "of"), lexemes)?,
                lexemes: file.find_numbers::<u32>(&name(layer, "lexemes"), lexemes)?,
                text: file.find(&name(layer, "text"))?,
                starts: file.find_numbers::<u32>(&name(layer, "starts"), count + 1)?,
                ids: file.find_numbers::<u32>(&name(layer, "ids"), count)?,
                ranks: file.find_numbers::<u32>(&name(layer, "ranks"), count)?,
                folds: file.find_numbers::<u32>(&name(layer, "folds"), count)?,
            })
        };
        let layers = [offsets(Layer::Word)?, offsets(Layer::Lemma)?, offsets(Layer::Tag)?, offsets(Layer::Feats)?];
        Ok(LexiconSegment { file, meta, layers })
    }

    pub(crate) fn first_lexeme(&self) -> u32 {
        self.meta.first_lexeme
    }

    pub(crate) fn lexemes(&self) -> u32 {
        self.meta.lexemes
    }

    /// The state of the file on disk.
    pub(crate) fn state(&self) -> tidings_mapped::FileState {
        self.file.state()
    }

    pub(crate) fn bytes_on_disk(&self) -> u64 {
        self.file.bytes_on_disk()
    }

    /// String number of each lexeme of the segment; empty if no lexeme has a string in this layer.
    #[inline]
    pub(crate) fn layer(&self, layer: Layer) -> &[u32] {
        self.file.numbers(&self.layers[layer.index()].of)
    }

    pub(crate) fn strings(&self, layer: Layer) -> Strings<'_> {
        let offsets = &self.layers[layer.index()];
        Strings {
            first: offsets.first,
            text: self.file.bytes(&offsets.text),
            starts: self.file.numbers(&offsets.starts),
            ids: self.file.numbers(&offsets.ids),
            ranks: self.file.numbers(&offsets.ranks),
            folds: self.file.numbers(&offsets.folds),
        }
    }

    /// String numbers of a lexeme, which is counted from the first of the segment.
    fn ids(&self, lexeme: usize) -> [u32; Layer::COUNT] {
        Layer::ALL.map(|layer| self.layer(layer).get(lexeme).copied().unwrap_or(0))
    }

    pub(crate) fn lexemes_with(&self, layer: Layer, id: u32, into: &mut Vec<u32>) {
        let of = self.layer(layer);
        if of.is_empty() {
            let all = self.meta.first_lexeme..self.meta.first_lexeme + self.meta.lexemes;
            into.extend(all.filter(|_| id == 0));
            return;
        }
        let order: &[u32] = self.file.numbers(&self.layers[layer.index()].lexemes);
        let id_of = |lexeme: &u32| of.get(*lexeme as usize).copied().unwrap_or(u32::MAX);
        let start = order.partition_point(|lexeme| id_of(lexeme) < id);
        let same = order[start..].iter().take_while(|lexeme| id_of(lexeme) == id);
        into.extend(same.map(|lexeme| self.meta.first_lexeme + lexeme));
    }

    pub(crate) fn lexeme(&self, ids: [u32; Layer::COUNT]) -> Option<u32> {
        let mut with_word = Vec::new();
        self.lexemes_with(Layer::Word, ids[0], &mut with_word);
        with_word.into_iter().find(|lexeme| self.ids((lexeme - self.meta.first_lexeme) as usize) == ids)
    }

    pub(crate) fn verify(&self) -> Result<()> {
        self.file.verify()
    }
}
