//! Front pages of sites without feeds, polled for 14 days on a virtual clock.
//!
//! Each poll renders the page as it is at that time and reads it with the code of `tidings update`: links, shapes,
//! entries, schedule. Beside its newest articles a page has navigation, tags, an imprint, advertising with a new URL at
//! every request, and a list of older articles that changes with every request.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::fmt::Write as _;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use tidings_clean::links;
use tidings_crawl::hub::{self, KnownArticles};
use tidings_feeds::schedule::{Budget, PollPolicy, PublishingRate, ServerHints};
use url::Url;

use crate::DAY;
use crate::history::Feed;
use crate::policy::Tidings;

/// The measured time, from the first poll on: nothing is learned before.
pub const DAYS: f64 = 14.0;
/// The interval at which a policy is fitted to all pages.
const REFIT_EVERY: f64 = 4.0 * 3600.0;
/// Older articles among which the changing list is drawn.
const POPULAR: usize = 60;

const WORDS: [&str; 24] = [
    "council", "ferry", "bridge", "river", "budget", "school", "winter", "market", "union", "storm", "island", "court",
    "harbour", "museum", "strike", "festival", "mayor", "train", "forest", "hospital", "election", "library", "tunnel",
    "concert",
];
const SECTIONS: [&str; 6] = ["politics", "local", "culture", "sport", "economy", "opinion"];

/// The score of a policy on front pages.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PageScore {
    /// Articles published during the measured time.
    pub published: usize,
    /// Those of them that were found within it, in per cent.
    pub found: f64,
    /// Median hours from publication to discovery.
    pub median_h: f64,
    /// The 95th percentile of the same.
    pub p95_h: f64,
    /// Polls of all pages.
    pub polls: usize,
    /// Polls per page and day.
    pub polls_per_day: f64,
    /// Polls per article that was found.
    pub polls_per_article: f64,
    /// Entries that are not articles, in per cent of all entries.
    pub wrong: f64,
}

/// A rule that decides when a page is polled again.
pub trait PagePolicy {
    /// The time of the next poll after one that listed these entries; `new` of them were never seen before.
    fn next(&mut self, page: usize, now: f64, keys: &[u32], new: usize) -> f64;
    /// Fits the rule to all pages.
    fn refit(&mut self) {}
}

/// A fixed interval.
pub struct FixedInterval(pub f64);

impl PagePolicy for FixedInterval {
    fn next(&mut self, page: usize, now: f64, _: &[u32], _: usize) -> f64 {
        // Shorten the first interval, so that pages are not polled all at once.
        now + self.0 * if now <= 0.0 { (page as f64 * 0.618_034).fract() } else { 1.0 }
    }
}

/// The rule of news-crawl and Nutch: the interval is multiplied by 0.8 if there was something new, else by 1.5.
pub struct Multiplicative {
    intervals: Vec<f64>,
}

impl Multiplicative {
    /// The rule for some pages, starting at 90 minutes.
    pub fn new(pages: usize) -> Multiplicative {
        Multiplicative { intervals: vec![5400.0; pages] }
    }
}

impl PagePolicy for Multiplicative {
    fn next(&mut self, page: usize, now: f64, _: &[u32], new: usize) -> f64 {
        let interval = &mut self.intervals[page];
        if now > 0.0 {
            *interval = (*interval * if new > 0 { 0.8 } else { 1.5 }).clamp(900.0, 2.0 * DAY);
        }
        now + *interval
    }
}

/// The schedule of `tidings update`.
pub struct TidingsPages {
    budget: Budget,
    policy: PollPolicy,
    pages: Vec<(PublishingRate, Option<Timestamp>, HashSet<u32>)>,
}

impl TidingsPages {
    /// The schedule with a budget of polls per page and day.
    pub fn new(polls_per_day: f64, pages: usize) -> TidingsPages {
        TidingsPages::with(Budget { polls_per_day, ..Budget::of_pages() }, pages)
    }

    /// The schedule with the default budget.
    pub fn of_default(pages: usize) -> TidingsPages {
        TidingsPages::with(Budget::of_pages(), pages)
    }

