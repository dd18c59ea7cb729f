//! The parallel concordance over two languages whose translations are known.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use fastrand::Rng;
use serde_json::{Value, json};
use tidings_index::{Settings, Writer};
use tidings_model::{Annotated, AnnotatedParagraph, Attributes, Token};
use tidings_query::engine::{Engine, Limits, MemoryPool};
use tidings_query::question::{
    Answered, Availability, DocumentPairs, OtherCorpus, ParallelConcordance, ParallelLine, ParallelRequest, Privacy,
    Question as _, QuestionContext, QuestionError, WindowLimit, request, text_of,
};

/// Words and their translations.
const WORDS: [(&str, &str); 8] = [
    ("harbour", "Hafen"),
    ("council", "Gemeinderat"),
    ("rain", "Regen"),
    ("bridge", "Brücke"),
    ("opened", "eröffnete"),
    ("closed", "schloss"),
    ("yesterday", "gestern"),
    ("bank", "Bank"),
];

/// A sentence of random words with a number that both languages spell alike, and its translation. `bank` is a bench in
/// every second document.
fn sentence(random: &mut Rng, number: usize, is_bench: bool) -> (Vec<String>, Vec<String>) {
    let mut both = (vec!["The".to_owned()], vec!["Das".to_owned()]);
    for _ in 0..random.usize(5..14) {
        let (own, other) = WORDS[random.usize(..WORDS.len())];
        both.0.push(own.to_owned());
        both.1.push(if own == "bank" && is_bench { "Ufer".to_owned() } else { other.to_owned() });
    }
    for side in [&mut both.0, &mut both.1] {
        side.push(format!("{}", 1000 + number));
        side.push(".".to_owned());
    }
    both
}

/// Documents in two languages, and for each sentence of the first its translation, by its number.
#[derive(Default)]
struct Texts {
    own: Vec<Vec<Vec<String>>>,
    other: Vec<Vec<Vec<String>>>,
    truth: BTreeMap<String, Option<String>>,
}

fn texts(random: &mut Rng, documents: usize) -> Texts {
    let mut texts = Texts::default();
    for document in 0..documents {
        let (mut own, mut other) = (Vec::new(), Vec::new());
        for at in 0..12 {
            let number = document * 12 + at;
            let (one, translated) = sentence(random, number, document % 2 == 1);
            own.push(one);
            // One sentence of each translation is missing.
            let is_missing = at == 4 + document % 5;
            texts.truth.insert(format!("{}", 1000 + number), (!is_missing).then(|| translated.join(" ")));
            if !is_missing {
                other.push(translated);
            }
        }
        texts.own.push(own);
        texts.other.push(other);
    }
    texts
}

fn index(folder: &Path, texts: &[Vec<Vec<String>>], first_id: u128, fields: &[(&str, &str)]) -> Arc<Engine> {
    let mut writer = Writer::open(folder, Settings { merge_factor: 100, ..Settings::default() }).unwrap();
    for (number, sentences) in texts.iter().enumerate() {
        let token = |word: &String| Token { space_after: true, ..Token::new(word, &word.to_lowercase(), "NOUN") };
        let sentences = sentences.iter().map(|sentence| sentence.iter().map(token).collect()).collect();
        let date = format!("2026-03-{:02}", number % 28 + 1);
        let about = Attributes {
            id: first_id + number as u128,
            seen: date.clone(),
            date,
            fields: fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            ..Attributes::default()
        };
        let paragraphs = vec![AnnotatedParagraph { sentences, ..AnnotatedParagraph::default() }];
        writer.add(&Annotated { about, paragraphs, ..Annotated::default() }).unwrap();
        if number == texts.len() / 3 {
            writer.commit(Vec::new()).unwrap();
        }
    }
    writer.commit(Vec::new()).unwrap();
    Arc::new(Engine::new(writer.snapshot().clone()))
}

struct Both {
    _folders: [tempfile::TempDir; 2],
    own: Arc<Engine>,
    other: OtherCorpus,
    truth: BTreeMap<String, Option<String>>,
}

/// The first ids of the documents in both languages.
const FIRST: (u128, u128) = (1, 1_000_000);

fn both(documents: usize) -> Both {
    let texts = texts(&mut Rng::with_seed(7), documents);
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let own = index(folders[0].path(), &texts.own, FIRST.0, &[("site", "one.example")]);
    let all = index(folders[1].path(), &texts.other, FIRST.1, &[("site", "two.example")]);
    // The last document has no known translation.
    let pairs = (0..documents as u128 - 1).map(|at| (FIRST.0 + at, FIRST.1 + at));
    let other = OtherCorpus { all, readable: None, pairs: Arc::new(DocumentPairs::of(pairs)) };
    Both { _folders: folders, own, other, truth: texts.truth }
}

