//! Duplicates that are found, text that is kept, and independence of the memory budget and of interruptions.

use std::path::Path;

use proptest::prelude::*;
use tidings_dedup::lsm_levels::{self, LevelRun};
use tidings_dedup::{
    BlockFile, BlockId, Deduplicator, FingerprintRun, FingerprintStore, Level, Levels, MatchKind, Origin, Rule, Scope,
    StoreFiles, Text, Verdict, join,
};

/// A test document.
#[derive(Debug, Clone)]
struct Story {
    name: String,
    site: &'static str,
    month: String,
    day: i64,
    paragraphs: Vec<String>,
}

impl Story {
    fn new(name: &str, paragraphs: &[&str]) -> Story {
        let paragraphs = paragraphs.iter().map(|text| (*text).to_owned()).collect();
        Story { name: name.to_owned(), site: "gazette", month: "2026-03".to_owned(), day: 0, paragraphs }
    }
}

fn judge_one(deduplicator: &mut Deduplicator, rule: &Rule, story: &Story) -> Verdict {
    let text = Text::new(story.paragraphs.iter().map(String::as_str), rule);
    let origin = Origin { name: &story.name, site: story.site, month: &story.month, day: story.day, page: None };
    deduplicator.judge(&text, &origin).unwrap()
}

fn judge_all(stories: &[Story], rule: Rule, scope: Scope, budget: usize) -> Vec<Verdict> {
    let folder = tempfile::tempdir().unwrap();
    let mut deduplicator =
        Deduplicator::new(rule, scope, FingerprintStore::new(StoreFiles::default(), folder.path(), budget).unwrap());
    stories.iter().map(|story| judge_one(&mut deduplicator, &rule, story)).collect()
}

fn removed(verdict: &Verdict) -> Vec<bool> {
    verdict.paragraphs.iter().map(|verdict| verdict.duplicate.is_some()).collect()
}

const AVALANCHE: &str = "The avalanche reached the upper village shortly before dawn and buried the chapel, the mill and \
    two barns, but all forty inhabitants had left their houses the evening before, when the bell was rung.";
const FERRY: &str = "Since the ferry stopped running in autumn, pupils from the island have been taken to school by a \
    fishing boat whose owner refuses to be paid for it and says that he would be out there anyway.";
const BRIDGE: &str = "Nobody knows who painted the old railway bridge blue, yet on Monday morning it was blue from one \
    bank to the other, and the paint, as the council noted with some relief, was of good quality.";

#[test]
fn a_copy_is_found_word_for_word_and_edited_and_its_source_is_named() {
    let edited = AVALANCHE.replace("shortly", "just").replace("two barns", "three old barns");
    let stories = [
        Story::new("first", &[AVALANCHE, FERRY]),
        Story::new("exact", &[FERRY, "* * *", AVALANCHE]),
        Story::new("edited", &[&edited, BRIDGE]),
    ];
    let verdicts = judge_all(&stories, Rule::default(), Scope::All, 1 << 20);
    assert_eq!(removed(&verdicts[0]), [false, false]);
    assert_eq!(removed(&verdicts[1]), [true, true, true]);
    assert_eq!(verdicts[1].paragraphs[1].duplicate, Some(MatchKind::Between));
    assert_eq!((verdicts[1].source(), verdicts[1].share()), (Some("first"), 1.0));
    assert_eq!(removed(&verdicts[2]), [true, false]);
    assert_eq!(verdicts[2].paragraphs[0].duplicate, Some(MatchKind::Near));
    assert_eq!(verdicts[2].source(), Some("first"));
    assert!(verdicts[2].paragraphs[0].share > 0.9, "gaps are closed");
}

#[test]
fn a_revision_is_no_copy_of_the_document_that_it_revises_but_still_one_of_others() {
    let rule = Rule::default();
    let stories = [
        Story::new("agency", &[BRIDGE]),
        Story::new("first", &[AVALANCHE, FERRY, BRIDGE]),
        Story::new("revised", &[AVALANCHE, "* * *", FERRY, BRIDGE]),
    ];
    let mut verdict = judge_all(&stories, rule, Scope::All, 1 << 20).pop().unwrap();
    assert!(removed(&verdict)[0] && removed(&verdict)[2] && removed(&verdict)[3]);
    let text = Text::new(stories[2].paragraphs.iter().map(String::as_str), &rule);
    let all = verdict.removed;
    verdict.ignore_sources(&text, |name| name == "first");
    assert_eq!(removed(&verdict)[..1], [false], "its own text stays");
    assert!(!removed(&verdict)[2] && removed(&verdict)[3], "text of others does not");
    assert!(verdict.removed < all && verdict.removed > 0);
    assert_eq!(verdict.source(), Some("agency"));
    verdict.ignore_sources(&text, |name| name == "agency");
    assert_eq!((verdict.removed, removed(&verdict).contains(&true)), (0, false), "lines without words follow");
}

