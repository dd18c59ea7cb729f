//! Measures the CPU time of a crawled page, without the network: cleaning, links, fingerprint, seen-set keys, sections
//! and the decision of the scheduler. `cargo run --release -p tidings-bench-crawl --bin cost -- DIR [--json FILE]`, with
//! HTML files in DIR.

use std::path::Path;
use std::time::Duration;

use jiff::civil::Date;
use serde::Serialize;
use tidings_clean::postprocess::PostprocessOptions;
use tidings_clean::{Options, clean_with_links};
use tidings_crawl::policy::{DomainHints, PageWorth};
use tidings_crawl::steward::{Discovered, Gate, Next, Outcome, Settings, Steward};
use tidings_crawl::{fingerprint, shape, text::TextFingerprint, trap::hard_trap};
use tidings_model::{Page, PageLinks};
use url::Url;

const TODAY: Date = Date::constant(2026, 11, 16);
/// Rounds over all pages.
const ROUNDS: usize = 5;

/// Milliseconds a page.
#[derive(Debug, Default, Serialize)]
struct Cost {
    pages: usize,
    mean_bytes: f64,
    links_a_page: f64,
    /// Cleaning with language, gate and links.
    clean_and_links_ms: f64,
    /// The fingerprint of the text.
    fingerprint_ms: f64,
    /// Links: URL, traps, section, key of the seen-set, scheduler.
    discover_ms: f64,
    /// The outcome of the page and the next request.
    schedule_ms: f64,
    total_ms: f64,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(folder) = arguments.first() else {
        eprintln!("cost DIR [--json FILE]: DIR has HTML files");
        std::process::exit(2);
    };
    let pages = read(Path::new(folder));
    let cost = measure(&pages);
    let json = serde_json::to_string_pretty(&cost).expect("numbers are JSON");
    println!("{json}");
    if let Some(path) = arguments.iter().position(|word| word == "--json").and_then(|at| arguments.get(at + 1)) {
        std::fs::write(path, json + "\n").expect("the result can be written");
    }
}

/// CPU time of this thread: other load of the machine does not count. Linux only.
fn cpu_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux has /proc/thread-self/schedstat");
    let nanoseconds = text.split(' ').next().and_then(|number| number.parse().ok());
    Duration::from_nanos(nanoseconds.expect("the first field is a number"))
}

fn read(folder: &Path) -> Vec<Page> {
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).expect("the folder can be read").flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
        .iter()
        .enumerate()
        .map(|(number, path)| {
            // Ten pages a site.
            let url = format!("https://www.site{}.example/news/{number}", number / 10);
            Page {
                url: url.clone(),
                final_url: url,
                status: 200,
                content_type: "text/html".to_owned(),
                downloaded: "2026-11-16T12:00:00Z".to_owned(),
                body: std::fs::read(path).expect("the page can be read"),
                ..Page::default()
            }
        })
        .collect()
}

fn measure(pages: &[Page]) -> Cost {
    let [mut clean, mut print, mut discover, mut schedule] = [Duration::ZERO; 4];
    let mut links = 0;
    for round in 0..ROUNDS {
        let mut steward = Steward::new(Settings::default());
        for (number, page) in pages.iter().enumerate() {
            let start = cpu_time();
            let (document, of_page) = clean_with_links(page, &Options::default(), &PostprocessOptions::default());
            let cleaned = cpu_time();
            let text = document.as_ref().ok().map(|document| document.text());
            let text_print = text.as_ref().map(|text| TextFingerprint::of(text, "site"));
            let printed = cpu_time();
            find(&mut steward, page, &of_page);
            let found = cpu_time();
            let tokens = text.as_ref().map_or(0, |text| tidings_lang::word_count(text) as u64);
            let worth = PageWorth { bytes: page.body.len() as u64, tokens, new_share: 1.0, ..PageWorth::default() };
            let now = (round * pages.len() + number) as u64 * 1_000 + 1;
            if let Next::Request(request) = steward.next(now, &mut |_| Gate::Open) {
                steward.done(&request, Outcome::Page { worth, text: text_print.as_ref(), front: false }, now + 1_000);
            }
            let done = cpu_time();
            links += of_page.links.len();
            clean += cleaned - start;
            print += printed - cleaned;
            discover += found - printed;
            schedule += done - found;
        }
    }
    let count = (ROUNDS * pages.len()).max(1) as f64;
    let ms = |time: Duration| time.as_secs_f64() * 1e3 / count;
    Cost {
        pages: pages.len(),
        mean_bytes: pages.iter().map(|page| page.body.len() as f64).sum::<f64>() / pages.len().max(1) as f64,
        links_a_page: links as f64 / count,
        clean_and_links_ms: ms(clean),
        fingerprint_ms: ms(print),
        discover_ms: ms(discover),
        schedule_ms: ms(schedule),
        total_ms: ms(clean + print + discover + schedule),
    }
}

/// The links of a page on their way to the scheduler.
fn find(steward: &mut Steward, page: &Page, links: &PageLinks) {
    let Ok(own) = Url::parse(&page.url) else { return };
    for link in links.links.iter().filter(|link| !link.nofollow) {
        let Ok(url) = Url::parse(&link.url) else { continue };
        std::hint::black_box(fingerprint::fingerprint(&link.url));
        if hard_trap(&url, TODAY).is_some() {
            continue;
        }
        let section = shape::section(&url);
        let found = Discovered {
            domain: shape::domain(&url),
            section: &section,
            source: Some(shape::domain(&own)),
            hints: DomainHints::default(),
        };
        steward.discovered(&found);
    }
}
