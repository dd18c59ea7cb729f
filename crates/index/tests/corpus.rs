//! Round trips of whole indexes: division into segments, merges, deletions, damage, power cuts.

mod support;

use std::path::Path;

use fastrand::Rng;
use proptest::prelude::*;
use support::{by_day, contents, corpus, with_layers};
use tidings_index::{Settings, Snapshot, Writer, build, lexicon::Layer};
use tidings_model::Annotated;

/// Checks posting lists and counts against the token column.
fn agrees_with_itself(index: &Snapshot) {
    for living in index.segments() {
        let segment = living.segment();
        let lexemes: Vec<u32> = (0..segment.tokens()).map(|position| segment.lexeme_at(position)).collect();
        for (rank, lexeme) in (0..).zip(segment.lexemes().all()) {
            let mut listed = Vec::new();
            segment.postings(rank).read(0, u32::MAX, &mut listed);
            let expected: Vec<u32> =
                (0..).zip(&lexemes).filter(|(_, known)| *known == lexeme).map(|(at, _)| at).collect();
            assert_eq!(listed, expected, "the list of lexeme {lexeme}");
            assert_eq!(segment.frequencies().all()[rank as usize] as usize, expected.len());
        }
    }
}

fn divided(folder: &Path, documents: &[Annotated], pieces: usize) -> Writer {
    let mut writer = Writer::open(folder, Settings { merge_factor: 3, ..Settings::default() }).expect("opened");
    for piece in documents.chunks(documents.len().div_ceil(pieces).max(1)) {
        piece.iter().for_each(|document| writer.add(document).expect("added"));
        writer.commit(Vec::new()).expect("committed");
    }
    writer
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn documents_round_trip_through_any_division_and_merge(seed: u64, count in 1usize..40, pieces in 1usize..8) {
        let documents = with_layers(corpus(seed, count), seed);
        let folder = tempfile::tempdir().expect("a folder");
        let mut writer = divided(folder.path(), &documents, pieces);
        prop_assert_eq!(contents(writer.snapshot()), by_day(&documents));
        agrees_with_itself(writer.snapshot());
        writer.merge().expect("merged");
        prop_assert_eq!(contents(writer.snapshot()), by_day(&documents));
        writer.merge_all().expect("merged");
        prop_assert_eq!(writer.snapshot().segments().len(), 1);
        let reopened = Snapshot::open(folder.path()).expect("opened");
        prop_assert_eq!(contents(&reopened), by_day(&documents));
        agrees_with_itself(&reopened);
        reopened.verify().expect("sound");
    }

    #[test]
    fn deleting_and_merging_equals_never_having_added(seed: u64, count in 1usize..40, pieces in 1usize..6) {
        let documents = with_layers(corpus(seed, count), seed);
        let folder = tempfile::tempdir().expect("a folder");
        let mut writer = divided(folder.path(), &documents, pieces);
        let (gone, kept): (Vec<_>, Vec<_>) = documents.into_iter().partition(|document| document.about.id % 3 == 1);
        let before = writer.snapshot().clone();
        let ids: Vec<u128> = gone.iter().map(|document| document.about.id).collect();
        let deletion = writer.delete_ids(&ids).expect("removed");
        prop_assert_eq!(deletion.documents as usize, gone.len());
        prop_assert_eq!(contents(writer.snapshot()), by_day(&kept));
        prop_assert_eq!(before.documents() as usize, kept.len() + gone.len(), "a snapshot stays as it is");
        let reopened = before.refresh(folder.path()).expect("opened");
        prop_assert_eq!(reopened.documents() as usize, kept.len());
        prop_assert_eq!(reopened.tokens() + deletion.tokens, before.tokens());
        if seed % 2 == 0 { writer.expunge().expect("purged"); } else { writer.merge_all().expect("merged"); }
        prop_assert_eq!(contents(writer.snapshot()), by_day(&kept));
        agrees_with_itself(writer.snapshot());
        // Only the lexicon still contains the deleted words.
        let elsewhere = tempfile::tempdir().expect("a folder");
        let fresh = build(elsewhere.path(), &kept).expect("built");
        let distinct = |index: &Snapshot| index.segments().iter().map(|living| living.segment().meta().lexemes).max();
        if writer.snapshot().segments().len() == 1 {
            prop_assert_eq!(distinct(writer.snapshot()), distinct(&fresh));
        }
    }

    #[test]
    fn damage_is_an_error_or_changes_nothing_and_never_a_panic(seed: u64) {
        let documents = with_layers(corpus(seed, 30), seed);
        let folder = tempfile::tempdir().expect("a folder");
        let expected = contents(&build(folder.path(), &documents).expect("built"));
        let mut random = Rng::with_seed(seed);
        let mut files: Vec<_> = std::fs::read_dir(folder.path()).expect("listed").map(|file| file.expect("a file").path()).collect();
        files.sort();
        for _ in 0..40 {
            let path = &files[random.usize(..files.len())];
            let sound = std::fs::read(path).expect("read");
            let mut damaged = sound.clone();
            match random.u8(0..4) {
                0 => damaged.truncate(random.usize(..damaged.len())),
                1 => damaged.extend([0; 7]),
                _ => (0..random.usize(1..4)).for_each(|_| {
                    let at = random.usize(..damaged.len());
                    damaged[at] ^= 1 << random.u8(0..8);
                }),
            }
            std::fs::write(path, &damaged).expect("written");
            if let Ok(index) = Snapshot::open(folder.path()) {
                let is_sound = index.verify().is_ok();
                // Reading damaged data must not panic.
                let mut read = Vec::new();
                for (number, living) in index.segments().iter().enumerate() {
                    for document in 0..living.segment().meta().documents {
                        read.extend(index.annotated(number, document).map(|mut document| {
                            document.columns.sort_by(|a, b| a.layer.name.cmp(&b.layer.name));
                            document
                        }));
                    }
                    for spans in living.segment().all_spans() {
                        spans.list().read(0, u32::MAX, &mut Vec::new());
                        let attributes = spans.attribute_names().filter_map(|name| spans.attribute(name));
                        attributes.for_each(|attribute| drop(attribute.each(|_, _| {})));
                    }
                    for rank in 0..living.segment().meta().lexemes {
                        living.segment().postings(rank).read(0, u32::MAX, &mut Vec::new());
                        living.segment().day_counts(rank);
                    }
                }
                index.lexicon().strings(Layer::Word).for_each(|strings| {
                    strings.with_prefix("w1", |_, _| {});
                    strings.holding("1", |_, _| {});
                    strings.with_key("w1").for_each(drop);
                });
                if is_sound {
                    read.sort_by(|a: &Annotated, b| a.about.date.cmp(&b.about.date));
                    prop_assert_eq!(&read, &expected, "{} was damaged unseen", path.display());
                }
            }
            std::fs::write(path, &sound).expect("written");
        }
    }
}

