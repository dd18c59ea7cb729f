//! The description of a graph: its seed and size, the classes of sites with their shares, and Table 1 of the SpiderLing
//! paper, from which yields and sizes are drawn.

use jiff::Timestamp;
use serde::Serialize;

/// The description of a graph. The same description gives the same bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphSpec {
    /// The seed.
    pub seed: u64,
    /// The number of sites, that is of registered domains; link farms have more hosts.
    pub sites: usize,
    /// The language of most sites.
    pub target: &'static str,
    /// The languages of foreign sites.
    pub foreign: &'static [&'static str],
    /// The language of three sites in a hundred.
    pub scarce: &'static str,
    /// Factor of the sizes of sites; 1 gives the bytes per domain of the paper.
    pub size: f64,
    /// The time at which the graph is crawled: pages are older.
    pub now: Timestamp,
    /// The port in the URLs of the graph; none for in-process use. [`GraphServer`](super::GraphServer) sets it.
    pub port: Option<u16>,
    /// The top-level domains of most sites in the target language and of most others. Names under `localhost` reach a
    /// [`GraphServer`](super::GraphServer) without a name server, all at one address.
    pub top_level: [&'static str; 2],
}

impl Default for GraphSpec {
    fn default() -> Self {
        GraphSpec {
            seed: 1,
            sites: 60,
            target: "de",
            foreign: &["en", "fr", "es", "ru"],
            scarce: "cs",
            size: 3.0,
            // 2026-03-01T12:00:00Z, the start of the other simulated webs.
            now: Timestamp::constant(1_772_366_400, 0),
            port: None,
            top_level: ["test", "example"],
        }
    }
}

/// The class of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SiteClass {
    /// News or a blog: most of its sections have text.
    Rich,
    /// A shop or company with a blog or forum.
    Mixed,
    /// Lists, galleries, forms.
    Poor,
    /// A parked domain with the template of its registrar.
    Parked,
    /// Text in another language than the target.
    Foreign,
    /// A copy of a rich site, exact or in another frame.
    Mirror,
    /// A link farm on wildcard hosts.
    LinkFarm,
    /// Machine-made text.
    Machine,
    /// No connection, only errors, or closed by robots.txt.
    Dead,
}

impl SiteClass {
    /// All classes with their shares in a hundred sites.
    pub const SHARES: [(SiteClass, u64); 9] = [
        (SiteClass::Rich, 12),
        (SiteClass::Mixed, 18),
        (SiteClass::Poor, 35),
        (SiteClass::Parked, 12),
        (SiteClass::Foreign, 10),
        (SiteClass::Mirror, 4),
        (SiteClass::LinkFarm, 3),
        (SiteClass::Machine, 3),
        (SiteClass::Dead, 3),
    ];
}

/// The amount of text of a site, whatever its language. Sites link to sites of like quality.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quality {
    /// More than 5 % of the bytes are text.
    Rich,
    /// Between 1.3 and 5 %.
    Mixed,
    /// Less.
    Poor,
}

/// Domains with a yield in a range: the number of domains and their size.
#[derive(Clone, Copy, Debug)]
pub struct YieldBucket {
    pub low: f64,
    pub high: f64,
    pub domains: u64,
    /// Mean bytes of a domain.
    pub bytes: f64,
}

/// Table 1 of the paper: threshold of the yield, domains above it, GB of crawler output.
const TABLE_1: [(f64, u64, f64); 14] = [
    (0.000_05, 31_024, 1181.56),
    (0.0001, 29_580, 705.07),
    (0.0002, 28_710, 619.44),
    (0.0004, 27_460, 513.86),
    (0.0008, 25_956, 407.30),
    (0.0016, 24_380, 307.27),
    (0.0032, 22_325, 214.18),
    (0.0064, 19_463, 142.38),
    (0.0128, 15_624, 85.69),
    (0.0256, 11_277, 45.05),
    (0.0512, 7_003, 18.61),
    (0.1024, 3_577, 5.45),
    (0.2048, 1_346, 1.76),
    (0.4096, 313, 0.21),
];

/// The highest yield of a domain.
const MAX_YIELD: f64 = 0.55;

/// The rows of Table 1 that a quality covers, as buckets.
pub fn buckets(quality: Quality) -> impl Iterator<Item = YieldBucket> + Clone {
    let range = match quality {
        Quality::Rich => 0.05..1.0,
        Quality::Mixed => 0.01..0.05,
        Quality::Poor => 0.0..0.01,
    };
    (0..TABLE_1.len()).filter(move |row| range.contains(&TABLE_1[*row].0)).map(|row| {
        let (low, above, gigabytes) = TABLE_1[row];
        let (high, next_above, next_gigabytes) = TABLE_1.get(row + 1).copied().unwrap_or((MAX_YIELD, 0, 0.0));
        let domains = above - next_above;
        YieldBucket { low, high, domains, bytes: (gigabytes - next_gigabytes) * 1e9 / domains as f64 }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_are_of_a_hundred() {
        assert_eq!(SiteClass::SHARES.iter().map(|(_, share)| share).sum::<u64>(), 100);
    }

    #[test]
    fn the_buckets_of_the_qualities_are_the_whole_table() {
        let domains = |quality| buckets(quality).map(|bucket| bucket.domains).sum::<u64>();
        assert_eq!(domains(Quality::Rich), 7_003);
        assert_eq!(domains(Quality::Rich) + domains(Quality::Mixed) + domains(Quality::Poor), 31_024);
        assert!(buckets(Quality::Rich).all(|bucket| bucket.low < bucket.high && bucket.bytes > 5e5));
    }
}
