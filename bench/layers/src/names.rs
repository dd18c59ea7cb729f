//! Scores of the names layer on text that was annotated by hand.
//!
//! Texts written for the purpose are in `names/texts/CODE.txt`; annotation of the sample archive is stand-off in
//! `names/archive/CODE.tsv`. Documents alternate between development and held-out; errors are shown for development
//! only.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde::Serialize;
use tidings_annotate::layers::foreign::foreign;
use tidings_annotate::layers::names::names;
use tidings_annotate::{Annotators, annotate, enrich, models};
use tidings_model::{Annotated, Document, LayerNames, Paragraph};
use xxhash_rust::xxh3::xxh3_64;

use crate::archive::{self, Article};
use crate::marked;

/// Languages with gold data.
pub const LANGUAGES: [&str; 5] = ["en", "de", "es", "ru", "zh"];

/// Arguments of `bench-layers names`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Show errors of this language, in development documents
    #[arg(long, value_name = "CODE")]
    show: Option<String>,
    /// Print paragraphs of the archive's articles in this language, to annotate them
    #[arg(long, value_name = "CODE")]
    print: Option<String>,
    /// With --print: only articles whose path contains this
    #[arg(long, default_value = "")]
    path: String,
    /// Compare the time of names and code-switching with that of segmentation and tagging, on the archive's articles in
    /// this language
    #[arg(long, value_name = "CODE")]
    speed: Option<String>,
    /// Write the scores as JSON to this file
    #[arg(long, value_name = "FILE")]
    json: Option<std::path::PathBuf>,
}

/// Runs the benchmark.
pub fn run(shared: &Path, args: &Args) -> Result<()> {
    if let Some(language) = &args.print {
        return print(shared, language, &args.path);
    }
    if let Some(language) = &args.speed {
        return speed(shared, language);
    }
    let mut results = BTreeMap::new();
    println!("language  set          names     P      R      F1     type   given  canonical");
    for language in LANGUAGES {
        let gold = gold(language, Some(shared))?;
        let scores = score(language, &gold, args.show.as_deref() == Some(language));
        for (set, score) in scores.sets() {
            println!("{language:9} {set:11} {:6} {}", score.gold, score.line());
        }
        results.insert(language, scores);
    }
    if let Some(path) = &args.json {
        fs::write(path, serde_json::to_string_pretty(&results)? + "\n")
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// Type of a gold name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GoldKind {
    /// A person.
    Person,
    /// An organisation.
    Organisation,
    /// A place.
    Place,
    /// Another name: product, work, event, vessel.
    Other,
}

impl GoldKind {
    fn parse(code: &str) -> Result<GoldKind> {
        Ok(match code {
            "P" => GoldKind::Person,
            "O" => GoldKind::Organisation,
            "L" => GoldKind::Place,
            "N" => GoldKind::Other,
            _ => bail!("{code} is no type of names; the types are P, O, L and N"),
        })
    }

    fn code(self) -> &'static str {
        match self {
            GoldKind::Person => "PER",
            GoldKind::Organisation => "ORG",
            GoldKind::Place => "LOC",
            GoldKind::Other => "",
        }
    }
}

/// A name annotated by hand; offsets count characters that are not white space.
#[derive(Debug, Clone)]
pub struct GoldName {
    start: usize,
    end: usize,
    kind: GoldKind,
    canonical: String,
}

/// A document annotated by hand.
#[derive(Debug, Clone)]
pub struct GoldDocument {
    name: String,
    document: Document,
    names: Vec<GoldName>,
}

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("names")
}

