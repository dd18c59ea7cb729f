//! Citations last: a frozen state answers every question as on its day, after further days, merges and a rebuild.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;
use tidings_query::question::QUESTIONS;
use tidings_simweb::Spec;

use crate::serve::Server;
use crate::support::Corpus;

const DAY: Duration = Duration::from_secs(86_400);

/// What questions are about: frequent words, a day and a document of the corpus.
struct Subject {
    words: [String; 2],
    day: String,
    document: String,
}

/// A request to each question. A new question needs one here.
fn asked(name: &str, subject: &Subject) -> String {
    let Subject { words: [one, other], day, document } = subject;
    let parameters = match name {
        "query" => format!("q={one}&size=50&sort=right"),
        "count" | "freq" | "dispersion" => format!("q={one}"),
        "group" => format!("q={one}&by=lc,right1,site"),
        "crosstab" => format!("q={one},{other}&by=site,day"),
        "colloc" => format!("q={one}&min=1"),
        "sketch" | "thesaurus" => format!("lemma={one}&min=1"),
        "sketch-diff" => format!("lemma={one}&other={other}&min=1"),
        "words" => "ngram=2&min=1&limit=500".to_owned(),
        "keywords" => format!("focus=date%3C{day}&min=1&fdr=1&limit=500"),
        "terms" => format!("focus=date%3C{day}&min=1&min_documents=1&names=true"),
        "compare" => format!("before=date%3C{day}&after=date%3E%3D{day}&min=1&fdr=1&effect=1"),
        "meaning" => format!("before=date%3C{day}&after=date%3E%3D{day}&min=1&fdr=1"),
        "timeline" => format!("q={one}&by=day"),
        "trends" | "seasons" | "steps" => "by=day&min=1&fdr=1&effect=1".to_owned(),
        "bursts" => "by=day".to_owned(),
        "new-words" | "neologisms" => format!("since={day}&min_sites=1&min_days=1&min_documents=1&fdr=1"),
        "names" | "quotes" => "limit=500".to_owned(),
        "documents" => format!("q={one}&size=200"),
        "document" => return format!("documents/{document}?q={one}"),
        "context" => return format!("documents/{document}/context?position=3"),
        _ => panic!("there is no request for the question {name}: add one"),
    };
    format!("{name}?{parameters}")
}

/// The answers to all questions in a frozen state.
fn answers(server: &Server, subject: &Subject) -> Vec<(String, String)> {
    let answer = |path: String| {
        let joint = if path.contains('?') { '&' } else { '?' };
        let asked = format!("/api/v1/en/{path}{joint}as_of=thesis");
        let answer: Value = server.json(&asked, None);
        (path, answer.to_string())
    };
    // The corpus has one language.
    QUESTIONS
        .iter()
        .filter(|question| question.name != "parallel")
        .map(|question| answer(asked(question.name, subject)))
        .collect()
}

/// Frequent words, the middle day and a document of the corpus.
fn subject(server: &Server) -> Subject {
    let words = server.json("/api/v1/en/words?limit=200", None);
    let words = words["rows"].as_array().unwrap().iter().map(|row| row["value"].as_str().unwrap().to_owned());
    let mut words = words.filter(|word| word.len() >= 5 && word.bytes().all(|byte| byte.is_ascii_lowercase()));
    let documents = server.json("/api/v1/en/documents?size=1000&order=oldest", None);
    let documents = documents["rows"].as_array().unwrap();
    let middle = &documents[documents.len() / 2];
    let text = |name: &str| middle[name].as_str().unwrap().to_owned();
    Subject { words: [words.next().unwrap(), words.next().unwrap()], day: text("date"), document: text("id") }
}

fn count(server: &Server, state: &str) -> u64 {
    server.json(&format!("/api/v1/en/documents?size=1{state}"), None)["documents"].as_u64().unwrap()
}

#[test]
fn every_answer_of_a_frozen_state_is_equal_after_ten_further_days_and_a_rebuild() {
    let spec = Spec {
        sites: 4,
        items_per_feed: 10,
        languages: vec!["en".into()],
        publish_every: Duration::from_secs(6 * 3600),
        story: DAY * 16,
        ..Spec::default()
    };
    let corpus = Corpus::with(spec, &[("delay_s", "0.002"), ("feed_delay_s", "0.002")]);
    let mut now = corpus.web.now();
    let mut next_days = |days: u32| {
        for _ in 0..days {
            corpus.web.advance(DAY);
            now += DAY;
            corpus.run_at(now, "run").ok();
        }
        now
    };
    let day = next_days(5);
    corpus.run_at(day, "corpus freeze thesis --lang en").ok();
    let server = Server::start(&corpus, "");
    let (subject, frozen) = (subject(&server), count(&server, ""));
    let cited = answers(&server, &subject);
    assert!(cited.iter().any(|(path, answer)| path.starts_with("count") && !answer.contains("\"hits\":0,")));
    server.signal(Signal::TERM);

    let last = next_days(10);
    corpus.run_at(last, "rebuild --from clean").ok();
    let server = Server::start(&corpus, "");
    assert!(count(&server, "") > frozen, "ten days brought nothing");
    assert_eq!(count(&server, "&as_of=thesis"), frozen);
    for ((path, then), (_, now)) in cited.iter().zip(answers(&server, &subject)) {
        assert_eq!(then, &now, "{path}");
    }
    server.signal(Signal::TERM);
}
