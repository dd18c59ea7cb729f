//! Every question of the table under limits, and with words that the corpus does not know.
//!
//! The tests go through [`QUESTIONS`], so that a new question is tested without a change here.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use serde_json::{Map, Value, json};
use tidings_index::{Day, Settings, Writer};
use tidings_model::{Annotated, AnnotatedParagraph, Attributes, Token, TokenSpan};
use tidings_query::engine::{Engine, Limits, MemoryPool};
use tidings_query::question::{
    Answered, DocumentPairs, Exactness, OtherCorpus, ParameterKind, QUESTIONS, QuestionContext, QuestionError,
    QuestionInfo, RowData, RowSink,
};

/// Questions about a few documents: they read no tokens of the corpus, so that no limit can stop them.
const UNLIMITED: &[&str] = &["documents", "document", "context"];

/// A sentence with the words of a day: some always, some only at times.
fn sentence(day: i32, number: i32) -> Vec<Token> {
    let verb = ["hit", "cross", "leave"][(day + number) as usize % 3];
    let noun = ["coast", "town", "island", "internet"][(day * 7 + number) as usize % 4];
    let mut tokens = vec![
        Token::new("The", "the", "DET"),
        Token::new("heavy", "heavy", "ADJ"),
        Token::new("storm", "storm", "NOUN"),
        Token::new(verb, verb, "VERB"),
        Token::new("the", "the", "DET"),
        Token::new("international", "international", "ADJ"),
        Token::new(noun, noun, "NOUN"),
    ];
    if day > 90 {
        tokens.push(Token::new("greenlash", "greenlash", "NOUN"));
    }
    tokens.push(Token::new(".", ".", "PUNCT"));
    tokens
}

fn document(day: i32, number: i32) -> Annotated {
    let sentences = (0..4 + (day / 30)).map(|at| sentence(day, at + number)).collect();
    let id =
        if (day, number) == (0, 0) { 0x0123_4567_89ab_cdef_0123_4567_89ab_cdef } else { (day * 10 + number) as u128 };
    let date = Day(20_513 + day).to_string(); // 2026-03-01 is day 20,513.
    let site = ["a.example", "b.example", "c.example"][number as usize % 3];
    let about = Attributes {
        id,
        url: format!("https://{site}/{day}"),
        title: format!("Storm of day {day}"),
        date: date.clone(),
        seen: date,
        fields: vec![("site".to_owned(), site.to_owned()), ("topic".to_owned(), "weather".to_owned())],
    };
    let paragraph = AnnotatedParagraph { sentences, ..AnnotatedParagraph::default() };
    let name = format!("Storm {}", day / 7);
    let speaker = ["Ann Lee", "Bo Diaz"][day as usize % 2];
    let spans = vec![
        TokenSpan::new("ne", 0, 2).with("name", &name).with("type", "PER"),
        TokenSpan::new("quote", 1, 9).with("kind", "direct").with("speaker", speaker).with("verb", "say"),
        TokenSpan::new("quote", 10, 11).with("kind", "scare"),
    ];
    Annotated { about, paragraphs: vec![paragraph], spans, ..Annotated::default() }
}

/// Four months in a segment each.
fn engine(folder: &tempfile::TempDir) -> Engine {
    let settings = Settings { merge_factor: 100, ..Settings::default() };
    let mut writer = Writer::open(folder.path(), settings).expect("opened");
    for month in 0..4 {
        for day in month * 30..(month + 1) * 30 {
            (0..3).for_each(|number| writer.add(&document(day, number)).expect("added"));
        }
        writer.commit(Vec::new()).expect("committed");
    }
    Engine::new(writer.snapshot().clone())
}

/// A query as the parameter of a question, which may take several.
fn query_of(question: &QuestionInfo, query: &str) -> Value {
    let parameters = (question.parameters)();
    let takes_several = parameters.iter().any(|p| p.name == "q" && p.kind == ParameterKind::Queries);
    if takes_several { json!([query]) } else { json!(query) }
}