#[test]
fn a_quotation_does_not_make_a_copy() {
    let quoting = format!(
        "{FERRY} As was written: the bell was rung, and all forty inhabitants had left their houses the evening before."
    );
    let stories = [Story::new("a", &[AVALANCHE]), Story::new("b", &[&quoting])];
    let verdicts = judge_all(&stories, Rule::default(), Scope::All, 1 << 20);
    assert_eq!(removed(&verdicts[1]), [false]);
}

#[test]
fn a_short_document_stays_unless_it_is_a_copy() {
    let stories = [
        Story::new("a", &["Rain in the north."]),
        Story::new("b", &["Snow in the south."]),
        Story::new("c", &["RAIN, in the North"]),
        Story::new("d", &[""]),
        Story::new("e", &["", ""]),
        Story::new("f", &[]),
    ];
    for rule in tidings_dedup::PRESETS.map(|preset| preset.rule) {
        let verdicts = judge_all(&stories, rule, Scope::All, 1 << 20);
        let gone: Vec<usize> = (0..6).filter(|at| removed(&verdicts[*at]).contains(&true)).collect();
        assert_eq!(gone, [2], "{rule:?}");
    }
}

#[test]
fn scopes_decide_what_counts() {
    let mut stories = vec![Story::new("a", &[AVALANCHE]); 5];
    stories[1].site = "courier";
    stories[2].day = 3;
    stories[3].month = "2026-04".to_owned();
    stories[3].day = 31;
    stories[4].day = 32;
    stories[4].month = "2026-04".to_owned();
    let gone = |scope: &str| -> Vec<bool> {
        let verdicts = judge_all(&stories, Rule::default(), scope.parse().unwrap(), 1 << 20);
        verdicts.iter().map(|verdict| verdict.removed > 0).collect()
    };
    assert_eq!(gone("all"), [false, true, true, true, true]);
    assert_eq!(gone("site"), [false, false, true, true, true]);
    assert_eq!(gone("month"), [false, true, true, false, true]);
    assert_eq!(gone("7d"), [false, true, true, false, true]);
    assert_eq!(gone("31d"), [false, true, true, true, false], "day 0 is outside the window on day 32");
}

#[test]
fn levels_work_alone_and_in_sequence() {
    let half = format!("{AVALANCHE} {BRIDGE}");
    let stories = [
        Story::new("a", &[AVALANCHE, FERRY]),
        Story::new("b", &[AVALANCHE, FERRY]),
        Story::new("c", &[FERRY, BRIDGE]),
        Story::new("d", &[&half]),
    ];
    let gone = |levels: &str| -> Vec<Vec<bool>> {
        let rule = Rule { levels: levels.parse::<Levels>().unwrap(), ..Rule::default() };
        judge_all(&stories, rule, Scope::All, 1 << 20).iter().map(removed).collect()
    };
    assert_eq!(gone("text"), [vec![false; 2], vec![true; 2], vec![false; 2], vec![false]]);
    assert_eq!(
        gone("document"),
        [vec![false; 2], vec![true; 2], vec![true; 2], vec![false]],
        "removed text is not stored"
    );
    assert_eq!(gone("paragraph")[2..], [vec![true, false], vec![true]]);
    let rule = Rule { levels: "text,sentence".parse().unwrap(), ..Rule::default() };
    let verdicts = judge_all(&stories, rule, Scope::All, 1 << 20);
    assert_eq!(verdicts[1].paragraphs[0].duplicate, Some(MatchKind::Text));
    let sentences: Vec<bool> = verdicts[3].sentences.iter().map(|verdict| verdict.duplicate.is_some()).collect();
    assert_eq!(sentences, [true, true]);
    assert!("chapter".parse::<Levels>().unwrap_err().contains("paragraph, sentence"));
}

#[test]
fn the_same_raw_page_is_a_copy_where_pages_are_judged() {
    let rule = Rule { levels: Level::Page.into(), ..Rule::default() };
    let folder = tempfile::tempdir().unwrap();
    let mut deduplicator = Deduplicator::new(
        rule,
        Scope::All,
        FingerprintStore::new(StoreFiles::default(), folder.path(), 1 << 20).unwrap(),
    );
    let mut verdict = |text: &str, page| {
        let origin = Origin { name: "a", page: Some(page), ..Origin::default() };
        deduplicator.judge(&Text::new([text], &rule), &origin).unwrap().paragraphs[0].duplicate
    };
    assert_eq!([verdict(FERRY, 1), verdict(FERRY, 2), verdict(BRIDGE, 1)], [None, None, Some(MatchKind::Page)]);
}

