//! Hits by several of their values at once: attributes of the hit and of its neighbours, labelled tokens, fields.

use super::count::Values;
use super::find::Finder;
use super::memory::Reserved;
use super::set::layer_of;
use super::{Limit, Limits, Search};
use crate::cql::Attribute;
use crate::question::LinePlace;
use hashbrown::HashMap;
use std::borrow::Cow;
use std::ops::ControlFlow;
use tidings_index::Segment;

/// A value that hits are counted by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Level {
    /// An attribute of the hit or of a token beside it.
    Token(LinePlace, Attribute),
    /// An attribute of a labelled token.
    Label(String, Attribute),
    /// A field of the document.
    Field(String),
    /// The first characters of its date: 4 for the year, 7 for the month.
    Date(usize),
}

/// Hits by values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LevelCounts {
    /// The values of each level with their hits, the most frequent first, equals by value.
    pub rows: Vec<(Vec<String>, u64)>,
    /// The number of distinct rows.
    pub values: u64,
    /// All hits.
    pub hits: u64,
    /// True if the search was exhaustive.
    pub complete: bool,
}

impl LevelCounts {
    /// Ranks rows of several values: the `most` most frequent of those with at least `at_least` hits.
    pub(crate) fn rank(mut rows: Vec<(Vec<String>, u64)>, hits: u64, at_least: u64, most: usize) -> LevelCounts {
        rows.retain(|(_, count)| *count >= at_least);
        let values = rows.len() as u64;
        keep_first(&mut rows, most);
        LevelCounts { rows, values, hits, complete: true }
    }
}

/// The maximum number of distinct rows in memory.
const MAX_ROWS: usize = 2_000_000;
/// The memory of a row besides its codes.
const ROW_BYTES: u64 = 80;
/// The code of a value that is not there.
const NONE: u32 = u32::MAX;

/// Distinct texts with their codes.
#[derive(Default)]
struct Texts {
    codes: HashMap<String, u32>,
    texts: Vec<String>,
}

impl Texts {
    fn code(&mut self, text: &str) -> u32 {
        if let Some(code) = self.codes.get(text) {
            return *code;
        }
        let code = self.texts.len() as u32;
        self.codes.insert(text.to_owned(), code);
        self.texts.push(text.to_owned());
        code
    }
}

/// The codes of one level.
struct LevelCoder<'l> {
    level: &'l Level,
    /// Of an attribute with values in several strings the first string of each.
    shared: Option<Cow<'l, [u32]>>,
    /// The code of a token that is not there: that of a token without a value.
    none: u32,
    /// Of fields, and of hits of several tokens.
    texts: Texts,
    /// The codes of runs of strings.
    runs: HashMap<Box<[u32]>, u32>,
    /// The runs by their codes.
    names: Vec<Box<[u32]>>,
}