    fn with(budget: Budget, pages: usize) -> TidingsPages {
        TidingsPages {
            policy: PollPolicy::fit(budget, &[&PublishingRate::default()]),
            budget,
            pages: vec![(PublishingRate::default(), None, HashSet::new()); pages],
        }
    }
}

impl PagePolicy for TidingsPages {
    fn next(&mut self, page: usize, now: f64, keys: &[u32], _: usize) -> f64 {
        let at = Tidings::moment(now);
        let (publishing, since, listed) = &mut self.pages[page];
        let set: HashSet<u32> = keys.iter().copied().collect();
        if *listed == set && since.is_some() {
            publishing.observe_unchanged(at, *since);
        } else {
            publishing.observe_links(at, *since, keys);
        }
        (*since, *listed) = (Some(at), set);
        let next = self.policy.next_poll(publishing, at, page as u64, &ServerHints::default());
        now + next.due.duration_since(at).as_secs_f64()
    }

    fn refit(&mut self) {
        let rates: Vec<&PublishingRate> = self.pages.iter().map(|page| &page.0).collect();
        self.policy = PollPolicy::fit(self.budget, &rates);
    }
}

/// A site without a feed.
struct Site<'a> {
    history: &'a Feed,
    number: usize,
    /// The number of its articles before the first poll.
    before: usize,
    /// The article of each URL that was found.
    found: HashSet<usize>,
    /// The URL and the title of each article.
    articles: Vec<(String, String)>,
    /// The number of each article, by URL.
    numbers: HashMap<String, usize>,
    keys: HashSet<u32>,
    random: fastrand::Rng,
}

