//! What gateways and shards send each other: answers to parts of questions, and the requests for them.

use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use serde_json::{Value, json};
use tidings_index::Snapshot;
use tidings_query::engine::{Engine, Limits};
use tidings_query::question::{
    AskShards, PartNotes, QuestionContext, QuestionError, Shards, answer_part, merged_schema,
};

use crate::{index, queries, scratch};

/// Parts that a question may ask for before it is refused: true questions need a dozen.
const MAX_PARTS: usize = 64;

/// Two shards of one site each.
fn engines() -> &'static [Engine; 2] {
    static ENGINES: OnceLock<[Engine; 2]> = OnceLock::new();
    ENGINES.get_or_init(|| {
        [0, 1].map(|shard| {
            let folder = scratch::folder().join(format!("shard-{shard}"));
            std::fs::create_dir_all(&folder).expect("the temporary folder can be written");
            let documents: Vec<_> = index::documents().into_iter().skip(shard).step_by(2).collect();
            Engine::new(tidings_index::build(&folder, &documents).expect("a small index is built"))
        })
    })
}

/// What a gateway has of its own.
fn nothing() -> &'static Engine {
    static NOTHING: OnceLock<Engine> = OnceLock::new();
    NOTHING.get_or_init(|| Engine::new(Snapshot::empty()))
}

fn context(engine: &Engine) -> QuestionContext<'_> {
    let limits = Limits::within(Duration::from_secs(1));
    QuestionContext { limits: limits.clone(), vocabulary_limits: limits, ..QuestionContext::new(engine, "en") }
}

fn true_answer(engine: &Engine, part: &str, request: Value) -> Result<Vec<u8>, QuestionError> {
    answer_part(part, request, &QuestionContext { notes: Some(PartNotes::default()), ..context(engine) })
}

/// Shards whose answers are lines of the input.
struct HostileShards<'l>(Mutex<(std::str::Lines<'l>, usize)>);

impl HostileShards<'_> {
    fn answer(&self, engine: &Engine, part: &str, request: Value) -> Result<Vec<u8>, QuestionError> {
        let line = {
            let (lines, asked) = &mut *self.0.lock().expect("no panic while held");
            *asked += 1;
            if *asked > 2 * MAX_PARTS {
                return Err(QuestionError::Timeout);
            }
            lines.next().unwrap_or_default()
        };
        match line.strip_prefix('@').and_then(|edit| edit.split_once(' ')) {
            _ if line.is_empty() => true_answer(engine, part, request),
            Some((place, value)) => {
                let answer = true_answer(engine, part, request)?;
                Ok(with_value(&String::from_utf8_lossy(&answer), place.parse().unwrap_or(0), value).into_bytes())
            }
            None => Ok(line.as_bytes().to_vec()),
        }
    }
}

impl AskShards for HostileShards<'_> {
    fn ask(
        &self,
        part: &'static str,
        request: &(dyn Fn(usize) -> Option<Value> + Sync),
    ) -> Result<Vec<Option<Vec<u8>>>, QuestionError> {
        let of_shard = |(shard, engine): (usize, &Engine)| {
            request(shard).map(|request| self.answer(engine, part, request)).transpose()
        };
        engines().iter().enumerate().map(of_shard).collect()
    }
}

/// JSON with another text in the place of the number or the quoted text that is counted by `place`.
fn with_value(json: &str, place: usize, value: &str) -> String {
    let bytes = json.as_bytes();
    let (mut places, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let from = at;
        at += 1;
        if bytes[from] == b'"' {
            while at < bytes.len() && bytes[at] != b'"' {
                at += if bytes[at] == b'\\' { 2 } else { 1 };
            }
            at = (at + 1).min(bytes.len());
        } else if bytes[from] == b'-' || bytes[from].is_ascii_digit() {
            at += bytes[at..].iter().take_while(|byte| byte.is_ascii_digit() || b".eE+-".contains(byte)).count();
        } else {
            continue;
        }
        places.push(from..at);
    }
    match places.is_empty() {
        true => value.to_owned(),
        false => {
            let range = places[place % places.len()].clone();
            format!("{}{value}{}", &json[..range.start], &json[range.end..])
        }
    }
}

/// A question to a gateway: the first line is the question, as in the target `questions`, and each further line the answer
/// of a shard to the next part. An empty line is the true answer, and `@N text` the true one with `text` as its Nth value.
pub fn answer(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (question, answers) = text.split_once('\n').unwrap_or((text, ""));
    let Some((question, values)) = queries::parsed(question) else { return };
    let ask = HostileShards(Mutex::new((answers.lines(), 0)));
    let Ok(schemas) = ask.ask("schema", &|_| Some(json!({ "part": {} }))) else { return };
    let Ok(schema) = merged_schema(&schemas) else { return };
    let shards = Shards { ask: &ask, schema: &schema, generation: 1, number: 2, coverage: None };
    let _ = (question.answer)(values, &QuestionContext { shards: Some(shards), ..context(nothing()) });
}

/// A request to a shard: the name of a part, and its JSON in the next line.
pub fn request(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (part, request) = text.split_once('\n').unwrap_or((text, ""));
    if let Ok(request) = serde_json::from_str(request) {
        let _ = true_answer(&engines()[0], part, request);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_of_json_is_replaced_by_its_number() {
        let json = r#"{"a\"b":[1,-2.5e3],"c":"d"}"#;
        assert_eq!(with_value(json, 0, "x"), r#"{x:[1,-2.5e3],"c":"d"}"#);
        assert_eq!(with_value(json, 1, "9"), r#"{"a\"b":[9,-2.5e3],"c":"d"}"#);
        assert_eq!(with_value(json, 2, "9"), r#"{"a\"b":[1,9],"c":"d"}"#);
        assert_eq!(with_value(json, 9, "null"), r#"{"a\"b":[1,-2.5e3],"c":null}"#);
    }

    #[test]
    fn true_answers_give_an_answer() {
        let (question, values) = queries::parsed("count?q=storm").unwrap();
        let ask = HostileShards(Mutex::new(("".lines(), 0)));
        let schemas = ask.ask("schema", &|_| Some(json!({ "part": {} }))).unwrap();
        let schema = merged_schema(&schemas).unwrap();
        let shards = Shards { ask: &ask, schema: &schema, generation: 1, number: 2, coverage: None };
        let context = QuestionContext { shards: Some(shards), ..context(nothing()) };
        let answer = (question.answer)(values, &context);
        assert_eq!(answer.unwrap().body["hits"], 16);
    }
}
