//! The order of waiting URLs within a section.

use tidings_model::LinkRegion;
use xxhash_rust::xxh3::xxh3_64;

use crate::queue::WaitingUrl;

/// The rank of a waiting URL, the least first: links in running text before lists before navigation, links of pages with
/// much text first, then the newest date, then the shorter URL; ties are random, but the same in every run.
pub(crate) fn of(url: &WaitingUrl) -> u64 {
    of_parts(&url.url, url.region, url.source_yield, url.day)
}

/// The same of the parts of a waiting URL that decide.
pub(crate) fn of_parts(url: &str, region: LinkRegion, source_yield: f32, day: Option<i32>) -> u64 {
    let region = match region {
        LinkRegion::Text => 0,
        LinkRegion::List => 1,
        LinkRegion::Navigation => 2,
    };
    let source = u64::from(7 - steps(source_yield));
    // Days fit into 16 bits until 2149; URLs without a date come after those with one.
    let age = day.map_or(0xffff, |day| 0xfffe - day.clamp(0, 0xfffe) as u64);
    let length = (url.len() as u64).min(0x3ff);
    region << 62 | source << 59 | age << 43 | length << 33 | xxh3_64(url.as_bytes()) >> 31
}

/// The clean share of a page in eight steps: differences below an eighth say nothing about its links.
fn steps(share: f32) -> u8 {
    (share.clamp(0.0, 1.0) * 7.99) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::waiting;

    #[test]
    fn region_comes_before_yield_before_date_before_length() {
        let best = WaitingUrl { region: LinkRegion::Text, ..waiting("http://a.example/a-long-title-of-a-story") };
        let mut urls = [
            WaitingUrl { region: LinkRegion::Navigation, source_yield: 1.0, ..waiting("http://a.example/n") },
            WaitingUrl { source_yield: 0.9, ..waiting("http://a.example/2020/01/01/rich") },
            WaitingUrl { day: Some(20_000), ..waiting("http://a.example/new-article") },
            WaitingUrl { day: Some(10_000), ..waiting("http://a.example/old") },
            waiting("http://a.example/short"),
            waiting("http://a.example/much-longer"),
            best,
        ];
        urls.sort_by_key(of);
        let order: Vec<&str> = urls.iter().map(|url| url.url.rsplit('/').next().unwrap()).collect();
        assert_eq!(order, ["a-long-title-of-a-story", "rich", "new-article", "old", "short", "much-longer", "n"]);
    }
}
