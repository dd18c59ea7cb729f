//! The trace of a document: from `clean` to its index segment.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use anyhow::Result;
use serde::Deserialize;
use tidings_clean::DropReason;
use tidings_index::Snapshot;
use tidings_model::{Document, PageOrigin};
use tidings_store::dedup_state::{self, JudgedDays, VerdictLine};
use tidings_store::docs::{self, DroppedPage, Recipe};
use tidings_store::revisions::Superseded;
use tidings_store::text::TextRecipe;
use tidings_store::{Exclusion, Home, hidden, scan};

use super::facts::DocumentFacts;
use super::page::LISTED;
use super::{Facts, Trace, TraceOutcome, TraceStage};
use crate::Pipeline;
use crate::config::{Config, Duplicates};
use crate::display::{count, grouped};
use crate::reporter::ProgressScope;

/// The subject of a search in a day.
pub(super) enum DayTarget<'a> {
    /// The address of a page.
    Address(&'a str),
    /// The id of a document.
    Id(&'a str),
}

impl DayTarget<'_> {
    fn words(&self) -> &str {
        match self {
            DayTarget::Address(words) | DayTarget::Id(words) => words,
        }
    }

    fn is(&self, document: &Document) -> bool {
        match self {
            DayTarget::Address(url) => document.url == *url,
            DayTarget::Id(id) => document.id == *id,
        }
    }
}

/// Traces a page of a day, from `clean` on.
pub(super) fn trace_day(
    trace: &mut Trace,
    home: &Home,
    config: &Config,
    day: &str,
    target: &DayTarget<'_>,
) -> Result<()> {
    if Recipe::read(home, day)?.is_none() {
        trace.event(day, TraceStage::Docs, "waits for `tidings clean`", Facts::day(day));
        return Ok(());
    }
    docs::dropped_pages(home, day, target.words(), |page| {
        if matches!(target, DayTarget::Address(url) if page.url == *url) {
            trace_dropped(trace, day, &page);
        }
    })?;
    let mut documents = Vec::new();
    each_document(home, day, target.words(), |document| documents.extend(target.is(&document).then_some(document)))?;
    for document in documents {
        trace_document(trace, day, &document);
        trace_verdict(trace, home, config, day, &document)?;
        trace_text(trace, home, day, &document)?;
    }
    Ok(())
}

/// Calls `see` with the documents of a day whose lines contain a string.
pub(super) fn each_document(home: &Home, day: &str, words: &str, mut see: impl FnMut(Document)) -> Result<()> {
    let Some(recipe) = Recipe::read(home, day)? else { return Ok(()) };
    for file in recipe.document_files() {
        scan::lines_of(home, &file.file, words, |line| {
            serde_json::from_slice::<Document>(line).into_iter().for_each(&mut see);
            ControlFlow::Continue(())
        })?;
    }
    Ok(())
}

fn trace_dropped(trace: &mut Trace, day: &str, page: &DroppedPage<'_>) {
    let figure = match (page.measured, page.limit) {
        (Some(measured), Some(limit)) => format!(" (measured {}, limit {})", short(measured), short(limit)),
        _ => String::new(),
    };
    let meaning = meaning(&page.reason).map(|meaning| format!(" ({meaning})")).unwrap_or_default();
    let bytes = grouped(page.bytes);
    let says = format!("dropped by rule {}{figure}{meaning}: {bytes} bytes of {}", page.reason, page.content_type);
    let (day, reason) = (day.to_owned(), page.reason.clone().into_owned());
    trace.outcome = TraceOutcome::LeftOut;
    let facts = Facts::Dropped { day, reason, measured: page.measured, limit: page.limit };
    trace.event(&page.downloaded, TraceStage::Clean, says, facts);
}

/// The explanation of the reasons that are not rules about the text.
fn meaning(reason: &str) -> Option<&'static str> {
    let about_pages = [
        (DropReason::FrontPage, "its address redirects to a front page, on which the title of the feed is not"),
        (
            DropReason::SameText,
            "a consent wall, login or error page: other entries of the site have the same text on this day, and it is \
             not about their titles",
        ),
    ];
    about_pages.into_iter().find(|(known, _)| known.name() == reason).map(|(_, meaning)| meaning)
}

fn short(number: f64) -> String {
    ((number * 1000.0).round() / 1000.0).to_string()
}

