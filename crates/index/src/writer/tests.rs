use proptest::prelude::*;
use tidings_model::{AnnotatedParagraph, Attributes, Token};

use super::*;
use crate::support::{by_day, contents, corpus};

fn opened(folder: &Path) -> Writer {
    Writer::open(folder, Settings::default()).expect("opened")
}

fn add_all(writer: &mut Writer, documents: &[Annotated]) {
    documents.iter().for_each(|document| writer.add(document).expect("added"));
}

/// Document with a number of tokens.
fn document(id: u128, tokens: usize) -> Annotated {
    let token = Token { word: "w".into(), space_after: true, ..Token::default() };
    Annotated {
        about: Attributes { id, date: "2026-03-01".to_owned(), seen: "2026-03-02".to_owned(), ..Attributes::default() },
        paragraphs: vec![AnnotatedParagraph { sentences: vec![vec![token; tokens]], ..Default::default() }],
        ..Annotated::default()
    }
}

/// Index with one segment per token count.
fn of_sizes(folder: &Path, settings: Settings, sizes: &[usize]) -> Writer {
    let mut writer = Writer::open(folder, settings).expect("opened");
    for (id, size) in (1..).zip(sizes) {
        writer.add(&document(id, *size)).expect("added");
        writer.commit(Vec::new()).expect("committed");
    }
    writer
}

fn sizes(writer: &Writer) -> Vec<u64> {
    writer.manifest.segments.iter().map(|segment| segment.tokens).collect()
}

#[test]
fn an_index_is_created_if_there_is_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut writer = opened(&folder.path().join("deep/index"));
    assert_eq!((writer.snapshot().generation(), writer.snapshot().documents()), (0, 0));
    writer.commit(Vec::new()).expect("an empty commit is a commit");
    assert_eq!(Snapshot::open(&folder.path().join("deep/index")).expect("opened").generation(), 1);
}

#[test]
fn nothing_is_visible_before_the_commit() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut writer = opened(folder.path());
    writer.commit(Vec::new()).expect("committed");
    add_all(&mut writer, &corpus(1, 10));
    writer.flush().expect("flushed");
    assert_eq!(Snapshot::open(folder.path()).expect("opened").documents(), 0);
    writer.commit(Vec::new()).expect("committed");
    assert_eq!(Snapshot::open(folder.path()).expect("opened").documents(), 10);
}

#[test]
fn an_abandoned_writer_leaves_the_index_as_it_was_and_its_files_are_swept() {
    let folder = tempfile::tempdir().expect("a folder");
    let documents = corpus(2, 20);
    build(folder.path(), &documents[..10]).expect("built");
    let mut abandoned = opened(folder.path());
    add_all(&mut abandoned, &documents[10..]);
    abandoned.flush().expect("flushed");
    drop(abandoned);
    let count = || std::fs::read_dir(folder.path()).expect("listed").count();
    assert_eq!(count(), 4);
    let writer = opened(folder.path());
    assert_eq!((contents(writer.snapshot()), count()), (by_day(&documents[..10]), 3));
}

#[test]
fn a_full_batch_becomes_a_segment() {
    let folder = tempfile::tempdir().expect("a folder");
    let documents = corpus(3, 30);
    let mut writer = Writer::open(folder.path(), Settings { batch_bytes: 1, ..Settings::default() }).expect("opened");
    add_all(&mut writer, &documents);
    writer.commit(Vec::new()).expect("committed");
    assert_eq!(writer.snapshot().segments().len(), 30);
    assert_eq!(contents(writer.snapshot()), by_day(&documents));
}