/// The example of a question with all its rows, over everything, over a part of the corpus, and with a panel of sites.
fn requests(question: &QuestionInfo) -> Vec<Map<String, Value>> {
    let Value::Object(mut example) = (question.example)() else { panic!("{} is no object", question.name) };
    let parameters = (question.parameters)();
    let has = |name: &str| parameters.iter().any(|parameter| parameter.name == name);
    for (name, value) in [("limit", json!(10_000)), ("min", json!(1)), ("size", json!(1000))] {
        if has(name) {
            example.insert(name.to_owned(), value);
        }
    }
    if ["count", "timeline"].contains(&question.name) {
        // Hits of one token follow from the stored frequencies.
        example.insert("q".to_owned(), query_of(question, "[lc=\"heavy\"] [lc=\"storm.*\"]"));
    }
    let mut requests = vec![example.clone()];
    for (name, value) in [("filter", json!("site!=c.example")), ("panel", json!(true)), ("sample", json!(5))] {
        if has(name) {
            requests.push(example.clone().into_iter().chain([(name.to_owned(), value)]).collect());
        }
    }
    if question.name == "freq" || question.name == "words" {
        let (name, value) = if question.name == "freq" { ("by", json!("lc")) } else { ("ngram", json!(2)) };
        requests.push(example.into_iter().chain([(name.to_owned(), value)]).collect());
    }
    requests
}

fn context<'e>(engine: &'e Engine, limits: &Limits) -> QuestionContext<'e> {
    QuestionContext {
        limits: limits.clone(),
        vocabulary_limits: limits.clone(),
        find_other: &|_| Ok(translations()),
        ..QuestionContext::new(engine, "en")
    }
}

/// A corpus of translations: the same documents, each paired with that of the next site.
fn translations() -> OtherCorpus {
    static OTHER: LazyLock<OtherCorpus> = LazyLock::new(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let pairs = (1..120).flat_map(|day| [(day * 10, day * 10 + 1), (day * 10 + 1, day * 10 + 2)]);
        // The files stay mapped when the folder is deleted.
        OtherCorpus { all: Arc::new(engine(&folder)), readable: None, pairs: Arc::new(DocumentPairs::of(pairs)) }
    });
    OTHER.clone()
}

/// What a row is about.
fn key(row: &Value) -> String {
    ["relation", "value", "values", "query", "part", "name", "bin", "document", "position", "id", "date"]
        .map(|name| row[name].to_string())
        .join(" ")
}

/// Fails unless a number is right as far as it goes: the least there can be, or unknown. A rate, a score or a probability
/// is right or unknown.
fn check_number(path: &str, found: &Value, truth: &Value) {
    match (found, truth) {
        (Value::Null, _) => {}
        (Value::Number(found), Value::Number(truth)) if found.is_f64() || truth.is_f64() => {
            assert_eq!(found.as_f64(), truth.as_f64(), "{path} is neither true nor null");
        }
        (Value::Number(found), Value::Number(truth)) => {
            assert!(found.as_u64() <= truth.as_u64(), "{path}: {found} of {truth}");
        }
        (Value::Object(found), Value::Object(truth)) => {
            found.iter().for_each(|(name, value)| check_number(&format!("{path}.{name}"), value, &truth[name]));
        }
        (Value::Array(found), Value::Array(_)) if found.is_empty() => {}
        (found, truth) => assert_eq!(found, truth, "{path}"),
    }
}

/// Fails if an answer that was cut off says anything that the whole answer denies.
fn check_cut_off(question: &QuestionInfo, found: &Value, truth: &Value) {
    let name = question.name;
    let rows = |answer: &Value| answer[question.rows].as_array().cloned().unwrap_or_default();
    let known: BTreeMap<String, Value> = rows(truth).into_iter().map(|row| (key(&row), row)).collect();
    for row in rows(found) {
        let Some(truth) = known.get(&key(&row)) else {
            assert!(["query", "sketch"].contains(&name), "{name}: {row} is not in the whole answer");
            continue;
        };
        for (field, value) in row.as_object().expect("rows are objects") {
            check_number(&format!("{name} {}: {field}", key(&row)), value, &truth[field]);
            let is_false_zero = value == 0 && truth[field] != 0;
            assert!(!is_false_zero, "{name} {}: {field} is 0 and not {}", key(&row), truth[field]);
        }
    }
    for (field, value) in
        found.as_object().expect("answers are objects").iter().filter(|(field, _)| **field != question.rows)
    {
        // The parts of speech and relations of a sketch and the next page are other lists or none.
        if !["tags", "tag", "relations", "next"].contains(&field.as_str()) {
            check_number(&format!("{name}: {field}"), value, &truth[field]);
        }
    }
}

