//! Tests of the log of imports.

use super::*;
use crate::testing::home;

#[test]
fn a_step_writes_a_file_per_day_and_the_position() {
    let (folder, home) = home();
    let path = folder.path().join("input.warc");
    fs::write(&path, "some bytes").unwrap();
    let mut input = Input::of(&path, "input.warc").unwrap();
    let mut intake = PageImporter::open(&home, "20260301T000000000Z-import").unwrap();
    assert_eq!(intake.known(&input), None);
    let frame = FrameEncoder::new(3).encode(b"{}\n");
    for day in ["2026-03-01", "2026-02-28", "2026-03-01"] {
        intake.push(day, &frame);
    }
    (input.records, input.byte) = (3, Some(7));
    intake.reached(&input).unwrap();
    assert_eq!(pages::files(&home).unwrap().len(), 0);
    intake.step().unwrap();
    let files: Vec<String> = pages::files(&home).unwrap().iter().map(|path| home.shown(path)).collect();
    let run = "20260301T000000000Z-import.0.jsonl.zst";
    assert_eq!(files, [format!("pages/2026-02-28/{run}"), format!("pages/2026-03-01/{run}")]);
    let again = PageImporter::open(&home, "20260302T000000000Z-import").unwrap();
    assert_eq!(again.known(&Input::of(&path, "input.warc").unwrap()), Some(&input));
    fs::write(&path, "other bytes").unwrap();
    assert_eq!(again.known(&Input::of(&path, "input.warc").unwrap()), None);
}

#[test]
fn pages_of_many_days_wait_until_their_files_are_worth_it() {
    let (folder, home) = home();
    let path = folder.path().join("a.vert");
    fs::write(&path, "x").unwrap();
    let input = Input::of(&path, "a.vert").unwrap();
    let line = |number: usize| format!("{{\"url\":\"http://e.org/{number}\",\"body\":\"x\"}}\n").into_bytes();
    let day = |number: usize| format!("2026-03-{:02}", number % 28 + 1);
    let mut intake = PageImporter::open(&home, "1-import").unwrap().with_steps_of(800);
    let mut steps = Vec::new();
    for number in 0..2000 {
        intake.push_lines(&day(number), &line(number));
        intake.reached(&Input { records: number as u64 + 1, ..input.clone() }).unwrap();
        let done = fs::read_to_string(home.state(NAME)).unwrap_or_default().lines().count();
        if done > steps.len() {
            steps.push(number);
        }
    }
    intake.step().unwrap();
    // A step has four times its size, because a day has fewer than 64 KiB.
    assert!(steps.len() > 3 && steps.windows(2).all(|pair| pair[1] - pair[0] > 300), "{steps:?}");
    // Each day has its pages in the order in which they were pushed.
    for of_month in 0..28 {
        let files = pages::files(&home).unwrap();
        let of_day = files.iter().filter(|path| path.parent().unwrap().ends_with(day(of_month)));
        let pages = of_day.flat_map(|path| pages::PageReader::open(path).unwrap().map(|page| page.unwrap().url));
        let expected = (0..2000).filter(|number| number % 28 == of_month).map(|n| format!("http://e.org/{n}"));
        assert!(pages.eq(expected), "{of_month}");
    }
}

#[test]
fn a_frame_follows_the_lines_of_its_day() {
    let (folder, home) = home();
    let path = folder.path().join("a");
    fs::write(&path, "a").unwrap();
    let mut intake = PageImporter::open(&home, "1-import").unwrap();
    intake.push_lines("2026-03-01", b"{\"url\":\"http://e.org/1\",\"body\":\"x\"}\n");
    intake.push("2026-03-01", &FrameEncoder::new(3).encode(b"{\"url\":\"http://e.org/2\",\"body\":\"x\"}\n"));
    intake.push_lines("2026-03-01", b"{\"url\":\"http://e.org/3\",\"body\":\"x\"}\n");
    intake.reached(&Input::of(&path, "a").unwrap()).unwrap();
    intake.step().unwrap();
    let file = pages::files(&home).unwrap().remove(0);
    let urls: Vec<String> = pages::PageReader::open(&file).unwrap().map(|page| page.unwrap().url).collect();
    assert_eq!(urls, ["http://e.org/1", "http://e.org/2", "http://e.org/3"]);
}