#[test]
fn inputs_are_recorded_until_they_are_removed() {
    let folder = tempfile::tempdir().expect("a folder");
    let input = |name: &str| Input { file: name.to_owned(), bytes: 1, xxh3: "x".to_owned() };
    let mut writer = opened(folder.path());
    writer.add(&document(1, 3)).expect("added");
    writer.commit(vec![input("a"), input("b")]).expect("committed");
    assert_eq!(Snapshot::open(folder.path()).expect("opened").inputs(), [input("a"), input("b")]);
    assert_eq!(writer.delete_input("a", Day::parse("2026-03-02").expect("a day")).expect("withdrawn"), 1);
    assert_eq!(writer.snapshot().documents(), 1, "not before the commit");
    writer.add(&document(2, 4)).expect("added");
    writer.commit(vec![input("c")]).expect("committed");
    let index = Snapshot::open(folder.path()).expect("opened");
    assert_eq!((index.inputs(), index.tokens()), (&[input("b"), input("c")][..], 4));
}

#[test]
fn removing_an_unknown_input_changes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut writer = of_sizes(folder.path(), Settings::default(), &[3, 4]);
    assert_eq!(writer.delete_input("x", Day(0)).expect("nothing to withdraw"), 0);
    writer.commit(Vec::new()).expect("committed");
    assert_eq!(writer.snapshot().documents(), 2);
}

#[test]
fn deletions_between_removal_and_commit_are_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut documents = [document(1, 1), document(2, 2), document(3, 4)];
    documents[0].about.seen = "2026-04-01".to_owned();
    build(folder.path(), &documents).expect("built");
    let mut writer = opened(folder.path());
    writer.delete_input("x", Day::parse("2026-04-01").expect("a day")).expect("withdrawn");
    writer.delete_ids(&[2]).expect("deleted");
    writer.commit(Vec::new()).expect("committed");
    assert_eq!((writer.snapshot().documents(), writer.snapshot().tokens()), (1, 4));
}

#[test]
fn a_merge_between_removal_and_commit_deletes_the_right_documents() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut writer = of_sizes(folder.path(), Settings::default(), &[1, 2]);
    let mut later = document(3, 4);
    later.about.seen = "2026-04-01".to_owned();
    writer.add(&later).expect("added");
    writer.commit(Vec::new()).expect("committed");
    writer.delete_ids(&[1]).expect("deleted");
    writer.delete_input("x", Day::parse("2026-04-01").expect("a day")).expect("withdrawn");
    writer.merge_all().expect("merged");
    writer.commit(Vec::new()).expect("committed");
    assert_eq!((writer.snapshot().documents(), writer.snapshot().tokens()), (1, 2));
}

#[test]
fn a_deletion_counts_each_document_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut writer = of_sizes(folder.path(), Settings::default(), &[3, 4, 5]);
    assert_eq!(writer.delete_ids(&[1, 3, 3, 99]).expect("deleted"), Deletion { documents: 2, tokens: 8 });
    let generation = writer.snapshot().generation();
    assert_eq!(writer.delete_ids(&[1, 3]).expect("deleted"), Deletion::default());
    assert_eq!(writer.snapshot().generation(), generation, "nothing new, no new generation");
    assert_eq!(writer.snapshot().tokens(), 4);
}

#[test]
fn documents_are_deleted_by_url_and_by_condition() {
    let folder = tempfile::tempdir().expect("a folder");
    let documents = corpus(4, 20);
    build(folder.path(), &documents).expect("built");
    let mut writer = opened(folder.path());
    let urls = [documents[3].about.url.as_str(), "http://elsewhere/"];
    assert_eq!(writer.delete_urls(&urls).expect("deleted").documents, 1);
    assert_eq!(writer.delete_where(|url| url.contains("/1")).expect("deleted").documents, 11);
    assert_eq!(writer.snapshot().documents(), 8);
}