/// The gold documents of a language. Without `shared`, those of the archive are left out; where the archive is
/// absent, a message says so.
pub fn gold(language: &str, shared: Option<&Path>) -> Result<Vec<GoldDocument>> {
    let path = folder().join("texts").join(format!("{language}.txt"));
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut documents = Vec::new();
    for marked in marked::parse(&text).with_context(|| format!("cannot read {}", path.display()))? {
        let document = marked.document(language);
        let letters: Vec<char> = letters(&document.paragraphs);
        let mut names = Vec::new();
        for stretch in &marked.stretches {
            let (kind, canonical) = stretch.label.split_once('|').unwrap_or((&stretch.label, ""));
            let canonical = match canonical {
                "" => surface(&document.paragraphs, stretch.start, stretch.end, &letters),
                given => given.to_owned(),
            };
            let (start, end) = (stretch.start, stretch.end);
            names.push(GoldName { start, end, kind: GoldKind::parse(kind)?, canonical });
        }
        documents.push(GoldDocument { name: marked.name.clone(), document, names });
    }
    let list = folder().join("archive").join(format!("{language}.tsv"));
    if let (Some(shared), true) = (shared, list.exists()) {
        match shared.join(archive::FILE).exists() {
            true => documents.extend(archive_gold(shared, language, &list)?),
            false => eprintln!("{} is absent: {language} is scored on the other texts only", archive::FILE),
        }
    }
    Ok(documents)
}

fn letters(paragraphs: &[Paragraph]) -> Vec<char> {
    let letters = paragraphs.iter().flat_map(|paragraph| paragraph.text.chars());
    letters.filter(|letter| !letter.is_whitespace()).collect()
}

/// The text between two offsets, with its spaces.
fn surface(paragraphs: &[Paragraph], start: usize, end: usize, letters: &[char]) -> String {
    debug_assert!(end <= letters.len());
    let mut at = 0;
    let mut surface = String::new();
    for letter in paragraphs.iter().flat_map(|paragraph| paragraph.text.chars()) {
        if at >= start && at < end && !(surface.is_empty() && letter.is_whitespace()) {
            surface.push(letter);
        }
        at += usize::from(!letter.is_whitespace());
    }
    surface.trim_end().to_owned()
}

/// Reads stand-off annotation: a line `=== SITE PATH DIGEST` for each article, then lines with the paragraph's number,
/// the type, the name as written and, if it differs, the canonical form. Names of a paragraph are in order.
fn archive_gold(shared: &Path, language: &str, list: &Path) -> Result<Vec<GoldDocument>> {
    let articles = archive::read(shared, &[language])?;
    let text = fs::read_to_string(list).with_context(|| format!("cannot read {}", list.display()))?;
    let mut documents: Vec<GoldDocument> = Vec::new();
    let mut position = (0, 0);
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(header) = line.strip_prefix("=== ") {
            documents.push(header_document(&articles, header)?);
            position = (0, 0);
            continue;
        }
        let document = documents.last_mut().context("the first line does not begin with ===")?;
        let mut fields = line.split('\t');
        let paragraph: usize = fields.next().unwrap_or_default().parse().with_context(|| format!("in {line:?}"))?;
        let kind = GoldKind::parse(fields.next().unwrap_or_default())?;
        let written = fields.next().unwrap_or_default();
        if paragraph != position.0 {
            position = (paragraph, 0);
        }
        let text = &document.document.paragraphs.get(paragraph).with_context(|| format!("in {line:?}"))?.text;
        let found = text[position.1..].find(written).filter(|_| !written.is_empty());
        let at = position.1 + found.with_context(|| format!("{}: {line:?} is not found", document.name))?;
        position.1 = at + written.len();
        let before = letters(&document.document.paragraphs[..paragraph]).len();
        let count = |text: &str| text.chars().filter(|letter| !letter.is_whitespace()).count();
        let start = before + count(&text[..at]);
        let canonical = fields.next().unwrap_or(written).to_owned();
        document.names.push(GoldName { start, end: start + count(written), kind, canonical });
    }
    Ok(documents)
}

fn header_document(articles: &[Article], header: &str) -> Result<GoldDocument> {
    let mut fields = header.split(' ');
    let (site, path, digest) = (fields.next(), fields.next(), fields.next());
    let article =
        articles.iter().find(|article| Some(article.site.as_str()) == site && Some(article.path.as_str()) == path);
    let article = article.with_context(|| format!("the archive has no article {header}"))?;
    let document = article.document();
    if digest != Some(&text_digest(&document.paragraphs)) {
        bail!("the text of {header} has changed: its digest is {}", text_digest(&document.paragraphs));
    }
    Ok(GoldDocument { name: article.path.clone(), document, names: Vec::new() })
}

