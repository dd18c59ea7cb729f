//! Tests of days that are due, missing and damaged pages, and outcomes.

use super::*;
use crate::cancel::StopReason;
use crate::shard::Shard;
use crate::shard_round::{ShardOptions, run_shard};
use crate::testing::{article, home, page, root, store_pages};
use tidings_model::Page;
use tidings_store::Stale;
use tidings_store::docs::DocumentReader;

fn stopped(left: u64, reason: StopReason) -> Ending {
    Ending { left, reason: Some(reason), min_free_mib: 512, ..Ending::default() }
}

#[test]
fn an_outcome_with_nothing_due_has_a_reason() {
    let text = |days_up_to_date| CleanOutcome { days_up_to_date, ..CleanOutcome::default() }.to_string();
    assert_eq!(text(0), "nothing to clean: no pages yet\n");
    assert_eq!(text(1), "nothing to clean: the day is up to date\n");
    assert_eq!(text(1200), "nothing to clean: all 1,200 days are up to date\n");
}

#[test]
fn an_outcome_lists_reasons_the_most_frequent_first() {
    let outcome = CleanOutcome {
        days: 2,
        pages: 1010,
        documents: 1,
        languages: [("en".to_owned(), 1)].into(),
        dropped: [("no-text".to_owned(), 4), ("error".to_owned(), 4), ("too-short".to_owned(), 1001)].into(),
        ..CleanOutcome::default()
    };
    let reasons = "1,001 too-short, 4 error, 4 no-text";
    let expected = format!("1,010 pages read: 1 document in 1 language, 1,009 dropped ({reasons}), 0.0 s\n");
    assert_eq!(outcome.to_string(), expected);
}

#[test]
fn an_early_end_and_failed_days_are_shown() {
    let outcome = CleanOutcome {
        days_left: 3,
        days_failed: vec!["2026-03-01".into()],
        ending: stopped(3, StopReason::Cancelled("SIGINT".into())),
        ..CleanOutcome::default()
    };
    assert_eq!(
        outcome.to_string(),
        "0 pages read: 0 documents in 0 languages; 3 days left for a later run, stopped by SIGINT, 0.0 s\n\
         not cleaned because of missing or unreadable pages: 2026-03-01\n"
    );
}

#[test]
fn a_page_on_which_the_extractor_panics_makes_the_outcome_partial() {
    let dropped =
        |word: &str| CleanOutcome { done: true, dropped: [(word.to_owned(), 1)].into(), ..CleanOutcome::default() };
    assert_eq!(dropped("no-text").status(), Status::Done);
    assert_eq!(dropped(DropReason::NoDocument(tidings_clean::DropReason::Error).word()).status(), Status::Partly);
}

#[test]
fn a_damaged_file_of_pages_skips_its_day_only() {
    let (_folder, pipeline) = home();
    store_pages(&pipeline, "2026-03-01", &[page("https://gazette.example/1", &article("ferry"))]);
    store_pages(&pipeline, "2026-03-02", &[page("https://gazette.example/2", &article("museum"))]);
    let damaged = root(&pipeline).join("pages/2026-03-01/a.0.jsonl.zst");
    std::fs::write(damaged, b"no zstd at all").unwrap();
    let StageOutcome::Clean(outcome) = pipeline.run(&Clean::default()).unwrap() else { panic!("not clean") };
    assert_eq!((outcome.done, outcome.days, outcome.days_failed), (false, 1, vec!["2026-03-01".to_owned()]));
}

#[test]
fn a_day_is_due_when_it_is_new_or_its_pages_or_settings_change() {
    let (_folder, pipeline) = home();
    let due = |config: &Config| {
        let due = Clean::default().due(pipeline.home(), config).unwrap();
        (due.units.first().map(|unit| unit.why), due.up_to_date)
    };
    store_pages(&pipeline, "2026-03-01", &[page("https://gazette.example/1", &article("ferry"))]);
    assert_eq!(due(pipeline.config()), (Some(Stale::New), 0));
    pipeline.run(&Clean::default()).unwrap();
    assert_eq!(due(pipeline.config()), (None, 1));
    let mut config = pipeline.config().clone();
    config.clean.languages = vec!["de".into()];
    assert_eq!(due(&config), (Some(Stale::Settings), 0));
    let folder = root(&pipeline).join("pages/2026-03-01");
    std::fs::copy(folder.join("a.0.jsonl.zst"), folder.join("b.0.jsonl.zst")).unwrap();
    assert_eq!(due(pipeline.config()), (Some(Stale::PagesAdded), 0));
}