impl<'a> Site<'a> {
    fn new(history: &'a Feed, number: usize, seed: u64) -> Site<'a> {
        let articles: Vec<(String, String)> = (0..history.times.len())
            .map(|article| {
                let title = title(number, article);
                (url(number, article, &title, history.times[article]), title)
            })
            .collect();
        Site {
            history,
            number,
            before: history.times.partition_point(|time| *time <= 0.0),
            found: HashSet::new(),
            numbers: articles.iter().enumerate().map(|(number, article)| (article.0.clone(), number)).collect(),
            articles,
            keys: HashSet::new(),
            random: fastrand::Rng::with_seed(seed ^ (number as u64) << 20),
        }
    }

    /// The front page with the articles until `published`.
    fn page(&mut self, published: usize) -> String {
        let root = root(self.number);
        let mut html = format!(
            "<!doctype html><html lang=en><head><title>Paper {}</title></head><body><header><nav>",
            self.number
        );
        for section in SECTIONS {
            let _ = write!(html, "<a href=\"/{section}/\">{section}</a> ");
        }
        html.push_str("</nav></header><main>");
        let first = published.saturating_sub(self.history.window);
        for article in (first..published).rev() {
            let (url, title) = &self.articles[article];
            let _ = match published - article {
                ..=5 => write!(
                    html,
                    "<article><a href=\"{url}\"><img alt=\"\"></a><h2><a href=\"{url}\">{title}</a></h2><p>It was said on the day. <a href=\"{url}\">Read more</a></p></article>"
                ),
                _ => write!(html, "<ul><li><a href=\"{url}\">{title}</a></li></ul>"),
            };
        }
        html.push_str("<section><h3>Read again</h3><ul>");
        let oldest = published.saturating_sub(POPULAR);
        for _ in 0..5.min(published - oldest) {
            let (url, title) = &self.articles[self.random.usize(oldest..published)];
            let _ = write!(html, "<li><a href=\"{url}\">{title}</a></li>");
        }
        let ad = self.random.u32(..);
        let _ = write!(
            html,
            "</ul></section><p><a href=\"https://ads.example/{ad}\">An offer that nobody should miss today</a></p>\
             <p><a href=\"/tag/council-and-the-budget\">All about the council and the budget</a> \
             <a href=\"{root}/page/2/\">Older articles</a></p></main>\
             <footer><a href=\"/about/imprint-and-privacy-notice\">Imprint and notes on privacy</a></footer></body></html>"
        );
        html
    }
}

fn root(site: usize) -> String {
    format!("https://www.paper{site}.example")
}

fn title(site: usize, article: usize) -> String {
    let mut random = fastrand::Rng::with_seed((site as u64) << 32 | article as u64);
    let words: Vec<&str> = (0..random.usize(5..9)).map(|_| WORDS[random.usize(..WORDS.len())]).collect();
    format!("{} {article}", words.join(" "))
}

/// The URL of an article; sites differ in their form.
fn url(site: usize, article: usize, title: &str, time: f64) -> String {
    let (root, slug) = (root(site), title.replace(' ', "-"));
    let section = SECTIONS[article % SECTIONS.len()];
    let day = Tidings::moment(time).to_zoned(TimeZone::UTC).date();
    match site % 5 {
        0 => format!("{root}/{}/{:02}/{:02}/{slug}.html", day.year(), day.month(), day.day()),
        1 => format!("{root}/{section}/{slug}"),
        2 => format!("{root}/news/{}", 100_000 + article),
        3 => format!("{root}/?p={}", 10_000 + article),
        _ => format!("{root}/{slug}/"),
    }
}

#[derive(Default)]
struct Counters {
    delays: Vec<f64>,
    polls: usize,
    entries: usize,
    wrong: usize,
}

/// Polls the front pages of sites with these histories for [`DAYS`] days.
pub fn poll_front_pages(histories: &[Feed], policy: &mut dyn PagePolicy, seed: u64) -> PageScore {
    let mut sites: Vec<Site<'_>> =
        histories.iter().enumerate().map(|(number, history)| Site::new(history, number, seed)).collect();
    let end = DAYS * DAY;
    let published: usize =
        sites.iter().map(|site| site.history.times.partition_point(|time| *time <= end) - site.before).sum();
    let mut counters = Counters::default();
    let key = |time: f64| (time * 1000.0).ceil() as u64;
    let mut due: BinaryHeap<Reverse<(u64, usize)>> = (0..sites.len()).map(|number| Reverse((0, number))).collect();
    let mut next_refit = 0.0;
    while let Some(Reverse((time, number))) = due.pop() {
        let now = time as f64 / 1000.0;
        if now > end {
            break;
        }
        while next_refit <= now {
            policy.refit();
            next_refit += REFIT_EVERY;
        }
        let (keys, new) = poll(&mut sites[number], now, &mut counters);
        due.push(Reverse((key(policy.next(number, now, &keys, new)).max(time + 1), number)));
    }
    score(counters, published, sites.len())
}

/// Reads a page as it is now. Returns the keys of its entries, and how many were never seen before.
fn poll(site: &mut Site<'_>, now: f64, counters: &mut Counters) -> (Vec<u32>, usize) {
    let published = site.history.times.partition_point(|time| *time <= now);
    let url = format!("{}/", root(site.number));
    let html = site.page(published);
    let page = Url::parse(&url).expect("the URL of a site is well-formed");
    let today = Tidings::moment(now).to_zoned(TimeZone::UTC).date();
    let articles = hub::articles(&links::of_html(&html, &url), &page, &KnownArticles::default(), today);
    counters.polls += 1;
    counters.entries += articles.len();
    let (mut keys, mut new) = (Vec::new(), 0);
    for article in &articles {
        let hash =
            article.url.bytes().fold(2_166_136_261u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(16_777_619));
        keys.push(hash & 0xff_ffff);
        new += usize::from(site.keys.insert(hash));
        match site.numbers.get(&article.url) {
            None => counters.wrong += 1,
            Some(number) if *number >= site.before && site.found.insert(*number) => {
                counters.delays.push(now - site.history.times[*number]);
            }
            Some(_) => {}
        }
    }
    (keys, new)
}

fn score(mut counters: Counters, published: usize, pages: usize) -> PageScore {
    counters.delays.sort_by(f64::total_cmp);
    let found = counters.delays.len();
    let at = |share: f64| counters.delays.get((found as f64 * share) as usize).copied().unwrap_or(0.0) / 3600.0;
    PageScore {
        published,
        found: 100.0 * found as f64 / published.max(1) as f64,
        median_h: at(0.5),
        p95_h: at(0.95),
        polls: counters.polls,
        polls_per_day: counters.polls as f64 / pages as f64 / DAYS,
        polls_per_article: counters.polls as f64 / found.max(1) as f64,
        wrong: 100.0 * counters.wrong as f64 / counters.entries.max(1) as f64,
    }
}
