//! Alerts: conditions of a home that need attention.
//!
//! False alarms teach users to ignore alerts. Each rule therefore names the problem, its duration and a remedy, and
//! most rules compare a figure with the past of the same home instead of a fixed limit.

use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;
use tidings_store::{FaultyPages, PagesFault};

use super::Health;
use super::days::DayFigures;
use crate::context::elapsed;
use crate::display::{count, grouped, span};
use crate::stage::{Data, StageId};

/// The severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// To be checked within days.
    Warning,
    /// Data is being lost, or will be soon.
    Critical,
}

/// The rule that raised an alert.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AlertRule {
    /// Nothing was ever crawled here.
    NeverRun,
    /// A stage did not do its work.
    StageFailed,
    /// A stage has not done its work for longer than usual.
    StageLate,
    /// Pages cannot be found long after they were downloaded.
    Unsearchable,
    /// The clock was ahead, or is wrong now.
    ClockJump,
    /// Far fewer pages than usual.
    HarvestLow,
    /// Pages were given up although their feeds still list them.
    GivenUp,
    /// Less disk space is free than `store.min_free_mib`.
    DiskFull,
    /// The disk will be full soon.
    DiskLow,
    /// Many feeds do not answer.
    FeedsLost,
    /// Many feeds are polled too late.
    FeedsLate,
    /// A feed is below its own baseline.
    FeedFell,
    /// Raw pages are missing or damaged.
    PagesLost,
    /// The scrub found damaged files.
    FilesDamaged,
    /// The webhook of a saved search could not be notified.
    WebhookFailed,
}

/// Something that needs a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Alert {
    /// The severity.
    pub level: Level,
    /// The rule, for programs.
    pub rule: AlertRule,
    /// The problem and its remedy, as text.
    pub text: String,
}

/// Maximum number of feeds listed individually; the others are counted.
const NAMED: usize = 10;
const HOUR: f64 = 3600.0;

/// Everything that needs a person, the worst first.
pub fn of(health: &Health, min_free_mib: u64) -> Vec<Alert> {
    let mut alerts = Vec::new();
    let mut raise = |level: Level, rule: AlertRule, text: String| alerts.push(Alert { level, rule, text });
    stages(health, &mut raise);
    pages(health, &mut raise);
    harvest(health, &mut raise);
    clock(health, &mut raise);
    disk(health, min_free_mib, &mut raise);
    feeds(health, &mut raise);
    webhooks(health, &mut raise);
    alerts.sort_by_key(|alert| std::cmp::Reverse(alert.level));
    alerts
}

fn webhooks(health: &Health, raise: Raise<'_>) {
    for webhook in &health.failing_webhooks {
        let text = format!(
            "the webhook of the saved search {} has not been notified since {}: {}; check its address with `tidings \
             searches list`",
            webhook.search, webhook.since, webhook.failure
        );
        raise(Level::Warning, AlertRule::WebhookFailed, text);
    }
}

type Raise<'a> = &'a mut dyn FnMut(Level, AlertRule, String);

/// The time since a timestamp, as text.
pub fn ago(then: Timestamp, now: Timestamp) -> String {
    let gone = elapsed(then, now);
    match gone.as_secs() {
        0..60 => "just now".to_owned(),
        60..172_800 => format!("{} ago", span(gone)),
        s => format!("{} ago", count(s / 86_400, "day")),
    }
}

