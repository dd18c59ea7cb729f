//! Sentences of each language with the tokens that they have: `languages/CODE/fixtures.tsv`.
//!
//! A row is a text, then a column for each of its sentences, tokens parted by blanks; `_` stands
//! for a blank inside a token.

use std::fs;
use std::path::Path;

use tidings_annotate::Segmenter;

#[test]
fn languages_are_cut_as_their_fixtures_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../languages");
    let mut wrong = Vec::new();
    let mut rows = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let Ok(fixtures) = fs::read_to_string(path.join("fixtures.tsv")) else { continue };
        let code = path.file_name().unwrap().to_str().unwrap();
        let segmenter = Segmenter::for_language(code);
        for row in fixtures.lines() {
            let (text, wanted) = row.split_once('\t').expect("a text and its sentences");
            let found = segmenter.segment(text);
            let joined = |word: &str| word.replace(' ', "_");
            let sentences = found.iter().map(|sentence| sentence.words(text).map(joined).collect::<Vec<_>>().join(" "));
            let found = sentences.collect::<Vec<_>>().join("\t");
            // A hashtag or an address may have a `_` of its own.
            if found != wanted {
                wrong.push(format!("{code}\n  wanted {wanted}\n  found  {found}"));
            }
            rows += 1;
        }
    }
    assert!(rows >= 30, "only {rows} rows");
    assert!(wrong.is_empty(), "{} of {rows} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}
