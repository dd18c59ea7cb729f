//! Segments of the lexicon: the strings and lexemes that were new in one batch.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use super::{DeclaredLayers, Layer, Strings};
use crate::casefold::look_up_key;
use crate::checked::CheckedSlice;
use crate::error::{Result, damaged};
use crate::sections::{FIRST, FileKind, SectionId, SectionWriter, Sections, WITH_FEATS, WITH_LAYERS};

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Meta {
    first_lexeme: u32,
    lexemes: u32,
    /// First number and count of strings of each layer.
    strings: BTreeMap<String, (u32, u32)>,
}

/// A lexeme of a new segment: the numbers of its strings in the layers of every index, and the number of its
/// combination of further values.
pub(super) type NewLexeme = [u32; Layer::COUNT + 1];

/// A segment that is not written yet.
#[derive(Debug, Default)]
pub(crate) struct NewLexiconSegment {
    pub(super) first_lexeme: u32,
    pub(super) lexemes: Vec<NewLexeme>,
    /// Names of all layers in column order.
    pub(super) names: Vec<String>,
    /// First string number and new strings of each layer.
    pub(super) first_string: Vec<u32>,
    pub(super) strings: Vec<Vec<Box<str>>>,
    /// Numbers of further strings of each combination; the first combination is empty.
    pub(super) combinations: Vec<Box<[u32]>>,
}

/// All layers up to a number, those of every index first.
pub(super) fn layers_up_to(count: usize) -> impl Iterator<Item = Layer> {
    Layer::BASE.into_iter().chain((0..=u8::MAX).map(Layer::Further)).take(count)
}

impl NewLexiconSegment {
    /// An empty segment after a lexicon; `first_string` gives the next string number of a layer.
    pub(super) fn new(first_lexeme: u32, layers: &DeclaredLayers, first_string: impl Fn(Layer) -> u32) -> Self {
        let mut new = NewLexiconSegment { first_lexeme, combinations: vec![Box::default()], ..Default::default() };
        new.add_layers(layers, first_string);
        new
    }

    /// Adds layers that were declared since.
    pub(super) fn add_layers(&mut self, layers: &DeclaredLayers, first_string: impl Fn(Layer) -> u32) {
        for layer in layers_up_to(layers.all()).skip(self.names.len()) {
            let base = ["word", "lemma", "tag", "feats"];
            let further = || layers.get(layer).map_or("", |declared| &declared.name);
            self.names.push(base.get(layer.index()).copied().unwrap_or_else(further).to_owned());
            self.first_string.push(first_string(layer));
            self.strings.push(Vec::new());
        }
    }

    /// Joins neighbouring segments; numbers stay.
    pub(crate) fn join(segments: &[Arc<LexiconSegment>], layers: &DeclaredLayers) -> NewLexiconSegment {
        let first = segments.first();
        let first_string = |layer| first.map_or(0, |first| first.strings(layer).first());
        let first_lexeme = first.map_or(0, |first| first.first_lexeme());
        let mut joined = NewLexiconSegment::new(first_lexeme, layers, first_string);
        let mut known: HashMap<Box<[u32]>, u32> = HashMap::from_iter([(Box::default(), 0)]);
        for segment in segments {
            for lexeme in 0..segment.lexemes() as usize {
                let number = |layer| segment.layer(layer).get(lexeme).unwrap_or(0);
                let [word, lemma, tag, feats] = Layer::BASE.map(number);
                let further = layers_up_to(layers.all()).skip(Layer::COUNT).map(number);
                let combination = joined.combination(further, &mut known);
                joined.lexemes.push([word, lemma, tag, feats, combination]);
            }
            for (layer, into) in layers_up_to(layers.all()).zip(&mut joined.strings) {
                let strings = segment.strings(layer);
                let texts = (strings.first()..strings.first() + strings.len()).map(|id| strings.get(id).into());
                into.extend(texts);
            }
        }
        joined
    }

    /// The number of a combination of further values.
    pub(super) fn combination(&mut self, ids: impl Iterator<Item = u32>, known: &mut HashMap<Box<[u32]>, u32>) -> u32 {
        let mut ids: Vec<u32> = ids.collect();
        // Layers that are declared later do not change a combination.
        ids.truncate(ids.iter().rposition(|id| *id != 0).map_or(0, |last| last + 1));
        if ids.is_empty() {
            return 0;
        }
        if let Some(number) = known.get(&ids[..]) {
            return *number;
        }
        let number = self.combinations.len() as u32;
        self.combinations.push(ids.clone().into());
        known.insert(ids.into(), number);
        number
    }