#[test]
fn the_same_documents_give_the_same_bytes() {
    let bytes = || {
        let folder = tempfile::tempdir().expect("a folder");
        let mut writer = divided(folder.path(), &with_layers(corpus(7, 50), 3), 5);
        writer.delete_ids(&[8, 15]).expect("removed");
        writer.merge_all().expect("merged");
        let mut files: Vec<_> =
            std::fs::read_dir(folder.path()).expect("listed").map(|file| file.expect("a file").path()).collect();
        files.sort();
        files
            .iter()
            .map(|file| (file.file_name().map(|name| name.to_owned()), std::fs::read(file).expect("read")))
            .collect::<Vec<_>>()
    };
    assert!(bytes() == bytes());
}

#[test]
fn foreign_and_newer_files_are_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let error = Snapshot::open(folder.path()).expect_err("nothing there").to_string();
    assert!(error.contains("there is no index in"), "{error}");
    build(folder.path(), &corpus(1, 3)).expect("built");
    let manifest = folder.path().join("MANIFEST");
    let sound = std::fs::read_to_string(&manifest).expect("read");
    std::fs::write(&manifest, sound.replace("tidings index 1", "tidings index 9")).expect("written");
    let error = Snapshot::open(folder.path()).expect_err("newer").to_string();
    assert!(error.contains("newer Tidings (format 9, "), "{error}");
    std::fs::write(&manifest, "[package]").expect("written");
    let error = Snapshot::open(folder.path()).expect_err("foreign").to_string();
    assert!(error.contains("is not a file of a Tidings index"), "{error}");
}

