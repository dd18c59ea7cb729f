//! All data of a document as one line of JSON: its record in `docs/` and its text as one string.

use serde::Serialize;
use tidings_model::Document;

#[derive(Serialize)]
struct Whole<'a> {
    #[serde(flatten)]
    document: &'a Document,
    text: String,
}

pub(crate) fn write(document: &Document) -> String {
    let whole = Whole { document, text: document.text() };
    serde_json::to_string(&whole).expect("documents serialise") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_document_survives_writing_and_reading() {
        let article = sample::article();
        let line = write(&article);
        assert_eq!(serde_json::from_str::<Document>(&line).unwrap(), article);
        assert_eq!(line.matches('\n').count(), 1);
        let value: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert!(value["text"].as_str().unwrap().contains("for three days."));
    }
}