    /// The number of a lexeme's string in a layer.
    fn number(&self, lexeme: &NewLexeme, layer: Layer) -> u32 {
        match layer {
            Layer::Further(number) => {
                let combination = &self.combinations[lexeme[Layer::COUNT] as usize];
                combination.get(usize::from(number)).copied().unwrap_or(0)
            }
            layer => lexeme[layer.index()],
        }
    }

    /// Returns true if a layer is written: features and further layers only if some lexeme has a value.
    fn has_layer(&self, layer: Layer) -> bool {
        !layer.is_optional() || self.lexemes.iter().any(|lexeme| self.number(lexeme, layer) != 0)
    }

    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let layers: Vec<(Layer, &str, bool)> = layers_up_to(self.names.len())
            .zip(&self.names)
            .map(|(layer, name)| (layer, name.as_str(), self.has_layer(layer)))
            .collect();
        let version = match layers.iter().rfind(|(.., is_written)| *is_written) {
            Some((Layer::Further(_), ..)) => WITH_LAYERS,
            Some((Layer::Feats, ..)) => WITH_FEATS,
            _ => FIRST,
        };
        let mut file = SectionWriter::create_as(path, FileKind::Lexicon, version)?;
        let told = |(layer, _, is_written): &&(Layer, &str, bool)| {
            *is_written || self.first_string[layer.index()] > layer.first_number()
        };
        let counts = layers.iter().filter(told).map(|(layer, name, _)| {
            let index = layer.index();
            ((*name).to_owned(), (self.first_string[index], self.strings[index].len() as u32))
        });
        let meta =
            Meta { first_lexeme: self.first_lexeme, lexemes: self.lexemes.len() as u32, strings: counts.collect() };
        file.section("meta", &serde_json::to_vec(&meta).expect("plain values"))?;
        for (layer, layer_name, _) in layers.iter().filter(|(.., is_written)| *is_written) {
            let column: Vec<u32> = self.lexemes.iter().map(|lexeme| self.number(lexeme, *layer)).collect();
            let mut order: Vec<u32> = (0..column.len() as u32).collect();
            order.sort_by_key(|lexeme| column[*lexeme as usize]);
            file.section(&name(layer_name, "of"), &column)?;
            file.section(&name(layer_name, "lexemes"), &order)?;
            write_strings(&mut file, layer_name, &self.strings[layer.index()])?;
        }
        file.publish()?;
        Ok(())
    }
}

fn name(layer: &str, what: &str) -> String {
    format!("{layer}.{what}")
}

fn write_strings(file: &mut SectionWriter, layer: &str, strings: &[Box<str>]) -> Result<()> {
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
    of: SectionId,
    lexemes: SectionId,
    text: SectionId,
    starts: SectionId,
    ids: SectionId,
    ranks: SectionId,
    folds: SectionId,
}

impl LayerOffsets {
    /// Finds a layer with its first number and count of strings.
    fn find(
        file: &Sections,
        layer: Layer,
        layer_name: &str,
        known: Option<(u32, u32)>,
        lexemes: usize,
    ) -> Result<LayerOffsets> {
        let Some((first, count)) = known.or(layer.is_optional().then_some((layer.first_number(), 0))) else {
            return damaged(file.path(), format!("the layer {layer_name} is missing"));
        };
        if first.checked_add(count).is_none() {
            return damaged(file.path(), "numbers out of range");
        }
        if layer.is_optional() && !file.has(&name(layer_name, "of")) {
            return Ok(LayerOffsets { first, ..LayerOffsets::default() });
        }
        let count = count as usize;
        Ok(LayerOffsets {
            first,
            of: file.find_numbers::<u32>(&name(layer_name, "of"), lexemes)?,
            lexemes: file.find_numbers::<u32>(&name(layer_name, "lexemes"), lexemes)?,
            text: file.find(&name(layer_name, "text"))?,
            starts: file.find_numbers::<u32>(&name(layer_name, "starts"), count + 1)?,
            ids: file.find_numbers::<u32>(&name(layer_name, "ids"), count)?,
            ranks: file.find_numbers::<u32>(&name(layer_name, "ranks"), count)?,
            folds: file.find_numbers::<u32>(&name(layer_name, "folds"), count)?,
        })
    }
}