#[test]
fn an_answer_that_is_cut_off_says_so_and_nothing_untrue() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = engine(&folder);
    for question in QUESTIONS {
        for request in requests(question) {
            let asked = format!("{} {}", question.name, Value::Object(request.clone()));
            let whole = (question.answer)(request.clone(), &context(&engine, &Limits::default()));
            let whole = whole.unwrap_or_else(|error| panic!("{asked}: {error}"));
            let mut cut = 0;
            for steps in std::iter::successors(Some(0u64), |steps| Some(steps + steps / 4 + 1)) {
                let limits = Limits::steps(steps);
                let found = (question.answer)(request.clone(), &context(&engine, &limits)).expect("answered");
                if found.about.exactness == whole.about.exactness {
                    assert_eq!(found, whole, "{asked} is called exact after {steps} steps");
                    break;
                }
                let Exactness::CutOff { seen_tokens, of_tokens, .. } = found.about.exactness else {
                    panic!("{asked}: {:?}", found.about);
                };
                // All tokens may have been seen when the test of the words is cut off.
                assert!(seen_tokens <= of_tokens, "{asked}: {seen_tokens} of {of_tokens}");
                assert!(found.about.warning.is_some_and(|warning| warning.contains("cut off")), "{asked}");
                check_cut_off(question, &found.body, &whole.body);
                cut += 1;
            }
            assert!(cut > 0 || UNLIMITED.contains(&question.name), "{asked} has no limit");
        }
    }
}

#[test]
fn answers_are_the_same_for_every_number_of_threads() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = engine(&folder);
    let limits = |threads: usize| Limits::default().with_threads(threads, 64);
    for question in QUESTIONS {
        for request in requests(question) {
            let asked = format!("{} {}", question.name, Value::Object(request.clone()));
            let answer = |threads: usize| (question.answer)(request.clone(), &context(&engine, &limits(threads)));
            let one = answer(1).unwrap_or_else(|error| panic!("{asked}: {error}"));
            for threads in [2, 3, 7] {
                assert_eq!(answer(threads).expect("answered"), one, "{asked} with {threads} threads");
            }
        }
    }
}

#[test]
fn counts_of_several_threads_that_are_cut_off_are_of_documents_that_were_seen() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = engine_of_equal_documents(&folder);
    let request = json!({ "q": "[] [] []" }).as_object().cloned().expect("an object");
    let mut partial = 0;
    for steps in 0..200 {
        let limits = Limits::steps(steps).with_threads(3, 64);
        let found = (question("count").answer)(request.clone(), &context(&engine, &limits)).expect("answered");
        let Exactness::CutOff { seen_tokens, of_tokens, .. } = found.about.exactness else { continue };
        // Thirty equal documents; trigrams cross sentences and not documents.
        let documents = seen_tokens * 30 / of_tokens;
        let hits_of_one = of_tokens / 30 - 2;
        assert_eq!(found.body["hits"], json!(documents * hits_of_one), "after {steps} steps");
        partial += u64::from(documents > 0);
    }
    assert!(partial >= 3, "{partial} partial answers");
}

/// Keeps the head of an answer.
#[derive(Default)]
struct Head(Option<Answered<Value>>);

impl RowSink for Head {
    fn head(&mut self, head: Answered<Value>) {
        self.0 = Some(head);
    }

