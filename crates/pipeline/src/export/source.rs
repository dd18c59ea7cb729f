//! Reads the documents of the corpus by day and language, each with its verdict or its annotated text.
//!
//! A document is in the corpus if no later revision supersedes it and some of its text is new. For text formats the verdicts of `dedup` decide that; for
//! token formats the output of `annotate`, which applied the same verdicts.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::io::BufRead;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use tidings_formats::vertical;
use tidings_model::{Annotated, Document, Paragraph, Span};
use tidings_store::Home;
use tidings_store::dedup_state::{self, JudgedDays, VerdictLine, VerdictReader};
use tidings_store::docs::{self, DocumentReader, Recipe};
use tidings_store::revisions::Superseded;
use tidings_store::text::{self, TextRecipe};

use super::manifest::NotReady;

/// A stored document with its verdict and its text.
#[derive(Default)]
pub struct StoredDocument {
    /// Its line of JSON.
    pub line: Vec<u8>,
    /// Its verdict, if duplicates are dropped.
    pub verdict: Option<VerdictLine>,
    /// Its annotated text, for token formats; `None` if no text is new.
    pub text: Option<Annotated>,
    /// Whether a later revision takes its place.
    pub is_superseded: bool,
    /// The day of its download.
    pub day: String,
    /// The language of its file.
    pub language: String,
}

impl StoredDocument {
    /// The approximate memory needed to process it.
    pub fn weight(&self) -> usize {
        // A token takes many times the memory of its letters.
        let expansion = if self.text.is_some() { 40 } else { 4 };
        self.line.len() * expansion + (64 << 10)
    }
}

/// The part of the corpus to read.
#[derive(Debug, Clone, Default)]
pub struct Reading {
    /// Only these languages; empty: all.
    pub languages: BTreeSet<String>,
    /// Whether annotated text is read.
    pub tokens: bool,
}

/// Reads the corpus from its first day to its last.
pub struct DocumentSource {
    home: Home,
    reading: Reading,
    /// The judged days with the digests of their documents; `None` if duplicates are kept.
    judged: Option<HashMap<String, String>>,
    superseded: Superseded,
    days: VecDeque<Recipe>,
    files: VecDeque<String>,
    open: Option<Open>,
    verdicts: Option<VerdictReader>,
    /// Documents of days that are not ready, by the reason.
    pub not_ready: BTreeMap<NotReady, u64>,
    /// The files that were read and their digests.
    pub inputs: Vec<(String, String)>,
}

struct Open {
    day: String,
    language: String,
    documents: DocumentReader,
    text: Option<Texts>,
}

impl DocumentSource {
    /// Opens the whole corpus, or some days of it.
    pub fn open(home: &Home, keep_duplicates: bool, reading: Reading, only: Option<&str>) -> Result<DocumentSource> {
        let ledger = if keep_duplicates { None } else { JudgedDays::read(home)? };
        let mut days = VecDeque::new();
        for day in docs::document_days(home)?.iter().filter(|day| only.is_none_or(|only| only == *day)) {
            days.extend(Recipe::read(home, day)?);
        }
        Ok(DocumentSource {
            home: home.clone(),
            reading,
            judged: ledger.map(|ledger| ledger.days.into_iter().map(|day| (day.day, day.docs)).collect()),
            superseded: Superseded::read(home)?,
            days,
            files: VecDeque::new(),
            open: None,
            verdicts: None,
            not_ready: BTreeMap::new(),
            inputs: Vec::new(),
        })
    }

    /// Reads documents that a later revision supersedes like others.
    pub fn keep_superseded(&mut self) {
        self.superseded = Superseded::default();
    }

    /// The number of remaining days.
    pub fn days_left(&self) -> usize {
        self.days.len()
    }

    /// The next document; `None` at the end.
    pub fn next(&mut self) -> Result<Option<StoredDocument>> {
        loop {
            if let Some(open) = &mut self.open {
                if let Some(line) = open.documents.next_line()? {
                    let is_superseded = self.superseded.has_line(&open.day, &line);
                    let text = match &mut open.text {
                        Some(texts) if !is_superseded => texts.of(&line)?,
                        _ => None,
                    };
                    let (day, language) = (open.day.clone(), open.language.clone());
                    let verdict = self.verdict()?;
                    return Ok(Some(StoredDocument { line, verdict, text, is_superseded, day, language }));
                }
                if let Some(texts) = open.text.take() {
                    texts.ended()?;
                }
            }
            match self.files.pop_front() {
                Some(file) => self.open_file(&file)?,
                None if self.next_day()? => {}
                None => return Ok(None),
            }
        }
    }

    /// The verdict of the next document; those of other languages are skipped.
    fn verdict(&mut self) -> Result<Option<VerdictLine>> {
        let (Some(verdicts), Some(open)) = (&mut self.verdicts, &self.open) else { return Ok(None) };
        for verdict in verdicts {
            let verdict = verdict?;
            if verdict.lang == open.language {
                return Ok(Some(verdict));
            }
        }
        bail!("the verdicts of {} do not match its documents; run `tidings rebuild --from dedup`", open.day);
    }

