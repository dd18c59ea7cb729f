//! Earlier plans: each run that changes the plan keeps the one before in `history/`.
//!
//! Every run writes the plan as a whole, so that each copy costs as much as the plan itself. The copies are thinned with
//! their age: half of them are the newest, a quarter the last of each day before, the rest the last of each week before.

use std::collections::BTreeSet;
use std::path::PathBuf;

use jiff::Timestamp;
use jiff::civil::Date;
use tidings_storage::file::files_in;

use crate::error::{Context, Result};
use crate::home::Home;
use crate::runs::RunName;

/// Deletes copies of the plan, so that at most `most` are left. Copies from `split` on have a date in the future and
/// are thinned by themselves: they must not displace the others. Returns the number of deleted copies.
pub fn thin(home: &Home, most: usize, split: Timestamp) -> Result<usize> {
    let copies: Vec<(Option<RunName>, PathBuf)> =
        files_in(&home.history())?.into_iter().map(|path| (run_of(&path), path)).collect();
    let is_future = |run: &Option<RunName>| run.as_ref().is_some_and(|run| run.began >= split);
    let (future, past): (Vec<_>, Vec<_>) = copies.into_iter().partition(|(run, _)| is_future(run));
    let mut deleted = 0;
    for copies in [past, future] {
        let days: Vec<Option<Date>> = copies.iter().map(|(run, _)| run.as_ref().map(RunName::day)).collect();
        let kept = kept(&days, most);
        for (_, (_, path)) in copies.iter().enumerate().filter(|(at, _)| !kept.contains(at)) {
            std::fs::remove_file(path).context("remove", path)?;
            deleted += 1;
        }
    }
    Ok(deleted)
}

/// The run that wrote the plan after a copy.
fn run_of(path: &std::path::Path) -> Option<RunName> {
    RunName::parse(path.file_name()?.to_str()?.split('.').next()?)
}

/// The copies to keep, by the days of all copies, oldest first.
fn kept(days: &[Option<Date>], most: usize) -> BTreeSet<usize> {
    let newest = most.div_ceil(2);
    let daily = most / 4;
    let weekly = most - newest - daily;
    let mut kept: BTreeSet<usize> = (days.len().saturating_sub(newest)..days.len()).collect();
    let older = days.len() - kept.len();
    let mut rest = newest_of_each(days, older, daily, |day| i64::from(epoch_day(day)));
    kept.append(&mut rest);
    let older = kept.first().copied().unwrap_or(older).min(older);
    kept.append(&mut newest_of_each(days, older, weekly, |day| i64::from(epoch_day(day)).div_euclid(7)));
    kept
}

/// The newest copies of the last `most` periods, among the first `older`.
fn newest_of_each(days: &[Option<Date>], older: usize, most: usize, period: impl Fn(Date) -> i64) -> BTreeSet<usize> {
    let mut kept = BTreeSet::new();
    // A period that has a newer copy among those kept so far needs no other.
    let mut last = days.get(older).copied().flatten().map(&period);
    for at in (0..older).rev() {
        let Some(found) = days[at].map(&period).filter(|found| last != Some(*found)) else { continue };
        if kept.len() == most {
            break;
        }
        last = Some(found);
        kept.insert(at);
    }
    kept
}

/// Days since 1970-01-01.
fn epoch_day(day: Date) -> i32 {
    (day - jiff::civil::date(1970, 1, 1)).get_days()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::home;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    /// Keeps a copy of the plan for a run every `hours`, thinning after each.
    fn simulate(home: &Home, runs: i64, hours: i64, most: usize) -> Vec<Date> {
        std::fs::create_dir_all(home.history()).unwrap();
        let start = at("2026-03-01T00:00:00Z");
        for run in 0..runs {
            let now = start + jiff::SignedDuration::from_hours(hours * run);
            let name = format!("{}-fetch.plan.tsv.zst", crate::home::stamp(now));
            std::fs::write(home.history().join(name), b"").unwrap();
            thin(home, most, Timestamp::MAX).unwrap();
        }
        let copies = files_in(&home.history()).unwrap();
        copies.iter().map(|path| run_of(path).unwrap().day()).collect()
    }

    #[test]
    fn a_year_of_hourly_runs_leaves_hours_days_and_weeks() {
        let (_folder, home) = home();
        let days = simulate(&home, 24 * 90, 1, 12);
        let ages: Vec<i32> = days.iter().map(|day| (days[11] - *day).get_days()).collect();
        assert_eq!((days.len(), &ages[3..]), (12, &[3, 2, 1, 0, 0, 0, 0, 0, 0][..]));
        assert!(ages[..3].windows(2).all(|two| two[0] - two[1] == 7) && ages[0] >= 17, "{ages:?}");
    }

    #[test]
    fn daily_runs_leave_days_and_weeks() {
        let (_folder, home) = home();
        let days = simulate(&home, 90, 24, 12);
        let ages: Vec<i32> = days.iter().map(|day| (days[11] - *day).get_days()).collect();
        assert_eq!(&ages[3..], [8, 7, 6, 5, 4, 3, 2, 1, 0]);
        assert!(ages[0] >= 22, "{ages:?}");
    }

    #[test]
    fn copies_of_a_run_under_a_wrong_clock_do_not_displace_the_others() {
        let (_folder, home) = home();
        simulate(&home, 12, 1, 12);
        for hour in 10..20 {
            let name = format!("20270301T{hour}0000000Z-fetch.plan.tsv.zst");
            std::fs::write(home.history().join(name), b"").unwrap();
        }
        assert_eq!(thin(&home, 12, at("2027-01-01T00:00:00Z")).unwrap(), 4);
        let past = files_in(&home.history()).unwrap();
        assert_eq!(past.iter().filter(|path| run_of(path).unwrap().began < at("2027-01-01T00:00:00Z")).count(), 6);
    }

    #[test]
    fn the_number_is_a_bound_and_zero_keeps_none() {
        let day = |at: i32| Some(jiff::civil::date(2026, 1, 1) + jiff::Span::new().days(at));
        let days: Vec<Option<Date>> = (0..100).map(day).collect();
        for most in [0, 1, 2, 3, 12, 42] {
            assert!(kept(&days, most).len() <= most, "{most}");
        }
        assert!(kept(&days, 0).is_empty());
        assert_eq!(kept(&days, 1).into_iter().collect::<Vec<_>>(), [99]);
        assert_eq!(kept(&[None; 5], 2).into_iter().collect::<Vec<_>>(), [4], "names without a date");
    }
}
