//! Growth of work with the size of its input.
//!
//! Work is measured in CPU time of the thread that does it, which other processes do not change, and only ratios are compared, so
//! that neither a slow nor a busy machine matters.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Work below this is not told apart from the ticks of the clock.
const TOO_LITTLE: Duration = Duration::from_millis(40);

/// The growth that counts as linear, as a multiple of the growth of the input: caches and allocators cost more when there is more.
const ALLOWANCE: u32 = 4;

/// Measurements that must agree before work is called superlinear.
const ATTEMPTS: usize = 3;

/// Says how work grows from an input of size `small` to one `factor` times as large, if it grows faster than the input does.
pub fn superlinear<I>(make: impl Fn(usize) -> I, small: usize, factor: u32, work: impl Fn(&I)) -> Option<String> {
    let (small, large) = (make(small), make(small * factor as usize));
    let once = || {
        let more = cost(&work, &large);
        if more < TOO_LITTLE {
            return None;
        }
        let less = cost(&work, &small);
        (more > less * factor * ALLOWANCE).then(|| format!("{less:?} of CPU time, then {more:?}"))
    };
    let attempts: Vec<String> = (0..ATTEMPTS).map_while(|_| once()).collect();
    (attempts.len() == ATTEMPTS).then(|| attempts.join("; "))
}

/// The least CPU time of three runs.
fn cost<I>(work: &impl Fn(&I), input: &I) -> Duration {
    let run = || {
        let began = cpu_time();
        work(input);
        cpu_time().saturating_sub(began)
    };
    (0..3).map(|_| run()).min().expect("three runs")
}

/// CPU time of this thread so far.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_in_a_loop_is_superlinear_and_a_loop_is_not() {
        let numbers = |size: usize| (0..size as u64).collect::<Vec<u64>>();
        let sum = |numbers: &Vec<u64>| numbers.iter().map(|number| std::hint::black_box(*number)).sum::<u64>();
        let linear = superlinear(numbers, 100_000, 10, |numbers| {
            std::hint::black_box(sum(numbers));
        });
        assert_eq!(linear, None);
        let squared = |numbers: &Vec<u64>| numbers.iter().map(|_| sum(numbers)).fold(0u64, u64::wrapping_add);
        let quadratic = superlinear(numbers, 300, 10, |numbers| {
            std::hint::black_box(squared(numbers));
        });
        assert!(quadratic.is_some());
    }
}
