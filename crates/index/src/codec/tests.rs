//! Round trips, boundaries and damage of the codecs.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

/// Largest position that a segment may hold.
const MAX_POSITION: u32 = (crate::segment::MAX_TOKENS - 1) as u32;

/// Lengths around block boundaries.
const LENGTHS: [usize; 10] = [0, 1, 2, 127, 128, 129, 255, 256, 257, 640];

fn column_words(values: &[u32], width: u32) -> Vec<u32> {
    let mut writer = TokenColumnWriter::new(width);
    let mut bytes = Vec::new();
    for value in values {
        bytes.extend(writer.push(*value).unwrap_or_default());
    }
    bytes.extend(writer.finish().unwrap_or_default());
    bytes.as_chunks::<4>().0.iter().map(|four| u32::from_le_bytes(*four)).collect()
}

fn check_column(values: &[u32], width: u32) {
    let words = column_words(values, width);
    assert_eq!(words.len(), TokenColumn::words_for(values.len(), width));
    let column = TokenColumn::new(&words, width, values.len() as u32);
    let one_by_one: Vec<u32> = (0..values.len() as u32).map(|at| column.get(at)).collect();
    assert_eq!(one_by_one, values, "width {width}");
    let mut scanned = Vec::new();
    column.scan(0, u32::MAX, |at, piece| {
        assert_eq!(at as usize, scanned.len());
        scanned.extend_from_slice(piece);
    });
    assert_eq!(scanned, values, "width {width}");
}

fn packed_list(positions: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_postings(positions, &mut bytes);
    bytes
}

fn check_list(positions: &[u32]) {
    let bytes = packed_list(positions);
    let list = PostingList::new(&bytes, positions.len() as u32);
    let mut read = Vec::new();
    list.read(0, u32::MAX, &mut read);
    assert_eq!(read, positions);
    for (index, position) in positions.iter().enumerate() {
        assert!(list.contains(*position));
        let before = index.checked_sub(1).map_or(0, |index| positions[index] + 1);
        assert_eq!(list.next_from(before), Some(*position));
    }
    let beyond = positions.last().map_or(0, |last| last + 1);
    assert_eq!(list.next_from(beyond), None);
}

/// Ascending positions with gaps of up to `spread`.
fn ascending(random: &mut fastrand::Rng, len: usize, spread: u32) -> Vec<u32> {
    let mut next = 0;
    (0..len)
        .map(|_| {
            next += random.u32(1..=spread);
            next - 1
        })
        .collect()
}

#[test]
fn the_width_of_a_number_is_its_bit_length_and_at_least_one() {
    assert_eq!([0, 1, 2, 3, 4, 255, 256, u32::MAX].map(width_of), [1, 1, 2, 2, 3, 8, 9, 32]);
}

#[test]
fn columns_of_all_widths_and_boundary_lengths_round_trip() {
    for width in 1..=32 {
        let largest = (u64::MAX >> (64 - width)) as u32;
        for len in LENGTHS {
            check_column(&vec![0; len], width);
            check_column(&vec![largest; len], width);
            check_column(&(0..len as u32).map(|at| if at % 2 == 0 { largest } else { 0 }).collect::<Vec<_>>(), width);
        }
    }
}

#[test]
fn a_column_is_zero_beyond_its_end() {
    let words = column_words(&[5; 130], 3);
    let column = TokenColumn::new(&words, 3, 130);
    assert_eq!((column.get(129), column.get(130), column.get(256), column.get(u32::MAX)), (5, 0, 0, 0));
    let mut block = [0; BLOCK];
    assert!(column.block(1, &mut block) && !column.block(2, &mut block));
    assert_eq!(block[..3], [5, 5, 0]);
}

#[test]
fn an_empty_column_has_no_words() {
    assert!(column_words(&[], 7).is_empty());
    let column = TokenColumn::new(&[], 7, 0);
    assert!(column.is_empty() && column.bound() == 128);
    column.scan(0, 99, |_, _| panic!("there is nothing to scan"));
}

#[test]
fn scans_stop_at_the_end_of_the_column_and_of_the_range() {
    let values: Vec<u32> = (0..300).collect();
    let words = column_words(&values, 9);
    let column = TokenColumn::new(&words, 9, 300);
    for (start, end) in [(0, 0), (0, 1), (127, 129), (128, 256), (299, 300), (299, 9999), (300, 400), (200, 100)] {
        let mut scanned = Vec::new();
        column.scan(start, end, |_, piece| scanned.extend_from_slice(piece));
        assert_eq!(scanned, values.get(start as usize..end.min(300) as usize).unwrap_or_default(), "{start}..{end}");
    }
}

#[test]
fn a_column_with_too_few_words_gives_zeros() {
    let words = column_words(&[7; 256], 3);
    let column = TokenColumn::new(&words[..words.len() / 2], 3, 256);
    assert_eq!((column.get(100), column.get(200)), (7, 0));
    let mut scanned = 0;
    column.scan(0, 256, |_, piece| scanned += piece.len());
    assert_eq!(scanned, BLOCK);
}