    fn row(&mut self, _: &dyn RowData) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

#[test]
fn a_stream_that_is_cut_off_says_so_in_its_head_or_fails() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = engine(&folder);
    for question in QUESTIONS.iter().filter(|question| !UNLIMITED.contains(&question.name)) {
        let mut sink = Head::default();
        let context = QuestionContext { streams: true, ..context(&engine, &Limits::steps(0)) };
        let streamed = (question.stream)(requests(question).remove(0), &context, &mut sink);
        assert!(matches!(streamed, Ok(()) | Err(QuestionError::Timeout)), "{}: {streamed:?}", question.name);
        let is_marked = sink.0.is_some_and(|head| head.about.exactness.is_cut_off());
        assert!(is_marked || streamed.is_err(), "{}", question.name);
    }
}

#[test]
fn periods_that_were_not_searched_are_unknown_and_not_zero() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = engine(&folder);
    let timeline = QUESTIONS.iter().find(|question| question.name == "timeline").expect("listed");
    let request = json!({ "q": ["[] [lc=\"storm\"]"], "by": "month" }).as_object().cloned().expect("an object");
    let found = (timeline.answer)(request, &context(&engine, &Limits::steps(2))).expect("answered").body;
    let points = found["points"].as_array().expect("a list");
    assert!(points[0]["hits"].as_u64() > Some(0) && points[0]["per_million"].as_f64() > Some(0.0), "{found}");
    let last = points.last().expect("a month");
    assert!(last["tokens"].as_u64() > Some(0), "{found}");
    assert!(last["hits"].is_null() && last["per_million"].is_null(), "{found}");
    assert!(points.iter().all(|point| point["band"].is_null()), "{found}");
}

#[test]
fn periods_of_a_cut_query_that_were_not_searched_are_unknown_and_not_zero() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = engine(&folder);
    let request = json!({ "q": ["[] [] cut 100000"], "by": "month" }).as_object().cloned().expect("an object");
    let ask = |limits: &Limits| {
        (question("timeline").answer)(request.clone(), &context(&engine, limits)).expect("answered").body["points"]
            .clone()
    };
    let whole = ask(&Limits::default());
    let mut unknown = 0;
    for steps in 0..60 {
        let found = ask(&Limits::steps(steps));
        for (found, truth) in found.as_array().expect("a list").iter().zip(whole.as_array().expect("a list")) {
            assert!(
                found["hits"].is_null() || found["hits"] == truth["hits"],
                "after {steps} steps: {found} is not {truth}"
            );
            unknown += u64::from(found["hits"].is_null());
        }
    }
    assert!(unknown > 0);
}

/// Ten days of three documents with the same text each, in one segment.
fn engine_of_equal_documents(folder: &tempfile::TempDir) -> Engine {
    let mut writer = Writer::open(folder.path(), Settings::default()).expect("opened");
    for number in 0..30 {
        let mut document = document(number / 3, number % 3);
        document.paragraphs[0].sentences = (0..400).map(|at| sentence(0, at)).collect();
        writer.add(&document).expect("added");
    }
    writer.commit(Vec::new()).expect("committed");
    Engine::new(writer.snapshot().clone())
}