#[test]
fn forgotten_blocks_are_new_again_and_others_stay_known() {
    let rule = Rule::default();
    let folder = tempfile::tempdir().unwrap();
    let mut store = FingerprintStore::new(StoreFiles::default(), folder.path(), 1 << 20).unwrap();
    store.forget([0]);
    let mut deduplicator = Deduplicator::new(rule, Scope::All, store);
    let stories = [Story::new("a", &[AVALANCHE]), Story::new("b", &[FERRY]), Story::new("c", &[AVALANCHE, FERRY])];
    let gone: Vec<Vec<bool>> =
        stories.iter().map(|story| removed(&judge_one(&mut deduplicator, &rule, story))).collect();
    assert_eq!(gone[2], [false, true]);
}

/// Documents made of a few sentences in many orders, so that they overlap.
fn stories() -> impl Strategy<Value = Vec<Story>> {
    let sentences: Vec<String> = [AVALANCHE, FERRY, BRIDGE]
        .iter()
        .flat_map(|text| text.split(", ").map(|part| format!("{part}.")))
        .chain(["Yes.".to_owned(), "—".to_owned(), String::new()])
        .collect();
    let paragraph = prop::collection::vec(prop::sample::select(sentences), 0..4).prop_map(|parts| parts.join(" "));
    let story = (prop::collection::vec(paragraph, 0..6), 0..2usize);
    prop::collection::vec(story, 1..90).prop_map(|stories| {
        let numbered = stories.into_iter().enumerate();
        numbered
            .map(|(at, (paragraphs, site))| Story {
                name: format!("story {at}"),
                site: ["gazette", "courier"][site],
                month: format!("2026-{:02}", at / 10 + 1),
                day: at as i64 / 4,
                paragraphs,
            })
            .collect()
    })
}

fn scope() -> impl Strategy<Value = Scope> {
    prop_oneof![Just(Scope::All), Just(Scope::Days(2)), Just(Scope::Month), Just(Scope::Site)]
}

/// Deduplication day by day: each day opens the files that earlier days left.
struct Days<'a> {
    folder: &'a Path,
    rule: Rule,
    scope: Scope,
    levels: Vec<LevelRun>,
    blocks: Vec<BlockFile>,
    /// The first block of each day.
    firsts: Vec<BlockId>,
    days: Vec<(i64, BlockId)>,
}

