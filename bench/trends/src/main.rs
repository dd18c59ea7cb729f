//! `cargo run --release -p bench-trends [SEED]`: prints how many planted trends are found.
//! `cargo run --release -p bench-trends product [SEEDS [SCENARIO…]]`: the same through the index and the questions, as JSON.
//! `cargo run --release -p bench-trends engine [MILLION_TOKENS]`: CPU time and memory of the questions, as JSON.

use bench_trends::churn;
use bench_trends::drift;
use bench_trends::engine;
use bench_trends::measure::measure;
use bench_trends::month;
use bench_trends::plant::Setting;
use bench_trends::product;

fn main() {
    if std::env::args().nth(1).as_deref() == Some("product") {
        let seeds = std::env::args().nth(2).and_then(|seeds| seeds.parse().ok()).unwrap_or(8);
        let names: Vec<String> = std::env::args().skip(3).collect();
        return product::print(seeds, &names);
    }
    if std::env::args().nth(1).as_deref() == Some("engine") {
        let tokens = std::env::args().nth(2).and_then(|tokens| tokens.parse().ok()).unwrap_or(100);
        return engine::print(tokens);
    }
    let seed = std::env::args().nth(1).and_then(|seed| seed.parse().ok()).unwrap_or(Setting::default().seed);
    measure(&Setting { seed, ..Setting::default() }).print();
    churn::measure(seed).print();
    drift::print();
    month::print();
}