impl Search<'_> {
    /// Hits by the values of several levels: the `most` most frequent rows of those with at least `at_least` hits.
    pub fn by_levels(&self, levels: &[Level], at_least: u64, most: usize, limits: &Limits) -> LevelCounts {
        self.begin_pass(limits);
        let engine = self.engine;
        let mut coders: Vec<LevelCoder<'_>> = levels
            .iter()
            .map(|level| LevelCoder {
                level,
                shared: level.attribute().and_then(|attribute| engine.shared(attribute)),
                none: level.attribute().map_or(NONE, |attribute| self.empty_code(attribute)),
                texts: Texts::default(),
                runs: HashMap::new(),
                names: Vec::new(),
            })
            .collect();
        let mut counts: HashMap<Box<[u32]>, u64> = HashMap::new();
        let mut memory: Reserved = limits.memory();
        let (mut key, mut complete, mut hits) = (Vec::new(), true, 0);
        for index in 0..self.segments() {
            let segment = self.segment(index);
            let fields: Vec<Option<FieldCodes<'_>>> =
                coders.iter_mut().map(|coder| FieldCodes::new(coder, segment)).collect();
            let mut labels = self.labels_in(index, levels, limits);
            let (mut document, mut tokens) = (0, 0..0);
            complete &= self.each_in(index, limits, &mut |start, end| {
                if !tokens.contains(&start) {
                    document = segment.document_at(start);
                    tokens = segment.tokens_of(document);
                }
                key.clear();
                for (coder, fields) in coders.iter_mut().zip(&fields) {
                    let code = match (coder.level, fields) {
                        (_, Some(fields)) => fields.code(segment, document),
                        (Level::Label(name, attribute), _) => {
                            let position =
                                labels.as_mut().and_then(|labels| labels.position(name, document, start, end));
                            position.map_or(coder.none, |at| {
                                self.string_code(segment, at, *attribute, coder.shared.as_deref())
                            })
                        }
                        (Level::Token(place, attribute), _) => {
                            let position = match place {
                                LinePlace::Node => {
                                    key.push(self.run_code(segment, start..end, *attribute, coder));
                                    continue;
                                }
                                LinePlace::Left(n) => start.checked_sub(*n).filter(|at| *at >= tokens.start),
                                LinePlace::Right(n) => end.checked_add(n - 1).filter(|at| *at < tokens.end),
                            };
                            position.map_or(coder.none, |at| {
                                self.string_code(segment, at, *attribute, coder.shared.as_deref())
                            })
                        }
                        (Level::Field(_) | Level::Date(_), None) => NONE,
                    };
                    key.push(code);
                }
                hits += 1;
                if let Some(count) = counts.get_mut(&key[..]) {
                    *count += 1;
                    return ControlFlow::Continue(());
                }
                if counts.len() >= MAX_ROWS || !memory.grow(ROW_BYTES + key.len() as u64 * 4) {
                    limits.strike(Limit::Values);
                    return ControlFlow::Break(());
                }
                counts.insert(key.as_slice().into(), 1);
                ControlFlow::Continue(())
            });
            if !complete {
                break;
            }
        }
        let values = counts.values().filter(|count| **count >= at_least).count() as u64;
        let mut rows: Vec<(Vec<String>, u64)> = Vec::new();
        for (key, count) in counts.into_iter().filter(|(_, count)| *count >= at_least) {
            // Only the texts of rows that may be shown are made.
            rows.push((key.iter().zip(&coders).map(|(code, coder)| self.level_text(*code, coder)).collect(), count));
            if rows.len() >= most.saturating_mul(2).max(MIN_KEPT) {
                keep_first(&mut rows, most);
            }
        }
        keep_first(&mut rows, most);
        LevelCounts { rows, values, hits, complete: complete && limits.cut_off().is_none() }
    }

    /// The number of the string of a token; strings with the same value have that of the first.
    fn string_code(&self, segment: &Segment, position: u32, attribute: Attribute, shared: Option<&[u32]>) -> u32 {
        let lexicon = self.engine.lexicon();
        let string = lexicon.of(segment.lexeme_at(position), layer_of(attribute, lexicon));
        shared.map_or(string, |shared| shared.get(string as usize).copied().unwrap_or(string))
    }

    /// The number of the first string without a value.
    fn empty_code(&self, attribute: Attribute) -> u32 {
        let lexicon = self.engine.lexicon();
        let layer = layer_of(attribute, lexicon);
        let found = match attribute {
            Attribute::Feature(_) => {
                (0..lexicon.count(layer)).find(|id| attribute.value(lexicon.string(layer, *id)).is_empty())
            }
            _ => lexicon.find(layer, ""),
        };
        found.unwrap_or(NONE)
    }

    /// The code of the values of several tokens.
    fn run_code(
        &self,
        segment: &Segment,
        positions: std::ops::Range<u32>,
        attribute: Attribute,
        coder: &mut LevelCoder<'_>,
    ) -> u32 {
        let shared = coder.shared.as_deref();
        let run: Vec<u32> = positions.map(|at| self.string_code(segment, at, attribute, shared)).collect();
        if let Some(code) = coder.runs.get(&run[..]) {
            return *code;
        }
        let code = coder.names.len() as u32;
        coder.names.push(run.as_slice().into());
        coder.runs.insert(run.into(), code);
        code
    }

    fn level_text(&self, code: u32, coder: &LevelCoder<'_>) -> String {
        let lexicon = self.engine.lexicon();
        let string = |id: u32, attribute: Attribute| {
            attribute.value(lexicon.string(layer_of(attribute, lexicon), id)).into_owned()
        };
        match coder.level {
            _ if code == NONE => String::new(),
            Level::Field(_) | Level::Date(_) => coder.texts.texts.get(code as usize).cloned().unwrap_or_default(),
            Level::Token(LinePlace::Node, attribute) => {
                let run = coder.names.get(code as usize);
                let parts = run.into_iter().flat_map(|run| run.iter()).map(|id| string(*id, *attribute));
                parts.collect::<Vec<_>>().join(" ")
            }
            Level::Token(_, attribute) | Level::Label(_, attribute) => string(code, *attribute),
        }
    }
}

