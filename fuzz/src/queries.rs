//! What clients ask: CQL, filters, questions with their parameters.

use std::sync::OnceLock;
use std::time::Duration;

use serde_json::{Map, Value};
use tidings_query::engine::{Engine, Limits};
use tidings_query::question::{QUESTIONS, QuestionContext, QuestionInfo};
use tidings_query::{Filter, cql, translate};

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

/// The query languages of other tools: the first byte chooses one, and what is translated is a query or a filter of ours.
pub fn translate(bytes: &[u8]) {
    let Some((kind, text)) = bytes.split_first() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    // Regular expressions keep their text, so that the only errors are about them, their size or the depth of the query.
    let check = |query: String| {
        if let Err(error) = cql::parse(&query) {
            drop(error.render(&query));
        }
    };
    match kind % 3 {
        0 => drop(translate::contextual::translate(text).map(check)),
        1 => drop(translate::fcs_ql::translate(text).map(check)),
        _ => {
            let found = translate::collection::translate(text, &["genre"]);
            if let Ok(Some(filter)) = found.map(|found| found.filter)
                && let Err(error) = filter.parse::<Filter>()
            {
                drop(error.render(&filter));
            }
        }
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