#[test]
fn lists_of_boundary_lengths_round_trip() {
    for len in LENGTHS {
        check_list(&(0..len as u32).collect::<Vec<_>>());
        check_list(&(0..len as u32).map(|at| at * 1000 + 999).collect::<Vec<_>>());
    }
}

#[test]
fn lists_with_maximal_gaps_round_trip() {
    check_list(&[MAX_POSITION]);
    check_list(&[0, MAX_POSITION]);
    let mut block: Vec<u32> = (0..127).collect();
    block.push(MAX_POSITION - 1);
    check_list(&block);
    block.push(MAX_POSITION);
    check_list(&block);
    // A dense block, then one that begins at the other end.
    let mut far: Vec<u32> = (0..128).collect();
    far.extend(MAX_POSITION - 127..=MAX_POSITION);
    check_list(&far);
}

#[test]
fn consecutive_positions_take_no_bits_in_blocks() {
    let bytes = packed_list(&(0..1280).collect::<Vec<_>>());
    assert!(bytes.len() <= 10 * (8 + 16), "{} bytes", bytes.len());
}

#[test]
fn an_empty_list_has_no_bytes_and_finds_nothing() {
    assert!(packed_list(&[]).is_empty());
    let list = PostingList::new(&[], 0);
    assert!(list.is_empty() && !list.contains(0));
    assert_eq!(list.next_from(0), None);
    list.pieces(0, u32::MAX, |_| panic!("there is nothing"));
}

#[test]
fn a_list_of_one_needs_no_bytes() {
    let list = PostingList::only(77);
    let read = |start, end| {
        let mut read = Vec::new();
        list.read(start, end, &mut read);
        read
    };
    assert_eq!((read(0, u32::MAX), read(77, 78), read(78, 99), read(0, 77)), (vec![77], vec![77], vec![], vec![]));
    assert_eq!((list.next_from(0), list.next_from(77), list.next_from(78)), (Some(77), Some(77), None));
    assert!(list.len() == 1 && list.contains(77) && !list.contains(76));
}

#[test]
fn a_list_with_too_large_a_length_does_not_panic() {
    let bytes = packed_list(&(0..300).collect::<Vec<_>>());
    for len in [301, 383, 384, 512, 100_000, u32::MAX] {
        let list = PostingList::new(&bytes, len);
        list.read(0, u32::MAX, &mut Vec::new());
        list.next_from(299);
        list.next_from(u32::MAX);
    }
}

#[test]
fn a_truncated_list_gives_its_first_blocks_or_nothing() {
    let positions: Vec<u32> = (0..700).map(|at| at * 3).collect();
    let bytes = packed_list(&positions);
    for len in 0..bytes.len() {
        let list = PostingList::new(&bytes[..len], 700);
        let mut read = Vec::new();
        list.read(0, u32::MAX, &mut read);
        assert!(read.len() <= 700);
    }
}

#[test]
fn packed_numbers_of_every_width_round_trip_at_both_extremes() {
    for width in 1..=32 {
        let largest = (u64::MAX >> (64 - width)) as u32;
        let numbers: Vec<u32> = (0..67).map(|at| if at % 3 == 0 { largest } else { at & largest }).collect();
        let mut bytes = vec![0xAA];
        write_packed(&numbers, width, &mut bytes);
        assert_eq!(bytes.len(), 1 + (67 * width as usize).div_ceil(8));
        let read: Vec<u32> = (0..67).map(|at| read_packed(&bytes[1..], width, at)).collect();
        assert_eq!(read, numbers, "width {width}");
    }
}

#[test]
fn packed_numbers_beyond_the_end_are_zero() {
    let mut bytes = Vec::new();
    write_packed(&[u32::MAX; 3], 32, &mut bytes);
    assert_eq!([2, 3, 1000].map(|at| read_packed(&bytes, 32, at)), [u32::MAX, 0, 0]);
    assert_eq!(read_packed(&[], 7, 0), 0);
}

#[test]
fn a_bit_set_ignores_numbers_beyond_its_bound() {
    let mut set = BitSet::new(65);
    set.set(64);
    set.set(4000);
    set.set_range(120..200);
    assert_eq!((set.get(64), set.get(4000), set.words().len()), (true, false, 2));
    assert_eq!(BitSet::new(0).count(), 0);
    assert_eq!(BitSet::from_words(set.words().to_vec()), set);
}

#[test]
fn searches_in_no_words_find_nothing() {
    assert_eq!((next_bit(&[], 0, 99), last_bit(&[], 0, 99), bit(&[], 0)), (None, None, false));
    assert_eq!(next_bit(&[u64::MAX], 5, 5), None);
    assert_eq!((next_bit(&[0, 1], 0, 64), next_bit(&[0, 1], 0, 65)), (None, Some(64)));
    assert_eq!((last_bit(&[1 << 63, 0], 63, 127), last_bit(&[1 << 62, 0], 63, 127)), (Some(63), None));
}

