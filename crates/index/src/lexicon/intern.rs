//! Interning: from lines of a corpus to lexeme numbers.

use hashbrown::HashTable;
use hashbrown::hash_map::HashMap;
use tidings_formats::vertical::unescape;
use xxhash_rust::xxh3::xxh3_64;

use super::lexicon_segment::NewLexiconSegment;
use super::{Layer, Lexicon};

/// Maps tokens to lexemes, known or new.
///
/// A repeated line costs one hash and one comparison. Memory grows with the distinct lines of the
/// batch, not with the lexicon: a lexeme of an older lexicon segment is looked up there once.
pub struct Interner {
    known: Lexicon,
    lines: Vec<u8>,
    /// Offset and length of a line, and its lexeme.
    entries: Vec<(u32, u32, u32)>,
    table: HashTable<u32>,
    new: NewLexiconSegment,
    new_strings: [HashMap<Box<str>, u32>; Layer::COUNT],
    new_lexemes: HashMap<[u32; Layer::COUNT], u32>,
}

impl Interner {
    /// Starts from a lexicon.
    pub fn new(known: Lexicon) -> Interner {
        let new = NewLexiconSegment {
            first_lexeme: known.lexemes(),
            first_string: Layer::ALL.map(|layer| known.count(layer)),
            ..NewLexiconSegment::default()
        };
        Interner {
            known,
            lines: Vec::new(),
            entries: Vec::new(),
            table: HashTable::new(),
            new,
            new_strings: Default::default(),
            new_lexemes: HashMap::new(),
        }
    }

    /// The lexeme of a line of the vertical format: word, lemma, tag and features, separated by
    /// tabs.
    #[inline]
    pub fn lexeme(&mut self, line: &str) -> u32 {
        let hash = xxh3_64(line.as_bytes());
        let found = self.table.find(hash, |entry| {
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
        let ids = Layer::ALL.map(|layer| {
            let column = columns.next().unwrap_or_default();
            if column.contains('&') { self.string(layer, &unescape(column)) } else { self.string(layer, column) }
        });
        let lexeme = self.combination(ids);
        if self.lines.len() + line.len() > u32::MAX as usize {
            return lexeme; // Too much to remember; the slow way stays right.
        }
        let entry = self.entries.len() as u32;
        self.entries.push((self.lines.len() as u32, line.len() as u32, lexeme));
        self.lines.extend_from_slice(line.as_bytes());
        let (lines, entries) = (&self.lines, &self.entries);
        self.table.insert_unique(hash, entry, |entry| {
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

    fn combination(&mut self, ids: [u32; Layer::COUNT]) -> u32 {
        if let Some(lexeme) = self.new_lexemes.get(&ids) {
            return *lexeme;
        }
        let is_old = ids.iter().zip(self.new.first_string).all(|(id, first)| *id < first);
        if is_old && let Some(lexeme) = self.known.lexeme(ids) {
            return lexeme;
        }
        let lexeme = self.new.first_lexeme + self.new.lexemes.len() as u32;
        self.new.lexemes.push(ids);
        self.new_lexemes.insert(ids, lexeme);
        lexeme
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