/// A file of pages with a frame per page, as a crawl writes it.
fn store_frames(pipeline: &crate::Pipeline, day: &str, pages: &[Page]) -> std::path::PathBuf {
    let mut writer = tidings_store::pages::PageWriter::open(pipeline.home(), "a", None);
    for page in pages {
        let mut line = Vec::new();
        page.write_line(&mut line).unwrap();
        let frame = tidings_store::FrameEncoder::new(3).encode(&line);
        writer.append(format!("{day}T12:00:00Z").parse().unwrap(), &frame, &[]).unwrap();
    }
    writer.publish().unwrap();
    root(pipeline).join(format!("pages/{day}/a.0.jsonl.zst"))
}

fn run(pipeline: &crate::Pipeline, stage: &Clean) -> CleanOutcome {
    let StageOutcome::Clean(outcome) = pipeline.run(stage).unwrap() else { panic!("not clean") };
    outcome
}

#[test]
fn a_day_whose_pages_are_missing_is_not_made_again_without_them() {
    let (_folder, pipeline) = home();
    let day = "2026-03-01";
    store_pages(&pipeline, day, &[page("https://gazette.example/1", &article("ferry"))]);
    let other = root(&pipeline).join("pages/2026-03-01/b.0.jsonl.zst");
    std::fs::copy(root(&pipeline).join("pages/2026-03-01/a.0.jsonl.zst"), &other).unwrap();
    run(&pipeline, &Clean::default());
    std::fs::remove_file(&other).unwrap();
    let before = Recipe::read(pipeline.home(), day).unwrap();
    let outcome = run(&pipeline, &Clean::default());
    assert_eq!((outcome.status(), outcome.days_failed), (Status::NotDone, vec![day.to_owned()]));
    assert_eq!(Recipe::read(pipeline.home(), day).unwrap(), before);
    std::fs::remove_dir_all(other.parent().unwrap()).unwrap();
    assert_eq!(run(&pipeline, &Clean::default()).days_failed, [day], "also if no pages are left");
    let accepted = run(&pipeline, &Clean { accept_loss: true, ..Clean::default() });
    assert_eq!((accepted.status(), accepted.days, accepted.documents), (Status::Done, 1, 0));
    assert_eq!(run(&pipeline, &Clean::default()).status(), Status::Done);
}

#[test]
fn the_documents_of_a_damaged_frame_are_kept_and_the_rest_is_made_again() {
    let (_folder, pipeline) = home();
    let pages: Vec<Page> = ["ferry", "museum", "bridge"]
        .iter()
        .map(|topic| page(&format!("https://gazette.example/{topic}"), &article(topic)))
        .collect();
    let file = store_frames(&pipeline, "2026-03-01", &pages);
    run(&pipeline, &Clean::default());
    let whole = std::fs::read(&file).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    std::fs::write(&file, flipped).unwrap();
    assert_eq!(run(&pipeline, &Clean::default()).days_up_to_date, 1);
    let mut config = pipeline.config().clone();
    config.clean.languages = vec!["en".into()];
    let pipeline = pipeline.with_config(config);
    let outcome = run(&pipeline, &Clean::default());
    assert_eq!((outcome.status(), outcome.documents), (Status::Partly, 3), "{outcome}");
    assert_eq!(outcome.damaged_files, ["pages/2026-03-01/a.0.jsonl.zst".to_owned()].into());
    let faulty = tidings_store::faulty_pages(pipeline.home()).unwrap();
    assert_eq!(faulty[0].to_string(), "pages/2026-03-01/a.0.jsonl.zst is damaged");
    std::fs::write(&file, whole).unwrap();
    assert_eq!(run(&pipeline, &Clean::default()).status(), Status::Done);
    assert!(tidings_store::faulty_pages(pipeline.home()).unwrap().is_empty());
}