fn stages(health: &Health, raise: Raise<'_>) {
    let now = health.now;
    if health.stages.named().all(|(_, stage)| stage.last_try.is_none()) {
        return raise(
            Level::Warning,
            AlertRule::NeverRun,
            "no crawl has run here yet; start with `tidings run`".into(),
        );
    }
    for (name, state) in health.stages.on() {
        if let Some(trouble) = &state.trouble {
            let since = state
                .last_success
                .map_or("it never succeeded".to_owned(), |at| format!("last success {}", ago(at, now)));
            raise(Level::Warning, AlertRule::StageFailed, format!("{name} failed: {trouble} ({since})"));
        }
        let asks_the_web = name.parse::<StageId>().is_ok_and(|id| id.stage().inputs().contains(&Data::Web));
        if let (Some(last), true) = (state.last_success, asks_the_web) {
            // By its own rhythm: a weekly crawl is late after weeks.
            let every = state.every_s.unwrap_or(24.0 * HOUR);
            let gone = elapsed(last, now).as_secs_f64();
            let level = match gone {
                _ if gone > (8.0 * every).max(48.0 * HOUR) => Level::Critical,
                _ if gone > (3.0 * every).max(6.0 * HOUR) => Level::Warning,
                _ => continue,
            };
            let usual = span(Duration::from_secs_f64(every));
            raise(
                level,
                AlertRule::StageLate,
                format!(
                    "{name} last succeeded {}, usually every {usual}; check that the timer or service is active",
                    ago(last, now)
                ),
            );
        }
    }
    if let Some(oldest) = health.oldest_unfound {
        let rounds = [&health.stages.rounds, &health.stages[StageId::Compile]];
        let rhythm = rounds.iter().filter_map(|state| state.every_s).fold(0.0, f64::max);
        let gone = elapsed(oldest, now).as_secs_f64();
        let level = match gone {
            _ if gone > (8.0 * rhythm).max(7.0 * 24.0 * HOUR) => Level::Critical,
            _ if gone > (3.0 * rhythm).max(26.0 * HOUR) => Level::Warning,
            _ => return,
        };
        let waiting = health.days.iter().filter(|day| day.waits_for.is_some()).count() as u64;
        let first = health.days.iter().find_map(|day| day.waits_for).unwrap_or(StageId::Clean);
        raise(
            level,
            AlertRule::Unsearchable,
            format!(
                "pages downloaded {} are not searchable yet: {} for {first}; run `tidings run --from clean`",
                ago(oldest, now),
                match waiting {
                    1 => "1 day waits".to_owned(),
                    more => format!("{} wait", count(more, "day")),
                },
            ),
        );
    }
}

/// Raw pages cannot be made again, so a lost file is worse than a late crawl.
fn pages(health: &Health, raise: Raise<'_>) {
    let faulty = &health.faulty_pages;
    let (damaged, lost): (Vec<_>, Vec<_>) = faulty.iter().partition(|pages| pages.fault == PagesFault::Damaged);
    let listed = |files: &[&FaultyPages]| {
        let named: Vec<String> = files.iter().take(NAMED).map(ToString::to_string).collect();
        let more = files.len().saturating_sub(NAMED);
        if more > 0 { format!("{}, and {more} more", named.join(", ")) } else { named.join(", ") }
    };
    if !lost.is_empty() {
        let text = format!(
            "{}; their documents are kept and the days are not rebuilt: restore the files from a backup, or run `tidings \
             clean --accept-loss`",
            listed(&lost)
        );
        raise(Level::Critical, AlertRule::PagesLost, text);
    }
    if !damaged.is_empty() {
        let text = format!("{}; the rest was read: restore from a backup", listed(&damaged));
        raise(Level::Critical, AlertRule::PagesLost, text);
    }
    if !health.damaged_files.is_empty() {
        let names: Vec<&str> = health.damaged_files.iter().take(NAMED).map(|row| row.file.as_str()).collect();
        let text = format!(
            "{} damaged ({}): restore files of pages/ from a backup, others are made again by `tidings run`; check the disk",
            match health.damaged_files.len() {
                1 => "1 file is".to_owned(),
                more => format!("{} are", count(more as u64, "file")),
            },
            names.join(", ")
        );
        raise(Level::Critical, AlertRule::FilesDamaged, text);
    }
}

