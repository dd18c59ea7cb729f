use super::*;
use tidings_store::archive::BackfillOrder;

const NOW: &str = "2026-03-20T12:00:00.000Z";

fn planner(known: &[&str], sample: u64) -> Planner {
    let order =
        BackfillOrder { site: "g.example".into(), origin: "https://g.example".into(), ..BackfillOrder::default() };
    let mut rule = ArticleRule::default();
    known.iter().for_each(|path| rule.learn(&Url::parse(&format!("https://g.example{path}")).unwrap()));
    let sample = (0..sample).map(Fingerprint).collect();
    let backfill = Backfill { order, ..Backfill::default() };
    Planner::new(backfill, rule.into(), DateRange::default(), sample, Date::constant(2026, 3, 20))
}

fn urls(planner: &Planner, chosen: &[usize]) -> Vec<String> {
    let path = |at: &usize| planner.backfill.listings[*at].url.replace("https://g.example", "");
    chosen.iter().map(path).collect()
}

fn with_articles(numbers: std::ops::Range<u64>) -> ListingContent {
    ListingContent { articles: numbers.map(Fingerprint).collect(), ..ListingContent::default() }
}

fn answer(planner: &mut Planner, chosen: &[usize], content: &ListingContent) {
    for at in chosen {
        planner.record(*at, ListingResult::Read(content.clone()), NOW);
    }
}

fn fail(planner: &mut Planner, chosen: &[usize]) {
    for at in chosen {
        planner.record(*at, ListingResult::Failed("404".into()), NOW);
    }
}

#[test]
fn sitemaps_of_robots_txt_come_first_and_cover_the_known_articles() {
    let mut planner = planner(&["/article/1"], 40);
    let first = planner.next(None, 10);
    assert_eq!(urls(&planner, &first), ["/"], "robots.txt is unknown before the first request");
    answer(&mut planner, &first, &ListingContent::default());
    let maps = planner.next(Some(&["https://g.example/index.xml".to_owned()]), 10);
    assert_eq!(urls(&planner, &maps), ["/index.xml"]);
    let month = |name: &str, date: &str| (format!("https://g.example/{name}"), date.parse().ok());
    let index = ListingContent {
        maps: vec![
            month("1.xml", "2026-01-01T00:00:00Z"),
            month("3.xml", "2026-03-01T00:00:00Z"),
            month("2.xml", "2026-02-01T00:00:00Z"),
        ],
        ..ListingContent::default()
    };
    answer(&mut planner, &maps, &index);
    let months = planner.next(Some(&[]), 10);
    assert_eq!(urls(&planner, &months), ["/3.xml", "/2.xml", "/1.xml"]);
    answer(&mut planner, &months, &with_articles(0..40));
    assert!(planner.next(Some(&[]), 10).is_empty());
    assert!(
        planner.is_ended() && planner.backfill.order.ended.contains("100 % of 40"),
        "{}",
        planner.backfill.order.ended
    );
}

#[test]
fn without_sitemaps_months_are_read_back_in_time() {
    let mut planner = planner(&["/2026/03/04/a-b-c", "/2026/02/04/a-b-c"], 0);
    let guesses = planner.next(Some(&[]), 10);
    assert_eq!(urls(&planner, &guesses), ["/sitemap.xml", "/sitemap_index.xml", "/news-sitemap.xml"]);
    fail(&mut planner, &guesses);
    let dated = planner.next(Some(&[]), 10);
    assert_eq!(urls(&planner, &dated), ["/2026/03/04/", "/2026/03/"]);
    let month: Vec<usize> =
        dated.iter().copied().filter(|at| planner.backfill.listings[*at].url.ends_with("/03/")).collect();
    answer(&mut planner, &month, &with_articles(0..9));
    let day: Vec<usize> = dated.into_iter().filter(|at| !month.contains(at)).collect();
    fail(&mut planner, &day);
    let mut read = Vec::new();
    for round in 1..40 {
        let chosen = planner.next(Some(&[]), 1);
        let next = urls(&planner, &chosen);
        if next.first().is_none_or(|url| url == "/") {
            break;
        }
        read.extend(next);
        let is_old = planner.backfill.listings[chosen[0]].url.contains("/2025/");
        let is_day = planner.backfill.listings[chosen[0]].url.contains("/2026/03/03");
        match is_old || is_day {
            true => fail(&mut planner, &chosen),
            false => answer(&mut planner, &chosen, &with_articles(round * 10..round * 10 + 9)),
        }
    }
    assert!(read.contains(&"/2026/01/".to_owned()) && read.contains(&"/2025/12/".to_owned()), "{read:?}");
    assert!(read.len() < 12, "{read:?}");
}

#[test]
fn a_list_is_read_page_by_page_until_it_repeats_itself() {
    let mut planner = planner(&["/article/1"], 0);
    let guesses = planner.next(Some(&[]), 10);
    fail(&mut planner, &guesses);
    let front = planner.next(Some(&[]), 10);
    assert_eq!(urls(&planner, &front), ["/"]);
    let page = |numbers: std::ops::Range<u64>, next: u32| ListingContent {
        links: vec![(LinkTarget::Page(next), format!("https://g.example/?page={next}"))],
        ..with_articles(numbers)
    };
    answer(&mut planner, &front, &page(0..10, 2));
    for number in 2..=5_u32 {
        let chosen = planner.next(Some(&[]), 10);
        assert_eq!(urls(&planner, &chosen), [format!("/?page={number}")]);
        // The server answers pages after the fourth with the fourth.
        let at = u64::from(number.min(4));
        answer(&mut planner, &chosen, &page(at * 10..at * 10 + 10, number + 1));
    }
    assert!(planner.next(Some(&[]), 10).is_empty());
    assert_eq!((planner.backfill.order.ended.as_str(), planner.backfill.found.len()), ("all sources are dry", 40));
}

#[test]
fn listings_that_were_postponed_wait_for_a_later_run() {
    let mut planner = planner(&["/article/1"], 0);
    let guesses = planner.next(Some(&[]), 10);
    for at in guesses {
        planner.record(at, ListingResult::Postponed("timeout".into()), NOW);
    }
    assert!(planner.next(Some(&[]), 10).is_empty());
    assert_eq!((planner.is_ended(), planner.waiting()), (false, 3));
}

#[test]
fn a_backfill_that_finds_hardly_anything_ends() {
    let mut planner = planner(&["/article/1"], 0);
    planner.backfill.order.requests = FREE_REQUESTS;
    assert!(planner.next(Some(&[]), 10).is_empty() && planner.is_ended());
}

#[test]
fn names_of_sitemaps_order_them() {
    let of = |name: &str| date_in_name(&format!("https://g.example/{name}"));
    assert!(
        of("sitemap-2019-03.xml") > of("sitemap-2018-12.xml") && of("post_201903.xml") == of("sitemap-2019-03.xml")
    );
    assert_eq!(of("sitemap-12.xml"), 0);
}

#[test]
fn a_server_that_answers_any_month_with_its_newest_articles_is_not_asked_for_long() {
    let mut planner = planner(&["/2026/03/04/a-b-c"], 0);
    let guesses = planner.next(Some(&[]), 10);
    fail(&mut planner, &guesses);
    let mut asked = 0;
    for round in 0..30 {
        let chosen = planner.next(Some(&[]), 10);
        if urls(&planner, &chosen).iter().any(|url| url == "/") {
            break;
        }
        asked += chosen.len();
        let newest = ListingContent { is_other_period: true, ..with_articles(round..round + 9) };
        answer(&mut planner, &chosen, &newest);
    }
    assert!(asked <= 4, "{asked}");
}