#[test]
fn counts_and_seen_tokens_of_a_cut_off_answer_are_of_the_same_documents() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = engine_of_equal_documents(&folder);
    let ask = |name: &str, q: &str, limits: &Limits| {
        let question = QUESTIONS.iter().find(|question| question.name == name).expect("listed");
        let request = json!({ "q": query_of(question, q), "by": if name == "freq" { "lc" } else { "day" } });
        let mut request = request.as_object().cloned().expect("an object");
        if name == "count" {
            request.remove("by");
        }
        (question.answer)(request, &context(&engine, limits)).expect("answered")
    };
    // The first is a linear pattern, whose hits come without steps of an automaton.
    for q in ["[] [] []", "[lc=\"the\"] []{0,4} [lc=\"coast\"]", "a:[] []{1,3} b:[] :: a.word = b.word"] {
        let tokens = ask("count", q, &Limits::default()).body["tokens"].as_u64().expect("tokens");
        let hits = ask("count", q, &Limits::default()).body["hits"].as_u64().expect("hits");
        let (mut partial, mut partial_days) = (0, 0);
        for (name, steps) in ["count", "freq", "timeline"].into_iter().flat_map(|name| (0..30).map(move |n| (name, n)))
        {
            let found = ask(name, q, &Limits::steps(steps));
            let Exactness::CutOff { seen_tokens, of_tokens, .. } = found.about.exactness else { continue };
            let what = format!("{name} {q} after {steps} steps: {:?}", found.about.exactness);
            assert_eq!(of_tokens, tokens, "{what}");
            let seen = seen_tokens * 30 / tokens;
            assert_eq!(
                (seen_tokens, found.body["hits"].as_u64()),
                (seen * tokens / 30, Some(seen * hits / 30)),
                "{what}"
            );
            partial += u64::from(seen > 0);
            if name == "timeline" {
                let points = found.body["points"].as_array().expect("points");
                let known: Vec<u64> = points.iter().filter_map(|point| point["hits"].as_u64()).collect();
                assert_eq!(known, vec![hits / 10; seen as usize / 3], "{what}");
                partial_days += known.len();
            }
        }
        assert!(partial >= 3 && partial_days >= 3, "{q}: {partial} partial answers, {partial_days} days");
    }
}

fn question(name: &str) -> &'static QuestionInfo {
    QUESTIONS.iter().find(|question| question.name == name).expect("listed")
}

#[test]
fn names_and_quotations_are_counted_with_their_documents_sites_and_days() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = engine(&folder);
    let ask = |name: &str, request: Value| {
        let limits = Limits::default();
        let answer =
            (question(name).answer)(request.as_object().cloned().expect("an object"), &context(&engine, &limits));
        answer.expect("answered").body
    };
    let names = ask("names", json!({ "limit": 1 }));
    assert_eq!((&names["mentions"], &names["values"]), (&json!(360), &json!(18)));
    let row = &names["rows"][0];
    // Weeks of seven days with three documents each.
    assert_eq!((&row["name"], &row["type"], &row["mentions"]), (&json!("Storm 0"), &json!("PER"), &json!(21)));
    assert_eq!((&row["documents"], &row["sites"]), (&json!(21), &json!(3)));
    assert_eq!((&row["first_seen"], &row["last_seen"]), (&json!("2026-03-01"), &json!("2026-03-07")));
    assert_eq!(row["query"], "<ne name==\"Storm 0\"/>");
    let new = ask("names", json!({ "since": "2026-06-22", "type": "PER" }));
    assert_eq!(new["rows"].as_array().map(Vec::len), Some(1), "{new}");
    assert_eq!(ask("names", json!({ "type": "LOC" }))["rows"], json!([]));

    let quotes = ask("quotes", json!({}));
    assert_eq!((&quotes["quotes"], &quotes["quoted_tokens"]), (&json!(360), &json!(360 * 8)), "scare quotes are apart");
    let row = &quotes["rows"][0];
    assert_eq!((&row["value"], &row["quotes"], &row["verb"]), (&json!("Ann Lee"), &json!(180), &json!("say")));
    assert_eq!(row["share"], json!(0.5));
    let sites = ask("quotes", json!({ "by": "site", "filter": "site=a.example" }));
    let share = sites["rows"][0]["share"].as_f64().expect("a share");
    assert_eq!(share, 120.0 * 8.0 / sites["tokens"].as_f64().expect("tokens"));
    assert_eq!(ask("quotes", json!({ "by": "verb" }))["rows"][0]["value"], "say");
}