fn trace_document(trace: &mut Trace, day: &str, document: &Document) {
    let code = document.language_code();
    let score = document.about.language_score.map(|score| format!(" ({score:.2})")).unwrap_or_default();
    let mut says =
        format!("document {} in {code}{score}, {}", document.id, count(document.paragraphs.len() as u64, "paragraph"));
    let revision = document.revises.len() + 1;
    if !document.about.title.is_empty() {
        says.push_str(&format!(", “{}”", document.about.title));
    }
    if revision > 1 {
        says.push_str(&format!(", revision {revision}"));
    }
    if let Some(dated) = &document.dated {
        says.push_str(&format!(", dated {} by {} ({:.2})", dated.day, dated.source, dated.confidence));
    }
    if document.metadata.get("origin").is_some_and(|origin| origin == PageOrigin::Feed.word()) {
        says.push_str(", from the text in the feed");
    }
    for left_out in &document.left_out {
        let start: String = left_out.paragraph.text.chars().take(40).collect();
        says.push_str(&format!("; a paragraph was dropped as {} (“{start}…”)", left_out.reason));
    }
    for (rule, number) in &document.masked {
        says.push_str(&format!("; masked: {number} {rule}"));
    }
    let facts = DocumentFacts {
        day: day.to_owned(),
        id: document.id.clone(),
        title: document.about.title.clone(),
        revision,
        file: format!("docs/{code}/{day}.jsonl.zst"),
        language: document.about.language.clone(),
        language_score: document.about.language_score,
        dated: document.dated.clone(),
        paragraphs: document.paragraphs.len(),
        left_out: document.left_out.iter().map(|part| part.reason.clone()).collect(),
        masked: document.masked.clone(),
        extractor: document.extractor.clone(),
    };
    trace.outcome = TraceOutcome::Document;
    trace.event(&document.downloaded, TraceStage::Clean, says, Facts::Document(Box::new(facts)));
}

/// Traces the verdicts on a document.
fn trace_verdict(trace: &mut Trace, home: &Home, config: &Config, day: &str, document: &Document) -> Result<()> {
    let ledger = JudgedDays::read(home)?;
    let judged = ledger.iter().flat_map(|ledger| &ledger.days).find(|judged| judged.day == day);
    if judged.is_none_or(|judged| dedup_state::docs_digest(home, day).is_ok_and(|digest| digest != judged.docs)) {
        let says = match config.annotate.duplicates {
            Duplicates::Drop => "waits for `tidings dedup`",
            Duplicates::Keep => "duplicates are kept",
        };
        trace.event(day, TraceStage::Dedup, says, Facts::day(day));
        return Ok(());
    }
    let mut verdict: Option<VerdictLine> = None;
    for file in dedup_state::verdict_files(home, day)? {
        scan::lines(&file, &format!("\"{}\"", document.id), |line| {
            let parsed = serde_json::from_slice::<VerdictLine>(line).ok();
            match parsed.filter(|verdict| verdict.id == document.id) {
                Some(found) => {
                    verdict = Some(found);
                    ControlFlow::Break(())
                }
                None => ControlFlow::Continue(()),
            }
        })?;
    }
    match verdict {
        Some(verdict) => list_duplicates(trace, day, verdict),
        None => {
            let says = "the verdicts of the day do not contain it; run `tidings rebuild --from dedup`";
            trace.note(day, TraceStage::Dedup, says);
        }
    }
    Ok(())
}

/// Adds a verdict and the first of its duplicates.
fn list_duplicates(trace: &mut Trace, day: &str, verdict: VerdictLine) {
    let words = count(verdict.words, "word");
    let duplicates = verdict.duplicates.clone();
    if duplicates.is_empty() {
        let says = format!("all of its {words} are new");
        return trace.event(day, TraceStage::Dedup, says, Facts::Verdict(Box::new(verdict)));
    }
    let share = 100.0 * verdict.duplicate_words as f64 / verdict.words.max(1) as f64;
    let copy = verdict.copy_of.as_ref().map(|of| format!("; a copy of {of}")).unwrap_or_default();
    let old = grouped(verdict.duplicate_words);
    let says = format!("{old} of {words} ({share:.0} %) are duplicates{copy}");
    trace.event(day, TraceStage::Dedup, says, Facts::Verdict(Box::new(verdict)));
    let more = duplicates.len().saturating_sub(LISTED);
    for unit in duplicates.into_iter().take(LISTED) {
        let part = match unit.bytes {
            Some((first, last)) => format!("bytes {first} to {last} of paragraph {}", unit.paragraph + 1),
            None => format!("paragraph {}", unit.paragraph + 1),
        };
        let of = unit.of.as_ref().map(|of| format!(", seen in {of}")).unwrap_or_default();
        let says = format!("{part}: {}{of}, {:.0} % of its words", unit.why, 100.0 * unit.share);
        trace.event("", TraceStage::Dedup, says, Facts::DuplicateUnit(Box::new(unit)));
    }
    if more > 0 {
        trace.note("", TraceStage::Dedup, format!("and {}", count(more as u64, "more duplicate")));
    }
}