fn text_digest(paragraphs: &[Paragraph]) -> String {
    let texts: Vec<&str> = paragraphs.iter().map(|paragraph| paragraph.text.as_str()).collect();
    format!("{:016x}", xxh3_64(texts.join("\n").as_bytes()))
}

fn print(shared: &Path, language: &str, path: &str) -> Result<()> {
    for article in archive::read(shared, &[language])?.iter().filter(|article| article.path.contains(path)) {
        let document = article.document();
        println!("=== {} {} {}", article.site, article.path, text_digest(&document.paragraphs));
        for (index, paragraph) in document.paragraphs.iter().enumerate() {
            println!("{index} {}", paragraph.text);
        }
    }
    Ok(())
}

/// Articles that the time is measured on.
const SPEED_ARTICLES: usize = 40;

fn speed(shared: &Path, language: &str) -> Result<()> {
    let articles = archive::read(shared, &[language])?;
    let articles: Vec<Document> = articles.iter().take(SPEED_ARTICLES).map(Article::document).collect();
    // Tables and models are read before the clock starts.
    let warm = articles.first().map(|document| annotated(language, document)).unwrap_or_default();
    std::hint::black_box((names(&warm, language), foreign(&warm, language)));
    let began = Instant::now();
    let documents: Vec<Annotated> = articles.iter().map(|document| annotated(language, document)).collect();
    let annotation = began.elapsed();
    let began = Instant::now();
    let found: usize = documents.iter().map(|document| names(document, language).len()).sum();
    let naming = began.elapsed();
    let began = Instant::now();
    let switched: Vec<usize> = documents.iter().map(|document| foreign(document, language).len()).collect();
    let switching = began.elapsed();
    let tokens: usize = documents.iter().map(|document| document.tokens().count()).sum();
    let switches: usize = switched.iter().sum();
    let share = |time: Duration| 100.0 * time.as_secs_f64() / annotation.as_secs_f64();
    println!("{language}: {tokens} tokens, {annotation:.2?}");
    println!("names {naming:.2?}, {:.1} %, {found} names", share(naming));
    println!("code-switching {switching:.2?}, {:.1} %, {switches} stretches", share(switching));
    for (document, annotated) in articles.iter().zip(&documents).filter(|_| switches > 0) {
        let words: Vec<&str> = annotated.tokens().map(|token| token.word.as_str()).collect();
        for span in foreign(annotated, language) {
            let stretch = words[span.start as usize..span.end as usize].join(" ");
            println!("{} {}: {stretch}", document.about.title, span.attribute("lang").unwrap_or_default());
        }
    }
    Ok(())
}

/// Counts of one set of documents.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Score {
    /// Names annotated by hand.
    pub gold: usize,
    /// Names found.
    pub found: usize,
    /// Names found with the same tokens.
    pub correct: usize,
    /// Correct spans of persons, organisations and places.
    pub typed: usize,
    /// Those that have the right type.
    pub type_correct: usize,
    /// Correct spans that were given a type.
    pub type_given: usize,
    /// Those whose type is right.
    pub type_given_correct: usize,
    /// Correct spans with the right canonical form.
    pub canonical: usize,
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

impl Score {
    /// Precision, recall and F1 of spans.
    pub fn spans(&self) -> [f64; 3] {
        let (precision, recall) = (share(self.correct, self.found), share(self.correct, self.gold));
        [precision, recall, 2.0 * share(self.correct, self.found + self.gold)]
    }

    fn line(&self) -> String {
        let [precision, recall, f1] = self.spans();
        format!(
            "{precision:6.3} {recall:6.3} {f1:6.3} {:6.3} {:6.3} {:6.3}",
            share(self.type_correct, self.typed),
            share(self.type_given_correct, self.type_given),
            share(self.canonical, self.correct)
        )
    }

