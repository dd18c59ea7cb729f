//! Parallel texts: pairs of translated documents with sentence alignment.
//!
//! The corpus is read twice: once to find pairs, with a few numbers in memory per document, and once to write their
//! sentences to a scratch file, from which pairs are aligned.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};
use tidings_annotate::align::{self, Bead, SentenceProfile};
use tidings_formats::conllu::{Numbers, text_of};
use tidings_formats::tmx;
use tidings_store::dedup_state::Spool;
use tidings_store::output::Sink;

use super::manifest::{Figures, PairCounts};
use super::selection::ExportItem;
use super::target::{ExportTarget, ExportWriter};

/// A text of a pair, as it waits on disk.
#[derive(Serialize, Deserialize)]
struct Text {
    language: String,
    tag: String,
    url: String,
    title: String,
    sentences: Vec<String>,
    /// The numbers of the text and its first sentence in CoNLL-U Plus.
    numbers: Option<(u64, u64)>,
}

/// Pairs, and the texts of them that were read.
pub struct Parallel {
    pairs: Vec<(u128, u128)>,
    wanted: BTreeSet<u128>,
    places: BTreeMap<u128, Range<u64>>,
    spool: Spool,
}

impl Parallel {
    /// Waits for the texts of pairs.
    pub fn new(pairs: Vec<(u128, u128)>, target: &ExportTarget) -> Result<Parallel> {
        let wanted = pairs.iter().flat_map(|(one, other)| [*one, *other]).collect();
        let name = format!("pairs-{}", std::process::id());
        Ok(Parallel { pairs, wanted, places: BTreeMap::new(), spool: Spool::within(target.scratch(), &name)? })
    }

    /// Keeps a document if it belongs to a pair.
    pub fn see(&mut self, item: &ExportItem, numbers: Option<Numbers>) -> Result<()> {
        let id = item.attributes.id;
        let Some(text) = item.text.as_ref().filter(|_| self.wanted.contains(&id)) else { return Ok(()) };
        let sentences = text.paragraphs.iter().flat_map(|paragraph| &paragraph.sentences);
        let tag = &item.document.about.language;
        let text = Text {
            language: item.language.clone(),
            tag: if tag.is_empty() { item.language.clone() } else { tag.clone() },
            url: item.document.url.clone(),
            title: item.document.about.title.clone(),
            sentences: sentences.map(|sentence| text_of(sentence)).collect(),
            numbers: numbers.map(|numbers| (numbers.text, numbers.sentence)),
        };
        let bytes = serde_json::to_vec(&text).expect("texts serialise");
        if !self.places.contains_key(&id) {
            let place = self.spool.push(&bytes)?;
            self.places.insert(id, place);
        }
        Ok(())
    }

    /// Aligns all pairs with both texts read, and passes them to `each`.
    fn aligned(&mut self, mut each: impl FnMut([u128; 2], [&Text; 2], &[Bead]) -> Result<()>) -> Result<PairCounts> {
        let mut sum = PairCounts::default();
        let mut bytes = Vec::new();
        for (one, other) in std::mem::take(&mut self.pairs) {
            let (Some(left), Some(right)) = (self.places.get(&one), self.places.get(&other)) else { continue };
            let mut read = |place: &Range<u64>| -> Result<Text> {
                self.spool.read(place, &mut bytes)?;
                serde_json::from_slice(&bytes).context("the scratch file of sentence pairs is damaged")
            };
            let (left, right) = (read(left)?, read(right)?);
            let profiles =
                |text: &Text| text.sentences.iter().map(|sentence| SentenceProfile::of(sentence)).collect::<Vec<_>>();
            let beads = align::align(&profiles(&left), &profiles(&right));
            if !align::are_translations(&beads) {
                sum.unlike += 1;
                continue;
            }
            sum.pairs += 1;
            sum.beads += beads.iter().filter(|bead| bead.score > 0.0).count() as u64;
            each([one, other], [&left, &right], &beads)?;
        }
        Ok(sum)
    }

    /// Writes the stand-off alignment of texts and sentences by number.
    pub fn stand_off(&mut self, target: &mut ExportTarget) -> Result<Option<PairCounts>> {
        if self.pairs.is_empty() {
            return Ok(None);
        }
        let mut texts = target.file("alignment.texts.tsv")?.expect("the target is a folder");
        let mut sentences = target.file("alignment.sentences.tsv")?.expect("the target is a folder");
        texts.push(b"language_a\ttext_a\tlanguage_b\ttext_b\n")?;
        sentences.push(b"language_a\tsentences_a\tlanguage_b\tsentences_b\tmisc\n")?;
        let sum = self.aligned(|_, [left, right], beads| {
            let (Some(a), Some(b)) = (left.numbers, right.numbers) else { return Ok(()) };
            texts.push(format!("{}\t{}\t{}\t{}\n", left.language, a.0, right.language, b.0).as_bytes())?;
            let mut lines = String::new();
            for bead in beads {
                let [a, b] = [(a.1, &bead.left), (b.1, &bead.right)].map(|(first, range)| numbers(first, range));
                let (one, other) = (&left.language, &right.language);
                lines.push_str(&format!("{one}\t{a}\t{other}\t{b}\tscore={:.3}\n", bead.score));
            }
            Ok(sentences.push(lines.as_bytes())?)
        })?;
        target.end(texts)?;
        target.end(sentences)?;
        Ok(Some(sum))
    }
}

