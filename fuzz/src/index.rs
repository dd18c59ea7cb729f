//! Files of an index: manifest, lexicon and segments.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tidings_index::{Snapshot, segment::LocalLexemeId};
use tidings_model::{
    Annotated, AnnotatedParagraph, Attributes, LayerColumn, LayerDeclaration, LayerKind, Token, TokenSpan,
};

use crate::scratch;

/// Documents of a small corpus: two sites, four days, a few words.
pub fn documents() -> Vec<Annotated> {
    (0..8).map(document).collect()
}

fn document(number: u128) -> Annotated {
    let nouns = ["coast", "town", "island", "river"];
    let noun = nouns[number as usize % nouns.len()];
    let sentence = || {
        vec![
            Token::new("The", "the", "DET"),
            Token::new("heavy", "heavy", "ADJ"),
            Token::new("storm", "storm", "NOUN"),
            Token::new("hit", "hit", "VERB"),
            Token::new("the", "the", "DET"),
            Token::new(noun, noun, "NOUN"),
            Token::new(".", ".", "PUNCT"),
        ]
    };
    let site = ["a.example", "b.example"][number as usize % 2];
    let date = format!("2026-03-0{}", 1 + number / 2);
    Annotated {
        about: Attributes {
            id: number + 1,
            url: format!("https://{site}/{number}"),
            title: format!("Storm {number}"),
            date: date.clone(),
            seen: date,
            fields: vec![("site".to_owned(), site.to_owned())],
        },
        paragraphs: vec![AnnotatedParagraph {
            sentences: vec![sentence(), sentence()],
            ..AnnotatedParagraph::default()
        }],
        columns: vec![LayerColumn {
            layer: LayerDeclaration { name: "syllables".to_owned(), kind: LayerKind::Number, origin: String::new() },
            values: (0..14).map(|token| (token % 3).to_string()).collect(),
        }],
        spans: vec![
            TokenSpan::new("quote", 0, 7).with("speaker", site),
            TokenSpan::new("ne", 4, 6).with("name", noun).with("type", "LOC"),
        ],
    }
}

/// The files of a small index, in the order of their names.
pub fn files() -> &'static [(PathBuf, Vec<u8>)] {
    static FILES: OnceLock<Vec<(PathBuf, Vec<u8>)>> = OnceLock::new();
    FILES.get_or_init(|| {
        let folder = tempfile::tempdir().expect("the temporary folder can be written");
        tidings_index::build(folder.path(), &documents()).expect("a small index is built");
        let mut files: Vec<(PathBuf, Vec<u8>)> = fs::read_dir(folder.path())
            .expect("it was just made")
            .filter_map(|entry| Some(entry.ok()?.path()).filter(|path| path.is_file()))
            .map(|path| (path.file_name().expect("a file").into(), fs::read(&path).expect("it was just written")))
            .collect();
        files.sort();
        files
    })
}

/// One file of an index replaced by the input; the first byte chooses it. It is refused, or everything in it can be read
/// without a panic; wrong answers are what digests are for.
pub fn segment(bytes: &[u8]) {
    let Some((first, replacement)) = bytes.split_first() else { return };
    let files = files();
    let replaced = *first as usize % files.len();
    let folder = scratch::file("marker", b"").with_file_name("index");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the temporary folder can be written");
    for (at, (name, bytes)) in files.iter().enumerate() {
        let bytes = if at == replaced { replacement } else { bytes };
        fs::write(folder.join(name), bytes).expect("the temporary folder can be written");
    }
    read_all(&folder);
}

fn read_all(folder: &Path) {
    let Ok(snapshot) = Snapshot::open(folder) else { return };
    let _ = snapshot.verify();
    for (number, live) in snapshot.segments().iter().enumerate() {
        let segment = live.segment();
        for document in 0..segment.meta().documents.min(16) {
            let _ = snapshot.annotated(number, document);
            let _ = segment.document(document);
            let _ = segment.address_and_title(document);
        }
        for local_id in 0..segment.lexemes().len().min(16) {
            let local_id = local_id as LocalLexemeId;
            let _ = segment.postings(local_id);
            let _ = segment.day_counts(local_id).map(|counts| (counts.hits(0), counts.documents(0)));
        }
    }
}
