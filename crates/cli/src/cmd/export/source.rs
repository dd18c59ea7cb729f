//! The documents of the corpus, day by day, in each day by language: what lies in `docs/`, without what was published
//! before, and what `text/` made of it.
//!
//! A document is in the corpus if something of it is new. For those who want its text that is what the verdicts of
//! `dedup` say; for those who want tokens it is what `annotate` has written, which went by the same verdicts.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use tidings_model::{Annotated, AnnotatedParagraph, Document, Paragraph, Span, Token};
use tidings_store::Home;
use tidings_store::docs::{self, DocumentReader, Recipe};
use tidings_store::format::vertical::{self, Event};
use tidings_store::seen::{self, Ledger, VerdictLine, VerdictReader};
use tidings_store::text::{self, TextRecipe};

/// A document as it lies on its shelf, with what belongs to it.
pub struct Raw {
    /// Its line of JSON.
    pub line: Vec<u8>,
    /// What was said about it, where duplicates were told.
    pub verdict: Option<VerdictLine>,
    /// Its tokens, where they were asked for; none if nothing of it is new.
    pub text: Option<Annotated>,
    /// The day of its shelf.
    pub day: String,
    /// The language of its shelf.
    pub language: String,
}

impl Raw {
    /// What it takes in memory, about, while it is worked on.
    pub fn weight(&self) -> usize {
        // A token takes many times its letters.
        let expansion = if self.text.is_some() { 40 } else { 4 };
        self.line.len() * expansion + (64 << 10)
    }
}

/// What one wants to read.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// Only these languages; all if there are none.
    pub languages: BTreeSet<String>,
    /// Whether tokens are wanted.
    pub tokens: bool,
}

/// Reads the corpus from its first day to its last.
pub struct Source {
    home: Home,
    wanted: Wanted,
    /// The days that were judged, with the digests of their documents; nothing if duplicates are kept.
    judged: Option<HashMap<String, String>>,
    days: VecDeque<Recipe>,
    files: VecDeque<PathBuf>,
    open: Option<Open>,
    verdicts: Option<VerdictReader>,
    /// Documents of days that are not ready, by what they wait for.
    pub waiting: HashMap<&'static str, u64>,
    /// What was read, for the manifest: file and digest.
    pub inputs: Vec<(String, String)>,
}

struct Open {
    day: String,
    language: String,
    documents: DocumentReader,
    text: Option<Texts>,
}

impl Source {
    /// The whole corpus, or some days of it.
    pub fn open(home: &Home, keep_duplicates: bool, wanted: Wanted, only: Option<&str>) -> Result<Source> {
        let ledger = if keep_duplicates { None } else { Ledger::read(home)? };
        let mut days = VecDeque::new();
        for day in docs::made(home)?.iter().filter(|day| only.is_none_or(|only| only == *day)) {
            days.extend(Recipe::read(home, day)?);
        }
        Ok(Source {
            home: home.clone(),
            wanted,
            judged: ledger.map(|ledger| ledger.days.into_iter().map(|day| (day.day, day.docs)).collect()),
            days,
            files: VecDeque::new(),
            open: None,
            verdicts: None,
            waiting: HashMap::new(),
            inputs: Vec::new(),
        })
    }

    /// How many days are left.
    pub fn days_left(&self) -> usize {
        self.days.len()
    }

    /// The next document; nothing at the end.
    pub fn next(&mut self) -> Result<Option<Raw>> {
        loop {
            if let Some(open) = &mut self.open {
                if let Some(line) = open.documents.next_line()? {
                    let text = match &mut open.text {
                        Some(texts) => texts.of(&line)?,
                        None => None,
                    };
                    let (day, language) = (open.day.clone(), open.language.clone());
                    let verdict = self.verdict()?;
                    return Ok(Some(Raw { line, verdict, text, day, language }));
                }
                if let Some(texts) = open.text.take() {
                    texts.ended()?;
                }
            }
            match self.files.pop_front() {
                Some(path) => self.enter(&path)?,
                None if self.next_day()? => {}
                None => return Ok(None),
            }
        }
    }

    /// The verdict at this place: those of languages that nobody asked for are passed over.
    fn verdict(&mut self) -> Result<Option<VerdictLine>> {
        let (Some(verdicts), Some(open)) = (&mut self.verdicts, &self.open) else { return Ok(None) };
        for verdict in verdicts {
            let verdict = verdict?;
            if verdict.lang == open.language {
                return Ok(Some(verdict));
            }
        }
        bail!("the verdicts of {} are not about its documents; run `tidings rebuild --from dedup`", open.day);
    }

    /// Goes to the next day that is ready; false if there is none.
    fn next_day(&mut self) -> Result<bool> {
        while let Some(recipe) = self.days.pop_front() {
            let documents = recipe.documents.values().sum::<u64>();
            if self.wanted.tokens && !self.has_text(&recipe)? {
                *self.waiting.entry("not-annotated").or_default() += documents;
                continue;
            }
            self.verdicts = None;
            if let Some(judged) = self.judged.as_ref().filter(|_| !self.wanted.tokens) {
                if judged.get(&recipe.day) != Some(&seen::docs_digest(&self.home, &recipe.day)?) {
                    *self.waiting.entry("not-judged").or_default() += documents;
                    continue;
                }
                self.verdicts = Some(VerdictReader::open(&self.home, &recipe.day)?);
            }
            for output in recipe.shelves() {
                let language = language_of(Path::new(&output.file));
                if self.wanted.languages.is_empty() || self.wanted.languages.contains(&language) {
                    self.inputs.push((output.file.clone(), output.xxh3.clone()));
                    self.files.push_back(self.home.root().join(&output.file));
                }
            }
            return Ok(true);
        }
        Ok(false)
    }