/// A segment of the lexicon, open for reading.
#[derive(Debug)]
pub(crate) struct LexiconSegment {
    file: Sections,
    meta: Meta,
    /// By layer; missing at the end if layers were declared after it was opened.
    layers: Vec<LayerOffsets>,
}

impl LexiconSegment {
    /// Opens a segment of a lexicon that has these further layers.
    pub(crate) fn open(path: &Path, layers: &DeclaredLayers) -> Result<LexiconSegment> {
        let file = Sections::open(path, FileKind::Lexicon)?;
        let meta: Meta = file.json("meta")?;
        if meta.first_lexeme.checked_add(meta.lexemes).is_none() {
            return damaged(path, "numbers out of range");
        }
        let names = ["word", "lemma", "tag", "feats"];
        let names = names.into_iter().chain(layers.iter().map(|(_, declared)| declared.name.as_str()));
        let names: Vec<&str> = names.collect();
        if let Some(unknown) = meta.strings.keys().find(|known| !names.contains(&known.as_str())) {
            return damaged(path, format!("the manifest does not declare its layer {unknown}"));
        }
        let offsets = layers_up_to(names.len()).zip(names).map(|(layer, name)| {
            LayerOffsets::find(&file, layer, name, meta.strings.get(name).copied(), meta.lexemes as usize)
        });
        Ok(LexiconSegment { layers: offsets.collect::<Result<_>>()?, file, meta })
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
    pub(crate) fn layer(&self, layer: Layer) -> CheckedSlice<'_, u32> {
        self.layers.get(layer.index()).map_or_else(CheckedSlice::default, |offsets| self.file.numbers(offsets.of))
    }

    pub(crate) fn strings(&self, layer: Layer) -> Strings<'_> {
        let Some(offsets) = self.layers.get(layer.index()) else {
            let first = layer.first_number();
            let none = CheckedSlice::default();
            return Strings { first, text: CheckedSlice::default(), starts: none, ids: none, ranks: none, folds: none };
        };
        Strings {
            first: offsets.first,
            text: self.file.bytes(offsets.text),
            starts: self.file.numbers(offsets.starts),
            ids: self.file.numbers(offsets.ids),
            ranks: self.file.numbers(offsets.ranks),
            folds: self.file.numbers(offsets.folds),
        }
    }

    pub(crate) fn lexemes_with(&self, layer: Layer, id: u32, into: &mut Vec<u32>) {
        let of = self.layer(layer);
        if of.is_empty() {
            let all = self.meta.first_lexeme..self.meta.first_lexeme + self.meta.lexemes;
            into.extend(all.filter(|_| id == 0));
            return;
        }
        let order: CheckedSlice<'_, u32> = self.file.numbers(self.layers[layer.index()].lexemes);
        let id_of = |lexeme: u32| of.get(lexeme as usize).unwrap_or(u32::MAX);
        let start = order.partition_point(|lexeme| id_of(lexeme) < id);
        let same = (start..).map_while(|index| order.get(index)).take_while(|lexeme| id_of(*lexeme) == id);
        into.extend(same.map(|lexeme| self.meta.first_lexeme + lexeme));
    }

    /// The lexeme of the numbers of its strings, by layer; those of layers that are left out are zero.
    pub(crate) fn lexeme(&self, ids: &[u32]) -> Option<u32> {
        let mut with_word = Vec::new();
        self.lexemes_with(Layer::Word, ids.first().copied().unwrap_or(0), &mut with_word);
        let count = self.layers.len().max(ids.len());
        let is_it = |lexeme: &u32| {
            let number = |layer| self.layer(layer).get((lexeme - self.meta.first_lexeme) as usize).unwrap_or(0);
            layers_up_to(count).all(|layer| number(layer) == ids.get(layer.index()).copied().unwrap_or(0))
        };
        with_word.into_iter().find(is_it)
    }

    pub(crate) fn verify(&self) -> Result<()> {
        self.file.verify()
    }

    /// Returns an error if damaged bytes were read.
    pub(crate) fn intact(&self) -> Result<()> {
        self.file.intact()
    }

    /// Forgets which blocks were checked.
    pub(crate) fn forget_checks(&self) {
        self.file.forget_checks();
    }

    /// Writes the digests of the blocks of the file if they are missing.
    pub(crate) fn write_missing_sums(&self) -> Result<()> {
        self.file.write_missing_sums()
    }
}
