//! The scheduler under virtual time.

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;

use super::*;
use crate::{
    policy::{DomainHints, PageWorth, Rule},
    text::TextFingerprint,
};

const PAUSE: u64 = 5_000;

fn steward(rule: Rule) -> Steward {
    Steward::new(Settings { rule, ..Settings::default() })
}

fn found(steward: &mut Steward, domain: &str, section: &str, source: Option<&str>, count: usize) {
    for _ in 0..count {
        steward.discovered(&Discovered { domain, section, source, hints: DomainHints::default() });
    }
}

fn worth(tokens: u64) -> PageWorth {
    PageWorth { bytes: 40_000, clean_bytes: 6 * tokens, tokens, new_share: 1.0, ..PageWorth::default() }
}

fn page(worth: PageWorth) -> Outcome<'static> {
    Outcome::Page { worth, text: None, front: false }
}

fn open(_: &str) -> Gate {
    Gate::Open
}

/// Serves requests until none is left or `most` were made; returns the pages of each section.
fn run(steward: &mut Steward, most: usize, tokens: impl Fn(&str) -> u64) -> HashMap<String, usize> {
    let mut pages = HashMap::new();
    let (mut now, mut asked) = (1, 0);
    while asked < most {
        match steward.next(now, &mut open) {
            Next::Request(request) => {
                asked += 1;
                let section = steward.section_name(request.domain, request.section);
                let worth = worth(tokens(&section));
                *pages.entry(section).or_default() += 1;
                steward.done(&request, page(worth), now + PAUSE);
            }
            Next::Wait(until) => now = until,
            Next::Idle => panic!("nothing is in flight"),
            Next::Finished(_) => break,
        }
    }
    pages
}

#[test]
fn a_domain_has_one_request_in_flight_and_rests_after_it() {
    let mut steward = steward(Rule::Tidings);
    found(&mut steward, "a.example", "a.example/*", None, 3);
    let Next::Request(request) = steward.next(10, &mut open) else { panic!("a request") };
    assert_eq!(steward.next(11, &mut open), Next::Idle);
    steward.done(&request, page(worth(500)), 5_010);
    assert_eq!(steward.next(12, &mut open), Next::Wait(5_010));
    assert!(matches!(steward.next(5_010, &mut open), Next::Request(_)));
}

#[test]
fn hosts_of_one_address_wait_for_each_other() {
    let mut steward = steward(Rule::BreadthFirst);
    for name in ["a.example", "b.example", "c.example"] {
        found(&mut steward, name, &format!("{name}/"), None, 1);
    }
    let mut busy_until = 0;
    let mut asked = Vec::new();
    let mut now = 1;
    loop {
        let next = steward.next(now, &mut |_| {
            if busy_until > now { Gate::Group { group: 1, until: busy_until } } else { Gate::Open }
        });
        match next {
            Next::Request(request) => {
                asked.push(now);
                busy_until = now + 1_000;
                steward.done(&request, page(worth(0)), now + PAUSE);
            }
            Next::Wait(until) => now = until,
            Next::Idle => panic!("nothing is in flight"),
            Next::Finished(end) => {
                assert_eq!(end, End::Dry);
                break;
            }
        }
    }
    assert_eq!(asked, [1, 1_001, 2_001]);
}

#[test]
fn sites_of_one_address_share_it_by_their_worth() {
    let mut steward = steward(Rule::Tidings);
    for number in 0..8 {
        let name = format!("s{number}.example");
        found(&mut steward, &name, &format!("{name}/*"), None, 400);
    }
    let (mut now, mut free_at) = (1, 0);
    let mut pages: HashMap<u32, u64> = HashMap::new();
    while pages.values().sum::<u64>() < 400 {
        let next = steward.next(now, &mut |_| match free_at > now {
            true => Gate::Group { group: 1, until: free_at },
            false => Gate::Open,
        });
        match next {
            Next::Request(request) => {
                free_at = now + 1_000;
                *pages.entry(request.domain).or_default() += 1;
                steward.done(&request, page(worth(500)), now);
            }
            Next::Wait(until) => now = until,
            other => panic!("{other:?}"),
        }
    }
    assert!(pages.len() == 8 && pages.values().all(|count| *count < 160), "equal sites, but {pages:?}");
}