/// Finds the labelled tokens of hits in one segment.
struct LabelFinder<'s> {
    finder: Finder<'s>,
    hit: (u32, u32),
    labels: Vec<Option<u32>>,
}

impl LabelFinder<'_> {
    /// The token of a label in a hit.
    fn position(&mut self, name: &str, document: u32, start: u32, end: u32) -> Option<u32> {
        match name {
            "match" => return Some(start),
            "matchend" => return Some(end - 1),
            _ => {}
        }
        if self.hit != (start, end) {
            self.hit = (start, end);
            self.labels = self.finder.labels_of(document, start, end);
        }
        let number = self.finder.nfa.labels.iter().position(|known| known == name)?;
        self.labels.get(number).copied().flatten()
    }
}

impl Search<'_> {
    /// Finds labelled tokens, if a level asks for one.
    fn labels_in(&self, index: usize, levels: &[Level], limits: &Limits) -> Option<LabelFinder<'_>> {
        let is_asked = levels.iter().any(|level| matches!(level, Level::Label(..)));
        is_asked.then(|| LabelFinder { finder: self.finder(index, limits), hit: (0, 0), labels: Vec::new() })
    }
}

/// The smallest number of rows that are sorted out.
const MIN_KEPT: usize = 4096;

fn keep_first(rows: &mut Vec<(Vec<String>, u64)>, most: usize) {
    rows.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    rows.truncate(most);
}

impl Level {
    fn attribute(&self) -> Option<Attribute> {
        match self {
            Level::Token(_, attribute) | Level::Label(_, attribute) => Some(*attribute),
            Level::Field(_) | Level::Date(_) => None,
        }
    }
}

/// The codes of the values of a field in one segment.
struct FieldCodes<'s> {
    values: Values<'s>,
    codes: Vec<u32>,
}

impl<'s> FieldCodes<'s> {
    fn new(coder: &mut LevelCoder<'_>, segment: &'s Segment) -> Option<FieldCodes<'s>> {
        let (name, characters) = match coder.level {
            Level::Field(name) => (name.as_str(), usize::MAX),
            Level::Date(characters) => ("date", *characters),
            Level::Token(..) | Level::Label(..) => return None,
        };
        let values = Values::new(segment, name);
        let mut codes = Vec::with_capacity(values.count(segment));
        for code in 0..values.count(segment) {
            let text = values.value(segment, code);
            codes.push(coder.texts.code(text.get(..characters.min(text.len())).unwrap_or(&text)));
        }
        Some(FieldCodes { values, codes })
    }

    fn code(&self, segment: &Segment, document: u32) -> u32 {
        self.codes.get(self.values.code(segment, document)).copied().unwrap_or(NONE)
    }
}
