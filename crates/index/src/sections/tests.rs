use super::*;

fn written(folder: &Path) -> PathBuf {
    let path = folder.join("file");
    let mut file = SectionWriter::create(&path, FileKind::Segment).expect("created");
    file.section::<u32>("numbers", &[1, 2, 3]).expect("written");
    file.section::<u8>("empty", &[]).expect("written");
    file.section("text", b"some text").expect("written");
    file.section::<u128>("wide", &[u128::MAX, 7]).expect("written");
    let bytes = file.publish().expect("published");
    assert_eq!(std::fs::metadata(&path).expect("there").len(), bytes);
    path
}

fn read(file: &Sections) -> (Vec<u32>, Vec<u8>, Vec<u8>, Vec<u128>) {
    let numbers = file.numbers(&file.find("numbers").expect("there")).to_vec();
    let bytes = |name| file.bytes(&file.find(name).expect("there")).to_vec();
    (numbers, bytes("empty"), bytes("text"), file.numbers(&file.find("wide").expect("there")).to_vec())
}

/// File with a forged section table and valid digests.
fn forged(path: &Path, table: &str) {
    let mut bytes = vec![0; HEADER_BYTES];
    bytes[..16].copy_from_slice(FileKind::Segment.magic());
    bytes[16] = 1;
    bytes.extend(table.as_bytes());
    let total = (bytes.len() + TRAILER_BYTES) as u64;
    bytes.extend((table.len() as u64).to_le_bytes());
    bytes.extend(xxh3_64(table.as_bytes()).to_le_bytes());
    bytes.extend(total.to_le_bytes());
    bytes.extend(TRAILER_MAGIC);
    std::fs::write(path, bytes).expect("written");
}

#[test]
fn sections_round_trip() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = Sections::open(&written(folder.path()), FileKind::Segment).expect("opened");
    assert_eq!(read(&file), (vec![1, 2, 3], vec![], b"some text".to_vec(), vec![u128::MAX, 7]));
    let names: Vec<(&str, usize)> = file.names().collect();
    assert_eq!(names, [("empty", 0), ("numbers", 12), ("text", 9), ("wide", 32)]);
    file.verify().expect("sound");
}

#[test]
fn sections_are_aligned_for_the_widest_number() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = Sections::open(&written(folder.path()), FileKind::Segment).expect("opened");
    assert!(file.table.values().all(|(range, _)| (range.start as u64).is_multiple_of(ALIGNMENT)));
}

#[test]
fn a_file_without_sections_opens() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("file");
    SectionWriter::create(&path, FileKind::Deleted).expect("created").publish().expect("published");
    let file = Sections::open(&path, FileKind::Deleted).expect("opened");
    assert_eq!(file.names().count(), 0);
    file.verify().expect("sound");
}

#[test]
fn an_unpublished_file_does_not_appear() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("file");
    let mut file = SectionWriter::create(&path, FileKind::Segment).expect("created");
    file.section("text", b"text").expect("written");
    drop(file);
    assert!(!path.exists());
}

#[test]
fn a_missing_section_and_one_of_another_size_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = Sections::open(&written(folder.path()), FileKind::Segment).expect("opened");
    let message = |result: Result<Range<usize>>| result.expect_err("refused").to_string();
    assert!(message(file.find("lists")).contains("the section lists is missing"));
    assert!(message(file.find_numbers::<u32>("numbers", 4)).contains("the section numbers has the wrong size"));
    assert!(message(file.find_numbers::<u64>("numbers", 2)).contains("the section numbers has the wrong size"));
    assert!(file.has("numbers") && !file.has("lists"));
    assert!(file.check("lists").is_err());
}

#[test]
fn json_sections_are_checked_against_their_digest() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("file");
    let mut file = SectionWriter::create(&path, FileKind::Segment).expect("created");
    file.section("meta", b"[1,2]").expect("written");
    file.section("bad", b"[1,").expect("written");
    file.publish().expect("published");
    let open = || Sections::open(&path, FileKind::Segment).expect("opened");
    assert_eq!(open().json::<Vec<u8>>("meta").expect("sound"), [1, 2]);
    assert!(matches!(open().json::<Vec<u8>>("bad"), Err(Error::Damaged { .. })));
    let mut bytes = std::fs::read(&path).expect("read");
    bytes[HEADER_BYTES + 1] = b'9';
    std::fs::write(&path, bytes).expect("written");
    assert!(matches!(open().json::<Vec<u8>>("meta"), Err(Error::Damaged { .. })));
}

#[test]
fn a_file_of_another_kind_is_foreign() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = written(folder.path());
    for kind in [FileKind::Lexicon, FileKind::Deleted] {
        assert!(matches!(Sections::open(&path, kind), Err(Error::Foreign { .. })));
    }
}

#[test]
fn a_newer_version_is_refused_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("file");
    for version in [NEWEST + 1, 77, u32::MAX] {
        SectionWriter::create_as(&path, FileKind::Lexicon, version).expect("created").publish().expect("published");
        let error = Sections::open(&path, FileKind::Lexicon).expect_err("newer").to_string();
        assert!(error.contains(&format!("newer Tidings (format {version}, ")), "{error}");
    }
}

#[test]
fn truncation_at_every_length_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = written(folder.path());
    let sound = std::fs::read(&path).expect("read");
    for len in 0..sound.len() {
        std::fs::write(&path, &sound[..len]).expect("written");
        assert!(Sections::open(&path, FileKind::Segment).is_err(), "{len} of {} bytes", sound.len());
    }
    std::fs::write(&path, [&sound[..], b"more"].concat()).expect("written");
    assert!(Sections::open(&path, FileKind::Segment).is_err(), "trailing bytes");
}

#[test]
fn every_flipped_bit_is_an_error_or_changes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = written(folder.path());
    let sound = std::fs::read(&path).expect("read");
    let expected = read(&Sections::open(&path, FileKind::Segment).expect("opened"));
    let mut unseen = 0;
    for bit in 0..sound.len() * 8 {
        let mut damaged = sound.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        std::fs::write(&path, &damaged).expect("written");
        if let Ok(file) = Sections::open(&path, FileKind::Segment).and_then(|file| file.verify().map(|()| file)) {
            assert_eq!(read(&file), expected, "bit {bit} was flipped unseen");
            unseen += 1;
        }
    }
    // Only the version's lower bits, the unused header and the padding between sections mean nothing.
    assert!(unseen < 60 * 8, "{unseen} of {} bits", sound.len() * 8);
}

#[test]
fn a_table_that_points_outside_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("file");
    forged(&path, r#"[{"name":"a","at":32,"bytes":4,"xxh3":""}]"#);
    assert!(Sections::open(&path, FileKind::Segment).is_ok(), "the forgery itself is sound");
    let outside = [
        "32,\"bytes\":4000",
        "4000,\"bytes\":0",
        "18446744073709551615,\"bytes\":2",
        "9,\"bytes\":18446744073709551615",
    ];
    for offset in outside {
        forged(&path, &format!(r#"[{{"name":"a","at":{offset},"xxh3":""}}]"#));
        let error = Sections::open(&path, FileKind::Segment).expect_err(offset).to_string();
        assert!(error.contains("the section a is out of bounds"), "{error}");
    }
}

#[test]
fn a_table_that_is_not_a_table_is_damage() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("file");
    for table in ["", "{}", "[{}]", "[{\"name\":1}]", "null", "\u{0}"] {
        forged(&path, table);
        assert!(matches!(Sections::open(&path, FileKind::Segment), Err(Error::Damaged { .. })), "{table}");
    }
}
