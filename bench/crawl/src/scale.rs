//! Time and memory of the scheduler with many domains.

use std::time::Instant;

use tidings_crawl::{
    policy::{DomainHints, PageWorth},
    steward::{Discovered, Gate, Next, Outcome, Settings, Steward},
};

/// The cost of a scheduler with many domains.
#[derive(Debug, Clone, Copy)]
pub struct Cost {
    /// Microseconds of a decision with its outcome.
    pub decision_us: f64,
    /// Bytes of memory a domain; 0 where the system does not tell.
    pub bytes_per_domain: f64,
}

/// Makes decisions among domains with two sections of two waiting URLs each.
pub fn measure(domains: u32, decisions: u32) -> Cost {
    let before = resident_bytes();
    let mut steward = Steward::new(Settings::default());
    for domain in 0..domains {
        let name = format!("a-site-{domain}.example");
        for section in ["news", "blog"] {
            let section = format!("{name}/{section}/*");
            for _ in 0..2 {
                let hints = DomainHints::default();
                steward.discovered(&Discovered { domain: &name, section: &section, source: None, hints });
            }
        }
    }
    let bytes = resident_bytes().saturating_sub(before);
    let start = Instant::now();
    let mut now = 1;
    let mut made = 0;
    while made < decisions {
        match steward.next(now, &mut |_| Gate::Open) {
            Next::Request(request) => {
                made += 1;
                let tokens = u64::from(request.domain % 10) * 100;
                let worth = PageWorth {
                    bytes: 40_000,
                    clean_bytes: 6 * tokens,
                    tokens,
                    new_share: 1.0,
                    ..PageWorth::default()
                };
                steward.done(&request, Outcome::Page { worth, text: None, front: false }, now + 5_000);
                now += 20;
            }
            Next::Wait(until) => now = until,
            Next::Idle | Next::Finished(_) => break,
        }
    }
    Cost {
        decision_us: start.elapsed().as_secs_f64() * 1e6 / f64::from(made.max(1)),
        bytes_per_domain: bytes as f64 / f64::from(domains),
    }
}

fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = text.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or_default();
    pages * 4096
}
