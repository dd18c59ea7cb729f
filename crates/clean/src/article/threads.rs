//! Posts of threads: sibling containers that each have a byline and prose.
//!
//! Forum software names itself in many ways or not at all, but a thread always looks the same: a series of like
//! containers, each with a name or a date and a text of its own. Comments below an article look like that too, with the
//! difference that most of the prose is outside. The size of a series is evidence for both.

use std::collections::HashMap;

use super::evidence::{IdentityState, group_index};
use super::features::{BlockFeature, FeatureMatrix, log};

/// Sibling containers with bylines and prose.
#[derive(Debug, Clone, Copy, Default)]
struct Series {
    posts: f32,
    bytes: f32,
    links: f32,
}

const BYLINE: u128 = 1 << group_index("byline") | 1 << group_index("bio");
/// A block of fewer words with as many digits may be a date or a time.
const MAX_BYLINE_WORDS: f32 = 12.0;
const MIN_DATE_DIGITS: u32 = 3;
/// Minimum number of bytes outside links in a post.
const MIN_POST_BYTES: f32 = 40.0;
/// Fewer like siblings are no series.
const MIN_POSTS: f32 = 2.0;

impl FeatureMatrix {
    /// Finds series of posts and measures for each block the innermost series that it is in.
    pub(super) fn measure_threads(&mut self) {
        let has_byline = self.containers_with_bylines();
        let mut series: HashMap<(u32, u128), Series> = HashMap::new();
        let mut series_of = vec![None; self.containers.len()];
        for (at, container) in self.containers.iter().enumerate() {
            if !has_byline[at] || container.blocks < 2.0 || container.bytes - container.links < MIN_POST_BYTES {
                continue;
            }
            let key = (container.parent, container.own.kinds);
            series_of[at] = Some(key);
            let own = series.entry(key).or_default();
            own.posts += 1.0;
            own.bytes += container.bytes;
            own.links += container.links;
        }
        let page_bytes = self.containers[0].bytes.max(1.0);
        let is_series = |own: &Series| own.posts >= MIN_POSTS;
        let largest = series
            .values()
            .filter(|own| is_series(own) && own.links * 2.0 < own.bytes)
            .map(|own| (own.bytes - own.links) / page_bytes)
            .fold(0.0, f32::max);
        // Posts are found once per container, since many blocks share one.
        let mut post_of: HashMap<u32, Option<Series>, IdentityState> = HashMap::default();
        for row in 0..self.innermost.len() {
            let innermost = self.innermost[row];
            let post = *post_of.entry(innermost).or_insert_with(|| {
                self.around(row).find_map(|at| Some(series[&series_of[at as usize]?]).filter(is_series))
            });
            let own = post.unwrap_or_default();
            self.set(BlockFeature::thread_posts, row, log(own.posts));
            self.set(BlockFeature::thread_share, row, own.bytes / page_bytes);
            self.set(BlockFeature::thread_links, row, own.links / own.bytes.max(1.0));
            self.set(BlockFeature::page_thread, row, largest);
        }
    }

    /// For each container, whether a byline, a date or a number is in it.
    fn containers_with_bylines(&self) -> Vec<bool> {
        let mut has_byline: Vec<bool> =
            self.containers.iter().map(|container| container.own.kinds & BYLINE != 0).collect();
        for (row, words) in self.words.iter().enumerate() {
            if words.digits >= MIN_DATE_DIGITS && words.count < MAX_BYLINE_WORDS {
                has_byline[self.innermost[row] as usize] = true;
            }
        }
        // Parents come before children.
        for at in (0..has_byline.len()).rev() {
            if has_byline[at] {
                has_byline[self.containers[at].parent as usize] = true;
            }
        }
        has_byline
    }
}

#[cfg(test)]
mod tests {
    use super::super::blocks::segment;
    use super::super::weights::Weights;
    use super::*;
    use crate::declared_metadata::DeclaredMetadata;

    fn measured(html: &str, feature: BlockFeature) -> Vec<f32> {
        let tree = crate::tree::parse(html);
        let declared = DeclaredMetadata::read(&tree);
        let matrix = FeatureMatrix::of(&tree, segment(&tree), &declared, None, Weights::get());
        matrix.columns[feature as usize].clone()
    }

    #[test]
    fn posts_with_bylines_are_a_series_and_plain_paragraphs_are_not() {
        let text = "Rain fell on the hills for three days and nights and then it stopped.";
        let post = |name: &str| format!("<div class=x><p class=author>{name}</p><p>{text}</p></div>");
        let thread = format!("<body><div>{}{}{}</div>", post("Ada"), post("Bo"), post("Cy"));
        assert_eq!(measured(&thread, BlockFeature::thread_posts), [log(3.0); 6]);
        assert!(measured(&thread, BlockFeature::page_thread)[0] > 0.9);
        let article = format!("<body><div><p>{text}</p><p>{text}</p><p>{text}</p></div>");
        assert_eq!(measured(&article, BlockFeature::page_thread), [0.0; 3]);
    }
}
