use super::*;
use crate::support::{by_day, contents, corpus, with_layers};
use crate::{Settings, Writer, build};

fn files(folder: &Path, ending: &str) -> Vec<std::path::PathBuf> {
    let all = std::fs::read_dir(folder).expect("listed").map(|entry| entry.expect("an entry").path());
    let mut found: Vec<_> = all.filter(|path| path.extension().is_some_and(|known| known == ending)).collect();
    found.sort();
    found
}

fn flip(path: &Path, at: usize) {
    let mut bytes = std::fs::read(path).expect("read");
    bytes[at] ^= 1;
    std::fs::write(path, bytes).expect("written");
}

#[test]
fn a_folder_without_an_index_says_so_with_a_remedy() {
    let folder = tempfile::tempdir().expect("a folder");
    let error = Snapshot::open(folder.path()).expect_err("nothing there");
    assert!(matches!(error, Error::NoIndex { .. }));
    assert!(error.to_string().contains("tidings compile"), "{error}");
}

#[test]
fn a_snapshot_counts_its_documents_and_tokens() {
    let folder = tempfile::tempdir().expect("a folder");
    let documents = corpus(4, 25);
    let index = build(folder.path(), &documents).expect("built");
    let tokens = |document: &Annotated| {
        document.paragraphs.iter().flat_map(|paragraph| &paragraph.sentences).map(Vec::len).sum::<usize>()
    };
    assert_eq!(index.documents(), 25);
    assert_eq!(index.tokens() as usize, documents.iter().map(tokens).sum::<usize>());
    assert_eq!((index.generation(), index.inputs().len(), index.segments().len()), (1, 0, 1));
    let on_disk: u64 = std::fs::read_dir(folder.path())
        .expect("listed")
        .map(|entry| entry.expect("an entry"))
        .filter(|entry| entry.file_name() != "MANIFEST")
        .map(|entry| entry.metadata().expect("there").len())
        .sum();
    assert_eq!(index.bytes_on_disk(), on_disk);
}

#[test]
fn a_snapshot_is_not_affected_by_a_writer() {
    let folder = tempfile::tempdir().expect("a folder");
    let documents = corpus(5, 30);
    let before = build(folder.path(), &documents).expect("built");
    let mut writer = Writer::open(folder.path(), Settings::default()).expect("opened");
    writer.delete_ids(&[1, 8, 15]).expect("deleted");
    writer.merge_all().expect("merged");
    assert_eq!(contents(&before), by_day(&documents));
    before.verify().expect("its files are still mapped");
}

#[test]
fn refreshing_opens_only_what_is_new() {
    let folder = tempfile::tempdir().expect("a folder");
    let documents = corpus(6, 20);
    let before = build(folder.path(), &documents[..10]).expect("built");
    let mut writer = Writer::open(folder.path(), Settings::default()).expect("opened");
    documents[10..].iter().for_each(|document| writer.add(document).expect("added"));
    writer.commit(Vec::new()).expect("committed");
    let after = before.refresh(folder.path()).expect("refreshed");
    assert_eq!((after.documents(), after.segments().len()), (20, 2));
    assert!(Arc::ptr_eq(&before.segments[0].segment, &after.segments[0].segment));
    writer.delete_ids(&[1]).expect("deleted");
    let last = after.refresh(folder.path()).expect("refreshed");
    assert!(Arc::ptr_eq(&after.segments[0].segment, &last.segments[0].segment), "only the deletions are new");
    assert_eq!((last.documents(), after.documents()), (19, 20));
}

#[test]
fn a_snapshot_knows_whether_it_is_the_newest() {
    let folder = tempfile::tempdir().expect("a folder");
    let index = build(folder.path(), &corpus(7, 5)).expect("built");
    assert!(index.is_newest(folder.path()).expect("readable"));
    let mut writer = Writer::open(folder.path(), Settings::default()).expect("opened");
    writer.delete_ids(&[1]).expect("deleted");
    assert!(!index.is_newest(folder.path()).expect("readable"));
    assert!(writer.snapshot().is_newest(folder.path()).expect("readable"));
    std::fs::remove_file(folder.path().join("MANIFEST")).expect("removed");
    assert!(!writer.snapshot().is_newest(folder.path()).expect("a missing manifest is no error"));
}

#[test]
fn documents_are_found_by_id_unless_they_are_deleted() {
    let folder = tempfile::tempdir().expect("a folder");
    let documents = corpus(8, 12);
    build(folder.path(), &documents).expect("built");
    let mut writer = Writer::open(folder.path(), Settings::default()).expect("opened");
    for document in &documents {
        let [(segment, number)] = writer.snapshot().find_document(document.about.id)[..] else { panic!("found once") };
        assert_eq!(writer.snapshot().annotated(segment, number).expect("readable"), *document);
    }
    writer.delete_ids(&[8]).expect("deleted");
    assert!(writer.snapshot().find_document(8).is_empty());
    assert!(writer.snapshot().find_document(12345).is_empty());
}