#[test]
fn most_requests_go_to_the_section_with_text() {
    let mut steward = steward(Rule::Tidings);
    for section in ["a.example/shop/*", "a.example/blog/*", "a.example/tags/*"] {
        found(&mut steward, "a.example", section, None, 300);
    }
    let pages = run(&mut steward, 300, |section| if section.contains("blog") { 900 } else { 0 });
    assert!(pages["a.example/blog/*"] > 250, "{pages:?}");
}

#[test]
fn a_section_without_text_is_closed_and_the_crawl_ends_by_itself() {
    let mut steward = steward(Rule::Tidings);
    found(&mut steward, "a.example", "a.example/calendar/D/", None, 5_000);
    let pages = run(&mut steward, 5_000, |_| 0);
    assert!(pages["a.example/calendar/D/"] < 100, "{pages:?}");
    assert_eq!(steward.finished(1), Some(End::Dry));
    let rows = steward.why("a.example");
    let reasons: Vec<_> = rows
        .iter()
        .filter_map(|row| match row {
            Row::Section(row) => row.closed.clone(),
            Row::Domain(_) | Row::Crawl(_) => None,
        })
        .collect();
    assert!(!reasons.is_empty(), "{rows:?}");
}

#[test]
fn a_list_without_text_stays_open_while_it_shows_articles() {
    let mut steward = steward(Rule::Tidings);
    found(&mut steward, "a.example", "a.example/list?page", None, 200);
    let (mut now, mut articles, mut lists) = (1, 0, 0);
    while articles + lists < 400 {
        match steward.next(now, &mut open) {
            Next::Request(request) => {
                let is_list = steward.section_name(request.domain, request.section).contains("list");
                let worth = worth(if is_list { 0 } else { 900 });
                steward.done(&request, page(worth), now + PAUSE);
                if is_list {
                    lists += 1;
                    found(&mut steward, "a.example", "a.example/article/*", Some("a.example"), 3);
                } else {
                    articles += 1;
                }
            }
            Next::Wait(until) => now = until,
            other => panic!("{other:?} after {articles} articles and {lists} lists"),
        }
    }
    assert!(articles > 250, "{articles} articles, {lists} lists");
}

#[test]
fn a_section_that_repeats_another_becomes_its_alias() {
    let mut steward = steward(Rule::Tidings);
    found(&mut steward, "a.example", "a.example/news/*", None, 20);
    found(&mut steward, "a.example", "a.example/print/*", None, 20);
    let mut served: HashMap<String, usize> = HashMap::new();
    let mut now = 1;
    let mut alias = None;
    for _ in 0..40 {
        match steward.next(now, &mut open) {
            Next::Request(request) => {
                let section = steward.section_name(request.domain, request.section);
                let number = served.entry(section).or_default();
                *number += 1;
                let words: String = (0..300).map(|word| format!("w{word}n{number} ")).collect();
                let text = TextFingerprint::of(&words, "");
                let outcome = Outcome::Page { worth: worth(300), text: Some(&text), front: false };
                let judged = steward.done(&request, outcome, now + PAUSE);
                alias = alias.or(judged.closed.into_iter().find(|closed| matches!(closed.why, CloseReason::Alias(_))));
            }
            Next::Wait(until) => now = until,
            _ => break,
        }
    }
    assert!(alias.is_some(), "{served:?}");
}

#[test]
fn versions_for_printers_and_telephones_of_a_known_section_are_refused() {
    let mut steward = steward(Rule::Tidings);
    let mut admits = |section: &str| {
        let url = Discovered { domain: "a.example", section, source: None, hints: DomainHints::default() };
        matches!(steward.discovered(&url), Admission::Admit(_))
    };
    assert!(admits("a.example/print/news/*"), "the plain section is not known yet");
    assert!(admits("www.a.example/sport/*"));
    assert!(
        !admits("a.example/print/sport/*") && !admits("www.a.example/sport/*?amp") && !admits("m.a.example/sport/*")
    );
    assert!(admits("m.a.example/app/*"), "what only telephones get");
}

