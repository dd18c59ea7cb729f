//! Memory, disk and time of the seen-set and the waiting URLs, with generated URLs.
//!
//! `TIDINGS_SCALE_URLS` gives their number, for example in a release build:
//! `TIDINGS_SCALE_URLS=10000000 cargo test --release -p tidings-crawl --test scale -- --nocapture`

use std::path::Path;
use std::time::Instant;

use tidings_crawl::queue::WaitingUrl;
use tidings_crawl::{CrawlState, Link, shape};
use tidings_model::LinkRegion;

/// URLs of a domain, in five sections.
const URLS_OF_DOMAIN: u64 = 100;
/// The most memory that the process may take, in KiB: with a million URLs, and with more.
const MAX_KIB: [u64; 2] = [256 << 10, 512 << 10];

/// A URL as of an article, with a title of random words.
fn url(number: u64, random: &mut fastrand::Rng) -> String {
    let syllables = ["ba", "ne", "lo", "tri", "ska", "mu", "der", "vi", "pon", "ge", "ria", "ch"];
    let mut word = || (0..random.usize(2..5)).map(|_| syllables[random.usize(..syllables.len())]).collect::<String>();
    let title = (0..5).map(|_| word()).collect::<Vec<_>>().join("-");
    let domain = number / URLS_OF_DOMAIN;
    let section = ["news", "sport", "blog", "kultur", "shop"][number as usize % 5];
    let (year, month) = (2005 + number % 20, 1 + number % 12);
    format!("https://www.site{domain}.example/{section}/{year}/{month:02}/{title}-{number}.html")
}

fn link(url: String) -> Link {
    let parsed = url::Url::parse(&url).unwrap();
    let waiting = WaitingUrl {
        domain: shape::domain(&parsed).to_owned(),
        section: shape::section(&parsed),
        url,
        region: LinkRegion::List,
        source_yield: 0.2,
        day: None,
        depth: 3,
    };
    Link::new(waiting, "other.example")
}

fn bytes_under(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => bytes_under(&entry.path()),
            _ => entry.metadata().map_or(0, |meta| meta.len()),
        })
        .sum()
}

/// The peak memory of this process in KiB.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[test]
fn memory_is_bounded_and_a_waiting_url_takes_at_most_25_bytes_of_disk() {
    let count: u64 = std::env::var("TIDINGS_SCALE_URLS").ok().and_then(|n| n.parse().ok()).unwrap_or(100_000);
    let folder = tempfile::tempdir().unwrap();
    let mut state = CrawlState::open(folder.path()).unwrap();
    let mut random = fastrand::Rng::with_seed(1);
    let began = Instant::now();
    let checkpoint = |state: &mut CrawlState| {
        state.sift(|_| true).unwrap();
        state.checkpoint(Vec::new(), Vec::new()).unwrap();
    };
    for number in 0..count {
        // Links of a page lead to sites all over the crawl.
        let spread = number.wrapping_mul(982_451_653) % count;
        state.offer(link(url(spread, &mut random)));
        if number % 1000 == 0 {
            state.commit().unwrap();
        }
        if state.needs_sift() {
            state.sift(|_| true).unwrap();
        }
        if state.needs_checkpoint() {
            checkpoint(&mut state);
        }
    }
    checkpoint(&mut state);
    let filled = began.elapsed();
    assert_eq!((state.waiting(), state.seen()), (count, count));
    drop(state);
    let of_url = |part: &str| bytes_under(&folder.path().join(part)) as f64 / count as f64;
    let (seen, frontier) = (of_url("seen"), of_url("frontier"));
    let began = Instant::now();
    let mut state = CrawlState::open(folder.path()).unwrap();
    let finished = state.finished().unwrap();
    state.recover(&finished).unwrap();
    state.catch_up(|_| true).unwrap();
    let opened = began.elapsed();
    assert_eq!(state.waiting(), count);
    let first = link(url(0, &mut random)).url;
    assert!(state.take(&first.domain, &first.section).unwrap().is_some());
    println!(
        "{count} URLs: {:.1} s to fill, {:.2} s to open, {seen:.2} B seen and {frontier:.2} B waiting per URL, peak {} MiB",
        filled.as_secs_f64(),
        opened.as_secs_f64(),
        peak_kib() >> 10
    );
    assert!(peak_kib() < MAX_KIB[usize::from(count > 1_000_000)], "{} KiB", peak_kib());
    assert!(seen < 8.1 + 2e6 / count as f64 && frontier < 25.0, "{seen:.1} and {frontier:.1} bytes");
}