#[test]
fn what_needs_more_memory_than_a_question_has_is_refused_or_cut_off() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = engine_of_equal_documents(&folder);
    let pool = MemoryPool::new(1 << 20, 1 << 17);
    let ask = |name: &str, request: Value| {
        let limits = Limits::default().with_memory(pool.clone());
        (question(name).answer)(request.as_object().cloned().expect("an object"), &context(&engine, &limits))
    };
    let refused = ask("query", json!({ "q": "[]", "size": 1000, "context": 50 })).expect_err("too large");
    assert!(matches!(&refused, QuestionError::TooLarge { parameter, .. } if parameter == "size"), "{refused}");
    ask("query", json!({ "q": "[]", "size": 10, "context": 20 })).expect("small enough");
    let values = ask("freq", json!({ "q": "[]{1,40} [lc=\"coast\"]", "by": "word" })).expect("answered");
    assert!(!values.about.exactness.is_cut_off(), "few values: {:?}", values.about.exactness);
    let small = Limits::default().with_memory(pool.clone()).with_share(1 << 10);
    let request = json!({ "ngram": 5, "min": 1 }).as_object().cloned().expect("an object");
    let grams = (question("words").answer)(request, &context(&engine, &small)).expect_err("18 n-grams take more");
    assert!(grams.to_string().contains("distinct n-grams"), "{grams}");
    // Pairs of tokens of a document are paths with labels of their own.
    let q = "a:[] []* b:[] []* c:[] []* d:[] :: a.word = b.word & c.word = d.tag";
    let paths = ask("count", json!({ "q": q })).expect("answered").about.exactness.to_string();
    assert!(paths.starts_with("cut off because the query needs too much memory: 0 of "), "{paths}");
    assert_eq!(pool.taken(), 0, "all memory is given back");
}

#[test]
fn a_cross_table_that_does_not_fit_into_the_memory_of_a_question_is_cut_off() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = engine_of_equal_documents(&folder);
    let pool = MemoryPool::new(1 << 20, 1 << 20);
    let ask = |share: u64| {
        let limits = Limits::default().with_memory(pool.clone()).with_share(share);
        let request = json!({ "q": ["the", "coast"], "by": ["site", "day"] }).as_object().cloned().expect("an object");
        (question("crosstab").answer)(request, &context(&engine, &limits)).expect("answered")
    };
    let complete = ask(1 << 20);
    assert!(!complete.about.exactness.is_cut_off(), "{:?}", complete.about.exactness);
    assert_eq!(complete.body["rows"].as_array().map(Vec::len), Some(60));
    // Each query takes 64 KiB, which leaves one for 30 cells of about 200 bytes.
    let partial = ask((2 << 16) + (1 << 10));
    let reason = partial.about.exactness.to_string();
    assert!(reason.starts_with("cut off because there are too many distinct values"), "{reason}");
    for row in partial.body["rows"].as_array().expect("rows") {
        let shares = [&row["per_million"], &row["document_share"], &row["query_share"]];
        assert!(shares.iter().all(|share| share.is_null()), "{row}");
    }
    assert_eq!(pool.taken(), 0, "all memory is given back");
}

/// Cancels the question with the first row, and counts the rows after it.
struct Cancelling {
    cancelled: Arc<AtomicBool>,
    rows: usize,
}

impl RowSink for Cancelling {
    fn head(&mut self, _: Answered<Value>) {}

    fn row(&mut self, _: &dyn RowData) -> ControlFlow<()> {
        self.cancelled.store(true, Ordering::Relaxed);
        self.rows += 1;
        ControlFlow::Continue(())
    }
}

#[test]
fn lines_are_not_made_for_a_client_that_has_gone() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = engine_of_equal_documents(&folder);
    for request in [
        json!({ "q": "[]", "context": 200, "sample": 5000 }),
        json!({ "q": "[]", "context": 200, "sort": ["right"] }),
        json!({ "q": "[]", "context": 200 }),
        json!({ "q": "[]", "context": 20, "size": 5000 }),
    ] {
        let cancelled = Arc::new(AtomicBool::new(false));
        let is_page = request["size"].is_number();
        let context = QuestionContext {
            limits: Limits::cancelled_by(cancelled.clone()),
            streams: !is_page,
            ..QuestionContext::new(&engine, "en")
        };
        let mut sink = Cancelling { cancelled, rows: 0 };
        let request = request.as_object().cloned().expect("an object");
        let streamed = (question("query").stream)(request.clone(), &context, &mut sink);
        assert_eq!(sink.rows, 1, "{request:?}");
        assert!(is_page || matches!(streamed, Err(QuestionError::Timeout)), "{streamed:?}");
    }
}

