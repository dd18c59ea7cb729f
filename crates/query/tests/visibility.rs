//! Hidden documents in answers: none where positions count, whole groups where single words are counted.

use std::collections::BTreeMap;

use tidings_index::{Day, Settings, Writer};
use tidings_model::{Annotated, AnnotatedParagraph, Attributes, Token, TokenSpan};
use tidings_query::Filter;
use tidings_query::engine::{Cells, Engine, GROUP_DOCUMENTS, Limits, Reading, SETTLING_DAYS};
use tidings_query::question::{
    Answered, Availability, CollocRequest, CountRequest, FreqRequest, Privacy, Question, QuestionContext, request,
};
use tidings_query::trend::Step;

/// The first day; 2026-03-01 is day 20,513.
const FIRST_DAY: i32 = 20_513;
/// Documents of the corpus: two on each day.
const DOCUMENTS: i32 = 120;

/// A document as the test knows it.
struct Known {
    day: i32,
    site: &'static str,
    availability: &'static str,
}

fn known(number: i32) -> Known {
    let site = ["a.example", "b.example", "c.example"][number as usize % 3];
    let availability = ["open", "kwic", "metadata", "metadata"][(number / 3) as usize % 4];
    Known { day: FIRST_DAY + number / 2, site, availability }
}

fn document(number: i32) -> Annotated {
    let Known { day, site, availability } = known(number);
    let date = Day(day).to_string();
    let words = ["storm", "hits", "the", "coast"];
    let sentence = words.iter().map(|word| Token::new(word, word, "X")).collect();
    let fields = [("site", site), ("availability", availability)];
    let about = Attributes {
        id: number as u128 + 1,
        url: format!("https://{site}/{number}"),
        title: String::new(),
        date: date.clone(),
        seen: date,
        fields: fields.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
    };
    let paragraph = AnnotatedParagraph { sentences: vec![sentence], ..AnnotatedParagraph::default() };
    let spans = vec![TokenSpan::new("quote", 0, 2).with("speaker", "Ann Lee")];
    Annotated { about, paragraphs: vec![paragraph], spans, ..Annotated::default() }
}

/// Three segments.
fn engine(folder: &tempfile::TempDir) -> Engine {
    let mut writer =
        Writer::open(folder.path(), Settings { merge_factor: 100, ..Settings::default() }).expect("opened");
    for part in 0..3 {
        (0..DOCUMENTS)
            .filter(|number| number % 3 == part)
            .for_each(|number| writer.add(&document(number)).expect("added"));
        writer.commit(Vec::new()).expect("committed");
    }
    Engine::new(writer.snapshot().clone())
}

/// The right of a client that may read open documents only, on a day after the last one.
fn visitor() -> Privacy {
    let open = Availability::Open;
    let today = Some(Day(FIRST_DAY + 1000).date());
    Privacy { default: open, lines: open, text: open, alone: open, today }
}

/// The documents that count, by definition: readable ones, and those of groups of which all are selected and in one cell.
fn expected(privacy: Privacy, is_selected: impl Fn(i32) -> bool, cell: impl Fn(i32) -> i32) -> u64 {
    let mut waiting: BTreeMap<(&str, &str), Vec<i32>> = BTreeMap::new();
    let mut counted = 0;
    let last = privacy.today.map_or(i32::MAX, |today| Day::of(today).0 - SETTLING_DAYS);
    for number in 0..DOCUMENTS {
        let Known { day, site, availability } = known(number);
        match availability {
            "open" => counted += u64::from(is_selected(number)),
            _ if day <= last => waiting.entry((site, availability)).or_default().push(number),
            _ => {}
        }
    }
    for group in waiting.values().flat_map(|documents| documents.chunks_exact(GROUP_DOCUMENTS)) {
        let is_whole = group.iter().all(|number| is_selected(*number) && cell(*number) == cell(group[0]));
        counted += if is_whole { GROUP_DOCUMENTS as u64 } else { 0 };
    }
    counted
}

