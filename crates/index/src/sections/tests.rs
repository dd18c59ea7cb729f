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
    let numbers = file.numbers(file.find("numbers").expect("there")).all().to_vec();
    let bytes = |name| file.bytes(file.find(name).expect("there")).all().to_vec();
    (numbers, bytes("empty"), bytes("text"), file.numbers(file.find("wide").expect("there")).all().to_vec())
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
    assert!(file.sections.iter().all(|section| (section.range.start as u64).is_multiple_of(ALIGNMENT)));
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
    let message = |result: Result<SectionId>| result.expect_err("refused").to_string();
    assert!(message(file.find("lists")).contains("the section lists is missing"));
    assert!(message(file.find_numbers::<u32>("numbers", 4)).contains("the section numbers has the wrong size"));
    assert!(message(file.find_numbers::<u64>("numbers", 2)).contains("the section numbers has the wrong size"));
    assert!(file.has("numbers") && !file.has("lists"));
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
        let Ok(file) = Sections::open(&path, FileKind::Segment) else { continue };
        let read = read(&file);
        assert_eq!(file.intact().is_ok(), file.verify().is_ok(), "bit {bit}");
        if file.intact().is_ok() {
            assert_eq!(read, expected, "bit {bit} was flipped unseen");
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

/// A file with a section of several blocks between two short ones; `numbers` gives it its content.
fn long(folder: &Path, numbers: &[u32]) -> PathBuf {
    let path = folder.join("long");
    let mut file = SectionWriter::create(&path, FileKind::Segment).expect("created");
    file.section("first", b"some text").expect("written");
    file.begin("numbers").expect("begun");
    numbers.chunks(1000).for_each(|some| file.write(bytemuck::cast_slice(some)).expect("written"));
    file.section("last", b"more text").expect("written");
    file.publish().expect("published");
    path
}

const BLOCK_NUMBERS: usize = CHECK_BYTES / 4;

fn flip(path: &Path, at: usize) {
    let mut bytes = std::fs::read(path).expect("read");
    bytes[at] ^= 1;
    std::fs::write(path, bytes).expect("written");
}

#[test]
fn damage_is_noticed_when_its_block_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let numbers: Vec<u32> = (0..5 * BLOCK_NUMBERS as u32 + 7).collect();
    let path = long(folder.path(), &numbers);
    let start = Sections::open(&path, FileKind::Segment).expect("opened").sections[2].range.start;
    flip(&path, start + 2 * CHECK_BYTES + 5);
    let file = Sections::open(&path, FileKind::Segment).expect("opened");
    let section: CheckedSlice<'_, u32> = file.numbers(file.find("numbers").expect("there"));
    assert_eq!(section.get(2 * BLOCK_NUMBERS - 1), Some(numbers[2 * BLOCK_NUMBERS - 1]));
    assert_eq!(section.slice(3 * BLOCK_NUMBERS..numbers.len()), Some(&numbers[3 * BLOCK_NUMBERS..]));
    assert!(file.intact().is_ok(), "the damaged block was not read");
    let file = Sections::open(&path, FileKind::Segment).expect("opened");
    let section: CheckedSlice<'_, u32> = file.numbers(file.find("numbers").expect("there"));
    section.get(2 * BLOCK_NUMBERS);
    let error = file.intact().expect_err("damaged").to_string();
    assert!(error.contains("long is damaged (digest mismatch in the section numbers)"), "{error}");
}

#[test]
fn a_block_that_is_damaged_later_is_noticed_after_its_check_is_forgotten() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = long(folder.path(), &vec![7; 3 * BLOCK_NUMBERS]);
    let file = Sections::open(&path, FileKind::Segment).expect("opened");
    let section: CheckedSlice<'_, u32> = file.numbers(file.find("numbers").expect("there"));
    section.all();
    // In place, as on a disk: the map shows the change.
    let on_disk = std::fs::File::options().write(true).open(&path).expect("opened");
    std::os::unix::fs::FileExt::write_all_at(&on_disk, &[9], 60).expect("written");
    section.all();
    assert!(file.intact().is_ok());
    file.forget_checks();
    section.all();
    assert!(file.intact().is_err());
}

#[test]
fn without_digests_of_blocks_whole_sections_are_checked() {
    let folder = tempfile::tempdir().expect("a folder");
    let numbers: Vec<u32> = (0..3 * BLOCK_NUMBERS as u32).collect();
    let path = long(folder.path(), &numbers);
    let sums = block_sums::path_of(&path);
    let sound = std::fs::read(&sums).expect("read");
    let start = Sections::open(&path, FileKind::Segment).expect("opened").sections[2].range.start;
    // Missing, truncated, flipped, and those of another file.
    let other =
        std::fs::read(block_sums::path_of(&long(&tempfile::tempdir().expect("a folder").keep(), &numbers[1..])));
    let cases =
        [None, Some(sound[..40].to_vec()), Some([&sound[..50], &[sound[50] ^ 4], &sound[51..]].concat()), other.ok()];
    for case in cases {
        match &case {
            None => std::fs::remove_file(&sums).expect("removed"),
            Some(bytes) => std::fs::write(&sums, bytes).expect("written"),
        }
        for is_damaged in [false, true] {
            let file = Sections::open(&path, FileKind::Segment).expect("opened");
            let section: CheckedSlice<'_, u32> = file.numbers(file.find("numbers").expect("there"));
            assert_eq!(section.get(0), Some(0));
            assert_eq!(file.intact().is_err(), is_damaged, "{case:?}");
            flip(&path, start + 2 * CHECK_BYTES);
        }
    }
}

#[test]
fn missing_digests_of_blocks_are_written_for_intact_files_only() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = long(folder.path(), &vec![7; 3 * BLOCK_NUMBERS]);
    let sums = block_sums::path_of(&path);
    let sound = std::fs::read(&sums).expect("read");
    let again = || Sections::open(&path, FileKind::Segment).expect("opened").write_missing_sums();
    std::fs::remove_file(&sums).expect("removed");
    again().expect("written");
    assert_eq!(std::fs::read(&sums).expect("read"), sound);
    std::fs::write(&sums, b"other").expect("written");
    flip(&path, 3000);
    assert!(matches!(again(), Err(Error::Damaged { .. })));
    assert_eq!(std::fs::read(&sums).expect("read"), b"other");
    flip(&path, 3000);
    again().expect("written");
    assert_eq!(std::fs::read(&sums).expect("read"), sound);
}

#[test]
fn files_of_short_sections_need_no_digests_of_blocks() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = written(folder.path());
    Sections::open(&path, FileKind::Segment).expect("opened").write_missing_sums().expect("nothing to do");
    assert!(!block_sums::path_of(&path).exists());
}
