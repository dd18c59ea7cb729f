//! Segments from memory and from merges, against each other and against the documents themselves.

use std::path::PathBuf;

use proptest::prelude::*;
use tempfile::TempDir;
use tidings_model::{Annotated, AnnotatedParagraph, Attributes, Token};

use super::*;
use crate::codec::{BitSet, bit};
use crate::error::Error;
use crate::lexicon::{Interner, Lexicon};
use crate::support::corpus;
use tidings_model::Day;

/// A folder in which segments of one lexicon are written.
struct Bench {
    folder: TempDir,
    interner: Interner,
    files: usize,
}

impl Bench {
    fn new() -> Bench {
        Bench { folder: tempfile::tempdir().expect("a folder"), interner: Interner::new(Lexicon::default()), files: 0 }
    }

    fn path(&mut self) -> PathBuf {
        self.files += 1;
        self.folder.path().join(format!("{}.segment", self.files))
    }

    fn build(&mut self, documents: &[Annotated]) -> Segment {
        let mut batch = Batch::default();
        documents.iter().for_each(|document| batch.add(document, &mut self.interner).expect("added"));
        let path = self.path();
        batch.write(&path).expect("written");
        Segment::open(&path).expect("opened")
    }

    fn merge(&mut self, sources: &[(&Segment, &BitSet)]) -> Segment {
        let path = self.path();
        let sources: Vec<MergeSource<'_>> =
            sources.iter().map(|(segment, deleted)| MergeSource { segment, deleted }).collect();
        merge(&sources, &path).expect("merged");
        Segment::open(&path).expect("opened")
    }
}

fn none() -> BitSet {
    BitSet::default()
}

fn file_bytes(segment: &Segment) -> Vec<u8> {
    std::fs::read(segment.file_path()).expect("read")
}

/// Documents with these token counts, on the given days, of one word each.
fn plain(documents: &[(i32, usize)]) -> Vec<Annotated> {
    let document = |(index, (day, tokens)): (usize, &(i32, usize))| {
        let token = Token { word: "w".into(), space_after: true, ..Token::default() };
        let date = Day(*day).to_string();
        Annotated {
            about: Attributes { id: index as u128, seen: date.clone(), date, ..Attributes::default() },
            paragraphs: vec![AnnotatedParagraph { sentences: vec![vec![token; *tokens]], ..Default::default() }],
            ..Annotated::default()
        }
    };
    documents.iter().enumerate().map(document).collect()
}

/// Random partition of documents into at most `pieces` runs.
fn pieces(documents: &[Annotated], pieces: usize) -> Vec<&[Annotated]> {
    documents.chunks(documents.len().div_ceil(pieces).max(1)).collect()
}

/// Checks every derived structure against the token column.
fn check_consistency(segment: &Segment) {
    let lexemes: Vec<u32> = (0..segment.tokens()).map(|position| segment.lexeme_at(position)).collect();
    for (local_id, lexeme) in (0..).zip(segment.lexemes().all()) {
        let mut listed = Vec::new();
        segment.postings(local_id).read(0, u32::MAX, &mut listed);
        let expected: Vec<u32> = (0..).zip(&lexemes).filter(|(_, known)| *known == lexeme).map(|(at, _)| at).collect();
        assert_eq!(listed, expected, "posting list of lexeme {lexeme}");
        assert_eq!(segment.frequencies().all()[local_id as usize] as usize, expected.len());
        assert_eq!(segment.local_id(*lexeme), Some(local_id));
        if let Some(counts) = segment.day_counts(local_id) {
            for day in 0..segment.days() {
                let tokens = segment.tokens_in(segment.documents_of_day(day));
                let hits: Vec<u32> = expected.iter().copied().filter(|at| tokens.contains(at)).collect();
                let mut documents: Vec<u32> = hits.iter().map(|at| segment.document_at(*at)).collect();
                documents.dedup();
                assert_eq!((counts.hits(day), counts.documents(day)), (hits.len() as u32, documents.len() as u32));
            }
        }
    }
    for document in 0..segment.meta().documents {
        for position in segment.tokens_of(document) {
            assert_eq!(segment.document_at(position), document);
            assert_eq!(segment.document_from(document / 2, position), document);
        }
    }
}

#[test]
fn an_empty_batch_is_an_empty_segment() {
    let segment = Bench::new().build(&[]);
    assert_eq!((segment.tokens(), segment.meta().documents, segment.days()), (0, 0, 0));
    assert_eq!(segment.documents_between(Day(i32::MIN), Day(i32::MAX)), 0..0);
    assert!(segment.field("site").is_none() && segment.local_id(0).is_none());
    segment.each_text(|_, _, _| panic!("there is no document")).expect("sound");
    segment.verify().expect("sound");
}

