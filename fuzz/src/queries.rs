//! What clients ask: CQL, filters, questions with their parameters.

use std::sync::OnceLock;
use std::time::Duration;

use serde_json::{Map, Value};
use tidings_query::engine::{Engine, Limits};
use tidings_query::question::{QUESTIONS, QuestionContext, QuestionInfo};
use tidings_query::{Filter, cql};

use crate::{index, scratch};

/// CQL: a query that is printed and parsed again is the same.
pub fn cql(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match cql::parse(text) {
        Ok(query) => assert_eq!(cql::parse(&query.to_string()).as_ref(), Ok(&query)),
        Err(error) => drop(error.render(text)),
    }
}

/// Filters of documents, likewise.
pub fn filter(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(filter) = text.parse::<Filter>() {
        assert_eq!(filter.to_string().parse::<Filter>(), Ok(filter));
    }
}

fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| {
        let folder = scratch::folder().join("corpus");
        std::fs::create_dir_all(&folder).expect("the temporary folder can be written");
        Engine::new(tidings_index::build(&folder, &index::documents()).expect("a small index is built"))
    })
}

/// The name of a question, a question mark and its parameters.
pub(crate) fn parsed(text: &str) -> Option<(&'static QuestionInfo, Map<String, Value>)> {
    let (name, parameters) = text.split_once('?').unwrap_or((text, ""));
    let question = QUESTIONS.iter().find(|question| question.name == name)?;
    let known = (question.parameters)();
    let mut values = Map::new();
    for (name, value) in url::form_urlencoded::parse(parameters.as_bytes()) {
        let parameter = known.iter().find(|parameter| parameter.name == *name)?;
        values.insert(name.into_owned(), parameter.parse(&value).ok()?);
    }
    Some((question, values))
}

/// Questions of the API, answered over a small corpus.
pub fn question(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Some((question, values)) = parsed(text) else { return };
    let Ok((canonical, _)) = (question.canonical)(values.clone()) else { return };
    if let Value::Object(canonical) = canonical {
        let again = (question.canonical)(canonical.clone()).map(|(value, _)| value);
        assert_eq!(again.ok().as_ref().and_then(|value| value.as_object()), Some(&canonical), "{text}");
    }
    let limits = Limits::within(Duration::from_secs(1));
    let context =
        QuestionContext { limits: limits.clone(), vocabulary_limits: limits, ..QuestionContext::new(engine(), "en") };
    let _ = (question.answer)(values, &context);
}