    /// Whether the text of a day is there, and was made of these documents.
    fn has_text(&self, recipe: &Recipe) -> Result<bool> {
        let Some(text) = TextRecipe::read(&self.home, &recipe.day)? else { return Ok(false) };
        Ok(recipe.shelves().all(|output| text.inputs.iter().any(|input| input == output)))
    }

    fn enter(&mut self, path: &Path) -> Result<()> {
        let language = language_of(path);
        let day = path.file_name().and_then(|name| name.to_str()?.get(..10)).unwrap_or_default().to_owned();
        let file = format!("text/{language}/{day}.vert.zst");
        let text = match self.wanted.tokens {
            // Where everything was published before there is no text.
            true if self.home.root().join(&file).is_file() => Some(Texts::open(&self.home, &file)?),
            true => Some(Texts { reader: None, waiting: None, file }),
            false => None,
        };
        self.open = Some(Open { day, language, documents: DocumentReader::open(path)?, text });
        Ok(())
    }
}

fn language_of(path: &Path) -> String {
    let folder = path.parent().and_then(Path::file_name);
    folder.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The annotated documents of a shelf, which are some of its documents, in the same order.
struct Texts {
    reader: Option<vertical::Reader<Box<dyn std::io::BufRead + Send>>>,
    waiting: Option<Annotated>,
    file: String,
}

/// The beginning of a document's line.
const ID: &[u8] = b"{\"id\":\"";

impl Texts {
    fn open(home: &Home, file: &str) -> Result<Texts> {
        let reader = vertical::Reader::new(text::open(home, file)?, &home.root().join(file));
        let mut texts = Texts { reader: Some(reader), waiting: None, file: file.to_owned() };
        texts.advance()?;
        Ok(texts)
    }

    /// What became of a document, given its line.
    fn of(&mut self, line: &[u8]) -> Result<Option<Annotated>> {
        let Some(waiting) = &self.waiting else { return Ok(None) };
        let name = format!("{:032x}", waiting.about.id);
        let is_it = match line.strip_prefix(ID) {
            Some(rest) => rest.starts_with(name.as_bytes()),
            None => serde_json::from_slice::<Name>(line).is_ok_and(|line| line.id == name),
        };
        if !is_it {
            return Ok(None);
        }
        let found = self.waiting.take();
        self.advance()?;
        Ok(found)
    }

    fn advance(&mut self) -> Result<()> {
        if let Some(reader) = &mut self.reader {
            self.waiting = next_annotated(reader).with_context(|| format!("{} cannot be read", self.file))?;
        }
        Ok(())
    }

    /// Every annotated document must have been met.
    fn ended(self) -> Result<()> {
        match self.waiting {
            None => Ok(()),
            Some(_) => bail!("{} was made of other documents; run `tidings annotate` and try again", self.file),
        }
    }
}

#[derive(Deserialize)]
struct Name {
    id: String,
}

/// Puts the next document of a vertical file together.
fn next_annotated(reader: &mut vertical::Reader<Box<dyn std::io::BufRead + Send>>) -> Result<Option<Annotated>> {
    let mut document: Option<Annotated> = None;
    let mut is_glued = false;
    while let Some(event) = reader.next_event()? {
        let is_paragraph = matches!(event, Event::Paragraph);
        match (event, &mut document) {
            (Event::Document(about), None) => document = Some(Annotated { about: *about, paragraphs: Vec::new() }),
            (Event::Paragraph, Some(document)) => document.paragraphs.push(AnnotatedParagraph::default()),
            (Event::Sentence, Some(document)) => {
                if let Some(paragraph) = document.paragraphs.last_mut() {
                    paragraph.sentences.push(Vec::new());
                }
            }
            (Event::Glue, _) => is_glued = true,
            (Event::Token(line), Some(document)) => {
                let mut columns = line.split('\t').map(vertical::unescape);
                let mut column = || columns.next().unwrap_or_default();
                let token =
                    Token { word: column(), lemma: column(), tag: column(), feats: column(), space_after: true };
                let paragraph = document.paragraphs.last_mut();
                if let Some(sentence) = paragraph.and_then(|paragraph| paragraph.sentences.last_mut()) {
                    if let Some(before) = sentence.last_mut() {
                        before.space_after = !std::mem::take(&mut is_glued);
                    }
                    sentence.push(token);
                }
            }
            (Event::End, document) => return Ok(document.take()),
            _ => {}
        }
        if let Some(paragraph) = document.as_mut().filter(|_| is_paragraph).and_then(|it| it.paragraphs.last_mut()) {
            paragraph.kind = reader.value("kind").unwrap_or_default();
            paragraph.language = reader.value("lang").unwrap_or_default();
        }
    }
    Ok(document)
}

/// Takes out of a document what was published before; false if nothing is left.
pub fn keep_new(document: &mut Document, verdict: &VerdictLine) -> Result<bool> {
    if verdict.id != document.id {
        bail!("the verdicts are not about these documents ({}); run `tidings rebuild --from dedup`", document.id);
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

/// A paragraph without some stretches of its text; its marks move along.
fn without(paragraph: Paragraph, cuts: &[(usize, usize)]) -> Paragraph {
    let mut text = String::with_capacity(paragraph.text.len());
    let mut at = 0;
    for (start, end) in cuts {
        let start = paragraph.text.floor_char_boundary((*start).max(at));
        text.push_str(&paragraph.text[at.min(start)..start]);
        at = paragraph.text.floor_char_boundary(*end).max(at);
    }
    text.push_str(&paragraph.text[at..]);
    // How far a place moves to the left.
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
    use tidings_store::seen::DuplicateUnit;

    #[test]
    fn what_was_published_before_is_cut_out_and_marks_move_along() {
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
}
