//! Shards: disjoint parts of the work of a stage, for several processes.
//!
//! Every unit of work (a day, a language, an input file) belongs to exactly one of N shards, by a hash of its name that
//! is the same on every machine. N processes with one shard each do all of the work once, in any order.

use std::fmt;
use std::str::FromStr;

use xxhash_rust::xxh3::xxh3_64;

/// The virtual shards into which the web is divided. Each machine has a range of them, so that the part of a site stays
/// the same when the files of a shard are divided further.
pub const VIRTUAL_SHARDS: u64 = 4096;

/// The maximum number of shards.
const MAX_SHARDS: u32 = 10_000;

/// Shard `index` of `count`, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    index: u32,
    count: u32,
}

impl Default for Shard {
    fn default() -> Shard {
        Shard::WHOLE
    }
}

impl Shard {
    /// All of the work.
    pub const WHOLE: Shard = Shard { index: 1, count: 1 };

    /// Shard `index` of `count`, counted from 1; `None` if the index is out of range.
    pub fn new(index: u32, count: u32) -> Option<Shard> {
        ((1..=count).contains(&index) && count <= MAX_SHARDS).then_some(Shard { index, count })
    }

    /// Whether this is all of the work.
    pub fn is_whole(self) -> bool {
        self.count == 1
    }

    /// Whether a unit of work belongs to this shard.
    pub fn takes(self, unit: &str) -> bool {
        xxh3_64(unit.as_bytes()) % u64::from(self.count) == u64::from(self.index - 1)
    }

    /// The shard, counted from 1.
    pub fn index(self) -> u32 {
        self.index
    }

    /// The number of shards.
    pub fn count(self) -> u32 {
        self.count
    }

    /// The shard of `count`, at most 4096, that asks the hosts of a registered domain.
    pub fn owner(domain: &str, count: u32) -> Shard {
        let place = Shard::virtual_shard(domain) as u64 * u64::from(count) / VIRTUAL_SHARDS;
        Shard { index: place as u32 + 1, count }
    }

    /// The virtual shard of a registered domain, from 0.
    pub fn virtual_shard(domain: &str) -> usize {
        (xxh3_64(domain.as_bytes()) % VIRTUAL_SHARDS) as usize
    }

    /// Whether this shard does the work that cannot be divided.
    pub fn takes_undivided(self) -> bool {
        self.index == 1
    }

    /// The name of files of this shard.
    pub fn file_name(self) -> String {
        format!("{}-of-{}", self.index, self.count)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let parts = text.split_once('/').and_then(|(index, count)| Some((index.parse().ok()?, count.parse().ok()?)));
        let shard = parts.and_then(|(index, count)| Shard::new(index, count));
        shard.ok_or_else(|| format!("invalid shard `{text}`; give I/N with I from 1 to N, such as 2/4"))
    }
}

/// Serialises a shard as people write it.
pub(crate) fn as_text<S: serde::Serializer>(shard: &Shard, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(shard)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_belongs_to_exactly_one_shard() {
        for count in [1, 2, 4, 7] {
            let shards: Vec<Shard> = (1..=count).map(|index| Shard::new(index, count).unwrap()).collect();
            for day in 1..=28 {
                let unit = format!("2026-02-{day:02}");
                assert_eq!(shards.iter().filter(|shard| shard.takes(&unit)).count(), 1);
            }
            assert_eq!(shards.iter().filter(|shard| shard.takes_undivided()).count(), 1);
        }
    }

    #[test]
    fn domains_are_spread_evenly_and_stay_together_when_shards_are_divided() {
        let names: Vec<String> = (0..4000).map(|n| format!("site{n}.example")).collect();
        for name in &names {
            let (of_two, of_four) = (Shard::owner(name, 2), Shard::owner(name, 4));
            assert_eq!(of_two.index, of_four.index.div_ceil(2));
            assert_eq!(Shard::owner(name, 1), Shard::WHOLE);
        }
        for index in 1..=3 {
            let count = names.iter().filter(|name| Shard::owner(name, 3).index == index).count();
            assert!((1200..1470).contains(&count), "{count}");
        }
    }

    #[test]
    fn shards_are_written_as_index_and_count() {
        assert_eq!("2/4".parse(), Ok(Shard::new(2, 4).unwrap()));
        assert_eq!(Shard::new(2, 4).unwrap().to_string(), "2/4");
        for nonsense in ["0/4", "5/4", "1", "a/b", "1/0", "-1/3", "1/99999999"] {
            assert!(nonsense.parse::<Shard>().is_err(), "{nonsense}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_unit_belongs_to_one_shard_of_any_division(unit in "\\PC{0,30}", count in 1u32..50) {
            let takers = (1..=count).filter(|index| Shard::new(*index, count).unwrap().takes(&unit)).count();
            proptest::prop_assert_eq!(takers, 1);
        }

        #[test]
        fn a_shard_survives_printing_and_parsing(index in 1u32..=MAX_SHARDS, more in 0u32..100) {
            let shard = Shard::new(index, (index + more).min(MAX_SHARDS)).unwrap();
            proptest::prop_assert_eq!(shard.to_string().parse(), Ok(shard));
        }
    }
}