#[test]
fn expunged_documents_are_in_no_segment_any_more() {
    let folder = tempfile::tempdir().expect("a folder");
    let documents = corpus(5, 20);
    let mut writer = opened(folder.path());
    for piece in documents.chunks(5) {
        add_all(&mut writer, piece);
        writer.commit(Vec::new()).expect("committed");
    }
    writer.delete_ids(&[documents[0].about.id, documents[7].about.id]).expect("deleted");
    assert_eq!(writer.expunge().expect("expunged"), 2);
    assert_eq!(writer.expunge().expect("nothing is left to do"), 0);
    assert!(writer.snapshot().segments().iter().all(|live| !live.has_deleted()));
    let stored: u32 = writer.snapshot().segments().iter().map(|live| live.segment().meta().documents).sum();
    assert_eq!(stored, 18);
}

#[test]
fn a_segment_without_documents_disappears() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut writer = of_sizes(folder.path(), Settings::default(), &[3, 4, 5]);
    writer.delete_ids(&[2]).expect("deleted");
    writer.expunge().expect("expunged");
    assert_eq!(sizes(&writer), [3, 5]);
    writer.delete_ids(&[1, 3]).expect("deleted");
    writer.merge_all().expect("merged");
    assert_eq!(sizes(&writer), [0; 0]);
    assert_eq!(Snapshot::open(folder.path()).expect("opened").documents(), 0);
}

#[test]
fn segments_of_one_size_are_merged_and_a_large_one_is_left() {
    let settings = Settings { merge_factor: 3, ..Settings::default() };
    let folder = tempfile::tempdir().expect("a folder");
    let mut writer = of_sizes(folder.path(), settings.clone(), &[100, 5, 5, 5]);
    assert_eq!(writer.merge().expect("merged"), 1);
    assert_eq!(sizes(&writer), [100, 15]);
    let other = tempfile::tempdir().expect("a folder");
    let mut two = of_sizes(other.path(), settings, &[5, 5]);
    assert_eq!(two.merge().expect("too few"), 0);
}

#[test]
fn no_merge_exceeds_the_largest_size() {
    let settings = Settings { merge_factor: 2, max_segment_tokens: 20, ..Settings::default() };
    let folder = tempfile::tempdir().expect("a folder");
    let mut writer = of_sizes(folder.path(), settings, &[8, 8, 8, 8, 30]);
    writer.merge_all().expect("merged");
    assert_eq!(sizes(&writer), [16, 16, 30]);
    assert_eq!(writer.merge().expect("merged"), 0);
}

#[test]
fn small_lexicon_segments_are_joined_as_they_pile_up() {
    let folder = tempfile::tempdir().expect("a folder");
    let documents = corpus(6, 60);
    let mut writer = opened(folder.path());
    for piece in documents.chunks(3) {
        add_all(&mut writer, piece);
        writer.commit(Vec::new()).expect("committed");
    }
    assert!(writer.manifest.lexicon.len() <= 4, "{} segments of a lexicon", writer.manifest.lexicon.len());
    assert_eq!(contents(writer.snapshot()), by_day(&documents));
}

