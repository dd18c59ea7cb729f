//! Helpers of the unit tests: small homes, pages, responses without a network, a reporter that records events.

use std::path::Path;
use std::sync::{Arc, Mutex};

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use jiff::Timestamp;
use tempfile::TempDir;
use tidings_fetch::{FetchResult, HttpResponse, Redirect};
use tidings_model::{FailureKind, Page, Status};
use tidings_store::feeds::{FeedState, Polled};
use tidings_store::journal::{Journal, JournalBatch, Record};
use tidings_store::{Home, apply_journal, plan, runs};

use crate::Pipeline;
use crate::context::RunContext;
use crate::reporter::{Event, Reporter};

/// The feed of pages and entries.
pub(crate) const FEED: &str = "https://gazette.example/feed";

/// A new home in a folder that is deleted with the first value.
pub(crate) fn home() -> (TempDir, Pipeline) {
    let folder = tempfile::tempdir().unwrap();
    let pipeline = Pipeline::create(folder.path()).unwrap();
    (folder, pipeline)
}

/// A new home with these lines in its list of feeds.
pub(crate) fn home_with_feeds(lines: &str) -> (TempDir, Pipeline) {
    let (folder, pipeline) = home();
    std::fs::write(pipeline.home().feed_list(), lines).unwrap();
    (folder, pipeline)
}

/// The context of a run named `test` over a home.
pub(crate) fn context(pipeline: &Pipeline) -> RunContext {
    RunContext::open(pipeline, "test").unwrap()
}

pub(crate) fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// English prose of about a hundred words that passes the quality gate; `topic` varies it.
pub(crate) fn article(topic: &str) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><head><title>The {topic}</title></head><body><article><h1>The {topic}</h1>\
         <p>The council of the town decided on Monday that the {topic} will return in spring, after two years in which \
         the people of the island had to travel by the long road over the mountains to reach their work.</p>\
         <p>According to the minutes of the meeting, the {topic} costs less than the engineers had feared, because the \
         old harbour can be used again and only the eastern pier needs repair before the first storms of autumn.</p>\
         <p>Residents who had waited for the {topic} welcomed the decision, and several of them said that they would \
         finally be able to visit their families on the other side of the bay without spending a whole day on it.</p>\
         </article></body></html>"
    )
}

/// A page of the fixture sentences of a language.
pub(crate) fn fixture(code: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../languages").join(code).join("fixtures.tsv");
    let table = std::fs::read_to_string(path).unwrap();
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    let texts: Vec<&str> = lines.filter_map(|line| line.split('\t').next()).collect();
    let paragraphs: String = texts.chunks(4).map(|texts| format!("<p>{}</p>", texts.join(" "))).collect();
    format!("<!doctype html><html><body><article>{paragraphs}</article></body></html>")
}

/// A stored page.
pub(crate) fn page(url: &str, body: &str) -> Page {
    Page {
        url: url.to_owned(),
        final_url: url.to_owned(),
        feed: FEED.to_owned(),
        title: "A title".to_owned(),
        published: "2026-02-28T08:00:00Z".to_owned(),
        seen: "2026-03-01T10:00:00.000Z".to_owned(),
        downloaded: "2026-03-01T12:00:00.000Z".to_owned(),
        status: 200,
        content_type: "text/html; charset=utf-8".to_owned(),
        body: body.as_bytes().to_vec(),
        ..Page::default()
    }
}

/// Stores pages under a day, as a fetch does.
pub(crate) fn store_pages(pipeline: &Pipeline, day: &str, pages: &[Page]) {
    let mut lines = Vec::new();
    pages.iter().for_each(|page| page.write_line(&mut lines).unwrap());
    let folder = root(pipeline).join("pages").join(day);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("a.0.jsonl.zst"), zstd::encode_all(&lines[..], 3).unwrap()).unwrap();
}

/// The folder of a home.
pub(crate) fn root(pipeline: &Pipeline) -> std::path::PathBuf {
    pipeline.home().feed_list().parent().map(Path::to_path_buf).unwrap()
}

