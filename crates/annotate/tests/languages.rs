//! Segmentation fixtures of each language: `languages/CODE/fixtures.tsv`.
//!
//! A row is a text, then one column per sentence with its tokens separated by spaces; `_` stands
//! for a space inside a token.

use std::fs;
use std::path::Path;

use tidings_annotate::Segmenter;

#[test]
fn segmentation_matches_the_fixtures() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../languages");
    let mut wrong = Vec::new();
    let mut rows = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let Ok(fixtures) = fs::read_to_string(path.join("fixtures.tsv")) else { continue };
        let code = path.file_name().unwrap().to_str().unwrap();
        let segmenter = Segmenter::for_language(code);
        for row in fixtures.lines() {
            let (text, expected) = row.split_once('\t').expect("a text and its sentences");
            let found = segmenter.segment(text);
            let joined = |word: &str| word.replace(' ', "_");
            let sentences = found.iter().map(|sentence| sentence.words(text).map(joined).collect::<Vec<_>>().join(" "));
            let found = sentences.collect::<Vec<_>>().join("\t");
            // Hashtags and URLs may contain `_` themselves.
            if found != expected {
                wrong.push(format!("{code}\n  expected {expected}\n  found    {found}"));
            }
            rows += 1;
        }
    }
    assert!(rows >= 30, "only {rows} rows");
    assert!(wrong.is_empty(), "{} of {rows} differ:\n{}", wrong.len(), wrong.join("\n"));
}