#[test]
fn equal_alternatives_are_searched_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = engine_of_equal_documents(&folder);
    let steps = |q: &str| {
        let checks = Arc::new(AtomicU64::new(0));
        let counted = checks.clone();
        let limits = Limits::default().with_check(move || _ = counted.fetch_add(1, Ordering::Relaxed));
        let request = json!({ "q": q }).as_object().cloned().expect("an object");
        let found = (question("count").answer)(request, &context(&engine, &limits)).expect("answered");
        (found.body["hits"].as_u64(), checks.load(Ordering::Relaxed))
    };
    let one = steps("[lc=\"storm\"] [] | [] [lc=\"coast\"]");
    let many = steps(&vec!["[lc=\"storm\"] [] | [] [lc=\"coast\"]"; 100].join(" | "));
    assert_eq!(many, one);
}

/// The answer to the example of a question with another value of one parameter.
fn asked_with(
    engine: &Engine,
    question: &QuestionInfo,
    name: &str,
    value: Value,
) -> Result<Answered<Value>, QuestionError> {
    let mut request = requests(question).remove(0);
    request.insert(name.to_owned(), value);
    (question.answer)(request, &context(engine, &Limits::default()))
}

#[test]
fn unknown_fields_are_refused_at_their_place_in_every_filter_and_query() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = engine(&folder);
    let mut checked = 0;
    for question in QUESTIONS {
        for parameter in (question.parameters)() {
            let (value, place) = match parameter.kind {
                ParameterKind::Filter => ("date>=2026 dat=2026-05", 11..14),
                ParameterKind::Cql => ("storm within <doc foo=bar/>", 18..21),
                _ => continue,
            };
            let what = format!("{}.{}", question.name, parameter.name);
            let error = asked_with(&engine, question, &parameter.name, json!(value)).expect_err(&what);
            let QuestionError::Syntax { parameter: named, error, .. } = error else { panic!("{what}: {error}") };
            assert_eq!((named, error.span.range()), (parameter.name, place), "{what}");
            let help = error.help.expect("help");
            assert!(help.contains("topic") && (value.contains("foo") || help.contains("did you mean date?")), "{help}");
            checked += 1;
        }
    }
    assert!(checked > 15, "{checked}");
}

#[test]
fn a_known_field_without_such_a_value_answers_zero() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = engine(&folder);
    let count = QUESTIONS.iter().find(|question| question.name == "count").expect("listed");
    for filter in ["site=nowhere.example", "author=nobody", "topic=sport"] {
        let found = asked_with(&engine, count, "filter", json!(filter)).expect(filter);
        assert_eq!((found.body["hits"].as_u64(), found.about.exactness), (Some(0), Exactness::Exact), "{filter}");
    }
}

#[test]
fn unknown_names_are_refused_with_those_that_exist() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = engine(&folder);
    let question = |name: &str| QUESTIONS.iter().find(|question| question.name == name).expect("listed");
    for (name, parameter, value, words) in [
        ("freq", "by", json!("colour"), "unknown attribute or field"),
        ("freq", "by", json!("Colour"), "unknown attribute"),
        ("freq", "by", json!("sit"), "did you mean site?"),
        ("freq", "by", json!("colour.name"), "unknown attribute or field"),
        ("words", "attribute", json!("syllables"), "unknown attribute"),
        ("query", "sort", json!(["lefft"]), "did you mean left?"),
        ("query", "fields", json!(["date", "titel"]), "did you mean title?"),
        ("documents", "fields", json!(["colour"]), "unknown field"),
        ("words", "attribute", json!("Colour"), "unknown attribute"),
    ] {
        let error = asked_with(&engine, question(name), parameter, value.clone()).expect_err(parameter);
        let QuestionError::Parameter { parameter: named, message } = &error else { panic!("{error}") };
        assert!(named == parameter && message.contains(words) && message.contains("there are"), "{value}: {message}");
    }
}
