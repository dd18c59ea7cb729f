//! The scores that were reached, so that they only get better. `README.md` has the whole table.
//!
//! One small world for each habit is enough to tell a change from luck, and done in a second.

use tidings_bench_schedule::{Fixed, Habit, Ours, Score, replay, replay_in_runs, world};

const POLLS: f64 = 4.0;

fn holds(habit: Habit, feeds: usize, mean_h: f64, lost: f64) -> Score {
    let score = replay(&world(habit, feeds, 1), &mut Ours::new(POLLS, feeds));
    assert!(score.polls_per_day <= 1.02 * POLLS, "{habit:?} costs {:.2} polls", score.polls_per_day);
    assert!(score.mean_h <= mean_h, "{habit:?}: {:.3} h, {:.3} %; pinned at {mean_h} h", score.mean_h, score.lost);
    assert!(score.lost <= lost, "{habit:?}: {:.3} % lost, pinned at {lost}", score.lost);
    score
}

#[test]
fn working_hours_are_followed_within_the_hour_and_nothing_is_lost() {
    holds(Habit::WorkingHours, 150, 0.92, 0.01);
}

#[test]
fn rates_that_shift_cost_next_to_nothing() {
    holds(Habit::Shifting, 150, 0.90, 0.05);
}

#[test]
fn steady_feeds_are_followed_twice_as_well_as_by_a_fixed_interval() {
    let ours = holds(Habit::Steady, 50, 1.23, 0.01);
    let fixed = replay(&world(Habit::Steady, 50, 1), &mut Fixed(6.0 * 3600.0));
    assert!(fixed.mean_h > 2.0 * ours.mean_h, "{:.3} h", fixed.mean_h);
}

#[test]
fn batches_cost_no_more_than_their_size_makes_unavoidable() {
    let fastest = replay(&world(Habit::Batches, 50, 1), &mut Fixed(900.0));
    holds(Habit::Batches, 50, 1.73, fastest.lost + 2.5);
}

#[test]
fn feeds_that_wake_up_are_noticed() {
    holds(Habit::Reviving, 50, 1.23, 0.60);
}

#[test]
fn runs_every_hour_keep_to_the_budget() {
    let feeds = world(Habit::WorkingHours, 40, 1);
    let score = replay_in_runs(&feeds, &mut Ours::in_runs(POLLS, feeds.len(), 3600.0), 3600.0);
    assert!((0.9 * POLLS..1.05 * POLLS).contains(&score.polls_per_day), "{}", score.polls_per_day);
    assert!(score.mean_h <= 1.05, "{}", score.mean_h);
}