    fn add(&mut self, other: &Score) {
        self.gold += other.gold;
        self.found += other.found;
        self.correct += other.correct;
        self.typed += other.typed;
        self.type_correct += other.type_correct;
        self.type_given += other.type_given;
        self.type_given_correct += other.type_given_correct;
        self.canonical += other.canonical;
    }
}

/// Scores of a language.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Scores {
    /// Documents whose errors may be looked at.
    pub development: Score,
    /// The others.
    pub held_out: Score,
}

impl Scores {
    fn sets(&self) -> [(&'static str, Score); 3] {
        [("development", self.development), ("held-out", self.held_out), ("all", self.all())]
    }

    /// The counts of both sets.
    pub fn all(&self) -> Score {
        let mut all = self.development;
        all.add(&self.held_out);
        all
    }
}

/// Scores gold documents; every second one is held out.
pub fn score(language: &str, gold: &[GoldDocument], show: bool) -> Scores {
    let mut scores = Scores::default();
    for (number, one) in gold.iter().enumerate() {
        let is_held_out = number % 2 == 1;
        let score = score_document(language, one, show && !is_held_out);
        if is_held_out { &mut scores.held_out } else { &mut scores.development }.add(&score);
    }
    scores
}

/// Runs the product's segmenter and tagger.
fn annotated(language: &str, document: &Document) -> Annotated {
    let segmented = annotate(document.clone(), &[], |_, _| true);
    let mut documents = [(language.to_owned(), segmented)];
    enrich(&mut documents, &[LayerNames::default()], &Annotators::new(models().clone()))
        .expect("embedded models do not fail");
    let [(_, annotated)] = documents;
    annotated
}

fn score_document(language: &str, gold: &GoldDocument, show: bool) -> Score {
    let annotated = annotated(language, &gold.document);
    let spans = names(&annotated, language);
    // Offsets of tokens without white space.
    let mut offsets = vec![0];
    for token in annotated.tokens() {
        let length = token.word.chars().filter(|letter| !letter.is_whitespace()).count();
        offsets.push(offsets.last().copied().unwrap_or(0) + length);
    }
    let token_at = |offset: usize| offsets.partition_point(|known| *known <= offset) - 1;
    let mut by_tokens: BTreeMap<(usize, usize), &GoldName> =
        gold.names.iter().map(|name| ((token_at(name.start), token_at(name.end - 1) + 1), name)).collect();
    let mut score = Score { gold: by_tokens.len(), found: spans.len(), ..Score::default() };
    let words: Vec<&str> = annotated.tokens().map(|token| token.word.as_str()).collect();
    let around = |start: usize, end: usize| {
        let part = |from: usize, to: usize| words[from.min(words.len())..to.min(words.len())].join(" ");
        format!("{} [{}] {}", part(start.saturating_sub(3), start), part(start, end), part(end, end + 3))
    };
    for span in &spans {
        let (start, end) = (span.start as usize, span.end as usize);
        let (kind, canonical) = (span.attribute("type").unwrap_or(""), span.attribute("name").unwrap_or(""));
        let Some(name) = by_tokens.remove(&(start, end)) else {
            if show {
                println!("{} + {} {kind}", gold.name, around(start, end));
            }
            continue;
        };
        score.correct += 1;
        score.canonical += usize::from(name.canonical == canonical);
        if show && name.canonical != canonical {
            println!("{} c {} {canonical:?} instead of {:?}", gold.name, around(start, end), name.canonical);
        }
        score.typed += usize::from(name.kind != GoldKind::Other);
        score.type_given += usize::from(!kind.is_empty());
        let is_right = kind == name.kind.code();
        score.type_correct += usize::from(is_right && name.kind != GoldKind::Other);
        score.type_given_correct += usize::from(is_right && !kind.is_empty());
        if show && !is_right && !kind.is_empty() {
            println!("{} t {} {kind} instead of {}", gold.name, around(start, end), name.kind.code());
        }
    }
    if show {
        for ((start, end), _) in by_tokens {
            println!("{} - {}", gold.name, around(start, end));
        }
    }
    score
}
