//! Every seed runs through its target, with some damage: cut off, and with a byte changed.
//!
//! This needs neither libFuzzer nor coverage. A finding of the fuzzer becomes a seed here and a test in its crate.

use tidings_fuzz::{TARGETS, seeds};

/// Damaged copies of each seed.
const COPIES: usize = 12;

#[test]
fn every_seed_runs_through_its_target_whole_and_damaged() {
    std::thread::scope(|scope| {
        for target in TARGETS {
            scope.spawn(move || {
                (target.run)(b"");
                for path in seeds::of(target) {
                    let seed = std::fs::read(&path).expect("a seed is readable");
                    (target.run)(&seed);
                    for copy in 0..COPIES {
                        // Spread over the seed without random numbers, so that a failure is repeatable.
                        let at = seed.len() * (2 * copy + 1) / (2 * COPIES);
                        (target.run)(&seed[..at]);
                        let mut changed = seed.clone();
                        if let Some(byte) = changed.get_mut(at) {
                            *byte ^= 1 << (copy % 8);
                        }
                        (target.run)(&changed);
                    }
                }
            });
        }
    });
}