#[test]
fn documents_without_tokens_keep_their_numbers() {
    let mut bench = Bench::new();
    let segment = bench.build(&plain(&[(3, 0), (3, 2), (3, 0), (4, 0)]));
    assert_eq!(segment.starts(), [0, 0, 2, 2, 2]);
    assert_eq!((segment.document_at(0), segment.document_at(1)), (1, 1));
    let again = bench.merge(&[(&segment, &none())]);
    assert_eq!(file_bytes(&again), file_bytes(&segment));
}

#[test]
fn documents_are_sorted_by_day_and_then_by_insertion() {
    let segment = Bench::new().build(&plain(&[(9, 1), (2, 1), (9, 1), (-5, 1), (2, 1)]));
    assert_eq!(segment.ids().all(), [3, 1, 4, 0, 2]);
    assert_eq!(
        (0..3).map(|day| (segment.day(day).0, segment.documents_of_day(day))).collect::<Vec<_>>(),
        [(-5, 0..1), (2, 1..3), (9, 3..5)]
    );
    assert_eq!((segment.meta().first_day, segment.meta().last_day), (-5, 9));
}

#[test]
fn periods_are_ranges_of_documents_and_tokens() {
    let segment = Bench::new().build(&plain(&[(1, 2), (3, 3), (3, 1), (7, 4)]));
    let between = |first, last| segment.documents_between(Day(first), Day(last));
    assert_eq!((between(1, 7), between(2, 2), between(3, 3), between(4, 99)), (0..4, 1..1, 1..3, 3..4));
    assert!(between(7, 1).is_empty());
    assert_eq!((segment.tokens_in(1..3), segment.tokens_in(2..2)), (2..6, 0..0));
    assert_eq!((segment.day_index(0), segment.day_index(3), segment.day_of(2)), (0, 2, Day(3)));
}

#[test]
fn a_document_without_any_day_is_refused_by_name() {
    let mut document = plain(&[(1, 1)]).remove(0);
    (document.about.date, document.about.seen, document.about.url) =
        ("soon".into(), String::new(), "http://e/1".into());
    let error = Batch::default().add(&document, &mut Interner::new(Lexicon::default())).expect_err("undated");
    assert!(matches!(error, Error::Undated { .. }));
    assert!(error.to_string().contains("http://e/1") && error.to_string().contains("soon"), "{error}");
}

#[test]
fn the_first_seen_day_replaces_a_missing_date() {
    let mut documents = plain(&[(1, 1), (1, 1)]);
    (documents[0].about.date, documents[0].about.seen) = (String::new(), Day(5).to_string());
    documents[1].about.seen = String::new();
    let segment = Bench::new().build(&documents);
    assert_eq!((segment.day_of(0), segment.seen(0)), (Day(1), Day(1)));
    assert_eq!((segment.day_of(1), segment.seen(1)), (Day(5), Day(5)));
}

#[test]
fn counts_by_day_are_stored_for_frequent_lexemes_only() {
    let mut bench = Bench::new();
    let frequent = bench.build(&plain(&[(1, 300), (1, 100), (4, 112)]));
    let counts = frequent.day_counts(0).expect("512 hits");
    assert_eq!([0, 1].map(|day| (counts.hits(day), counts.documents(day))), [(400, 2), (112, 1)]);
    check_consistency(&frequent);
    let rare = bench.build(&plain(&[(1, 511)]));
    assert!(rare.day_counts(0).is_none());
}

#[test]
fn merged_counts_by_day_are_those_of_all_documents() {
    let mut bench = Bench::new();
    let documents = plain(&[(1, 300), (2, 300), (2, 300), (3, 0), (9, 5)]);
    let (a, b) = (bench.build(&documents[..2]), bench.build(&documents[2..]));
    let merged = bench.merge(&[(&a, &none()), (&b, &none())]);
    assert!(merged.day_counts(0).is_some());
    check_consistency(&merged);
    // Without the document of 300 tokens the lexeme is still frequent; without two it is not.
    let mut deleted = BitSet::new(2);
    deleted.set(0);
    check_consistency(&bench.merge(&[(&a, &deleted), (&b, &none())]));
    deleted.set(1);
    assert!(bench.merge(&[(&a, &deleted), (&b, &none())]).day_counts(0).is_none());
}