/// Detects crawls that seem to run but store few or no pages, and pages that are being lost.
fn harvest(health: &Health, raise: Raise<'_>) {
    if health.harvest.given_up > 0 {
        let text = format!(
            "{} given up although their feeds still list them; `tidings why URL` has the reason, a larger \
             fetch.retry_days keeps them",
            count(health.harvest.given_up, "page")
        );
        raise(Level::Warning, AlertRule::GivenUp, text);
    }
    let today = super::day_of(health.now);
    let ago = |day: &&DayFigures| (today - day.day).get_days();
    let whole: Vec<&DayFigures> = health.days.iter().filter(|day| ago(day) >= 1).collect();
    let Some(since) = whole.iter().map(ago).max() else { return };
    let per_day = whole.iter().map(|day| day.pages).sum::<u64>() as f64 / f64::from(since);
    let usual = per_day * health.harvest.hours / 24.0;
    if since < 3 || usual < 20.0 || health.stages[StageId::Fetch].last_try.is_none() {
        return;
    }
    let came = health.harvest.pages as f64;
    let level = match came / usual {
        share if share < 0.1 => Level::Critical,
        share if share < 0.4 => Level::Warning,
        _ => return,
    };
    let said = format!(
        "{} in {:.0} hours, usually {}; see the summaries in runs/ for the causes",
        count(health.harvest.pages, "page"),
        health.harvest.hours,
        grouped(usual as u64)
    );
    raise(level, AlertRule::HarvestLow, said);
}

/// Detects a clock that jumped ahead, was ahead, or is behind now.
fn clock(health: &Health, raise: Raise<'_>) {
    if let Some(jump) = health.clock_jump {
        raise(Level::Warning, AlertRule::ClockJump, jump.to_string());
    }
    let times = &health.clock;
    if times.is_empty() {
        return;
    }
    let last_run = times.last_run.map(|at| format!(", the last run began {at:.0}")).unwrap_or_default();
    let text = format!(
        "the clock was ahead or is wrong now ({:.0}): times of {}, {} and {} are in the future{last_run}; check the \
         clock, then run `tidings doctor --repair`",
        health.now,
        count(times.feeds, "feed"),
        count(times.hosts, "host"),
        count(times.pages, "page"),
    );
    raise(Level::Warning, AlertRule::ClockJump, text);
}

fn disk(health: &Health, min_free_mib: u64, raise: Raise<'_>) {
    let Some(free) = health.disk.free else { return };
    if free < min_free_mib << 20 {
        let free = free >> 20;
        let text = format!(
            "the disk has {free} MiB free, less than store.min_free_mib = {min_free_mib}: nothing is fetched; free some space"
        );
        return raise(Level::Critical, AlertRule::DiskFull, text);
    }
    let Some(days) = health.disk.days_left else { return };
    let level = match days {
        ..3.0 => Level::Critical,
        ..21.0 => Level::Warning,
        _ => return,
    };
    raise(
        level,
        AlertRule::DiskLow,
        format!("at the current growth the disk is full in {days:.0} days; free some space or move the home"),
    );
}