#[test]
fn words_are_counted_in_whole_groups_of_one_cell() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = engine(&folder);
    let count = |filter: &str, privacy: Privacy, cells: Cells<'_>| {
        let filter: Option<Filter> = (!filter.is_empty()).then(|| filter.parse().expect("a filter"));
        let selection = engine.select(filter.as_ref(), privacy, Reading::Words(cells)).expect("a selection");
        engine.documents(&selection.into_subcorpus(Limits::default()))
    };
    let (one, privacy) = (|_: i32| 0, visitor());
    assert_eq!(count("", privacy, Cells::One), expected(privacy, |_| true, one));
    for number in 0..DOCUMENTS {
        let id = format!("id!={:032x}", number + 1);
        assert_eq!(count(&id, privacy, Cells::One), expected(privacy, |other| other != number, one), "{id}");
        let until = format!("date<={}", Day(known(number).day));
        let is_before = |other: i32| known(other).day <= known(number).day;
        assert_eq!(count(&until, privacy, Cells::One), expected(privacy, is_before, one), "{until}");
        let alone = format!("id={:032x}", number + 1);
        assert_eq!(count(&alone, privacy, Cells::One), u64::from(known(number).availability == "open"), "{alone}");
    }
    let month = |number: i32| i32::from(Day(known(number).day).date().month());
    assert_eq!(count("", privacy, Cells::Steps(Step::Month)), expected(privacy, |_| true, month));
    let day = |number: i32| known(number).day;
    assert_eq!(count("", privacy, Cells::Steps(Step::Day)), expected(privacy, |_| true, day));
    assert_eq!(count("", privacy, Cells::Field("site")), expected(privacy, |_| true, one));
    assert_eq!(count("", privacy, Cells::Documents), expected(privacy, |_| true, |number| number));
    // Documents of the last days are in no group yet.
    for today in [10, 30, 59, 60, 61] {
        let privacy = Privacy { today: Some(Day(FIRST_DAY + today).date()), ..privacy };
        assert_eq!(count("", privacy, Cells::One), expected(privacy, |_| true, one), "{today}");
    }
}

fn answer<Q: Question>(engine: &Engine, privacy: Privacy, parameters: serde_json::Value) -> Answered<Q::Answer> {
    let readable = engine.readable(privacy);
    let context = QuestionContext {
        engine: readable.as_deref().unwrap_or(engine),
        all: engine,
        privacy,
        ..QuestionContext::new(engine, "en")
    };
    let serde_json::Value::Object(parameters) = parameters else { panic!("no object") };
    request::<Q>(parameters).expect("a request").answer(&context).expect("an answer")
}

#[test]
fn queries_with_positions_are_answered_from_readable_documents() {
    let folder = tempfile::tempdir().expect("a folder");
    let (engine, privacy) = (engine(&folder), visitor());
    let open = (0..DOCUMENTS).filter(|number| known(*number).availability == "open").count() as u64;
    let hits = |query: &str| {
        let answered = answer::<CountRequest>(&engine, privacy, serde_json::json!({ "q": query }));
        (answered.body.hits, answered.about.rights.expect("hidden documents").counted_documents)
    };
    let words = expected(privacy, |_| true, |_| 0);
    assert_eq!(hits("storm"), (words, words - open));
    for query in [
        "\"storm\" \"hits\"",
        "<doc> \"storm\"",
        "storm within <s/>",
        "[word=\"storm\"]{1,2}",
        "a:\"storm\" :: a.word = a.lemma",
        "<quote/>",
        "<quote speaker=\"Ann.*\"/>",
        "<quote> \"storm\"",
        "\"hits\" </quote>",
        "storm within <quote/>",
    ] {
        assert_eq!(hits(query), (open, 0), "{query}");
    }
    for query in ["storm", "<quote/>"] {
        let parameters = serde_json::json!({ "q": query, "by": "quote.speaker" });
        let rows = answer::<FreqRequest>(&engine, privacy, parameters).body.rows;
        let rows: Vec<(&str, u64)> = rows.iter().map(|row| (row.value.as_str(), row.hits)).collect();
        assert_eq!(rows, [("Ann Lee", open)], "{query}");
    }
    let collocates = answer::<CollocRequest>(&engine, privacy, serde_json::json!({ "q": "storm", "min": 1 })).body;
    assert!(collocates.rows.iter().all(|row| row.together == open && row.hits == open), "{collocates:?}");
}

#[test]
fn the_owner_counts_everything_and_is_told_of_no_rights() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = engine(&folder);
    let owner = Privacy::owner(Availability::Kwic);
    let answered = answer::<CountRequest>(&engine, owner, serde_json::json!({ "q": "\"storm\" \"hits\"" }));
    assert_eq!((answered.body.hits, answered.about.rights), (DOCUMENTS as u64, None));
    assert!(answered.rewrites.is_empty() && engine.readable(owner).is_none());
}