/// Traces the text file, the segment, and whether the document is hidden.
fn trace_text(trace: &mut Trace, home: &Home, day: &str, document: &Document) -> Result<()> {
    let code = document.language_code();
    let file = format!("text/{code}/{day}.vert.zst");
    if TextRecipe::read(home, day)?.is_none() {
        trace.event(day, TraceStage::Annotate, "waits for `tidings annotate`", Facts::day(day));
        return Ok(());
    }
    // Another revision of the same day may have the same text and so the same id.
    if Superseded::read(home)?.has(day, &document.url, &document.downloaded) {
        let says = "superseded: a later revision takes its place";
        exclude(trace, day, TraceOutcome::Superseded, Exclusion::Superseded, says);
        return Ok(());
    }
    let Some(tokens) = scan::tokens_of(home, &file, &document.id)? else {
        exclude(trace, day, TraceOutcome::Duplicate, Exclusion::Duplicate, "dropped: no new text");
        return Ok(());
    };
    trace.outcome = TraceOutcome::Text;
    let says = format!("{} in {file}", count(tokens, "token"));
    trace.event(day, TraceStage::Annotate, says, Facts::Text { file, tokens });
    trace_index(trace, home, &code, document)
}

/// Adds that a document is not part of the text.
fn exclude(trace: &mut Trace, day: &str, outcome: TraceOutcome, exclusion: Exclusion, says: &str) {
    trace.outcome = outcome;
    let facts = Facts::LeftOut { day: day.to_owned(), reason: exclusion.word() };
    trace.event(day, TraceStage::Annotate, says, facts);
}

fn trace_index(trace: &mut Trace, home: &Home, code: &str, document: &Document) -> Result<()> {
    let hidden = hidden::read(home)?;
    let is_hidden = hidden.contains(&document.id) || hidden.contains(&document.url);
    let id = u128::from_str_radix(&document.id, 16).unwrap_or_default();
    let segment = match Snapshot::open(&home.index_of(code)) {
        Ok(snapshot) => {
            let found = snapshot.find_document(id);
            snapshot.intact()?;
            found.first().map(|(segment, _)| snapshot.segments()[*segment].file().to_owned())
        }
        Err(tidings_index::Error::NoIndex { .. }) => None,
        Err(error) => return Err(error.into()),
    };
    let says = match &segment {
        _ if is_hidden => {
            trace.outcome = TraceOutcome::Hidden;
            "hidden by hidden.tsv".to_owned()
        }
        Some(segment) => {
            trace.outcome = TraceOutcome::Searchable;
            format!("searchable, in index/{code}/{segment}")
        }
        None => "waits for `tidings compile`".to_owned(),
    };
    trace.event("", TraceStage::Index, says, Facts::Index { segment, hidden: is_hidden });
    Ok(())
}

/// The day of a document: from the index, its verdict, or its line among the documents.
pub(super) fn day_of(pipeline: &Pipeline, id: &str) -> Result<Option<String>> {
    match indexed_day(pipeline.home(), id)? {
        Some(day) => Ok(Some(day)),
        None => recorded_day(pipeline, id),
    }
}

fn indexed_day(home: &Home, id: &str) -> Result<Option<String>> {
    let id = u128::from_str_radix(id, 16)?;
    for code in home.indexed()? {
        let Ok(snapshot) = Snapshot::open(&home.index_of(&code)) else { continue };
        if let Some((segment, document)) = snapshot.find_document(id).first() {
            let day = snapshot.segments()[*segment].segment().seen(*document).to_string();
            snapshot.intact()?;
            return Ok(Some(day));
        }
    }
    Ok(None)
}

/// The day of a document from its verdict or its line among the documents.
fn recorded_day(pipeline: &Pipeline, id: &str) -> Result<Option<String>> {
    /// The id that documents and verdicts have alike.
    #[derive(Deserialize)]
    struct Identified {
        id: String,
    }
    let home = pipeline.home();
    let days = docs::document_days(home)?;
    let judged: BTreeSet<String> =
        JudgedDays::read(home)?.map(|ledger| ledger.days.into_iter().map(|day| day.day).collect()).unwrap_or_default();
    let progress = ProgressScope::begin(pipeline.reporter(), "days", days.len() as u64);
    for (done, day) in (0..).zip(days) {
        progress.show(done, &day);
        let mut found = false;
        let mut is_it = |line: &[u8]| {
            found |= serde_json::from_slice::<Identified>(line).is_ok_and(|line| line.id == id);
            if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        if judged.contains(&day) {
            scan::lines(&dedup_state::verdicts_path(home, &day), id, &mut is_it)?;
        } else if let Some(recipe) = Recipe::read(home, &day)? {
            for file in recipe.document_files() {
                scan::lines_of(home, &file.file, id, &mut is_it)?;
            }
        }
        if found {
            return Ok(Some(day));
        }
    }
    Ok(None)
}