#[test]
fn a_damaged_frame_that_was_never_read_costs_only_its_pages() {
    let (_folder, pipeline) = home();
    let pages =
        ["ferry", "museum", "bridge"].map(|topic| page(&format!("https://gazette.example/{topic}"), &article(topic)));
    let file = store_frames(&pipeline, "2026-03-01", &pages);
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let outcome = run(&pipeline, &Clean::default());
    assert_eq!((outcome.status(), outcome.documents, outcome.damaged_files.len()), (Status::Partly, 2, 1));
}

#[test]
fn a_damaged_frame_of_an_added_file_does_not_repeat_former_documents() {
    let (_folder, pipeline) = home();
    let pages = ["ferry", "museum"].map(|topic| page(&format!("https://gazette.example/{topic}"), &article(topic)));
    store_pages(&pipeline, "2026-03-01", &[page("https://gazette.example/1", &article("bridge"))]);
    run(&pipeline, &Clean::default());
    let first = root(&pipeline).join("pages/2026-03-01/a.0.jsonl.zst");
    let former = std::fs::read(&first).unwrap();
    let mut added = std::fs::read(store_frames(&pipeline, "2026-03-02", &pages)).unwrap();
    std::fs::remove_dir_all(root(&pipeline).join("pages/2026-03-02")).unwrap();
    *added.last_mut().unwrap() ^= 1;
    std::fs::write(first.with_file_name("b.0.jsonl.zst"), added).unwrap();
    let outcome = run(&pipeline, &Clean::default());
    assert_eq!((outcome.status(), outcome.documents), (Status::Partly, 1), "one of the two added pages");
    assert_eq!(Recipe::read(pipeline.home(), "2026-03-01").unwrap().unwrap().pages, 2);
    assert_eq!(std::fs::read(first).unwrap(), former);
}

const WALL: &str = "<html><head><title>Before you continue</title></head><body><h1>Before you continue</h1>\
    <p>We and our partners use cookies and data to deliver and maintain our services, to track outages and to protect \
    against spam, fraud and abuse.</p><p>If you choose to accept, we will also use them to develop and improve new \
    services, and to measure the effectiveness of advertising on this site.</p></body></html>";

/// The page of an article about a topic, with a body that may be something else.
fn page_about(topic: &str, body: &str) -> Page {
    let url = format!("https://gazette.example/news/{topic}");
    Page { title: format!("The {topic} opens again"), ..page(&url, body) }
}

fn walls(topics: &[&str]) -> Vec<Page> {
    topics.iter().map(|topic| page_about(topic, WALL)).collect()
}

/// Stores pages as another file of the day.
fn add_pages(pipeline: &crate::Pipeline, day: &str, file: &str, pages: &[Page]) {
    let mut lines = Vec::new();
    pages.iter().for_each(|page| page.write_line(&mut lines).unwrap());
    let folder = root(pipeline).join("pages").join(day);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(file), zstd::encode_all(&lines[..], 3).unwrap()).unwrap();
}

/// The topics of the documents and of the pages dropped for a reason, in their order.
fn topics(pipeline: &crate::Pipeline, day: &str, reason: &str) -> (Vec<String>, Vec<String>) {
    let topic = |url: &str| url.rsplit('/').next().unwrap_or_default().to_owned();
    let recipe = Recipe::read(pipeline.home(), day).unwrap().unwrap();
    let files = recipe.document_files().filter(|file| file.language().is_some());
    let documents = files.flat_map(|file| DocumentReader::open_in(pipeline.home(), &file.file).unwrap());
    let documents = documents.map(|document| topic(&document.unwrap().url)).collect();
    let mut dropped = Vec::new();
    docs::dropped_pages(pipeline.home(), day, "", |page| {
        if page.reason == reason {
            dropped.push(topic(&page.url));
        }
    })
    .unwrap();
    (documents, dropped)
}

/// Cleans pages of one day; returns the documents and the dropped pages.
fn cleaned(pages: &[Page], reason: &str) -> (Vec<String>, Vec<String>) {
    let (_folder, pipeline) = home();
    store_pages(&pipeline, DAY, pages);
    run(&pipeline, &Clean::default());
    topics(&pipeline, DAY, reason)
}

const DAY: &str = "2026-03-01";

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn the_same_text_under_three_titles_is_no_article() {
    let mut pages = walls(&["ferry", "museum"]);
    assert_eq!(cleaned(&pages, "same-text"), (owned(&["ferry", "museum"]), vec![]), "two may be a coincidence");
    pages.insert(1, page_about("bridge", &article("bridge")));
    pages.push(page_about("harbour", WALL));
    assert_eq!(cleaned(&pages, "same-text"), (owned(&["bridge"]), owned(&["ferry", "museum", "harbour"])));
}