impl Both {
    fn ask_with(
        &self,
        change: impl for<'c> Fn(QuestionContext<'c>) -> QuestionContext<'c>,
        parameters: Value,
    ) -> Result<Answered<ParallelConcordance>, QuestionError> {
        let Value::Object(values) = parameters else { panic!("parameters are an object") };
        let find_other = |code: &str| match code {
            "de" => Ok(self.other.clone()),
            _ => Err(QuestionError::NotFound { parameter: "to", message: format!("no {code}") }),
        };
        let context = QuestionContext { find_other: &find_other, ..QuestionContext::new(&self.own, "en") };
        request::<ParallelRequest>(values)?.answer(&change(context))
    }

    fn ask(&self, parameters: Value) -> ParallelConcordance {
        self.ask_with(|context| context, parameters).unwrap().body
    }
}

/// The number in the sentence of a line.
fn number(line: &ParallelLine) -> String {
    let tokens = line.left.iter().chain(&line.node).chain(&line.right);
    tokens.map(|token| token.word.clone()).find(|word| word.starts_with('1')).expect("every sentence has a number")
}

#[test]
fn hits_stand_beside_the_translation_of_their_sentence() {
    let both = both(40);
    let found = both.ask(json!({"q": "council", "to": "de", "size": 10_000}));
    assert_eq!(found.documents, 39, "the last document has no pair");
    assert_eq!(found.lines.len() as u64, found.hits + found.unaligned);
    let mut right = 0;
    for line in &found.lines {
        assert_eq!(text_of(&line.node).trim(), "council");
        let translation = text_of(&line.translation);
        right += usize::from(match &both.truth[&number(line)] {
            Some(truth) => translation.contains(truth.as_str()),
            None => translation.is_empty(),
        });
        assert_eq!(line.fields["site"], "one.example");
    }
    assert!(right * 100 >= found.lines.len() * 95, "{right} of {}", found.lines.len());
    assert!(found.hits > 300 && found.unaligned > 0, "{} {}", found.hits, found.unaligned);
}

#[test]
fn conditions_divide_the_hits_and_mark_their_own() {
    let both = both(40);
    let all = both.ask(json!({"q": "bank", "to": "de", "size": 0}));
    let money = both.ask(json!({"q": "bank", "to": "de", "with": "Bank", "size": 10_000}));
    let other = both.ask(json!({"q": "bank", "to": "de", "without": "Bank", "size": 10_000}));
    assert_eq!(money.hits + other.hits, all.hits);
    assert!(money.hits > 50 && other.hits > 50, "{} {}", money.hits, other.hits);
    for line in &money.lines {
        let marked: Vec<&str> = line.marked.iter().map(|at| line.translation[*at as usize].word.as_str()).collect();
        assert!(!marked.is_empty() && marked.iter().all(|word| *word == "Bank"), "{marked:?}");
        let document = u128::from_str_radix(&line.document, 16).unwrap();
        assert_eq!((document - FIRST.0) % 2, 0, "a bench is called otherwise");
        assert_eq!(u128::from_str_radix(&line.translated, 16).unwrap(), document - FIRST.0 + FIRST.1);
    }
    assert!(other.lines.iter().all(|line| line.marked.is_empty()));
}

#[test]
fn pages_follow_each_other() {
    let both = both(10);
    let all = both.ask(json!({"q": "rain", "to": "de", "size": 1000})).lines;
    let first = both.ask(json!({"q": "rain", "to": "de", "size": 7}));
    let cursor = first.next.unwrap().to_string();
    let second = both.ask(json!({"q": "rain", "to": "de", "size": 7, "cursor": cursor}));
    let places = |lines: &[ParallelLine]| lines.iter().map(|l| (l.document.clone(), l.position)).collect::<Vec<_>>();
    assert_eq!([places(&first.lines), places(&second.lines)].concat(), places(&all[..14]));
}

#[test]
fn a_filter_limits_the_documents_of_the_query() {
    let both = both(10);
    let some = both.ask(json!({"q": "rain", "to": "de", "filter": "date<=2026-03-03"}));
    assert_eq!(some.documents, 3);
    assert_eq!(both.ask(json!({"q": "rain", "to": "de", "filter": "site=two.example"})).documents, 0);
}

#[test]
fn errors_name_the_parameter() {
    let both = both(3);
    let error = |parameters: Value| both.ask_with(|context| context, parameters).unwrap_err().to_string();
    assert!(error(json!({"q": "rain", "to": "en"})).contains("is the language of the query"));
    assert_eq!(error(json!({"q": "rain", "to": "xx"})), "no xx");
    assert!(error(json!({"q": "rain", "to": "de", "with": "[nosuch=\"x\"]"})).contains("nosuch"));
}

