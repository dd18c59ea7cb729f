//! Trends, bursts and new words are about content words, unless all words are asked for.

use serde_json::{Map, Value, json};
use tidings_index::{Day, Settings, Writer};
use tidings_model::{Annotated, AnnotatedParagraph, Attributes, Token};
use tidings_query::engine::Engine;
use tidings_query::question::{QUESTIONS, QuestionContext};

const MONTHS: i32 = 36;
/// The month from which new words occur: the last quarter of the time.
const NEW: i32 = 28;

/// A text in which words of every kind become more frequent.
fn tokens(month: i32, number: i32) -> Vec<Token> {
    let mut tokens: Vec<Token> = (0..60).map(|_| Token::new("report", "report", "NOUN")).collect();
    let rising = [("the", "DET"), (",", "PUNCT"), ("2024", "NUM"), ("March", "PROPN"), ("storm", "NOUN")];
    for (word, tag) in rising {
        let times = 1 + month / 2 + (month * 7 + number * 3) % 3;
        tokens.extend((0..times).map(|_| Token::new(word, word, tag)));
    }
    if month >= NEW {
        let form = ["greenlash", "greenlashes"][number as usize % 2];
        tokens.push(Token::new(form, "greenlash", "NOUN"));
        tokens.push(Token::new("Zorbia", "Zorbia", "PROPN"));
        tokens.push(Token::new("x-ray", "x-ray", if month == NEW { "NOUN" } else { "DET" }));
    }
    tokens
}

/// A corpus of three years on some sites, with four documents a month on each.
fn engine(folder: &tempfile::TempDir, sites: i32) -> Engine {
    let mut writer = Writer::open(folder.path(), Settings::default()).expect("opened");
    for month in 0..MONTHS {
        for number in 0..4 * sites {
            let date = Day(19_723 + month * 30 + number / sites * 7).to_string();
            let site = format!("site{}.example", number % sites);
            let about = Attributes {
                id: (month * 1000 + number) as u128,
                url: format!("https://{site}/{month}/{number}"),
                title: String::new(),
                date: date.clone(),
                seen: date,
                fields: vec![("site".to_owned(), site)],
            };
            let paragraph =
                AnnotatedParagraph { sentences: vec![tokens(month, number)], ..AnnotatedParagraph::default() };
            let document = Annotated { about, paragraphs: vec![paragraph], ..Annotated::default() };
            writer.add(&document).expect("added");
        }
    }
    writer.commit(Vec::new()).expect("committed");
    Engine::new(writer.snapshot().clone())
}

fn ask(engine: &Engine, question: &str, parameters: Value) -> Value {
    let question = QUESTIONS.iter().find(|known| known.name == question).expect("a question");
    let Value::Object(parameters) = parameters else { panic!("no object") };
    let values: Map<String, Value> = parameters;
    (question.answer)(values, &QuestionContext::new(engine, "en")).expect("an answer").body
}

fn words(answer: &Value) -> Vec<&str> {
    answer["rows"].as_array().expect("rows").iter().filter_map(|row| row["value"].as_str()).collect()
}

#[test]
fn trends_are_those_of_content_words_unless_all_words_are_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = engine(&folder, 4);
    let others = ["the", ",", "2024", "March", "x-ray"];
    let found = ask(&engine, "trends", json!({"direction": "rising"}));
    assert_eq!((words(&found)[0], &found["left_out"]), ("storm", &json!(others.len())), "{found}");
    assert!(words(&found).iter().all(|word| !others.contains(word)), "{found}");
    // The forms of a word do not compete with each other, on the page or elsewhere.
    assert_eq!(
        (&found["attribute"], &ask(&engine, "bursts", json!({}))["attribute"]),
        (&json!("lemma"), &json!("lemma"))
    );
    // Three years in months.
    assert_eq!((&found["step"], found["bins"].as_array().map(Vec::len)), (&json!("month"), Some(36)));
    let all = ask(&engine, "trends", json!({"direction": "rising", "all_words": true}));
    assert!(others.iter().all(|word| words(&all).contains(word)) && all["left_out"] == 0, "{all}");
    let tested = |answer: &Value| answer["tested"].as_u64();
    assert_eq!(tested(&all), tested(&found).map(|tested| tested + others.len() as u64), "left out before the test");
    let tags = ask(&engine, "trends", json!({"attribute": "tag"}));
    assert_eq!(tags["left_out"], 0, "tags are no words: {tags}");
}

#[test]
fn forms_of_a_new_word_are_one_and_names_are_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = engine(&folder, 4);
    let found = ask(&engine, "new-words", json!({}));
    assert_eq!(
        (words(&found), &found["attribute"], &found["min_sites"]),
        (vec!["greenlash"], &json!("lemma"), &json!(2))
    );
    assert_eq!(found["dropped"], json!({"name": 1, "function": 1}), "{found}");
    let names = ask(&engine, "new-words", json!({"names": true}));
    let marked =
        |word: &str| names["rows"].as_array().unwrap().iter().find(|row| row["value"] == word).unwrap()["name"].clone();
    assert_eq!((marked("Zorbia"), marked("greenlash")), (json!(true), json!(false)));
    let by_form = ask(&engine, "new-words", json!({"attribute": "word"}));
    assert_eq!(words(&by_form), ["greenlash", "greenlashes"]);
}

#[test]
fn a_corpus_of_one_source_has_new_words_and_an_empty_list_says_what_fills_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = engine(&folder, 1);
    let found = ask(&engine, "new-words", json!({}));
    assert_eq!(
        (words(&found), &found["min_sites"], &found["sites"]),
        (vec!["greenlash"], &json!(1), &json!(1)),
        "{found}"
    );
    let none = ask(&engine, "new-words", json!({"min_sites": 2}));
    assert!(words(&none).is_empty(), "{none}");
    let hint = &none["hints"][0];
    assert_eq!((&hint["rule"], &hint["parameters"]["min_sites"]), (&json!("rare"), &json!("1")), "{none}");
}

#[test]
fn spellings_that_differ_in_case_are_of_one_kind_where_case_is_ignored() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut writer = Writer::open(folder.path(), Settings::default()).expect("opened");
    let sentence = [("The", "DET"), ("storm", "NOUN"), ("the", "DET"), ("Both", "DET"), ("Ferries", "NOUN")];
    for number in 0..20u32 {
        let sentence = sentence.map(|(word, tag)| Token::new(word, word, tag)).to_vec();
        let paragraph = AnnotatedParagraph { sentences: vec![sentence], ..AnnotatedParagraph::default() };
        let date = "2026-03-01".to_owned();
        let about = Attributes {
            id: number.into(),
            url: format!("https://a.example/{number}"),
            title: String::new(),
            seen: date.clone(),
            date,
            fields: Vec::new(),
        };
        let document = Annotated { about, paragraphs: vec![paragraph], ..Annotated::default() };
        writer.add(&document).expect("added");
    }
    writer.commit(Vec::new()).expect("committed");
    let engine = Engine::new(writer.snapshot().clone());
    // The first spelling of *the* is `The`; no spelling of *both* and *ferries* is the value itself.
    let found = ask(&engine, "colloc", json!({ "q": "storm", "attribute": "lc", "min": 1 }));
    assert_eq!((words(&found), &found["left_out"]), (vec!["ferries"], &json!(2)), "{found}");
}