fn feeds(health: &Health, raise: Raise<'_>) {
    let feeds = &health.feeds;
    let lost = feeds.failing + feeds.dead;
    let asked = feeds.listed - feeds.unasked;
    if asked > 0 && lost == asked {
        let text = format!("none of {} answers; is the network up?", count(asked, "feed"));
        raise(Level::Critical, AlertRule::FeedsLost, text);
    } else if asked >= 20 && feeds.failing * 4 > asked {
        raise(Level::Warning, AlertRule::FeedsLost, format!("{} of {asked} feeds fail", feeds.failing));
    }
    if feeds.late * 5 > asked.max(5) {
        let text = format!(
            "polls of {} are overdue by more than a day: give `update` more time (run.update) or lower feeds.polls_per_day",
            count(feeds.late, "feed")
        );
        raise(Level::Warning, AlertRule::FeedsLate, text);
    }
    for fall in health.falls.iter().take(NAMED) {
        let days = if fall.days == 1 { "yesterday".to_owned() } else { format!("in the last {} days", fall.days) };
        let text = format!(
            "{} listed {} {days}, {:.0} were expected; check it with `tidings feed {}`",
            fall.feed,
            count(fall.came, "page"),
            fall.expected,
            fall.feed
        );
        raise(Level::Warning, AlertRule::FeedFell, text);
    }
    if let Some(more @ 1..) = health.falls.len().checked_sub(NAMED) {
        raise(
            Level::Warning,
            AlertRule::FeedFell,
            format!("… and {} more below their own baseline", count(more as u64, "feed")),
        );
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use jiff::{SignedDuration, Span, Timestamp};
    use tidings_store::future::FutureTimes;
    use tidings_store::yields::Yield;

    use super::super::baseline::Fall;
    use super::super::day_of;
    use super::super::disk::DiskFigures;
    use super::super::feeds::FeedFigures;
    use super::super::stages::{Harvest, StageState, StageStates};
    use super::*;

    const MIN_FREE_MIB: u64 = 512;

    fn now() -> Timestamp {
        "2026-03-15T12:00:00Z".parse().unwrap()
    }

    fn hours_ago(hours: i64) -> Timestamp {
        now() - SignedDuration::from_hours(hours)
    }

    fn day(days_ago: i64, pages: u64) -> DayFigures {
        let day = day_of(now()).saturating_sub(Span::new().days(days_ago));
        DayFigures { day, pages, ..DayFigures::default() }
    }

    /// A home that crawls hourly, stores 240 pages a day and has disk space for years.
    fn healthy() -> Health {
        let mut stages = StageStates::unknown();
        for stage in StageId::ALL.iter().copied().map(Some).chain([None]) {
            *stages.state(stage) = StageState {
                last_try: Some(hours_ago(1)),
                last_success: Some(hours_ago(1)),
                trouble: None,
                every_s: Some(HOUR),
            };
        }
        Health {
            now: now(),
            ended: None,
            feeds: FeedFigures { listed: 40, alive: 40, ..FeedFigures::default() },
            stages,
            harvest: Harvest { hours: 24.0, pages: 240, ..Harvest::default() },
            days: (0..10).rev().map(|ago| day(ago, 240)).collect(),
            indexes: BTreeMap::new(),
            disk: DiskFigures { free: Some(1 << 40), growth_per_day: Some(1e6), days_left: Some(1e6) },
            yielded: Yield::default(),
            falls: Vec::new(),
            upgrade: None,
            clock: FutureTimes::default(),
            clock_jump: None,
            faulty_pages: Vec::new(),
            damaged_files: Vec::new(),
            oldest_unfound: None,
            backfills: Vec::new(),
            failing_webhooks: Vec::new(),
        }
    }

    fn raised(health: &Health) -> Vec<(AlertRule, Level)> {
        of(health, MIN_FREE_MIB).into_iter().map(|alert| (alert.rule, alert.level)).collect()
    }

    fn with_stage(stage: StageId, state: StageState) -> Health {
        let mut health = healthy();
        *health.stages.state(Some(stage)) = state;
        health
    }

    fn idle_for(hours: i64, every_s: f64) -> StageState {
        let last = Some(hours_ago(hours));
        StageState { last_try: last, last_success: last, trouble: None, every_s: Some(every_s) }
    }

    fn with_disk(free: Option<u64>, days_left: Option<f64>) -> Health {
        Health { disk: DiskFigures { free, days_left, growth_per_day: None }, ..healthy() }
    }

    fn fall(number: usize) -> Fall {
        Fall { feed: format!("https://e.org/{number}"), days: 2, came: 1, expected: 60.4, chance: 1e-9 }
    }

    #[test]
    fn a_webhook_that_fails_is_a_warning() {
        let failing = super::super::FailingWebhook {
            search: "storms".to_owned(),
            since: "2026-03-01T00:00:00Z".to_owned(),
            failure: "HTTP status 404".to_owned(),
        };
        let alerts = of(&Health { failing_webhooks: vec![failing], ..healthy() }, 0);
        let [alert] = &alerts[..] else { panic!("{alerts:?}") };
        assert_eq!((alert.level, alert.rule), (Level::Warning, AlertRule::WebhookFailed));
        assert!(alert.text.contains("storms") && alert.text.contains("HTTP status 404"), "{}", alert.text);
    }

    #[test]
    fn a_healthy_home_has_no_alerts() {
        assert_eq!(of(&healthy(), MIN_FREE_MIB), []);
    }

    #[test]
    fn a_clock_that_was_ahead_is_an_alert_with_its_repair() {
        let last_run = Some(now() + SignedDuration::from_hours(24 * 365));
        let health =
            Health { clock: FutureTimes { feeds: 2, runs: 1, last_run, ..FutureTimes::default() }, ..healthy() };
        assert_eq!(raised(&health), [(AlertRule::ClockJump, Level::Warning)]);
        let text = &of(&health, MIN_FREE_MIB)[0].text;
        assert!(text.contains("2 feeds") && text.contains("2027-03-15") && text.contains("doctor --repair"), "{text}");
    }

    #[test]
    fn pages_given_up_while_listed_are_an_alert() {
        let health = Health { harvest: Harvest { given_up: 3, ..healthy().harvest }, ..healthy() };
        assert_eq!(raised(&health), [(AlertRule::GivenUp, Level::Warning)]);
        assert!(of(&health, MIN_FREE_MIB)[0].text.starts_with("3 pages given up"));
    }

    #[test]
    fn a_home_without_runs_has_one_alert_about_its_stages() {
        let health = Health { stages: StageStates::unknown(), oldest_unfound: Some(hours_ago(1000)), ..healthy() };
        assert_eq!(raised(&health), [(AlertRule::NeverRun, Level::Warning)]);
    }

    #[test]
    fn a_failed_stage_is_shown_with_its_error_and_last_success() {
        let state = StageState { trouble: Some("no space".into()), ..idle_for(2, HOUR) };
        let alerts = of(&with_stage(StageId::Clean, state), MIN_FREE_MIB);
        assert_eq!((alerts.len(), alerts[0].rule, alerts[0].level), (1, AlertRule::StageFailed, Level::Warning));
        assert_eq!(alerts[0].text, "clean failed: no space (last success 2 h 0 min ago)");
        let never = StageState { last_success: None, trouble: Some("no space".into()), ..idle_for(2, HOUR) };
        assert!(of(&with_stage(StageId::Clean, never), MIN_FREE_MIB)[0].text.ends_with("(it never succeeded)"));
    }

    #[test]
    fn an_hourly_stage_is_a_warning_after_six_hours_and_critical_after_two_days() {
        let levels = |hours| raised(&with_stage(StageId::Update, idle_for(hours, HOUR)));
        assert_eq!(levels(6), []);
        assert_eq!(levels(7), [(AlertRule::StageLate, Level::Warning)]);
        assert_eq!(levels(48), [(AlertRule::StageLate, Level::Warning)]);
        assert_eq!(levels(49), [(AlertRule::StageLate, Level::Critical)]);
    }

    #[test]
    fn a_weekly_stage_is_compared_with_weeks() {
        let days = |days: i64| raised(&with_stage(StageId::Fetch, idle_for(24 * days, 7.0 * 24.0 * HOUR)));
        assert_eq!(days(20), []);
        assert_eq!(days(22), [(AlertRule::StageLate, Level::Warning)]);
        assert_eq!(days(57), [(AlertRule::StageLate, Level::Critical)]);
    }

    #[test]
    fn a_stage_without_an_interval_counts_as_daily() {
        let levels = |hours| raised(&with_stage(StageId::Fetch, StageState { every_s: None, ..idle_for(hours, 0.0) }));
        assert_eq!(levels(71), []);
        assert_eq!(levels(73), [(AlertRule::StageLate, Level::Warning)]);
    }

    #[test]
    fn derived_stages_are_never_late() {
        let derived = StageId::ALL.iter().filter(|id| id.stage().is_derived());
        for stage in derived {
            assert_eq!(raised(&with_stage(*stage, idle_for(10_000, HOUR))), [], "{stage}");
        }
    }

    #[test]
    fn pages_not_searchable_for_long_are_an_alert_with_the_stage() {
        let levels = |hours| raised(&Health { oldest_unfound: Some(hours_ago(hours)), ..healthy() });
        assert_eq!(levels(26), []);
        assert_eq!(levels(27), [(AlertRule::Unsearchable, Level::Warning)]);
        assert_eq!(levels(7 * 24 + 1), [(AlertRule::Unsearchable, Level::Critical)]);
        let mut health = Health { oldest_unfound: Some(hours_ago(30)), ..healthy() };
        health.days[3].waits_for = Some(StageId::Dedup);
        let text = |health: &Health| of(health, MIN_FREE_MIB).remove(0).text;
        assert!(text(&health).contains("1 day waits for dedup"), "{}", text(&health));
        health.days[4].waits_for = Some(StageId::Compile);
        assert!(text(&health).contains("2 days wait for dedup"), "{}", text(&health));
    }

    #[test]
    fn rare_rounds_extend_the_limit_for_unsearchable_pages() {
        let mut health = Health { oldest_unfound: Some(hours_ago(60)), ..healthy() };
        health.stages.rounds.every_s = Some(24.0 * HOUR);
        assert_eq!(raised(&health), []);
    }

    #[test]
    fn the_number_of_pages_is_compared_with_the_past_of_the_home() {
        let levels =
            |pages| raised(&Health { harvest: Harvest { hours: 24.0, pages, ..Harvest::default() }, ..healthy() });
        assert_eq!(levels(96), []);
        assert_eq!(levels(95), [(AlertRule::HarvestLow, Level::Warning)]);
        assert_eq!(levels(24), [(AlertRule::HarvestLow, Level::Warning)]);
        assert_eq!(levels(23), [(AlertRule::HarvestLow, Level::Critical)]);
        assert_eq!(levels(0), [(AlertRule::HarvestLow, Level::Critical)]);
    }

    #[test]
    fn young_small_or_idle_homes_have_no_expected_number_of_pages() {
        let harvest = Harvest { hours: 24.0, ..Harvest::default() };
        let of_days = |days| raised(&Health { days, harvest: harvest.clone(), ..healthy() });
        assert_eq!(of_days(vec![day(2, 500), day(1, 500), day(0, 0)]), [], "young");
        assert_eq!(of_days((0..10).map(|ago| day(ago, 19)).collect()), [], "small");
        assert_eq!(of_days(Vec::new()), [], "without days");
        let mut imported = Health { harvest, ..healthy() };
        *imported.stages.state(Some(StageId::Fetch)) = StageState::default();
        assert_eq!(raised(&imported), [], "imported");
    }

    #[test]
    fn days_without_pages_count_in_the_usual_number() {
        let days = vec![day(9, 100), day(1, 100)];
        let levels = |pages| {
            let harvest = Harvest { hours: 24.0, pages, ..Harvest::default() };
            raised(&Health { days: days.clone(), harvest, ..healthy() })
        };
        assert_eq!(levels(9), [], "22 pages a day are usual, so that 9 are 40 % of them");
        assert_eq!(levels(8), [(AlertRule::HarvestLow, Level::Warning)]);
    }

    #[test]
    fn a_full_disk_is_critical_and_hides_the_forecast() {
        let least = MIN_FREE_MIB << 20;
        assert_eq!(raised(&with_disk(Some(least - 1), Some(0.0))), [(AlertRule::DiskFull, Level::Critical)]);
        assert_eq!(raised(&with_disk(Some(least), None)), []);
        assert_eq!(raised(&with_disk(None, Some(1.0))), [], "the free space is unknown");
    }

    #[test]
    fn the_forecast_of_a_full_disk_depends_on_the_days_left() {
        let levels = |days| raised(&with_disk(Some(1 << 40), Some(days)));
        assert_eq!(levels(21.0), []);
        assert_eq!(levels(20.9), [(AlertRule::DiskLow, Level::Warning)]);
        assert_eq!(levels(3.0), [(AlertRule::DiskLow, Level::Warning)]);
        assert_eq!(levels(2.9), [(AlertRule::DiskLow, Level::Critical)]);
    }

    #[test]
    fn feeds_are_lost_when_all_or_more_than_a_quarter_of_many_fail() {
        let levels = |feeds| raised(&Health { feeds, ..healthy() });
        let of_forty = |failing, dead| FeedFigures { listed: 40, failing, dead, ..FeedFigures::default() };
        assert_eq!(levels(of_forty(30, 10)), [(AlertRule::FeedsLost, Level::Critical)]);
        assert_eq!(levels(of_forty(11, 0)), [(AlertRule::FeedsLost, Level::Warning)]);
        assert_eq!(levels(of_forty(10, 20)), []);
        let few = FeedFigures { listed: 4, failing: 3, ..FeedFigures::default() };
        assert_eq!(levels(few), []);
        let unasked = FeedFigures { listed: 4, unasked: 4, ..FeedFigures::default() };
        assert_eq!(levels(unasked), [], "feeds not polled yet are not lost");
    }

    #[test]
    fn feeds_are_late_when_more_than_a_fifth_is_overdue() {
        let levels =
            |late| raised(&Health { feeds: FeedFigures { listed: 40, late, ..FeedFigures::default() }, ..healthy() });
        assert_eq!(levels(8), []);
        assert_eq!(levels(9), [(AlertRule::FeedsLate, Level::Warning)]);
        let small = FeedFigures { listed: 1, late: 1, ..FeedFigures::default() };
        assert_eq!(raised(&Health { feeds: small, ..healthy() }), []);
    }

    #[test]
    fn ten_fallen_feeds_are_listed_and_the_others_counted() {
        let texts = |number: usize| {
            let alerts = of(&Health { falls: (0..number).map(fall).collect(), ..healthy() }, MIN_FREE_MIB);
            assert!(alerts.iter().all(|alert| (alert.rule, alert.level) == (AlertRule::FeedFell, Level::Warning)));
            alerts.into_iter().map(|alert| alert.text).collect::<Vec<_>>()
        };
        assert_eq!(texts(10).len(), 10);
        let many = texts(13);
        assert!(many[0].starts_with("https://e.org/0 listed 1 page in the last 2 days, 60 were"), "{}", many[0]);
        assert_eq!((many.len(), many[10].as_str()), (11, "… and 3 feeds more below their own baseline"));
    }

    #[test]
    fn the_worst_alert_comes_first() {
        let mut health = with_disk(Some(0), None);
        health.falls.push(fall(1));
        *health.stages.state(Some(StageId::Update)) = idle_for(7, HOUR);
        let rules = [AlertRule::DiskFull, AlertRule::StageLate, AlertRule::FeedFell];
        assert_eq!(raised(&health).into_iter().map(|alert| alert.0).collect::<Vec<_>>(), rules);
    }

    #[test]
    fn rules_have_names_for_programs() {
        let alert = Alert { level: Level::Critical, rule: AlertRule::FeedsLost, text: String::new() };
        let json = serde_json::to_value(&alert).unwrap();
        assert_eq!((&json["rule"], &json["level"]), (&"feeds-lost".into(), &"critical".into()));
    }

    #[test]
    fn times_are_relative_to_now() {
        assert_eq!(ago(now(), now()), "just now");
        assert_eq!(ago(hours_ago(47), now()), "47 h 0 min ago");
        assert_eq!(ago(hours_ago(48), now()), "2 days ago");
        assert_eq!(ago(hours_ago(-1), now()), "just now", "a clock that was set back");
    }
}
