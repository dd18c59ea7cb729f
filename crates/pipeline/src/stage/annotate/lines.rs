//! `annotate` outside a home: lines of documents → sentences of tokens, for programs that keep documents themselves.
//!
//! The tokens equal those that the stage writes to `text/`. Marks that `tidings dedup --marks` added to a line are
//! obeyed: duplicate paragraphs and sentences are left out.

use std::collections::HashMap;
use std::ops::Range;

use serde::Deserialize;
use tidings_annotate::{Annotators, annotate, enrich};
use tidings_dedup::{Level, Rule, Text};
use tidings_model::{Annotated, Document};

use super::is_within;
use crate::guard::guarded;
use crate::lines::PANICKED;

/// A document after annotation.
#[derive(Debug, Clone, PartialEq)]
pub struct AnnotatedLine {
    /// Its id.
    pub id: String,
    /// Its URL.
    pub url: String,
    /// The host that published it.
    pub site: String,
    /// The day of publication, else that of the download, `YYYY-MM-DD`.
    pub day: String,
    /// Its language code.
    pub language: String,
    /// Its sentences.
    pub annotated: Annotated,
}

/// The marks of duplicates in a line.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Marks {
    marks: Vec<Mark>,
    sentence_marks: Vec<Mark>,
}

#[derive(Deserialize)]
struct Mark {
    kept: bool,
}

/// Annotates a line of `docs/`, also one with marks.
pub fn annotate_line(line: &[u8], annotators: &Annotators) -> Result<AnnotatedLine, String> {
    guarded(|| annotated(line, annotators)).unwrap_or_else(|_| Err(PANICKED.to_owned()))
}

fn annotated(line: &[u8], annotators: &Annotators) -> Result<AnnotatedLine, String> {
    let not_a_document = |error: serde_json::Error| format!("not a document: {error}");
    let document: Document = serde_json::from_slice(line).map_err(not_a_document)?;
    let duplicates = match memchr::memmem::find(line, b"marks\":") {
        Some(_) => duplicates(&document, &serde_json::from_slice(line).map_err(not_a_document)?),
        None => HashMap::new(),
    };
    let is_new = |paragraph: usize, span: Range<usize>| {
        !duplicates.get(&paragraph).is_some_and(|units: &Vec<(u64, u64)>| is_within(&span, units))
    };
    let published = document.dated.as_ref().map(|dated| dated.day.clone());
    let (id, url, site) = (document.id.clone(), document.url.clone(), document.site.clone());
    let day = published.unwrap_or_else(|| document.downloaded.get(..10).unwrap_or_default().to_owned());
    let (language, imported) = (document.language_code(), document.imported_layers());
    let mut documents = [(language.clone(), annotate(document, &[], is_new))];
    enrich(&mut documents, &[imported], annotators).map_err(|error| error.to_string())?;
    let [(_, annotated)] = documents;
    Ok(AnnotatedLine { id, url, site, day, language, annotated })
}

/// The inclusive byte ranges of duplicates in each paragraph, ascending.
fn duplicates(document: &Document, marks: &Marks) -> HashMap<usize, Vec<(u64, u64)>> {
    let mut duplicates: HashMap<usize, Vec<(u64, u64)>> = HashMap::new();
    if marks.sentence_marks.iter().any(|mark| !mark.kept) {
        let rule = Rule { levels: Level::Sentence.into(), ..Rule::default() };
        let text = Text::new(document.paragraphs.iter().map(|paragraph| &*paragraph.text), &rule);
        let sentences = (0..document.paragraphs.len()).flat_map(|paragraph| text.sentences_of(paragraph));
        for (at, _) in sentences.zip(&marks.sentence_marks).filter(|(_, mark)| !mark.kept) {
            let (paragraph, bytes) = text.sentence(at);
            duplicates.entry(paragraph).or_default().push((bytes.start as u64, bytes.end as u64));
        }
    }
    for (paragraph, _) in marks.marks.iter().enumerate().filter(|(_, mark)| !mark.kept) {
        duplicates.insert(paragraph, vec![(0, u64::MAX)]);
    }
    duplicates
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use tidings_model::Token;

    fn words(line: &serde_json::Value) -> Vec<String> {
        let line = annotate_line(line.to_string().as_bytes(), &Annotators::none()).unwrap();
        line.annotated.tokens().map(|Token { word, .. }| word.to_string()).collect()
    }

    #[test]
    fn marked_paragraphs_and_sentences_are_left_out() {
        let mut document = json!({
            "id": "1", "url": "http://e.org/1", "site": "e.org", "language": "en",
            "paragraphs": [{"kind": "p", "text": "Rain fell. Snow came."}, {"kind": "p", "text": "The sun set."}],
        });
        assert_eq!(words(&document).len(), 10);
        document["marks"] = json!([{"kept": true}, {"kept": false}]);
        assert_eq!(words(&document), ["Rain", "fell", ".", "Snow", "came", "."]);
        document["sentence_marks"] = json!([{"kept": false}, {"kept": true}, {"kept": false}]);
        assert_eq!(words(&document), ["Snow", "came", "."]);
    }

    #[test]
    fn the_day_is_that_of_publication_else_of_the_download() {
        let line = |more: &str| format!(r#"{{"id":"1","downloaded":"2026-03-02T01:00:00Z"{more},"paragraphs":[]}}"#);
        let day = |line: String| annotate_line(line.as_bytes(), &Annotators::none()).unwrap().day;
        assert_eq!(day(line("")), "2026-03-02");
        assert_eq!(day(line(r#","dated":{"day":"2026-03-01","source":"meta","confidence":1}"#)), "2026-03-01");
        assert!(annotate_line(b"[]", &Annotators::none()).unwrap_err().starts_with("not a document"));
    }
}