#[test]
fn spacing_follows_the_majority_with_exceptions() {
    let mut bench = Bench::new();
    let token = |word: &str, space_after| Token { word: word.into(), space_after, ..Token::default() };
    let mut document = plain(&[(1, 0)]).remove(0);
    // "x," three times without and once with a space before the comma; "y" half and half.
    let sentence = [("x", false), (",", true), ("x", false), (",", false), ("y", true), ("x", false), (",", true)];
    let sentence: Vec<Token> = sentence
        .into_iter()
        .chain([("x", true), (",", true), ("y", true)])
        .map(|(word, space)| token(word, space))
        .collect();
    let expected: Vec<bool> = std::iter::once(false).chain(sentence.iter().map(|token| !token.space_after)).collect();
    document.paragraphs[0].sentences = vec![sentence];
    let segment = bench.build(&[document]);
    let spacing = |segment: &Segment| (0..segment.tokens()).map(|at| segment.no_space_before(at)).collect::<Vec<_>>();
    assert_eq!(spacing(&segment), expected[..10]);
    assert_eq!(segment.meta().spacing_exceptions, 2);
    let mut each = Vec::new();
    segment.each_no_space_before(0..10, |position| each.push(position));
    assert_eq!(each, (0..10).filter(|at| expected[*at as usize]).collect::<Vec<_>>());
    assert_eq!(spacing(&bench.merge(&[(&segment, &none())])), expected[..10]);
}

#[test]
fn sentences_end_where_the_next_begins_or_the_document_ends() {
    let mut documents = plain(&[(1, 3), (1, 2)]);
    let more = documents[0].paragraphs[0].sentences[0].clone();
    documents[0].paragraphs[0].sentences.push(more);
    let segment = Bench::new().build(&documents);
    let sentence = |position, document| segment.sentence_of(position, &segment.tokens_of(document));
    assert_eq!((sentence(0, 0), sentence(2, 0), sentence(3, 0), sentence(7, 1)), (0..3, 0..3, 3..6, 6..8));
    assert!(bit(segment.sentence_bits(), 6) && !bit(segment.sentence_bits(), 7));
}

