use proptest::prelude::*;

use super::*;

fn sample() -> Manifest {
    Manifest {
        generation: 3,
        next_file: 9,
        lexicon: vec!["000001.lexicon".to_owned()],
        segments: vec![
            SegmentEntry { file: "000002.segment".to_owned(), tokens: 10, deleted: None },
            SegmentEntry { file: "000003.segment".to_owned(), tokens: 20, deleted: Some("000004.removed".to_owned()) },
        ],
        inputs: vec![Input { file: "annotated/2026-03-01.vert".to_owned(), bytes: 5, xxh3: "abc".to_owned() }],
        ..Manifest::default()
    }
}

/// Writes a line of JSON with its digest.
fn write_signed(folder: &Path, json: &str) {
    std::fs::write(folder.join(NAME), format!("{json}\n{:016x}\n", xxh3_64(json.as_bytes()))).expect("written");
}

#[test]
fn a_manifest_round_trips() {
    let folder = tempfile::tempdir().expect("a folder");
    assert_eq!(Manifest::read(folder.path()).expect("none is no error"), None);
    for manifest in [Manifest::default(), sample()] {
        manifest.publish(folder.path()).expect("published");
        assert_eq!(Manifest::read(folder.path()).expect("sound"), Some(manifest));
    }
}

#[test]
fn the_format_on_disk_is_stable() {
    let folder = tempfile::tempdir().expect("a folder");
    sample().publish(folder.path()).expect("published");
    let text = std::fs::read_to_string(folder.path().join(NAME)).expect("read");
    let expected = concat!(
        r#"{"format":"tidings index 1","generation":3,"next_file":9,"lexicon":["000001.lexicon"],"#,
        r#""segments":[{"file":"000002.segment","tokens":10},"#,
        r#"{"file":"000003.segment","tokens":20,"removed":"000004.removed"}],"#,
        r#""inputs":[{"file":"annotated/2026-03-01.vert","bytes":5,"xxh3":"abc"}]}"#,
    );
    assert_eq!(text.lines().next(), Some(expected));
}

#[test]
fn a_newer_format_is_refused_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    write_signed(folder.path(), r#"{"format":"tidings index 2","anything":"else"}"#);
    let error = Manifest::read(folder.path()).expect_err("newer").to_string();
    assert!(error.contains("MANIFEST was written by a newer Tidings (format 2, "), "{error}");
}

#[test]
fn other_files_of_that_name_are_foreign() {
    let folder = tempfile::tempdir().expect("a folder");
    for content in
        [&b"[package]\nname = \"x\"\n"[..], b"", b"{}", b"{\"format\":\"other 1\"}", b"{\"format\":1}", b"\xff\xfe"]
    {
        std::fs::write(folder.path().join(NAME), content).expect("written");
        assert!(matches!(Manifest::read(folder.path()), Err(Error::Foreign { .. })), "{content:?}");
    }
}

#[test]
fn a_signed_manifest_with_missing_parts_is_damaged() {
    let folder = tempfile::tempdir().expect("a folder");
    write_signed(folder.path(), r#"{"format":"tidings index 1","generation":1}"#);
    assert!(matches!(Manifest::read(folder.path()), Err(Error::Damaged { .. })));
}

#[test]
fn files_outside_of_the_folder_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["../000001.lexicon", "/etc/passwd", "a\\b"] {
        let manifest = Manifest { lexicon: vec![name.to_owned()], ..Manifest::default() };
        manifest.publish(folder.path()).expect("published");
        let error = Manifest::read(folder.path()).expect_err(name).to_string();
        assert!(error.contains("it lists files outside of the folder"), "{error}");
    }
}

#[test]
fn every_truncation_and_every_flipped_bit_is_an_error_or_changes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(NAME);
    sample().publish(folder.path()).expect("published");
    let sound = std::fs::read(&path).expect("read");
    let check = |bytes: &[u8], what: &str| {
        std::fs::write(&path, bytes).expect("written");
        if let Ok(read) = Manifest::read(folder.path()) {
            assert_eq!(read, Some(sample()), "{what} unseen");
        }
    };
    for len in 0..sound.len() {
        check(&sound[..len], "truncated");
    }
    for bit in 0..sound.len() * 8 {
        let mut damaged = sound.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        check(&damaged, "flipped");
    }
}

#[test]
fn file_names_are_never_reused() {
    let mut manifest = Manifest::default();
    let names: Vec<String> = (0..3).map(|_| manifest.new_name("segment")).collect();
    assert_eq!(names, ["000001.segment", "000002.segment", "000003.segment"]);
    manifest.next_file = 1_000_000;
    assert_eq!(manifest.new_name("lexicon"), "1000000.lexicon");
}

#[test]
fn sweeping_removes_unlisted_index_files_only() {
    let folder = tempfile::tempdir().expect("a folder");
    let manifest = sample();
    let named: Vec<&str> = manifest.files().collect();
    assert_eq!(named, ["000001.lexicon", "000002.segment", "000003.segment", "000004.removed"]);
    let rubbish = ["000007.segment", "000008.lexicon", "000009.removed", "MANIFEST.tmp"];
    let others = ["MANIFEST", "notes.txt", "segment"];
    for name in named.iter().chain(&rubbish).chain(&others) {
        std::fs::write(folder.path().join(name), "x").expect("written");
    }
    manifest.sweep(folder.path()).expect("swept");
    let exists = |name: &&str| folder.path().join(name).exists();
    assert!(named.iter().all(exists) && others.iter().all(exists));
    assert!(!rubbish.iter().any(exists));
}

proptest! {
    #[test]
    fn no_input_causes_a_panic(text in ".{0,200}", sign: bool) {
        let folder = tempfile::tempdir().expect("a folder");
        if sign {
            write_signed(folder.path(), &text);
        } else {
            std::fs::write(folder.path().join(NAME), &text).expect("written");
        }
        prop_assert!(Manifest::read(folder.path()).is_err());
    }
}
