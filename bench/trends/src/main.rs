//! `cargo run --release -p bench-trends [SEED]`: prints how many planted trends are found.

use bench_trends::churn;
use bench_trends::drift;
use bench_trends::measure::measure;
use bench_trends::plant::Setting;

fn main() {
    let seed = std::env::args().nth(1).and_then(|seed| seed.parse().ok()).unwrap_or(Setting::default().seed);
    measure(&Setting { seed, ..Setting::default() }).print();
    churn::measure(seed).print();
    drift::print();
}
