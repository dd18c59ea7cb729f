//! Interning: from lines of a corpus to lexeme numbers.

use hashbrown::HashTable;
use hashbrown::hash_map::HashMap;
use tidings_formats::vertical::unescape;
use tidings_model::LayerDeclaration;
use xxhash_rust::xxh3::xxh3_64;

use super::lexicon_segment::{NewLexeme, NewLexiconSegment};
use super::{DeclaredLayers, Layer, Lexicon};
use crate::error::Result;

/// Maps tokens to lexemes, known or new.
///
/// A repeated line costs one hash and one comparison. Memory grows with the distinct lines of the
/// batch, not with the lexicon: a lexeme of an older lexicon segment is looked up there once.
pub struct Interner {
    known: Lexicon,
    layers: DeclaredLayers,
    lines: Vec<u8>,
    /// Offset and length of a line, and its lexeme.
    entries: Vec<(u32, u32, u32)>,
    /// Known lines by the further columns that they have, and the one in use.
    tables: Vec<(Vec<Layer>, HashTable<u32>)>,
    current: usize,
    new: NewLexiconSegment,
    new_strings: Vec<HashMap<Box<str>, u32>>,
    new_lexemes: HashMap<NewLexeme, u32>,
    combinations: HashMap<Box<[u32]>, u32>,
}

impl Interner {
    /// Starts from a lexicon.
    pub fn new(known: Lexicon) -> Interner {
        let layers = known.declared().clone();
        let new = NewLexiconSegment::new(known.lexemes(), &layers, |layer| known.count(layer));
        Interner {
            lines: Vec::new(),
            entries: Vec::new(),
            tables: vec![(Vec::new(), HashTable::new())],
            current: 0,
            new_strings: vec![HashMap::new(); layers.all()],
            new,
            new_lexemes: HashMap::new(),
            combinations: HashMap::new(),
            layers,
            known,
        }
    }

    /// Declares a further layer; an error if it is known with another kind.
    pub fn declare(&mut self, declaration: &LayerDeclaration) -> Result<Layer> {
        let layer = self.layers.declare(declaration)?;
        let known = &self.known;
        self.new.add_layers(&self.layers, |layer| known.count(layer));
        self.new_strings.resize(self.layers.all(), HashMap::new());
        Ok(layer)
    }

    /// Sets the layers of the columns after the features in the following lines.
    pub fn set_columns(&mut self, layers: &[Layer]) {
        if self.tables[self.current].0 == layers {
            return;
        }
        let known = self.tables.iter().position(|(known, _)| known == layers);
        self.current = known.unwrap_or_else(|| {
            self.tables.push((layers.to_vec(), HashTable::new()));
            self.tables.len() - 1
        });
    }

    /// The lexeme of a line of the vertical format: word, lemma, tag, features and further columns, separated by
    /// tabs.
    #[inline]
    pub fn lexeme(&mut self, line: &str) -> u32 {
        let hash = xxh3_64(line.as_bytes());
        let found = self.tables[self.current].1.find(hash, |entry| {
            let (at, len, _) = self.entries[*entry as usize];
            &self.lines[at as usize..(at + len) as usize] == line.as_bytes()
        });
        match found {
            Some(entry) => self.entries[*entry as usize].2,
            None => self.add(line, hash),
        }
    }

    fn add(&mut self, line: &str, hash: u64) -> u32 {
        let mut columns = line.split('\t');
        let mut next = |interner: &mut Interner, layer: Layer| {
            let column = columns.next().unwrap_or_default();
            match column {
                "" if layer.is_optional() => 0,
                _ if column.contains('&') => interner.string(layer, &unescape(column)),
                _ => interner.string(layer, column),
            }
        };
        let mut ids: Vec<u32> = Layer::BASE.iter().map(|layer| next(self, *layer)).collect();
        let further = self.tables[self.current].0.clone();
        if !further.is_empty() {
            ids.resize(self.layers.all(), 0);
            further.iter().for_each(|layer| ids[layer.index()] = next(self, *layer));
        }
        let lexeme = self.lexeme_of(&ids);
        if self.lines.len() + line.len() > u32::MAX as usize {
            return lexeme; // Too much to remember; the slow way stays right.
        }
        let entry = self.entries.len() as u32;
        self.entries.push((self.lines.len() as u32, line.len() as u32, lexeme));
        self.lines.extend_from_slice(line.as_bytes());
        let (lines, entries) = (&self.lines, &self.entries);
        self.tables[self.current].1.insert_unique(hash, entry, |entry| {
            let (at, len, _) = entries[*entry as usize];
            xxh3_64(&lines[at as usize..(at + len) as usize])
        });
        lexeme
    }

    fn string(&mut self, layer: Layer, text: &str) -> u32 {
        let index = layer.index();
        if let Some(id) = self.new_strings[index].get(text) {
            return *id;
        }
        if let Some(id) = self.known.find(layer, text) {
            return id;
        }
        let id = self.new.first_string[index] + self.new.strings[index].len() as u32;
        self.new.strings[index].push(text.into());
        self.new_strings[index].insert(text.into(), id);
        id
    }

    /// The lexeme of the numbers of its strings, by layer.
    fn lexeme_of(&mut self, ids: &[u32]) -> u32 {
        let further = ids[Layer::COUNT..].iter().copied();
        let combination = self.new.combination(further, &mut self.combinations);
        let new = [ids[0], ids[1], ids[2], ids[3], combination];
        if let Some(lexeme) = self.new_lexemes.get(&new) {
            return *lexeme;
        }
        let is_old = ids.iter().zip(&self.new.first_string).all(|(id, first)| id < first);
        if is_old && let Some(lexeme) = self.known.lexeme(ids) {
            return lexeme;
        }
        let lexeme = self.new.first_lexeme + self.new.lexemes.len() as u32;
        self.new.lexemes.push(new);
        self.new_lexemes.insert(new, lexeme);
        lexeme
    }

    /// Layers besides those of every index, newly declared ones included.
    pub fn declared(&self) -> &DeclaredLayers {
        &self.layers
    }

    /// Number of lexemes so far.
    pub fn lexemes(&self) -> u32 {
        self.new.first_lexeme + self.new.lexemes.len() as u32
    }

    /// The new lexemes; `None` if all were known.
    pub(crate) fn finish(self) -> Option<NewLexiconSegment> {
        (!self.new.lexemes.is_empty()).then_some(self.new)
    }
}
