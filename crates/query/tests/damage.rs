//! Answers from damaged index files: equal to those of the intact index, or an error that names the file and the remedy.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fastrand::Rng;
use serde_json::{Map, Value, json};
use tidings_index::{Day, Settings, Snapshot, Writer};
use tidings_model::{
    Annotated, AnnotatedParagraph, Attributes, LayerColumn, LayerDeclaration, LayerKind, Token, TokenSpan,
};
use tidings_query::engine::Engine;
use tidings_query::question::{
    Answered, DocumentPairs, OtherCorpus, QUESTIONS, QuestionContext, QuestionInfo, RowData, RowSink,
};

const DOCUMENTS: usize = 400;
/// A document that questions about one document ask for; segments are sorted by day, so that it is in the middle.
const ASKED: u128 = 7 * 1_000_003;

/// A document of 120 tokens with a long tail of words, all layers and spans.
fn document(number: usize, random: &mut Rng) -> Annotated {
    let token = |random: &mut Rng| {
        let word = (1.0 / (random.f32() + 0.0005)) as u32;
        let tag = ["NOUN", "VERB", "ADJ"][word as usize % 3];
        let feats = ["", "Number=Plur"][random.usize(..2)];
        let [word, lemma] = [["w", "W"][random.usize(..2)], "w"].map(|letter| format!("{letter}{word}"));
        Token { feats: feats.into(), space_after: random.u8(..) > 30, ..Token::new(&word, &lemma, tag) }
    };
    let sentence = |random: &mut Rng| (0..12).map(|_| token(random)).collect::<Vec<_>>();
    let paragraph = |random: &mut Rng| AnnotatedParagraph {
        sentences: (0..5).map(|_| sentence(random)).collect(),
        ..AnnotatedParagraph::default()
    };
    let paragraphs = (0..2).map(|_| paragraph(random)).collect();
    let fields = [("site", format!("s{}.example", number % 7)), ("genre", ["news", "blog", ""][number % 3].to_owned())];
    let about = Attributes {
        id: number as u128 * 1_000_003,
        url: format!("https://s{}.example/{}", number % 7, random.u64(..)),
        title: format!("Title {:x}", random.u64(..)),
        date: Day(20_500 + (number % 120) as i32).to_string(),
        seen: Day(20_700).to_string(),
        fields: fields.map(|(name, value)| (name.to_owned(), value)).to_vec(),
    };
    let layer = LayerDeclaration { name: "sense".to_owned(), kind: LayerKind::Code, origin: "toy 1".to_owned() };
    let values = (0..120).map(|_| ["", "a", "b"][random.usize(..3)].to_owned()).collect();
    let mut spans: Vec<TokenSpan> = (0..8)
        .map(|_| {
            let start = random.u32(..110);
            let name = format!("Name {}", (1.0 / (random.f32() + 0.002)) as u32);
            let (kind, span) = (["PER", "ORG"][random.usize(..2)], ["ne", "quote"][random.usize(..2)]);
            let span = TokenSpan::new(span, start, start + 1 + random.u32(..8)).with("name", &name).with("type", kind);
            span.with("speaker", &name).with("kind", "direct")
        })
        .collect();
    spans.sort_by(TokenSpan::file_order);
    Annotated { about, paragraphs, columns: vec![LayerColumn { layer, values }], spans }
}

/// An index with files of every kind: two segments, two lexicon segments, deleted documents.
fn build(folder: &Path) {
    let mut random = Rng::with_seed(7);
    let mut writer = Writer::open(folder, Settings::default()).expect("opened");
    for number in 1..DOCUMENTS {
        writer.add(&document(number, &mut random)).expect("added");
        if number == DOCUMENTS * 9 / 10 {
            writer.commit(Vec::new()).expect("committed");
        }
    }
    writer.commit(Vec::new()).expect("committed");
    writer.delete_ids(&[3 * 1_000_003]).expect("deleted");
}

/// The parameters of a question that this corpus answers with rows.
fn values(question: &QuestionInfo) -> Map<String, Value> {
    let Value::Object(mut values) = (question.example)() else { panic!("{} is no object", question.name) };
    let ours = [
        ("q", json!("[lemma=\"w2\"] []{0,2} [tag=\"NOUN\"]")),
        ("id", json!(format!("{ASKED:032x}"))),
        ("lemma", json!("w2")),
        ("before", json!("date=2026-02")),
        ("after", json!("date=2026-04")),
        ("regex", json!("w1.*")),
    ];
    for (name, value) in ours {
        // Several queries are a list.
        values.entry(name).and_modify(|known| *known = if known.is_array() { json!([value]) } else { value });
    }
    values
}