/// Commits records to the journal of a run and applies it.
pub(crate) fn apply(home: &Home, run: &str, batch: JournalBatch) {
    let mut journal = Journal::create(home, run).unwrap();
    journal.commit(batch).unwrap();
    drop(journal);
    apply_journal::apply_journal(home).unwrap();
}

/// Adds entries of one feed to the plan.
pub(crate) fn plan_entries(home: &Home, urls: &[&str]) {
    plan_entries_with_texts(home, &urls.iter().map(|url| (*url, None)).collect::<Vec<_>>());
}

/// Adds an entry to the plan, with its full text in the feed.
pub(crate) fn plan_entry_with_text(home: &Home, url: &str, text: Option<&str>) {
    plan_entries_with_texts(home, &[(url, text)]);
}

fn plan_entries_with_texts(home: &Home, entries: &[(&str, Option<&str>)]) {
    let mut batch = JournalBatch::default();
    // Entries are added with the poll of their feed.
    let state = FeedState { feed: FEED.to_owned(), polled: Polled::Listed, ..FeedState::default() };
    batch.push(&Record::Poll(Box::new(state)));
    for (url, text) in entries {
        batch.push(&Record::Listed {
            feed: FEED.into(),
            seen: "2026-03-01T10:00:00.000Z".into(),
            published: "2026-02-28T08:00:00Z".into(),
            url: (*url).into(),
            title: "A title".into(),
            updated: "".into(),
            text: text.map(Into::into),
        });
    }
    apply(home, "20260301T100000000Z-update", batch);
}

/// The address, status and tries of every entry of the plan.
pub(crate) fn planned(home: &Home) -> Vec<(String, String, u32)> {
    let mut rows = Vec::new();
    plan::read(home, |row| rows.push((row.url.to_owned(), row.status.to_owned(), row.retries))).unwrap();
    rows.sort();
    rows
}

/// The verbs of the runs that left a log, in their order.
pub(crate) fn logged_runs(home: &Home) -> Vec<String> {
    runs::all(home).unwrap().iter().map(|run| run.verb().to_owned()).collect()
}

/// A response of a server.
pub(crate) fn answer(status: u16, headers: &[(&'static str, &str)], body: &[u8]) -> HttpResponse {
    let headers: HeaderMap = headers
        .iter()
        .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap()))
        .collect();
    HttpResponse::from_parts(StatusCode::from_u16(status).unwrap(), headers, body.to_vec())
}

/// The result of a job with a response.
pub(crate) fn answered(job: u32, url: &str, answer: HttpResponse) -> FetchResult {
    FetchResult {
        job,
        url: url.to_owned(),
        redirects: Vec::new(),
        at: time("2026-03-01T12:00:00Z"),
        result: Ok(answer),
        requested: true,
        robots: None,
        sitemaps: std::sync::Arc::default(),
        tdm: (None, None),
    }
}

/// The result of a job that failed.
pub(crate) fn failed(job: u32, url: &str, kind: FailureKind) -> FetchResult {
    FetchResult {
        result: Err((Status::Failed(kind), "no details".to_owned())),
        ..answered(job, url, answer(200, &[], b""))
    }
}

/// The same after redirects with these statuses, the last of which led to the URL of the result.
pub(crate) fn redirected(result: FetchResult, statuses: &[u16]) -> FetchResult {
    let redirects = statuses.iter().map(|status| Redirect { status: *status, to: result.url.clone() }).collect();
    FetchResult { redirects, ..result }
}

/// Records events as lines of text.
#[derive(Default)]
pub(crate) struct Recorded(pub(crate) Mutex<Vec<String>>);

impl Recorded {
    pub(crate) fn shared() -> Arc<Recorded> {
        Arc::new(Recorded::default())
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl Reporter for Recorded {
    fn event(&self, event: &Event<'_>) {
        let line = match event {
            Event::StageBegan { stage } => format!("{stage} began"),
            Event::Progress(progress) => progress.to_string(),
            Event::ProgressEnded => "progress ended".to_owned(),
            Event::StageEnded { stage, .. } => format!("{stage} ended"),
        };
        self.0.lock().unwrap().push(line);
    }
}