impl Days<'_> {
    fn new(folder: &Path, rule: Rule, scope: Scope) -> Days<'_> {
        Days { folder, rule, scope, levels: Vec::new(), blocks: Vec::new(), firsts: Vec::new(), days: Vec::new() }
    }

    fn reopened(&self) -> Vec<FingerprintRun> {
        self.levels.iter().map(|level| FingerprintRun::open(level.run.path()).unwrap()).collect()
    }

    fn run_days(&mut self, stories: &[Story]) -> Vec<Verdict> {
        let mut verdicts = Vec::new();
        for day in stories.chunk_by(|a, b| a.day == b.day) {
            let own = tempfile::tempdir_in(self.folder).unwrap().keep();
            let past = StoreFiles { runs: self.reopened(), blocks: self.blocks.clone(), days: self.days.clone() };
            let mut deduplicator =
                Deduplicator::new(self.rule, self.scope, FingerprintStore::new(past, &own, 1 << 20).unwrap());
            verdicts.extend(day.iter().map(|story| judge_one(&mut deduplicator, &self.rule, story)));
            let flushed = deduplicator.flush().unwrap();
            let grown =
                lsm_levels::merge_day(&self.levels, &flushed.runs, |days| own.join(format!("{days:?}"))).unwrap();
            self.levels.retain(|level| level.days.start < grown.days.start);
            self.levels.push(grown);
            self.firsts.push(flushed.blocks.first());
            let block = lsm_levels::block_layout(self.firsts.len() as u64).pop().unwrap();
            let first = self.firsts[block.start as usize];
            let older = lsm_levels::block_layout(self.firsts.len() as u64 - 1);
            let joined = self.blocks.split_off(older.iter().filter(|older| older.end <= block.start).count());
            let parts: Vec<&BlockFile> = joined.iter().chain([&flushed.blocks]).collect();
            self.blocks.push(join(&parts, first..flushed.blocks.end(), &own.join("joined")).unwrap());
            self.days = flushed.days;
        }
        verdicts
    }

    /// Removes all days but the first `count`.
    fn truncate(&mut self, count: usize) {
        let own = tempfile::tempdir_in(self.folder).unwrap().keep();
        let first = |day: u64| self.firsts.get(day as usize).copied().unwrap_or(BlockId::MAX);
        let path = |days: &std::ops::Range<u64>| own.join(format!("{days:?}"));
        let layout = lsm_levels::layout(count as u64);
        self.levels =
            layout.iter().map(|days| lsm_levels::truncate(&self.levels, days, first, path).unwrap()).collect();
        let parts: Vec<&BlockFile> = self.blocks.iter().collect();
        let blocks = lsm_levels::block_layout(count as u64);
        let cut = blocks.iter().map(|days| {
            join(&parts, first(days.start)..first(days.end), &own.join(format!("blocks {days:?}"))).unwrap()
        });
        self.blocks = cut.collect();
        self.firsts.truncate(count);
        self.days.truncate(count);
    }

    fn bytes(&self) -> Vec<Vec<u8>> {
        let runs = self.levels.iter().map(|level| level.run.path());
        runs.chain(self.blocks.iter().map(BlockFile::path)).map(|path| std::fs::read(path).unwrap()).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn daily_runs_and_truncation_give_the_same_verdicts_as_a_single_run(
        stories in stories(), scope in scope(), preset in 0..4usize, back in any::<prop::sample::Index>()
    ) {
        let rule = tidings_dedup::PRESETS[preset].rule;
        let folder = tempfile::tempdir().unwrap();
        let mut straight = Days::new(folder.path(), rule, scope);
        let verdicts = straight.run_days(&stories);
        prop_assert_eq!(&verdicts, &judge_all(&stories, rule, scope, 1 << 20));
        let mut truncated = Days::new(folder.path(), rule, scope);
        truncated.run_days(&stories);
        let day = back.index(truncated.firsts.len());
        truncated.truncate(day);
        let rest: Vec<Story> = stories.iter().filter(|story| story.day >= day as i64).cloned().collect();
        prop_assert_eq!(&truncated.run_days(&rest), &verdicts[stories.len() - rest.len()..]);
        prop_assert!(straight.bytes() == truncated.bytes(), "files differ");
    }

    #[test]
    fn an_exact_copy_is_always_found(stories in stories(), scope in scope()) {
        let mut twice = stories.clone();
        let at = stories.len() / 2;
        // The same document once more, on the same day.
        twice.insert(at + 1, stories[at].clone());
        let verdicts = judge_all(&twice, Rule::default(), scope, 1 << 20);
        let copy = &verdicts[at + 1];
        for (verdict, text) in copy.paragraphs.iter().zip(&twice[at].paragraphs) {
            prop_assert!(verdict.duplicate.is_some() || text.trim().is_empty(), "{text}");
        }
    }
}

/// Quadratic time would take hours.
#[test]
fn a_hundred_thousand_lines_without_words_take_linear_time() {
    let lines: Vec<&str> = (0..100_000).map(|n| ["—", "* * *", ""][n % 3]).collect();
    let stories = [Story::new("a", &lines), Story::new("b", &lines), Story::new("c", &["—", AVALANCHE, "…"])];
    let verdicts = judge_all(&stories, Rule::default(), Scope::All, 1 << 20);
    assert!(removed(&verdicts[1])[..2].iter().all(|gone| *gone));
    assert_eq!(removed(&verdicts[2]), [true, false, false]);
}

/// Enough fingerprints for several runs with the smallest memory budget.
#[test]
fn the_memory_budget_does_not_change_verdicts() {
    let mut random = fastrand::Rng::with_seed(8);
    let words: Vec<String> = (0..4000).map(|n| format!("w{n}")).collect();
    let mut stories: Vec<Story> = Vec::new();
    for number in 0..900 {
        let mut paragraphs: Vec<String> = (0..8)
            .map(|_| (0..60).map(|_| words[random.usize(..words.len())].as_str()).collect::<Vec<_>>().join(" "))
            .collect();
        if number > 10 && random.bool() {
            let earlier = &stories[random.usize(..stories.len())].paragraphs;
            paragraphs[2] = earlier[random.usize(..earlier.len())].replacen("w1", "changed", 2);
        }
        let text: Vec<&str> = paragraphs.iter().map(String::as_str).collect();
        stories.push(Story::new(&number.to_string(), &text));
    }
    let unlimited = judge_all(&stories, Rule::default(), Scope::All, 64 << 20);
    assert!(unlimited.iter().filter(|verdict| verdict.removed > 0).count() > 300);
    assert!(unlimited == judge_all(&stories, Rule::default(), Scope::All, 0));
}