#[test]
fn fields_that_some_documents_lack_are_empty_there() {
    let mut documents = plain(&[(1, 1), (1, 1), (2, 1)]);
    documents[1].about.fields = vec![("site".to_owned(), "b".to_owned())];
    documents[2].about.fields = vec![("topic".to_owned(), "a\nb".to_owned()), ("site".to_owned(), "a".to_owned())];
    let mut bench = Bench::new();
    let segment = bench.build(&documents);
    let values = |segment: &Segment, name: &str| {
        (0..3).map(|document| segment.field(name).expect("known").of(document).to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        (values(&segment, "site"), values(&segment, "topic")),
        (vec!["".into(), "b".into(), "a".into()], vec!["".into(), "".into(), "a b".into()])
    );
    let (a, b) = (bench.build(&documents[..1]), bench.build(&documents[1..]));
    let merged = bench.merge(&[(&a, &none()), (&b, &none())]);
    assert_eq!(values(&merged, "site"), values(&segment, "site"));
    assert!(merged.field("author").is_none());
    let field = merged.field("site").expect("known");
    assert_eq!((field.count(), field.value(0), field.value(99)), (3, "", ""));
}

#[test]
fn merging_nothing_and_merging_only_deleted_documents_is_empty() {
    let mut bench = Bench::new();
    assert_eq!(bench.merge(&[]).meta().documents, 0);
    let segment = bench.build(&corpus(1, 9));
    let mut all = BitSet::new(9);
    all.set_range(0..9);
    let merged = bench.merge(&[(&segment, &all)]);
    assert_eq!((merged.tokens(), merged.meta().documents, merged.meta().lexemes), (0, 0, 0));
    merged.verify().expect("sound");
}

#[test]
fn texts_of_more_than_a_block_of_documents_are_found() {
    let mut bench = Bench::new();
    let documents = corpus(3, 200);
    let segment = bench.build(&documents);
    let mut seen = 0;
    segment
        .each_text(|document, url, title| {
            assert_eq!(segment.address_and_title(document).expect("sound"), (url.to_owned(), title.to_owned()));
            seen += 1;
        })
        .expect("sound");
    assert_eq!(seen, 200);
    assert!(segment.document(200).is_ok_and(|view| view.url.is_empty()) || segment.document(200).is_err());
}

#[test]
fn a_segment_of_a_newer_format_or_another_kind_is_refused_by_name() {
    let mut bench = Bench::new();
    let segment = bench.build(&plain(&[(1, 1)]));
    let (path, sound) = (segment.file_path().to_owned(), file_bytes(&segment));
    let mut newer = sound.clone();
    newer[16] = 9;
    std::fs::write(&path, newer).expect("written");
    let error = Segment::open(&path).expect_err("newer").to_string();
    assert!(error.contains("newer Tidings (format 9, "), "{error}");
    std::fs::write(&path, b"tidings lexicon\nxxxxxxxxxxxxxxxxxxxxx").expect("written");
    assert!(matches!(Segment::open(&path), Err(Error::Foreign { .. })));
}

#[test]
fn a_segment_truncated_anywhere_does_not_open() {
    let mut bench = Bench::new();
    let segment = bench.build(&corpus(2, 12));
    let (path, sound) = (segment.file_path().to_owned(), file_bytes(&segment));
    for len in (0..sound.len()).step_by(7) {
        std::fs::write(&path, &sound[..len]).expect("written");
        assert!(Segment::open(&path).is_err(), "{len} of {} bytes", sound.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_merge_of_segments_is_the_segment_of_all_documents(seed: u64, count in 0usize..60, parts in 1usize..7) {
        let mut bench = Bench::new();
        let documents = corpus(seed, count);
        let whole = bench.build(&documents);
        let segments: Vec<Segment> = pieces(&documents, parts).into_iter().map(|piece| bench.build(piece)).collect();
        let none = none();
        let merged = bench.merge(&segments.iter().map(|segment| (segment, &none)).collect::<Vec<_>>());
        check_consistency(&merged);
        prop_assert_eq!(merged.meta(), whole.meta());
        prop_assert!(file_bytes(&merged) == file_bytes(&whole), "other bytes");
    }

    #[test]
    fn a_merge_without_deleted_documents_is_the_segment_of_the_others(seed: u64, count in 1usize..60, parts in 1usize..5) {
        let mut bench = Bench::new();
        let documents = corpus(seed, count);
        let is_deleted = |id: u128| (seed ^ id as u64).is_multiple_of(3);
        let segments: Vec<Segment> = pieces(&documents, parts).into_iter().map(|piece| bench.build(piece)).collect();
        let deleted: Vec<BitSet> = segments.iter().map(|segment| {
            let mut deleted = BitSet::new(segment.ids().len());
            (0..).zip(segment.ids().all()).filter(|(_, id)| is_deleted(**id)).for_each(|(document, _)| deleted.set(document));
            deleted
        }).collect();
        let kept: Vec<Annotated> = documents.into_iter().filter(|document| !is_deleted(document.about.id)).collect();
        let merged = bench.merge(&segments.iter().zip(&deleted).collect::<Vec<_>>());
        let whole = bench.build(&kept);
        check_consistency(&merged);
        prop_assert_eq!(merged.ids().all(), whole.ids().all());
        prop_assert_eq!(merged.lexemes().all(), whole.lexemes().all());
        prop_assert_eq!(merged.frequencies().all(), whole.frequencies().all());
        prop_assert_eq!(merged.starts(), whole.starts());
        for document in 0..whole.meta().documents {
            prop_assert_eq!(merged.document(document).expect("sound").url, whole.document(document).expect("sound").url);
        }
    }

    #[test]
    fn merging_is_associative(seed: u64, count in 3usize..60) {
        let mut bench = Bench::new();
        let documents = corpus(seed, count);
        let segments: Vec<Segment> = pieces(&documents, 3).into_iter().map(|piece| bench.build(piece)).collect();
        let [a, b, c] = &segments[..] else { return Ok(()) };
        let none = none();
        let left = bench.merge(&[(a, &none), (b, &none)]);
        let right = bench.merge(&[(b, &none), (c, &none)]);
        let left_first = bench.merge(&[(&left, &none), (c, &none)]);
        let right_first = bench.merge(&[(a, &none), (&right, &none)]);
        let at_once = bench.merge(&[(a, &none), (b, &none), (c, &none)]);
        prop_assert!(file_bytes(&left_first) == file_bytes(&at_once), "left first");
        prop_assert!(file_bytes(&right_first) == file_bytes(&at_once), "right first");
    }

    #[test]
    fn a_damaged_segment_is_not_merged(seed: u64) {
        let mut bench = Bench::new();
        let mut random = fastrand::Rng::with_seed(seed);
        let sound = bench.build(&[corpus(seed, 20), plain(&[(20_001, 400), (20_003, 200)])].concat());
        let other = bench.build(&corpus(seed ^ 1, 20));
        let bytes = file_bytes(&sound);
        for _ in 0..12 {
            let mut damaged = bytes.clone();
            let at = random.usize(..damaged.len());
            damaged[at] ^= 1 << random.u8(..8);
            let path = bench.path();
            std::fs::write(&path, &damaged).expect("written");
            let Ok(segment) = Segment::open(&path) else { continue };
            let (target, none) = (bench.path(), none());
            let sources = [&segment, &other].map(|segment| MergeSource { segment, deleted: &none });
            // Without the check, damage would be copied and get valid digests.
            prop_assert_eq!(merge(&sources, &target).is_ok(), segment.verify().is_ok());
        }
    }
}