#[test]
fn an_undated_document_is_refused_and_the_others_are_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut writer = opened(folder.path());
    writer.add(&document(1, 2)).expect("added");
    let mut undated = document(2, 2);
    (undated.about.date, undated.about.seen) = (String::new(), String::new());
    assert!(writer.add(&undated).is_err());
    writer.commit(Vec::new()).expect("committed");
    assert_eq!(writer.snapshot().documents(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_sequence_of_changes_equals_the_same_changes_to_a_vector(seed: u64, steps in 1usize..14) {
        let folder = tempfile::tempdir().expect("a folder");
        let mut random = fastrand::Rng::with_seed(seed);
        let supply = corpus(seed, 100);
        let mut supply = supply.iter();
        let mut model: Vec<Annotated> = Vec::new();
        let settings = Settings { merge_factor: 2, batch_bytes: 2000, ..Settings::default() };
        let mut writer = Writer::open(folder.path(), settings.clone()).expect("opened");
        for _ in 0..steps {
            match random.u8(..7) {
                0..3 => {
                    let new: Vec<Annotated> = supply.by_ref().take(random.usize(..9)).cloned().collect();
                    add_all(&mut writer, &new);
                    writer.commit(Vec::new()).expect("committed");
                    model.extend(new);
                }
                3 => {
                    let (gone, kept): (Vec<_>, Vec<_>) = model.into_iter().partition(|_| random.u8(..4) == 0);
                    let ids: Vec<u128> = gone.iter().map(|document| document.about.id).collect();
                    let deletion = writer.delete_ids(&ids).expect("deleted");
                    prop_assert_eq!(deletion.documents as usize, gone.len());
                    model = kept;
                }
                4 => drop(writer.merge().expect("merged")),
                5 => drop(writer.expunge().expect("expunged")),
                _ => writer = Writer::open(folder.path(), settings.clone()).expect("opened again"),
            }
            prop_assert_eq!(contents(writer.snapshot()), by_day(&model));
        }
        let index = Snapshot::open(folder.path());
        prop_assert!(index.is_ok_and(|index| index.verify().is_ok()) || writer.snapshot().generation() == 0);
    }
}

/// Documents with enough different words for digests of blocks.
fn many_words(first: u128) -> Vec<Annotated> {
    let document = |id: u128| {
        let word = |number: u128| Token { word: format!("w{}", id * 500 + number).into(), ..Token::default() };
        let mut document = document(id, 0);
        document.paragraphs[0].sentences = vec![(0..500).map(word).collect()];
        document
    };
    (first..first + 20).map(document).collect()
}

fn names(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("listed").map(|entry| entry.expect("listed").path());
    let mut names: Vec<PathBuf> = entries.filter(|path| path.to_string_lossy().ends_with(ending)).collect();
    names.sort();
    names
}

#[test]
fn digests_of_blocks_come_and_go_with_their_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut writer = opened(folder.path());
    for first in [0, 20] {
        add_all(&mut writer, &many_words(first));
        writer.commit(Vec::new()).expect("committed");
    }
    let of_files = |folder: &Path| {
        let files = names(folder, ".segment").into_iter().chain(names(folder, ".lexicon"));
        let mut sums: Vec<PathBuf> = files.map(|file| crate::block_sums::path_of(&file)).collect();
        sums.sort();
        sums
    };
    assert_eq!(names(folder.path(), ".sums"), of_files(folder.path()));
    writer.merge_all().expect("merged");
    assert_eq!(names(folder.path(), ".sums"), of_files(folder.path()), "after a merge");
    for sums in names(folder.path(), ".sums") {
        std::fs::remove_file(sums).expect("removed");
    }
    let mut writer = opened(folder.path());
    writer.commit(Vec::new()).expect("committed");
    assert_eq!(names(folder.path(), ".sums"), of_files(folder.path()), "files of an older version get some");
}

#[test]
fn nothing_is_made_of_damaged_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut writer = opened(folder.path());
    add_all(&mut writer, &many_words(0));
    writer.commit(Vec::new()).expect("committed");
    drop(writer);
    let intact = Snapshot::open(folder.path()).expect("opened").generation();
    for ending in [".lexicon", ".segment"] {
        let path = names(folder.path(), ending).remove(0);
        let sound = std::fs::read(&path).expect("read");
        let mut bytes = sound.clone();
        // A word of the lexicon, or the token column of the segment.
        let at = memchr::memmem::find(&bytes, b"\nw777\n").unwrap_or(bytes.len() / 4);
        bytes[at + 1] ^= 64;
        std::fs::write(&path, bytes).expect("written");
        let mut writer = opened(folder.path());
        add_all(&mut writer, &many_words(20));
        let changed = match ending {
            ".lexicon" => writer.commit(Vec::new()),
            _ => writer.delete_ids(&[1]).and_then(|_| writer.expunge()).map(drop),
        };
        assert!(matches!(changed, Err(crate::Error::Damaged { .. })), "{ending}");
        std::fs::write(&path, sound).expect("written");
    }
    assert!(Snapshot::open(folder.path()).expect("opened").generation() <= intact + 1);
}