    /// Moves to the next day that is ready; false if there is none.
    fn next_day(&mut self) -> Result<bool> {
        while let Some(recipe) = self.days.pop_front() {
            let documents = recipe.documents.values().sum::<u64>();
            if self.reading.tokens && !self.has_text(&recipe)? {
                *self.not_ready.entry(NotReady::NotAnnotated).or_default() += documents;
                continue;
            }
            self.verdicts = None;
            if let Some(judged) = self.judged.as_ref().filter(|_| !self.reading.tokens) {
                if judged.get(&recipe.day) != Some(&dedup_state::docs_digest(&self.home, &recipe.day)?) {
                    *self.not_ready.entry(NotReady::NotJudged).or_default() += documents;
                    continue;
                }
                self.verdicts = Some(VerdictReader::open(&self.home, &recipe.day)?);
            }
            for output in recipe.document_files() {
                let language = language_of(Path::new(&output.file));
                if self.reading.languages.is_empty() || self.reading.languages.contains(&language) {
                    self.inputs.push((output.file.clone(), output.xxh3.clone()));
                    self.files.push_back(output.file.clone());
                }
            }
            return Ok(true);
        }
        Ok(false)
    }

    /// Whether the text of a day exists and was made from these documents.
    fn has_text(&self, recipe: &Recipe) -> Result<bool> {
        let Some(text) = TextRecipe::read(&self.home, &recipe.day)? else { return Ok(false) };
        Ok(recipe.document_files().all(|output| text.inputs.iter().any(|input| input == output)))
    }

    fn open_file(&mut self, file: &str) -> Result<()> {
        let path = Path::new(file);
        let language = language_of(path);
        let day = path.file_name().and_then(|name| name.to_str()?.get(..10)).unwrap_or_default().to_owned();
        let text = match self.reading.tokens {
            true => Some(Texts::open(&self.home, &language, &day)?),
            false => None,
        };
        self.open = Some(Open { day, language, documents: DocumentReader::open_in(&self.home, file)?, text });
        Ok(())
    }
}