#[test]
fn a_search_that_is_cut_off_says_so() {
    let both = both(40);
    let answered = both
        .ask_with(
            |context| QuestionContext { limits: Limits::steps(3), ..context },
            json!({"q": "rain", "to": "de", "size": 10}),
        )
        .unwrap();
    assert!(answered.about.exactness.is_cut_off(), "{:?}", answered.about.exactness);
}

#[test]
fn translations_that_a_client_may_not_read_take_no_part() {
    let texts = texts(&mut Rng::with_seed(7), 6);
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let own = index(folders[0].path(), &texts.own, FIRST.0, &[("site", "a.example"), ("availability", "open")]);
    let all = index(folders[1].path(), &texts.other, FIRST.1, &[("site", "b.example"), ("availability", "metadata")]);
    let open = Availability::Open;
    let privacy = Privacy { default: open, lines: open, text: open, alone: open, today: None };
    let pairs = Arc::new(DocumentPairs::of((0..6).map(|at| (FIRST.0 + at, FIRST.1 + at))));
    let other = OtherCorpus { readable: all.readable(privacy), all, pairs };
    let find_other = |_: &str| Ok(other.clone());
    let context = QuestionContext { find_other: &find_other, privacy, ..QuestionContext::new(&own, "en") };
    let Value::Object(values) = json!({"q": "rain", "to": "de"}) else { unreachable!() };
    let found = request::<ParallelRequest>(values).unwrap().answer(&context).unwrap().body;
    assert_eq!((found.documents, found.hits, found.unaligned, found.lines.len()), (0, 0, 0, 0));
}

#[test]
fn pages_follow_each_other_if_some_documents_have_no_lines_left() {
    let texts = texts(&mut Rng::with_seed(7), 10);
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let own = index(folders[0].path(), &texts.own, FIRST.0, &[("availability", "kwic")]);
    let all = index(folders[1].path(), &texts.other, FIRST.1, &[("availability", "open")]);
    let pairs = Arc::new(DocumentPairs::of((0..10).map(|at| (FIRST.0 + at, FIRST.1 + at))));
    let other = OtherCorpus { readable: None, all, pairs };
    let find_other = |_: &str| Ok(other.clone());
    let (open, kwic) = (Availability::Open, Availability::Kwic);
    let privacy = Privacy { default: open, lines: kwic, text: open, alone: kwic, today: None };
    // Every second document has had its lines.
    let take = |document: &str, _: u64| u128::from_str_radix(document, 16).unwrap().is_multiple_of(2);
    let window_limit = Some(WindowLimit { per_day: 1, take: &take });
    let ask = |parameters: Value| {
        let Value::Object(values) = parameters else { panic!("parameters are an object") };
        let context =
            QuestionContext { find_other: &find_other, privacy, window_limit, ..QuestionContext::new(&own, "en") };
        request::<ParallelRequest>(values).unwrap().answer(&context).unwrap().body
    };
    let places = |lines: &[ParallelLine]| lines.iter().map(|l| (l.document.clone(), l.position)).collect::<Vec<_>>();
    let whole = ask(json!({"q": "rain", "to": "de", "size": 1000}));
    let (mut paged, mut cursor) = (Vec::new(), String::new());
    loop {
        let mut parameters = json!({"q": "rain", "to": "de", "size": 7});
        if !cursor.is_empty() {
            parameters["cursor"] = json!(cursor);
        }
        let page = ask(parameters);
        paged.extend(places(&page.lines));
        let Some(next) = page.next else { break };
        cursor = next.to_string();
    }
    assert_eq!(paged, places(&whole.lines));
    assert!(paged.len() > 10 && (paged.len() as u64) < whole.hits, "{} lines of {} hits", paged.len(), whole.hits);
}

#[test]
fn lines_that_need_too_much_memory_are_refused() {
    let both = both(40);
    let pool = MemoryPool::new(1 << 20, 1 << 17);
    let ask = |size: u64| {
        let limits = Limits::default().with_memory(pool.clone());
        let parameters = json!({"q": "council", "to": "de", "size": size});
        both.ask_with(|context| QuestionContext { limits: limits.clone(), ..context }, parameters)
    };
    let refused = ask(1000).map(|answered| answered.body.hits).expect_err("a thousand lines are too large");
    assert!(matches!(&refused, QuestionError::TooLarge { parameter, .. } if parameter == "size"), "{refused}");
    assert_eq!(ask(5).unwrap().body.lines.len(), 5);
    assert_eq!(pool.taken(), 0, "all memory is given back");
}