#[test]
fn a_site_that_fills_templates_is_closed_and_one_with_copies_is_not() {
    let mut steward = steward(Rule::Tidings);
    let sentence = |number: usize| (0..40).map(|word| format!("s{number}w{word} ")).collect::<String>();
    // Half of each text are sentences of a template with six of them; of the copies one in two is a text known before.
    let spun =
        |page: usize| sentence(page % 6) + &sentence((page + 1) % 6) + &sentence(100 + page) + &sentence(200 + page);
    let copied = |page: usize| (0..4).map(|part| sentence(1_000 + 10 * (page / 2) + part)).collect::<String>();
    for (domain, page_text) in [("spun.example", &spun as &dyn Fn(usize) -> String), ("copied.example", &copied)] {
        let section = format!("{domain}/*");
        let mut closed = false;
        for number in 0..30 {
            found(&mut steward, domain, &section, None, 1);
            let now = number as u64 * PAUSE + 1;
            let Next::Request(request) = steward.next(now, &mut open) else { break };
            let text = TextFingerprint::of(&page_text(number), "");
            let outcome = Outcome::Page { worth: worth(160), text: Some(&text), front: false };
            let judged = steward.done(&request, outcome, 1);
            closed |= judged.closed.iter().any(|closed| closed.why == CloseReason::Template);
        }
        assert_eq!(closed, domain == "spun.example", "{domain}");
    }
}

#[test]
fn a_site_of_words_by_chance_is_closed_and_one_whose_texts_have_subjects_is_not() {
    let mut steward = steward(Rule::Tidings);
    let mut random = fastrand::Rng::with_seed(1);
    for (domain, has_subjects) in [("machine.example", false), ("people.example", true)] {
        let section = format!("{domain}/*");
        let mut closed_at = None;
        for number in 0..60 {
            found(&mut steward, domain, &section, None, 1);
            let Next::Request(request) = steward.next(number * PAUSE + 1, &mut open) else { break };
            let mut word = || match has_subjects && random.u32(..3) == 0 {
                true => format!("subject{number}x{} ", random.u32(..30)),
                false => format!("word{} ", (random.f64().powi(2) * 6_000.0) as u32),
            };
            let text = TextFingerprint::of(&(0..300).map(|_| word()).collect::<String>(), "");
            let outcome = Outcome::Page { worth: worth(300), text: Some(&text), front: false };
            let judged = steward.done(&request, outcome, 1);
            if judged.closed.iter().any(|closed| closed.why == CloseReason::Generated) {
                closed_at = Some(number);
            }
        }
        assert_eq!(closed_at, (!has_subjects).then_some(15), "{domain}");
    }
}

#[test]
fn a_front_page_that_many_domains_have_closes_the_domain() {
    let mut steward = steward(Rule::Tidings);
    let mut closed = 0;
    for number in 0..8 {
        let domain = format!("parked{number}.example");
        found(&mut steward, &domain, &format!("{domain}/"), None, 1);
        let Next::Request(request) = steward.next(number + 1, &mut open) else { panic!("a request") };
        let text = TextFingerprint::of(&format!("{domain} is for sale buy this domain now"), &domain);
        let judged = steward.done(&request, Outcome::Page { worth: worth(8), text: Some(&text), front: true }, 1);
        closed += judged.closed.iter().filter(|closed| closed.why == CloseReason::Parked).count();
    }
    assert_eq!(closed, 3);
}

#[test]
fn hosts_of_a_farm_are_refused_beyond_what_its_text_justifies() {
    let mut steward = steward(Rule::Tidings);
    let admitted = (0..100)
        .filter(|number| {
            let section = format!("x{number}.farm.example/");
            let url =
                Discovered { domain: "farm.example", section: &section, source: None, hints: DomainHints::default() };
            matches!(steward.discovered(&url), Admission::Admit(_))
        })
        .count();
    assert!(admitted <= 4, "{admitted} hosts");
}

#[test]
fn the_requests_of_a_day_are_limited() {
    let mut steward = Steward::new(Settings { max_pages_per_site_day: 10, ..Settings::default() });
    found(&mut steward, "a.example", "a.example/*", None, 30);
    let mut days = HashMap::new();
    let mut now = 1;
    loop {
        match steward.next(now, &mut open) {
            Next::Request(request) => {
                *days.entry(now / DAY).or_insert(0) += 1;
                steward.done(&request, page(worth(500)), now + PAUSE);
            }
            Next::Wait(until) => now = until,
            _ => break,
        }
    }
    assert_eq!(days.values().sum::<i32>(), 30);
    assert!(days.values().all(|pages| *pages <= 10), "{days:?}");
}

#[test]
fn budgets_end_a_crawl() {
    for (settings, end) in [
        (Settings { max_pages: Some(5), ..Settings::default() }, End::Pages),
        (Settings { max_bytes: Some(150_000), ..Settings::default() }, End::Bytes),
        (Settings { max_tokens: Some(2_000), ..Settings::default() }, End::Tokens),
        (Settings { until: Some(20_000), ..Settings::default() }, End::Time),
    ] {
        let mut steward = Steward::new(settings);
        found(&mut steward, "a.example", "a.example/*", None, 50);
        let pages = run(&mut steward, 50, |_| 500);
        assert!(pages["a.example/*"] <= 6, "{end}: {pages:?}");
        assert_eq!(steward.finished(1_000_000), Some(end));
    }
}