/// The numbers of sentences separated by spaces, or `_`.
fn numbers(first: u64, range: &Range<usize>) -> String {
    let numbers: Vec<String> = range.clone().map(|at| (first + at as u64).to_string()).collect();
    if numbers.is_empty() { "_".to_owned() } else { numbers.join(" ") }
}

/// The unit of a line of pairs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PairLevel {
    /// A pair of sentences a line.
    #[default]
    Sentence,
    /// A pair of documents a line.
    Document,
}

/// Pairs of sentences or documents, as a table or as a translation memory.
pub struct Pairs {
    parallel: Parallel,
    level: PairLevel,
}

impl Pairs {
    /// Creates the writer.
    pub fn begin(parallel: Parallel, level: PairLevel) -> Box<dyn ExportWriter> {
        Box::new(Pairs { parallel, level })
    }
}

impl ExportWriter for Pairs {
    fn write(&mut self, item: ExportItem, _: Vec<u8>, _: &mut ExportTarget) -> Result<()> {
        self.parallel.see(&item, None)
    }

    fn finish(self: Box<Self>, target: &mut ExportTarget) -> Result<Figures> {
        let Pairs { mut parallel, level } = *self;
        let is_tmx = target.name().trim_end_matches(".zst").trim_end_matches(".gz").ends_with(".tmx");
        let mut sink = target.main()?;
        let sum = match (is_tmx, level) {
            (true, _) => {
                sink.push(tmx::opening().as_bytes())?;
                let sum = parallel.aligned(|_, sides, beads| memory(sides, beads, &mut sink))?;
                sink.push(tmx::CLOSING.as_bytes())?;
                sum
            }
            (false, PairLevel::Sentence) => {
                sink.push(b"document_a\tdocument_b\tlanguage_a\tlanguage_b\tscore\ttext_a\ttext_b\n")?;
                parallel.aligned(|ids, sides, beads| sentence_lines(ids, sides, beads, &mut sink))?
            }
            (false, PairLevel::Document) => {
                sink.push(
                    b"document_a\tdocument_b\tlanguage_a\tlanguage_b\turl_a\turl_b\ttitle_a\ttitle_b\ttext_a\ttext_b\n",
                )?;
                parallel.aligned(|ids, sides, _| document_line(ids, sides, &mut sink))?
            }
        };
        target.end(sink)?;
        Ok(Figures::Pairs(sum))
    }
}

/// The sentences of one side of a bead.
fn side(text: &Text, range: &Range<usize>) -> String {
    text.sentences[range.clone()].join(" ")
}

/// Text that cannot end its column.
fn cell(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn memory([left, right]: [&Text; 2], beads: &[Bead], sink: &mut Sink) -> Result<()> {
    for bead in beads.iter().filter(|bead| bead.score > 0.0) {
        let score = format!("{:.3}", bead.score);
        let properties = [("score", score.as_str()), ("source", &left.url), ("target", &right.url)];
        let texts = [side(left, &bead.left), side(right, &bead.right)];
        sink.push(tmx::unit([(&left.tag, &texts[0]), (&right.tag, &texts[1])], &properties).as_bytes())?;
    }
    Ok(())
}

fn sentence_lines(ids: [u128; 2], [left, right]: [&Text; 2], beads: &[Bead], sink: &mut Sink) -> Result<()> {
    let ids = ids.map(|id| format!("{id:032x}")).join("\t");
    let mut lines = String::new();
    for bead in beads.iter().filter(|bead| bead.score > 0.0) {
        let texts = [side(left, &bead.left), side(right, &bead.right)].map(|text| cell(&text)).join("\t");
        lines.push_str(&format!("{ids}\t{}\t{}\t{:.3}\t{texts}\n", left.language, right.language, bead.score));
    }
    Ok(sink.push(lines.as_bytes())?)
}

fn document_line(ids: [u128; 2], [left, right]: [&Text; 2], sink: &mut Sink) -> Result<()> {
    let both = |of: &dyn Fn(&Text) -> String| [of(left), of(right)].map(|text| cell(&text)).join("\t");
    let line = [
        ids.map(|id| format!("{id:032x}")).join("\t"),
        both(&|text| text.language.clone()),
        both(&|text| text.url.clone()),
        both(&|text| text.title.clone()),
        both(&|text| text.sentences.join(" ")),
    ];
    Ok(sink.push((line.join("\t") + "\n").as_bytes())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_range_is_an_underscore() {
        assert_eq!((numbers(7, &(1..3)), numbers(7, &(1..1))), ("8 9".to_owned(), "_".to_owned()));
    }
}