#[test]
fn a_missing_file_is_named() {
    for ending in ["segment", "lexicon"] {
        let folder = tempfile::tempdir().expect("a folder");
        build(folder.path(), &corpus(9, 5)).expect("built");
        let path = files(folder.path(), ending).remove(0);
        std::fs::remove_file(&path).expect("removed");
        let error = Snapshot::open(folder.path()).expect_err("a file is missing");
        assert!(error.to_string().contains(&path.display().to_string()), "{error}");
    }
}

#[test]
fn a_segment_of_another_lexicon_is_refused() {
    let (folder, other) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    build(folder.path(), &corpus(10, 40)).expect("built");
    build(other.path(), &corpus(10, 2)).expect("built");
    let (large, small) = (files(folder.path(), "lexicon").remove(0), files(other.path(), "lexicon").remove(0));
    std::fs::copy(small, large).expect("copied");
    let error = Snapshot::open(folder.path()).expect_err("too few lexemes").to_string();
    assert!(error.contains("it has more lexemes than the lexicon"), "{error}");
}

#[test]
fn a_damaged_list_of_deletions_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    build(folder.path(), &corpus(11, 9)).expect("built");
    Writer::open(folder.path(), Settings::default()).expect("opened").delete_ids(&[1]).expect("deleted");
    let path = files(folder.path(), "removed").remove(0);
    let sound = std::fs::read(&path).expect("read");
    flip(&path, 32);
    assert!(matches!(Snapshot::open(folder.path()), Err(Error::Damaged { .. })));
    for len in 0..sound.len() {
        std::fs::write(&path, &sound[..len]).expect("written");
        assert!(Snapshot::open(folder.path()).is_err(), "{len} bytes");
    }
}

#[test]
fn deletions_of_another_segment_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.removed");
    write_deleted(&path, &BitSet::new(65)).expect("written");
    assert_eq!(read_deleted(&path, 128).expect("two words").words().len(), 2);
    assert!(read_deleted(&path, 64).is_err() && read_deleted(&path, 129).is_err());
}

#[test]
fn verification_reads_every_section() {
    let folder = tempfile::tempdir().expect("a folder");
    let index = build(folder.path(), &corpus(12, 30)).expect("built");
    index.verify().expect("sound");
    let segment = files(folder.path(), "segment").remove(0);
    // The first section starts after the header.
    flip(&segment, 32);
    let damaged = Snapshot::open(folder.path()).expect("the damage is not in what opening reads");
    let error = damaged.verify().expect_err("damaged").to_string();
    assert!(error.contains("digest mismatch"), "{error}");
}

#[test]
fn a_truncated_file_is_noticed_before_use_and_a_deleted_one_stays_mapped() {
    for ending in ["segment", "lexicon"] {
        let folder = tempfile::tempdir().expect("a folder");
        let index = build(folder.path(), &corpus(5, 30)).expect("built");
        assert_eq!(index.file_state(), (FileState::Intact, ""));
        let path = files(folder.path(), ending)[0].clone();
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        let bytes = std::fs::metadata(&path).expect("there").len();
        std::fs::OpenOptions::new().write(true).open(&path).expect("opened").set_len(bytes / 2).expect("cut");
        assert_eq!(index.file_state(), (FileState::Truncated, name));
        std::fs::remove_file(&path).expect("removed");
        assert_eq!(index.file_state(), (FileState::Replaced, name));
    }
}

#[test]
fn spans_of_a_range_are_those_that_have_a_token_in_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let index = build(folder.path(), &with_layers(corpus(4, 25), 9)).expect("built");
    assert_eq!(index.span_names().keys().copied().collect::<Vec<_>>(), ["link", "ne", "quote"]);
    assert_eq!(index.span_names()["ne"].iter().copied().collect::<Vec<_>>(), ["name", "type"]);
    let segment = index.segments()[0].segment();
    let all = index.spans_in(0, 0..segment.tokens()).expect("read");
    assert_eq!(all.len(), segment.meta().spans.iter().map(|spans| spans.spans as usize).sum::<usize>());
    for range in [0..1, 17..30, 5..5, 90..u32::MAX] {
        let near = |span: &&TokenSpan| !range.is_empty() && span.start < range.end && span.end > range.start;
        let expected: Vec<TokenSpan> = all.iter().filter(near).cloned().collect();
        assert_eq!(index.spans_in(0, range.clone()).expect("read"), expected, "{range:?}");
    }
}

#[test]
fn values_of_spans_of_deleted_documents_are_in_no_merged_segment() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut documents = corpus(4, 10);
    let document = documents.iter_mut().find(|document| document.tokens().count() > 1).expect("one has tokens");
    document.spans = vec![TokenSpan::new("ne", 0, 2).with("name", "Ann Lee")];
    let id = document.about.id;
    let mut writer = Writer::open(folder.path(), Settings::default()).expect("opened");
    documents.iter().for_each(|document| writer.add(document).expect("added"));
    writer.commit(Vec::new()).expect("committed");
    assert!(!writer.snapshot().span_names().is_empty());
    writer.delete_ids(&[id]).expect("deleted");
    writer.expunge().expect("expunged");
    assert!(writer.snapshot().span_names().is_empty());
}