proptest! {
    #[test]
    fn a_column_round_trips(width in 1u32..=32, seed: u64, len in 0usize..600) {
        let mut random = fastrand::Rng::with_seed(seed);
        let values: Vec<u32> = (0..len).map(|_| (random.u64(..) & ((1 << width) - 1)) as u32).collect();
        check_column(&values, width);
        let words = column_words(&values, width);
        let column = TokenColumn::new(&words, width, len as u32);
        let (start, end) = (random.usize(0..=len), random.usize(0..=len));
        let mut scanned = Vec::new();
        column.scan(start as u32, end as u32, |_, piece| scanned.extend_from_slice(piece));
        prop_assert_eq!(scanned, values.get(start..end).unwrap_or_default());
    }

    #[test]
    fn a_list_round_trips_in_every_range(seed: u64, len in 0usize..700, spread in 1u32..9_000) {
        let mut random = fastrand::Rng::with_seed(seed);
        let positions = ascending(&mut random, len, spread);
        let bound = positions.last().map_or(1, |last| last + 2);
        // Lists are concatenated in a section, so a list must not depend on its neighbours.
        let mut bytes = vec![7; random.usize(0..5)];
        let from = bytes.len();
        write_postings(&positions, &mut bytes);
        bytes.extend([0xFF; 40]);
        let list = PostingList::new(&bytes[from..], len as u32);
        let (start, end) = (random.u32(0..=bound), random.u32(0..=bound));
        let mut read = Vec::new();
        list.read(start, end, &mut read);
        let expected: Vec<u32> = positions.iter().copied().filter(|at| (start..end).contains(at)).collect();
        prop_assert_eq!(read, expected);
        prop_assert_eq!(list.next_from(start), positions.iter().copied().find(|at| *at >= start));
        prop_assert_eq!(list.contains(start), positions.binary_search(&start).is_ok());
    }

    #[test]
    fn pieces_of_a_list_are_never_empty_and_join_to_the_range(seed: u64, len in 0usize..700) {
        let positions = ascending(&mut fastrand::Rng::with_seed(seed), len, 50);
        let bytes = packed_list(&positions);
        let mut joined = Vec::new();
        PostingList::new(&bytes, len as u32).pieces(0, u32::MAX, |piece| {
            assert!(!piece.is_empty() && piece.len() <= BLOCK);
            joined.extend_from_slice(piece);
        });
        prop_assert_eq!(joined, positions);
    }

    #[test]
    fn damaged_lists_and_columns_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400), len: u32, width: u32) {
        let list = PostingList::new(&bytes, len % 1000);
        let mut read = Vec::new();
        list.read(0, u32::MAX, &mut read);
        list.read(77, 5_000, &mut read);
        list.next_from(99);
        list.contains(u32::MAX);
        let words: Vec<u32> = bytes.as_chunks::<4>().0.iter().map(|four| u32::from_le_bytes(*four)).collect();
        let column = TokenColumn::new(&words, width, len % 1000);
        column.get(len);
        column.scan(0, len, |_, _| {});
        read_packed(&bytes, width % 40, len as usize % 5000);
    }

    #[test]
    fn packed_numbers_round_trip(width in 1u32..=32, numbers in proptest::collection::vec(any::<u32>(), 0..40)) {
        let numbers: Vec<u32> = numbers.iter().map(|number| (u64::from(*number) & ((1 << width) - 1)) as u32).collect();
        let mut bytes = Vec::new();
        write_packed(&numbers, width, &mut bytes);
        let read: Vec<u32> = (0..numbers.len()).map(|at| read_packed(&bytes, width, at)).collect();
        prop_assert_eq!(read, numbers);
    }

    #[test]
    fn a_bit_set_is_a_set(numbers in proptest::collection::vec(0u32..300, 0..40)) {
        let model: BTreeSet<u32> = numbers.iter().copied().collect();
        let mut set = BitSet::new(300);
        numbers.iter().for_each(|number| set.set(*number));
        prop_assert_eq!(set.count(), model.len());
        prop_assert_eq!(set.iter().collect::<Vec<_>>(), model.iter().copied().collect::<Vec<_>>());
        prop_assert!((0..310).all(|number| set.get(number) == model.contains(&number)));
    }

    #[test]
    fn bits_are_found_from_both_sides(numbers in proptest::collection::btree_set(0u32..300, 0..20), start in 0u32..300, end in 0u32..300) {
        let mut set = BitSet::new(300);
        numbers.iter().for_each(|number| set.set(*number));
        prop_assert_eq!(next_bit(set.words(), start, end), numbers.iter().copied().find(|at| *at >= start && *at < end));
        let last = numbers.iter().copied().rfind(|at| *at <= end && *at >= start);
        prop_assert_eq!(last_bit(set.words(), start, end), last);
        let mut range = BitSet::new(300);
        range.set_range(start..end);
        prop_assert_eq!(range.iter().collect::<Vec<_>>(), (start..end).collect::<Vec<_>>());
    }
}