fn language_of(path: &Path) -> String {
    let folder = path.parent().and_then(Path::file_name);
    folder.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The annotated documents of a file: a subset, in the same order.
pub(crate) struct Texts {
    /// `None` if all documents are duplicates.
    reader: Option<VerticalReader>,
    waiting: Option<Annotated>,
    file: String,
}

/// A reader of annotated text.
type VerticalReader = vertical::Reader<Box<dyn BufRead + Send>>;

/// The beginning of the line of a document.
const ID: &[u8] = b"{\"id\":\"";

impl Texts {
    pub(crate) fn open(home: &Home, language: &str, day: &str) -> Result<Texts> {
        let file = text::file_of(language, day);
        let reader = text::open_existing(home, &file)?.map(|reader| vertical::Reader::new(reader, Path::new(&file)));
        let mut texts = Texts { reader, waiting: None, file };
        texts.advance()?;
        Ok(texts)
    }

    /// The annotated text of a document, given its line.
    fn of(&mut self, line: &[u8]) -> Result<Option<Annotated>> {
        let Some(waiting) = &self.waiting else { return Ok(None) };
        let name = format!("{:032x}", waiting.about.id);
        let is_it = match line.strip_prefix(ID) {
            Some(rest) => rest.starts_with(name.as_bytes()),
            None => serde_json::from_slice::<Name>(line).is_ok_and(|line| line.id == name),
        };
        if is_it { self.take() } else { Ok(None) }
    }

    /// The annotated text of a document, given its id.
    pub(crate) fn of_id(&mut self, id: &str) -> Result<Option<Annotated>> {
        let is_it = self.waiting.as_ref().is_some_and(|waiting| format!("{:032x}", waiting.about.id) == id);
        if is_it { self.take() } else { Ok(None) }
    }

    fn take(&mut self) -> Result<Option<Annotated>> {
        let found = self.waiting.take();
        self.advance()?;
        Ok(found)
    }

    fn advance(&mut self) -> Result<()> {
        if let Some(reader) = &mut self.reader {
            self.waiting = reader.next_document().with_context(|| format!("cannot read {}", self.file))?;
        }
        Ok(())
    }

    /// Every annotated document must have been met.
    pub(crate) fn ended(self) -> Result<()> {
        match self.waiting {
            None => Ok(()),
            Some(_) => bail!("{} was made from other documents; run `tidings annotate` and try again", self.file),
        }
    }
}

#[derive(Deserialize)]
struct Name {
    id: String,
}

/// Removes duplicate text from a document; false if nothing is left.
pub fn keep_new(document: &mut Document, verdict: &VerdictLine) -> Result<bool> {
    if verdict.id != document.id {
        bail!("the verdicts do not match the documents ({}); run `tidings rebuild --from dedup`", document.id);
    }
    if verdict.duplicates.is_empty() {
        return Ok(true);
    }
    let mut cuts: HashMap<usize, Vec<(usize, usize)>> = HashMap::new();
    for unit in &verdict.duplicates {
        let (start, end) = unit.bytes.unwrap_or((0, u64::MAX));
        cuts.entry(unit.paragraph as usize).or_default().push((start as usize, end as usize));
    }
    let paragraphs = std::mem::take(&mut document.paragraphs).into_iter().enumerate();
    let kept = paragraphs.map(|(place, paragraph)| match cuts.get_mut(&place) {
        Some(cuts) => {
            cuts.sort_unstable();
            without(paragraph, cuts)
        }
        None => paragraph,
    });
    document.paragraphs = kept.filter(|paragraph| !paragraph.text.trim().is_empty()).collect();
    Ok(!document.paragraphs.is_empty())
}

/// Removes ranges from the text of a paragraph and shifts its marks.
fn without(paragraph: Paragraph, cuts: &[(usize, usize)]) -> Paragraph {
    let mut text = String::with_capacity(paragraph.text.len());
    let mut at = 0;
    for (start, end) in cuts {
        let start = paragraph.text.floor_char_boundary((*start).max(at));
        text.push_str(&paragraph.text[at.min(start)..start]);
        at = paragraph.text.floor_char_boundary(*end).max(at);
    }
    text.push_str(&paragraph.text[at..]);
    // The position of a byte after the cuts.
    let moved = |place: usize| {
        let gone: usize = cuts.iter().map(|(start, end)| place.min(*end).saturating_sub(*start)).sum();
        place - gone.min(place)
    };
    let end = text.trim_end().len();
    text.truncate(end);
    let spans = paragraph.spans.into_iter().map(|span| Span {
        start: moved(span.start).min(end),
        end: moved(span.end).min(end),
        ..span
    });
    let spans = spans.filter(|span| span.start < span.end).collect();
    Paragraph { text, spans, ..paragraph }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidings_model::Mark;
    use tidings_store::dedup_state::DuplicateUnit;

    #[test]
    fn duplicate_text_is_removed_and_marks_are_shifted() {
        let paragraph = |text: &str| Paragraph { text: text.into(), ..Paragraph::default() };
        let mut rain = paragraph("Old rain. New flood. Old sun.");
        rain.spans =
            vec![Span { start: 14, end: 19, mark: Mark::Strong }, Span { start: 0, end: 3, mark: Mark::Emphasis }];
        let mut document =
            Document { id: "a".into(), paragraphs: vec![paragraph("Gone."), rain], ..Document::default() };
        let unit = |paragraph, bytes| DuplicateUnit { paragraph, bytes, ..DuplicateUnit::default() };
        let duplicates = vec![unit(0, None), unit(1, Some((0, 10))), unit(1, Some((21, 29)))];
        let verdict = VerdictLine { id: "a".into(), duplicates, ..VerdictLine::default() };
        assert!(keep_new(&mut document, &verdict).unwrap());
        assert_eq!(document.paragraphs.len(), 1);
        assert_eq!(document.paragraphs[0].text, "New flood.");
        assert_eq!(document.paragraphs[0].spans, [Span { start: 4, end: 9, mark: Mark::Strong }]);

        let all = VerdictLine { id: "a".into(), duplicates: vec![unit(0, None)], ..VerdictLine::default() };
        assert!(!keep_new(&mut document, &all).unwrap(), "nothing is left");
        assert!(keep_new(&mut Document::default(), &all).is_err(), "a verdict about another document");
    }

    #[test]
    fn annotated_documents_are_assembled_with_spacing_and_kinds() {
        let text = "<doc id=\"00000000000000000000000000000007\" url=\"u\">\n<p kind=\"heading\" lang=\"de\">\n<s>\n\
                    Rain\train\tNOUN\n<g/>\n.\t.\tPUNCT\n</s>\n</p>\n</doc>\n";
        let reader: Box<dyn BufRead + Send> = Box::new(std::io::Cursor::new(text));
        let mut reader = vertical::Reader::new(reader, Path::new("a.vert"));
        let document = reader.next_document().unwrap().unwrap();
        let paragraph = &document.paragraphs[0];
        assert_eq!((paragraph.kind.as_str(), paragraph.language.as_str()), ("heading", "de"));
        assert_eq!((paragraph.text().as_str(), paragraph.sentences[0][0].lemma.as_str()), ("Rain.", "rain"));
        assert!(reader.next_document().unwrap().is_none());
    }

    #[test]
    fn texts_are_matched_with_documents_by_id_and_none_may_remain() {
        let waiting = || {
            let mut annotated = Annotated::default();
            annotated.about.id = 7;
            Texts { reader: None, waiting: Some(annotated), file: "text/de/2026-03-01.vert.zst".to_owned() }
        };
        let mut texts = waiting();
        assert!(texts.of(br#"{"id":"00000000000000000000000000000008"}"#).unwrap().is_none());
        assert!(texts.of(br#"{"url":"u","id":"00000000000000000000000000000007"}"#).unwrap().is_some(), "in any order");
        assert!(texts.ended().is_ok());
        assert!(waiting().ended().unwrap_err().to_string().contains("tidings annotate"));
    }

    #[test]
    fn the_language_of_a_file_is_its_folder() {
        assert_eq!(language_of(Path::new("docs/de/2026-03-01.jsonl.zst")), "de");
        assert_eq!(language_of(Path::new("x")), "");
    }
}