#[test]
fn new_domains_are_probed_beside_an_old_one_with_a_hundred_pages() {
    let mut steward = steward(Rule::Tidings);
    found(&mut steward, "rich.example", "rich.example/*", None, 1_000);
    run(&mut steward, 98, |_| 2_000);
    for number in 0..20 {
        let domain = format!("new{number}.example");
        found(&mut steward, &domain, &format!("{domain}/*"), Some("rich.example"), 8);
    }
    let pages = run(&mut steward, 400, |section| if section.starts_with("rich") { 2_000 } else { 0 });
    let new = pages.iter().filter(|(section, _)| section.starts_with("new"));
    let (domains, requests) = new.fold((0, 0), |(domains, requests), (_, count)| (domains + 1, requests + count));
    assert!(requests as u64 >= 400 / PROBE_TURNS - 2 && domains >= 15, "{pages:?}");
}

#[test]
fn spiderling_closes_a_poor_domain_and_keeps_a_rich_one() {
    let mut steward = steward(Rule::Spiderling);
    found(&mut steward, "poor.example", "poor.example/*", None, 500);
    found(&mut steward, "rich.example", "rich.example/*", None, 500);
    let pages = run(&mut steward, 1_000, |section| if section.starts_with("rich") { 900 } else { 2 });
    assert_eq!(pages["rich.example/*"], 500);
    assert!(pages["poor.example/*"] < 20, "{pages:?}");
}

#[test]
fn restored_rows_give_the_same_rows() {
    let mut steward = steward(Rule::Tidings);
    for number in 0..10 {
        let domain = format!("d{number}.example");
        for section in ["a", "b", "c"] {
            found(&mut steward, &domain, &format!("{domain}/{section}/*"), None, 20);
        }
    }
    run(&mut steward, 200, |section| if section.contains("/a/") { 700 } else { 0 });
    let rows: Vec<Row> = steward.rows().collect();
    let again = Steward::restore(steward.settings().clone(), rows.clone(), 0);
    assert_eq!(again.rows().collect::<Vec<_>>(), rows);
}

#[test]
fn the_same_seed_gives_the_same_requests() {
    let order = || {
        let mut steward = steward(Rule::Tidings);
        for number in 0..30 {
            let domain = format!("d{number}.example");
            found(&mut steward, &domain, &format!("{domain}/*"), None, 20);
        }
        let mut now = 1;
        let mut order = Vec::new();
        while order.len() < 200 {
            match steward.next(now, &mut open) {
                Next::Request(request) => {
                    order.push(request.domain);
                    steward.done(&request, page(worth(u64::from(request.domain) * 20)), now + PAUSE);
                }
                Next::Wait(until) => now = until,
                _ => break,
            }
        }
        order
    };
    assert_eq!(order(), order());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_waiting_url_is_asked_for_once_or_its_section_is_closed(
        sizes in prop::collection::vec((0u32..12, 0u32..4, 1usize..12, 0u64..900), 1..30),
        rule in 0usize..4,
    ) {
        let mut steward = steward(Rule::ALL[rule].0);
        let mut waiting: HashMap<String, usize> = HashMap::new();
        let mut tokens = HashMap::new();
        for (domain, section, count, worth) in sizes {
            let domain = format!("d{domain}.example");
            let section = format!("{domain}/{section}/*");
            found(&mut steward, &domain, &section, None, count);
            *waiting.entry(section.clone()).or_default() += count;
            tokens.insert(section, worth);
        }
        let pages = run(&mut steward, usize::MAX, |section| tokens[section]);
        let closed: HashSet<String> = steward
            .rows()
            .filter_map(|row| match row {
                Row::Section(row) if row.closed.is_some() => Some(row.section),
                Row::Domain(row) if row.closed.is_some() => Some(row.name),
                _ => None,
            })
            .collect();
        for (section, count) in waiting {
            let asked = pages.get(&section).copied().unwrap_or_default();
            let domain = section.split('/').next().unwrap_or_default();
            prop_assert!(asked <= count);
            prop_assert!(asked == count || closed.contains(&section) || closed.contains(domain), "{section}");
        }
    }
}