/// Work of the interrupted process: adds, deletes, merges.
fn interrupted_work(folder: &Path) {
    let mut writer = Writer::open(folder, Settings::default()).expect("opened");
    if writer.snapshot().documents() == 12 {
        corpus(5, 20)[12..].iter().for_each(|document| writer.add(document).expect("added"));
        writer.commit(Vec::new()).expect("committed");
    }
    writer.delete_ids(&[1, 50]).expect("removed");
    writer.merge_all().expect("merged");
}

/// Power cuts are simulated in builds with debug assertions only.
#[cfg(debug_assertions)]
#[test]
fn a_power_cut_at_any_write_leaves_the_old_or_the_new_generation() {
    const NAME: &str = "a_power_cut_at_any_write_leaves_the_old_or_the_new_generation";
    const FOLDER: &str = "TIDINGS_TEST_FOLDER";
    if let Some(folder) = std::env::var_os(FOLDER) {
        return interrupted_work(Path::new(&folder));
    }
    let documents = corpus(5, 20);
    let kept: Vec<Annotated> =
        documents.iter().filter(|document| ![1, 50].contains(&document.about.id)).cloned().collect();
    let states = [by_day(&documents[..12]), by_day(&documents), by_day(&kept)];
    let run = |folder: &Path, crash_at: Option<u32>| {
        let mut child = std::process::Command::new(std::env::current_exe().expect("a program"));
        child.args(["--exact", NAME]).env(FOLDER, folder).env_remove("TIDINGS_CRASH_AT");
        child.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        if let Some(at) = crash_at {
            child.env("TIDINGS_CRASH_AT", at.to_string());
        }
        child.status().expect("started").success()
    };
    let mut cuts = 0;
    for at in 1.. {
        let folder = tempfile::tempdir().expect("a folder");
        build(folder.path(), &documents[..12]).expect("built");
        if run(folder.path(), Some(at)) {
            break;
        }
        cuts += 1;
        let index = Snapshot::open(folder.path()).expect("whole after a power cut");
        index.verify().expect("sound after a power cut");
        assert!(states.contains(&contents(&index)), "cut at move {at}");
        assert!(run(folder.path(), None), "the next run goes on, cut at move {at}");
        let index = Snapshot::open(folder.path()).expect("whole");
        assert_eq!(contents(&index), states[2], "cut at move {at}");
        let files = std::fs::read_dir(folder.path()).expect("listed").count();
        assert!(files <= 3 + index.segments().len(), "rubbish is swept away, cut at move {at}");
    }
    assert!(cuts > 20, "only {cuts} moves");
}

#[test]
fn the_bytes_of_format_1_stay() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut writer = divided(folder.path(), &corpus(7, 50), 5);
    writer.delete_ids(&[8, 15]).expect("deleted");
    writer.merge().expect("merged");
    writer.delete_ids(&[22]).expect("deleted");
    let digest = |name: &str| xxhash_rust::xxh3::xxh3_64(&std::fs::read(folder.path().join(name)).expect("read"));
    // Written by the first release; different bytes need a new format version.
    assert_eq!(digest("000014.lexicon"), 0x0ddc_03f3_8dec_12ad);
    assert_eq!(digest("000017.segment"), 0x2fca_2a91_1867_f42b);
    assert_eq!(digest("000018.removed"), 0xf466_c3c0_f496_8d18);
    assert_eq!(digest("MANIFEST"), 0x066f_c5eb_b05f_4584);
}