#[test]
fn retitled_articles_and_several_addresses_of_one_article_stay() {
    let retitled = |topic: &str| Page { title: "Joy among commuters".into(), ..page_about(topic, &article("tunnel")) };
    let pages = [retitled("a"), retitled("b"), retitled("c"), retitled("d")];
    assert_eq!(cleaned(&pages, "same-text").0.len(), 4, "one article has one title");
    // A live ticker: the same boilerplate, other news, and headlines that are not in the feed.
    let ticker = |topic: &str| {
        let news =
            format!("<p>At noon the {topic} was closed for an hour, and at three the {topic} was open.</p></article>");
        page_about(topic, &article("tunnel").replace("</article>", &news))
    };
    let tickers: Vec<Page> = ["x", "y", "z", "w"]
        .iter()
        .map(|topic| Page { title: format!("{topic} minute by minute"), ..ticker(topic) })
        .collect();
    assert_eq!(cleaned(&tickers, "same-text").0.len(), 4);
}

#[test]
fn dead_links_that_redirect_to_the_front_page_are_no_articles() {
    let front = |topic: &str, teaser: &str| {
        let body = article("tunnel").replace("</article>", &format!("<p>{teaser}</p></article>"));
        Page { final_url: "https://gazette.example/".into(), ..page_about(topic, &body) }
    };
    let (documents, dropped) = cleaned(&[front("ferry", "Buy our calendar.")], "front-page");
    assert_eq!((documents.len(), dropped), (0, owned(&["ferry"])), "one is enough: the title is not there");
    let teaser = "The ferry opens again. The museum opens again. The bridge opens again.";
    let fronts: Vec<Page> = ["ferry", "museum", "bridge"].iter().map(|topic| front(topic, teaser)).collect();
    assert_eq!(cleaned(&fronts, "same-text").1.len(), 3, "its teasers have the titles");
    assert_eq!(cleaned(&fronts[..1], "same-text").0.len(), 1);
}

#[test]
fn a_day_that_grows_is_decided_like_a_whole_one() {
    let files = [
        ("a.0.jsonl.zst", walls(&["ferry", "museum"])),
        ("b.0.jsonl.zst", vec![page_about("bridge", &article("bridge")), page_about("short", "<p>No.</p>")]),
        ("c.0.jsonl.zst", walls(&["harbour"])),
        ("d.0.jsonl.zst", [walls(&["garden"]), vec![page_about("tower", &article("tower"))]].concat()),
    ];
    let (_whole_folder, whole) = home();
    files.iter().for_each(|(name, pages)| add_pages(&whole, DAY, name, pages));
    run(&whole, &Clean::default());
    let (_folder, grown) = home();
    let documents: Vec<usize> = files
        .iter()
        .map(|(name, pages)| {
            add_pages(&grown, DAY, name, pages);
            run(&grown, &Clean::default());
            topics(&grown, DAY, "same-text").0.len()
        })
        .collect();
    assert_eq!(documents, [2, 3, 1, 2], "the third wall withdraws the first two");
    let recipe = |pipeline: &crate::Pipeline| Recipe::read(pipeline.home(), DAY).unwrap().unwrap();
    assert_eq!(recipe(&grown), recipe(&whole), "the same counts, yields and bytes");
    assert_eq!(topics(&whole, DAY, "same-text").1, owned(&["ferry", "museum", "harbour", "garden"]));
    assert_eq!(recipe(&whole).dropped, [("same-text".to_owned(), 4), ("too-short".to_owned(), 1)].into());
}

/// Cleans walls of one topic a day, which are stored in this order, until nothing is left to do; returns the home.
fn walls_of_days(days: &[(&str, &str)]) -> (tempfile::TempDir, crate::Pipeline) {
    let (folder, pipeline) = home();
    for (day, topic) in days {
        add_pages(&pipeline, day, "a.0.jsonl.zst", &walls(&[topic]));
        run(&pipeline, &Clean::default());
        run(&pipeline, &Clean::default());
        assert!(Clean::default().due(pipeline.home(), pipeline.config()).unwrap().units.is_empty());
    }
    (folder, pipeline)
}