#[test]
fn inputs_whose_pages_are_pushed_together_are_in_one_step() {
    let (folder, home) = home();
    let inputs = ["a", "b"].map(|name| {
        let path = folder.path().join(name);
        fs::write(&path, name).unwrap();
        Input { done: true, ..Input::of_saved(&path, name).unwrap() }
    });
    let mut intake = PageImporter::open(&home, "1-import").unwrap().with_steps_of(1);
    intake.push("2026-03-01", &FrameEncoder::new(3).encode(b"{}\n{}\n"));
    intake.reached_all(&inputs).unwrap();
    assert_eq!(fs::read_to_string(home.state(NAME)).unwrap().lines().count(), 1);
    let again = PageImporter::open(&home, "2-import").unwrap();
    assert!(inputs.iter().all(|input| again.known(input).is_some()));
}

#[test]
fn an_incomplete_line_is_ignored_and_overwritten() {
    let (folder, home) = home();
    let path = folder.path().join("a");
    fs::write(&path, "a").unwrap();
    let input = Input::of(&path, "a").unwrap();
    let mut intake = PageImporter::open(&home, "1-import").unwrap();
    intake.reached(&input).unwrap();
    intake.step().unwrap();
    let ledger = home.state(NAME);
    let whole = fs::read(&ledger).unwrap();
    fs::write(&ledger, [&whole[..], b"{\"run\":\"2-imp"].concat()).unwrap();
    let mut intake = PageImporter::open(&home, "3-import").unwrap();
    assert!(intake.known(&input).is_some());
    intake.reached(&Input { done: true, ..input.clone() }).unwrap();
    intake.step().unwrap();
    assert!(PageImporter::open(&home, "4-import").unwrap().known(&input).unwrap().done);
    assert_eq!(fs::read_to_string(&ledger).unwrap().lines().count(), 2);
}

#[test]
fn logs_of_shards_are_merged_by_the_next_whole_run() {
    let (folder, home) = home();
    let path = folder.path().join("a");
    fs::write(&path, "a").unwrap();
    let input = Input::of(&path, "a").unwrap();
    let at = |records, done| Input { records, done, ..input.clone() };
    let mut third = PageImporter::open_shard(&home, "1-import-1-of-3", "1-of-3").unwrap();
    third.push("2026-03-01", &FrameEncoder::new(3).encode(b"{}\n"));
    third.remember(&[Fingerprint(7)]);
    third.reached(&at(9, true)).unwrap();
    third.step().unwrap();
    third.fold().unwrap();
    assert!(!home.state("fetched.u64").exists(), "shards write no shared files");
    let mut half = PageImporter::open_shard(&home, "2-import-2-of-2", "2-of-2").unwrap();
    assert_eq!(half.known(&input), Some(&at(9, true)), "a shard reads the logs of others");
    half.reached(&at(4, false)).unwrap();
    half.step().unwrap();
    assert!(!home.state(NAME).exists());

    drop(home.lock().unwrap());
    assert!(shard_logs(&home).unwrap().is_empty());
    assert!(crate::fetched::holds(&home, Fingerprint(7)).unwrap());
    let whole = PageImporter::open(&home, "3-import").unwrap();
    assert_eq!(whole.known(&input), Some(&at(9, true)), "the furthest state counts");
    assert_eq!(fs::read_to_string(home.state(NAME)).unwrap().lines().count(), 3);
    let before = fs::read(home.state(NAME)).unwrap();
    drop(home.lock().unwrap());
    assert_eq!(fs::read(home.state(NAME)).unwrap(), before, "nothing is left to merge");
}

#[test]
fn a_repeated_shard_publishes_files_left_by_a_crash() {
    let (folder, home) = home();
    let path = folder.path().join("a");
    fs::write(&path, "a").unwrap();
    let input = Input::of(&path, "a").unwrap();
    let mut shard = PageImporter::open_shard(&home, "1-import-1-of-2", "1-of-2").unwrap();
    shard.push("2026-03-01", &FrameEncoder::new(3).encode(b"{}\n"));
    shard.reached(&Input { done: true, ..input.clone() }).unwrap();
    shard.step().unwrap();
    let published = pages::files(&home).unwrap().remove(0);
    let part = published.with_extension("zst.part");
    for repeat in [true, false] {
        fs::rename(&published, &part).unwrap();
        if repeat {
            assert!(PageImporter::open_shard(&home, "2-import-1-of-2", "1-of-2").unwrap().known(&input).unwrap().done);
        } else {
            drop(home.lock().unwrap());
        }
        assert_eq!(pages::files(&home).unwrap(), std::slice::from_ref(&published));
    }
}
