//! The scores that were reached, so that they only get better. `README.md` has the whole table.

use tidings_bench_schedule::{Feed, Fixed, Habit, Ours, Score, replay, replay_in_runs, world};

const FEEDS: usize = 150;
const POLLS: f64 = 4.0;

/// One world is enough to tell a change from luck, and done in a second.
fn score(habit: Habit, run: impl Fn(&[Feed]) -> Score) -> Score {
    run(&world(habit, FEEDS, 1))
}

fn ours(habit: Habit) -> Score {
    score(habit, |feeds| replay(feeds, &mut Ours::new(POLLS, feeds.len())))
}

fn holds(habit: Habit, mean_h: f64, lost: f64) {
    let score = ours(habit);
    assert!(score.polls_per_day <= 1.02 * POLLS, "{habit:?} costs {:.2} polls", score.polls_per_day);
    assert!(score.mean_h <= mean_h, "{habit:?}: {:.3} h, pinned at {mean_h}", score.mean_h);
    assert!(score.lost <= lost, "{habit:?}: {:.3} % lost, pinned at {lost}", score.lost);
}

#[test]
fn working_hours_are_followed_within_the_hour_and_nothing_is_lost() {
    holds(Habit::WorkingHours, 0.92, 0.01);
}

#[test]
fn rates_that_shift_cost_next_to_nothing() {
    holds(Habit::Shifting, 0.9, 0.05);
}

#[test]
fn steady_feeds_are_followed_better_than_by_any_fixed_interval() {
    holds(Habit::Steady, 1.3, 0.01);
    let fixed = score(Habit::Steady, |feeds| replay(feeds, &mut Fixed(6.0 * 3600.0)));
    assert!(fixed.mean_h > 2.0 * ours(Habit::Steady).mean_h);
}

#[test]
fn batches_cost_no_more_than_their_size_makes_unavoidable() {
    holds(Habit::Batches, 1.8, 1.8e+01);
}

#[test]
fn feeds_that_wake_up_are_noticed() {
    holds(Habit::Reviving, 0.94, 0.05);
}

#[test]
fn runs_every_hour_keep_to_the_budget() {
    let run = |feeds: &[Feed]| replay_in_runs(feeds, &mut Ours::in_runs(POLLS, feeds.len(), 3600.0), 3600.0);
    let score = score(Habit::WorkingHours, run);
    assert!((0.9 * POLLS..1.05 * POLLS).contains(&score.polls_per_day), "{}", score.polls_per_day);
    assert!(score.mean_h <= 0.97, "{}", score.mean_h);
}