const WALL_DAYS: [(&str, &str); 4] =
    [("2026-03-01", "ferry"), ("2026-03-03", "museum"), ("2026-03-04", "harbour"), ("2026-03-05", "garden")];

#[test]
fn a_wall_with_one_page_a_day_is_known_from_the_days_before() {
    let (_folder, pipeline) = walls_of_days(&WALL_DAYS);
    let dropped = WALL_DAYS.map(|(day, _)| topics(&pipeline, day, "same-text").1.len());
    assert_eq!(dropped, [0, 0, 1, 1], "the third one shows it");
    let recipe = Recipe::read(pipeline.home(), "2026-03-04").unwrap().unwrap();
    assert_eq!((recipe.walls.len(), &recipe.walls[0]), (1, &recipe.suspects[0].text));
}

#[test]
fn days_have_the_same_walls_in_any_order_of_their_pages() {
    let (_folder, forwards) = walls_of_days(&WALL_DAYS);
    let mut days = WALL_DAYS;
    days.reverse();
    let (_other, backwards) = walls_of_days(&days);
    let (_third, at_once) = home();
    WALL_DAYS.iter().for_each(|(day, topic)| add_pages(&at_once, day, "a.0.jsonl.zst", &walls(&[topic])));
    run(&at_once, &Clean::default());
    for (day, _) in WALL_DAYS {
        let recipe = |pipeline: &crate::Pipeline| Recipe::read(pipeline.home(), day).unwrap().unwrap();
        assert_eq!(recipe(&forwards), recipe(&backwards), "{day}");
        assert_eq!(recipe(&forwards), recipe(&at_once), "{day}");
    }
}

#[test]
fn a_day_is_made_again_if_earlier_days_lose_their_walls() {
    let (_folder, pipeline) = walls_of_days(&WALL_DAYS[..3]);
    std::fs::remove_dir_all(root(&pipeline).join("pages/2026-03-01")).unwrap();
    run(&pipeline, &Clean { accept_loss: true, ..Clean::default() });
    let due = Clean::default().due(pipeline.home(), pipeline.config()).unwrap();
    assert_eq!(
        due.units.iter().map(|unit| (unit.name.as_str(), unit.why)).collect::<Vec<_>>(),
        [("2026-03-04", Stale::Walls)]
    );
    run(&pipeline, &Clean::default());
    assert_eq!(topics(&pipeline, "2026-03-04", "same-text").0, owned(&["harbour"]), "two may be a coincidence");
}

#[test]
fn walls_of_long_ago_do_not_count() {
    let (_folder, pipeline) =
        walls_of_days(&[("2026-03-01", "ferry"), ("2026-03-02", "museum"), ("2026-03-16", "harbour")]);
    assert_eq!(topics(&pipeline, "2026-03-16", "same-text").0, owned(&["harbour"]));
}

#[test]
fn a_shard_makes_a_day_again_when_other_shards_show_its_walls() {
    const SHARDS: u32 = 4;
    let (_folder, pipeline) = home();
    WALL_DAYS.iter().for_each(|(day, topic)| add_pages(&pipeline, day, "a.0.jsonl.zst", &walls(&[topic])));
    let shard = |index: u32| Shard::new(index, SHARDS).unwrap();
    let (last, _) = WALL_DAYS[3];
    let first = (1..=SHARDS).find(|index| shard(*index).takes(last)).unwrap();
    // The other shards do their days when this one has done its own, and before it has waited for them.
    let others = |_: StageId, _: &StageOutcome| {
        for index in (1..=SHARDS).filter(|index| *index != first) {
            pipeline.clone().with_shard(shard(index)).run(&Clean::default()).unwrap();
        }
    };
    let options = ShardOptions { stages: vec![StageId::Clean], wait: std::time::Duration::ZERO, ..Default::default() };
    run_shard(&pipeline.clone().with_shard(shard(first)), &options, &others).unwrap();
    assert_eq!(topics(&pipeline, last, "same-text").1, owned(&["garden"]), "it was known by itself before");
    run(&pipeline, &Clean::default());
    let dropped = WALL_DAYS.map(|(day, _)| topics(&pipeline, day, "same-text").1.len());
    assert_eq!(dropped, [0, 0, 1, 1]);
}