fn answer(question: &QuestionInfo, folder: &Path) -> Result<Value, String> {
    let open = || Snapshot::open(folder).map(Engine::new).map_err(|error| error.to_string());
    let (engine, other) = (open()?, Arc::new(open()?));
    // Each document is the translation of the next one.
    let id = |number: usize| number as u128 * 1_000_003;
    let pairs = Arc::new(DocumentPairs::of((1..DOCUMENTS - 1).step_by(2).map(|number| (id(number), id(number + 1)))));
    let find_other = |_: &str| Ok(OtherCorpus { all: other.clone(), readable: None, pairs: pairs.clone() });
    let context = QuestionContext { find_other: &find_other, ..QuestionContext::new(&engine, "en") };
    let answered = (question.answer)(values(question), &context).map_err(|error| error.to_string())?;
    Ok(serde_json::to_value(answered).expect("answers serialise"))
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("listed").map(|entry| entry.expect("listed").path());
    let mut files: Vec<PathBuf> = entries.collect();
    files.sort();
    files
}

/// Damages each file by flips of single bits and compares every answer; returns the numbers of equal answers and errors.
fn flip(folder: &Path, flips: usize, random: &mut Rng) -> (usize, usize) {
    let sound: BTreeMap<&str, Result<Value, String>> =
        QUESTIONS.iter().map(|question| (question.name, answer(question, folder))).collect();
    let (mut equal, mut errors) = (0, 0);
    for path in files(folder) {
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
        let bytes = std::fs::read(&path).expect("read");
        for _ in 0..flips {
            let bit = random.usize(..bytes.len() * 8);
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&path, damaged).expect("written");
            for question in QUESTIONS {
                let case = format!("{}, bit {bit} of {name}", question.name);
                match (answer(question, folder), &sound[question.name]) {
                    (Ok(now), Ok(before)) => {
                        assert!(now == *before, "{case}: another answer");
                        equal += 1;
                    }
                    (Err(error), _) => {
                        let is_named = error.contains(&name) && error.contains("`tidings ");
                        assert!(is_named, "{case}: {error}");
                        errors += 1;
                    }
                    (Ok(_), Err(before)) => panic!("{case}: an answer instead of {before}"),
                }
            }
        }
        std::fs::write(&path, bytes).expect("written");
    }
    (equal, errors)
}

#[test]
fn questions_of_the_test_have_answers() {
    let folder = tempfile::tempdir().expect("a folder");
    build(folder.path());
    for question in QUESTIONS {
        let answered = answer(question, folder.path()).unwrap_or_else(|error| panic!("{}: {error}", question.name));
        let is_filled = answered[question.rows].as_array().is_none_or(|rows| !rows.is_empty());
        // Nothing changes over time in this corpus.
        assert!(
            is_filled
                || ["compare", "meaning", "trends", "seasons", "steps", "bursts", "new-words", "neologisms"]
                    .contains(&question.name),
            "{}",
            question.name
        );
    }
}

#[test]
fn a_flipped_bit_never_changes_an_answer() {
    let folder = tempfile::tempdir().expect("a folder");
    build(folder.path());
    let (equal, errors) = flip(folder.path(), 12, &mut Rng::with_seed(11));
    assert!(equal > 0 && errors > 0, "{equal} equal answers, {errors} errors");
}

#[test]
fn a_flipped_bit_never_changes_an_answer_without_digests_of_blocks() {
    let folder = tempfile::tempdir().expect("a folder");
    build(folder.path());
    let sums: Vec<PathBuf> = files(folder.path())
        .into_iter()
        .filter(|path| path.extension().is_some_and(|ending| ending == "sums"))
        .collect();
    assert!(!sums.is_empty(), "the index is large enough for digests of blocks");
    sums.iter().for_each(|path| std::fs::remove_file(path).expect("removed"));
    let (equal, errors) = flip(folder.path(), 6, &mut Rng::with_seed(12));
    assert!(equal > 0 && errors > 0, "{equal} equal answers, {errors} errors");
}

#[test]
fn a_damaged_row_of_a_stream_is_followed_by_an_error() {
    struct Rows(usize);
    impl RowSink for Rows {
        fn head(&mut self, _: Answered<Value>) {}
        fn row(&mut self, _: &dyn RowData) -> ControlFlow<()> {
            self.0 += 1;
            ControlFlow::Continue(())
        }
    }
    let folder = tempfile::tempdir().expect("a folder");
    build(folder.path());
    let segment = files(folder.path()).into_iter().find(|path| path.extension().is_some_and(|end| end == "segment"));
    let path = segment.expect("a segment");
    let mut bytes = std::fs::read(&path).expect("read");
    let middle = bytes.len() / 8;
    bytes[middle] ^= 1; // In the token column, which is the first long section.
    std::fs::write(&path, bytes).expect("written");
    let engine = Snapshot::open(folder.path()).map(Engine::new).expect("opened");
    let context = QuestionContext { streams: true, ..QuestionContext::new(&engine, "en") };
    let question = QUESTIONS.iter().find(|question| question.name == "query").expect("a question");
    let mut rows = Rows(0);
    let request = json!({ "q": "[]", "size": 1_000_000 }).as_object().cloned().expect("an object");
    let error = (question.stream)(request, &context, &mut rows).expect_err("damaged").to_string();
    assert!(rows.0 > 0 && error.contains("is damaged"), "{error}");
}
