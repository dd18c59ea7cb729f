//! Features of blocks, one row per block and one column per feature.
//!
//! The features describe a block's text, its containers, its neighbours, its position and the page.
//! The forests in [`super::forest`] reference columns by name, so the names here are part of the
//! weight files: renaming a feature means retraining.

use std::collections::HashMap;

use html5ever::local_name;
use url::Url;

use super::blocks::Blocks;
use super::containers::Container;
use super::declared_text::{body_trigrams, description_words, title_words};
use super::evidence::{EVIDENCE_COUNT, ElementRole, GROUPS, IdentityState, ROLES};
use super::page_type::{PageHints, PageType};
use super::runs::Run;
use super::words::{WordLookup, WordSet, WordStats, stop_words};
use crate::declared_metadata::{DeclaredMetadata, is_article};
use crate::tree::{NodeId, Tree};

macro_rules! features {
    ($name:ident, $names:ident: $($feature:ident),* $(,)?) => {
        #[derive(Debug, Clone, Copy)]
        #[allow(missing_docs, non_camel_case_types)]
        #[repr(usize)]
        pub enum $name { $($feature),* }

        /// The names of the columns, in order.
        pub const $names: &[&str] = &[$(stringify!($feature)),*];
    };
}

features! { BlockFeature, BLOCK_FEATURES:
    length, words, word_length, sentences, ends, commas, link_density, links, capitals, digits, symbols, dividers, breaks, strong,
    copyright, starts_small, starts_quoted, odds, odds_low, odds_first, odds_pair_low, odds_pair_high, known, stops, pictures_before,
    pictures_after, title_share, title_cover, description_share,
    body_share, has_body, body_ratio, repeats, repeated, heading, tag_depth,
    name_low, name_high, chain_low, chain_high, chain_sum,
    parent1_bytes, parent1_links, parent1_mean, parent1_blocks, parent1_odds,
    parent2_bytes, parent2_links, parent2_mean, parent2_blocks, parent2_odds,
    parent3_bytes, parent3_links, parent3_mean, parent3_blocks, parent3_odds,
    parent4_bytes, parent4_links, parent4_mean, parent4_blocks, parent4_odds,
    box_bytes, box_links, box_mean, box_index, box_place,
    place, bytes_before, words_before, to_title, after_title, to_longest, to_h1,
    prev1_length, prev1_links, prev1_heading, prev1_sentences, prev1_odds,
    next1_length, next1_links, next1_heading, next1_sentences, next1_odds,
    prev2_length, prev2_links, prev2_sentences, next2_length, next2_links, next2_sentences,
    around, around_links, heading_odds, heading_distance,
    alike, alike_bytes, alike_links, alike_mean,
    top_steps, top_within, top_share, best_ratio,
    articles, article_share, article_largest, article_index,
    page_bytes, page_blocks, page_links, page_mean, page_h1, page_article, page_linked, page_path, page_root, page_unspaced,
    page_sentences, page_longest, page_paragraphs, page_stops,
    run_blocks, run_place, run_bytes, run_links, run_mean, run_odds, run_list,
    after_comments, page_comments, page_forum, page_docs, page_shop, page_listing,
    thread_posts, thread_share, thread_links, page_thread,
}

/// Number of columns of the first forest.
pub const FIRST_COLUMNS: usize = BLOCK_FEATURES.len() + EVIDENCE_COUNT;

features! { ContextFeature, CONTEXT_FEATURES:
    p, p_prev1, p_prev2, p_prev3, p_next1, p_next2, p_next3, p_window5, p_window15, p_after, p_before,
    p_parent1, p_parent2, p_parent3, p_parent4, p_box, p_alike, p_page, core_parent1, core_parent2, core_parent3, core_parent4,
    core_prev, core_next, core_first, core_last, core_bytes, section, section_heading, rank,
    p_run, p_run_before, p_run_after, p_run_high,
}

/// Number of columns of the second forest.
pub const SECOND_COLUMNS: usize = FIRST_COLUMNS + CONTEXT_FEATURES.len();

/// Returns the name of a column, as used in the weight files.
pub fn name(column: usize) -> String {
    let near = column.wrapping_sub(BLOCK_FEATURES.len());
    match column {
        _ if column < BLOCK_FEATURES.len() => BLOCK_FEATURES[column].to_owned(),
        _ if near < GROUPS.len() => format!("near_{}", GROUPS[near].name),
        _ if near < EVIDENCE_COUNT => format!("in_{}", ROLES[near - GROUPS.len()]),
        _ => CONTEXT_FEATURES[column - FIRST_COLUMNS].to_owned(),
    }
}

/// Lift of words to be article text, estimated on annotated pages.
pub trait WordLifts {
    /// Lift of a word in `class` or `id`.
    fn name(&self, hash: u64) -> Option<f32>;
    /// Lift of a word of the text.
    fn word(&self, hash: u64) -> Option<f32>;
}

/// The feature matrix of a page, with the structures it was computed from.
#[derive(Debug)]
pub struct FeatureMatrix {
    /// The blocks, one per row.
    pub blocks: Blocks,
    /// Word statistics of each block.
    pub words: Vec<WordStats>,
    /// The elements around blocks; parents come before children.
    pub containers: Vec<Container>,
    /// For each block, the index of its innermost container.
    pub innermost: Vec<u32>,
    /// For each block, a hash of the path of tags and classes to it.
    pub path: Vec<u32>,
    /// For each block, the nearest container with at least three blocks.
    pub shared: Vec<u32>,
    /// For each block, the row of the last heading up to it, or its own row.
    pub section: Vec<u32>,
    /// For each block, its run.
    pub run: Vec<Run>,
    /// Evidence for the type of the page.
    pub page_hints: PageHints,
    /// The row most similar to the title of the page.
    pub headline: Option<usize>,
    /// The columns of the first forest.
    pub columns: Vec<Vec<f32>>,
}

/// Number of enclosing containers measured per block, from the innermost.
pub(super) const LEVELS: usize = 4;

impl FeatureMatrix {
    /// Computes the feature matrix of a page.
    pub fn of(
        tree: &Tree,
        blocks: Blocks,
        declared: &DeclaredMetadata<'_>,
        url: Option<&Url>,
        lift: &impl WordLifts,
    ) -> FeatureMatrix {
        let (title, description) = (title_words(tree, declared), description_words(declared));
        let stops = declared.language.and_then(stop_words);
        let lookup = WordLookup {
            lift: |hash| lift.word(hash),
            stop: |hash| stops.is_some_and(|stops| stops.contains(&hash)),
            title: &title,
            description: &description,
        };
        let words = blocks.list.iter().map(|block| WordStats::of(block.text(&blocks), &lookup)).collect();
        let mut matrix = FeatureMatrix {
            innermost: Vec::with_capacity(blocks.list.len()),
            path: Vec::new(),
            shared: Vec::new(),
            section: Vec::new(),
            run: Vec::new(),
            page_hints: PageHints::read(declared, url),
            headline: None,
            containers: Vec::new(),
            columns: vec![vec![0.0; blocks.list.len()]; FIRST_COLUMNS],
            blocks,
            words,
        };
        if matrix.blocks.list.is_empty() {
            return matrix;
        }
        matrix.find_containers(tree, lift);
        matrix.sum_containers();
        matrix.measure_text(tree, &title, declared, stops.is_some());
        matrix.measure_containers();
        matrix.measure_main_containers();
        matrix.measure_position();
        matrix.measure_neighbours();
        matrix.measure_siblings();
        matrix.measure_runs();
        matrix.measure_comments();
        matrix.measure_threads();
        matrix.measure_page(tree, declared, url);
        matrix
    }

    /// The type of the page.
    pub fn page_type(&self) -> PageType {
        let link_share = self.containers.first().map_or(0.0, |root| root.links / root.bytes.max(1.0));
        PageType::of(self.page_hints, link_share)
    }

    pub(super) fn set(&mut self, column: BlockFeature, row: usize, value: f32) {
        set(&mut self.columns, column, row, value);
    }

    fn measure_text(&mut self, tree: &Tree, title: &WordSet, declared: &DeclaredMetadata<'_>, with_stops: bool) {
        let body = body_trigrams(declared);
        let page_words: f32 = self.words.iter().map(|words| words.count).sum::<f32>().max(1.0);
        let mut times: HashMap<u64, (u32, u32), IdentityState> = HashMap::default();
        for words in &self.words {
            times.entry(words.hash).or_default().0 += 1;
        }
        for row in 0..self.blocks.list.len() {
            let block = &self.blocks.list[row];
            let words = self.words[row];
            let text = block.text(&self.blocks);
            let bytes = block.len() as f32;
            let characters = (words.letters + words.digits + words.symbols).max(1) as f32;
            let count = words.count.max(1.0);
            let (link_bytes, links, strong, breaks) = (block.link_bytes, block.links, block.strong_bytes, block.breaks);
            let pictures = |row: usize| self.blocks.list.get(row).map_or(block.pictures, |block| block.pictures) as f32;
            let pictures_before = pictures(row) - if row > 0 { pictures(row - 1) } else { 0.0 };
            let pictures_after = pictures(row + 1) - pictures(row);
            let body_share = body.as_ref().map_or(0.0, |body| body.share(text));
            let heading = block.element.map_or(0, |element| heading_level(tree, element));
            let (all, before) = times.get_mut(&words.hash).expect("every block was counted above");
            let (all, seen) = (*all, std::mem::replace(before, *before + 1));
            self.set(BlockFeature::length, row, log(bytes));
            self.set(BlockFeature::words, row, log(words.count));
            self.set(BlockFeature::word_length, row, words.letters as f32 / count);
            self.set(BlockFeature::sentences, row, words.sentences as f32);
            self.set(BlockFeature::ends, row, flag(words.ends));
            self.set(BlockFeature::commas, row, words.commas as f32 / count);
            self.set(BlockFeature::link_density, row, link_bytes as f32 / bytes);
            self.set(BlockFeature::links, row, links as f32);
            self.set(BlockFeature::capitals, row, words.capitals as f32 / count);
            self.set(BlockFeature::digits, row, words.digits as f32 / characters);
            self.set(BlockFeature::symbols, row, words.symbols as f32 / characters);
            self.set(BlockFeature::dividers, row, words.dividers as f32 / count);
            self.set(BlockFeature::breaks, row, breaks as f32);
            self.set(BlockFeature::strong, row, strong as f32 / bytes);
            self.set(BlockFeature::copyright, row, flag(words.copyright));
            self.set(BlockFeature::starts_small, row, flag(words.starts_small));
            self.set(BlockFeature::starts_quoted, row, flag(words.starts_quoted));
            self.set(BlockFeature::odds, row, words.lift / words.known.max(1) as f32);
            self.set(BlockFeature::odds_low, row, words.lift_low);
            self.set(BlockFeature::odds_first, row, words.lift_first);
            self.set(BlockFeature::known, row, words.known as f32 / count);
            self.set(BlockFeature::odds_pair_low, row, words.lift_pair.0);
            self.set(BlockFeature::odds_pair_high, row, words.lift_pair.1);
            self.set(
                BlockFeature::stops,
                row,
                if with_stops || words.unspaced > 0 { words.stops as f32 / count } else { -1.0 },
            );
            self.set(BlockFeature::pictures_before, row, pictures_before);
            self.set(BlockFeature::pictures_after, row, pictures_after);
            self.set(BlockFeature::title_share, row, words.in_title as f32 / count);
            self.set(BlockFeature::title_cover, row, words.in_title as f32 / title.len().max(1) as f32);
            self.set(BlockFeature::description_share, row, words.in_description as f32 / count);
            self.set(BlockFeature::body_share, row, body_share);
            self.set(BlockFeature::has_body, row, flag(body.is_some()));
            self.set(BlockFeature::body_ratio, row, body.as_ref().map_or(0.0, |body| body.words / page_words));
            self.set(BlockFeature::repeats, row, all as f32);
            self.set(BlockFeature::repeated, row, seen as f32);
            self.set(BlockFeature::heading, row, f32::from(heading));
        }
    }

    fn measure_containers(&mut self) {
        let FeatureMatrix { containers, columns, innermost, shared: groups, .. } = self;
        let page_bytes = containers[0].bytes.max(1.0);
        let mut rows_before: HashMap<u32, f32, IdentityState> = HashMap::default();
        for row in 0..innermost.len() {
            let shared = groups[row];
            let around = &containers[innermost[row] as usize];
            for (place, distance) in around.near.0.iter().enumerate() {
                columns[BLOCK_FEATURES.len() + place][row] = f32::from(*distance);
            }
            set(columns, BlockFeature::tag_depth, row, around.depth as f32);
            set(columns, BlockFeature::name_low, row, around.own.lift.0);
            set(columns, BlockFeature::name_high, row, around.own.lift.1);
            set(columns, BlockFeature::chain_low, row, around.lift_low);
            set(columns, BlockFeature::chain_high, row, around.lift_high);
            set(columns, BlockFeature::chain_sum, row, around.lift_sum);
            let mut at = innermost[row];
            for level in 0..LEVELS {
                at = containers[at as usize].parent;
                let parent = &containers[at as usize];
                let values = [
                    parent.bytes / page_bytes,
                    parent.links / parent.bytes.max(1.0),
                    log(parent.bytes / parent.blocks.max(1.0)),
                    log(parent.blocks),
                    parent.lift / parent.bytes.max(1.0) * 6.0,
                ];
                for (offset, value) in values.into_iter().enumerate() {
                    columns[BlockFeature::parent1_bytes as usize + level * values.len() + offset][row] = value;
                }
            }
            let group = &containers[shared as usize];
            let index = rows_before.entry(shared).or_default();
            *index += 1.0;
            let index = *index;
            set(columns, BlockFeature::box_bytes, row, group.bytes / page_bytes);
            set(columns, BlockFeature::box_links, row, group.links / group.bytes.max(1.0));
            set(columns, BlockFeature::box_mean, row, log(group.bytes / group.blocks.max(1.0)));
            set(columns, BlockFeature::box_index, row, index);
            set(columns, BlockFeature::box_place, row, index / group.blocks.max(1.0));
        }
    }

    /// Measures where each block lies relative to the container with the most running text, and to
    /// the `<article>` elements.
    fn measure_main_containers(&mut self) {
        let FeatureMatrix { containers, columns, innermost, .. } = self;
        let page_bytes = containers[0].bytes.max(1.0);
        let top =
            (0..containers.len()).max_by(|a, b| containers[*a].score.total_cmp(&containers[*b].score)).unwrap_or(0);
        let mut on_top_path = vec![false; containers.len()];
        let mut at = top as u32;
        loop {
            on_top_path[at as usize] = true;
            let parent = containers[at as usize].parent;
            if parent == at {
                break;
            }
            at = parent;
        }
        let top_score = containers[top].score.max(1.0);
        let top_depth = containers[top].depth;
        let articles: Vec<usize> = (0..containers.len())
            .filter(|at| containers[*at].own.kinds >> (GROUPS.len() + ElementRole::Article as usize) & 1 == 1)
            .collect();
        let largest = articles.iter().copied().max_by(|a, b| containers[*a].bytes.total_cmp(&containers[*b].bytes));
        let mut article_index_of: HashMap<u32, usize, IdentityState> = HashMap::default();
        for (place, at) in articles.iter().enumerate() {
            article_index_of.insert(*at as u32, place);
        }
        for (row, innermost) in innermost.iter().enumerate() {
            // Climb to the first container that also holds the highest-scoring one.
            let mut at = *innermost;
            let mut best: f32 = 0.0;
            let mut article = None;
            let mut steps = 0;
            let mut meeting = None;
            loop {
                let around = &containers[at as usize];
                best = best.max(around.score);
                if article.is_none()
                    && let Some(place) = article_index_of.get(&at)
                {
                    article = Some((at as usize, *place));
                }
                if meeting.is_none() {
                    if on_top_path[at as usize] {
                        meeting = Some((steps, around.depth));
                    }
                    steps += 1;
                }
                if around.parent == at {
                    break;
                }
                at = around.parent;
            }
            let (steps, depth) = meeting.unwrap_or((0, 0));
            set(columns, BlockFeature::top_steps, row, (top_depth.saturating_sub(depth)) as f32);
            set(columns, BlockFeature::top_within, row, steps as f32);
            set(columns, BlockFeature::top_share, row, containers[top].bytes / page_bytes);
            set(columns, BlockFeature::best_ratio, row, best / top_score);
            set(columns, BlockFeature::articles, row, articles.len() as f32);
            let share = article.map_or(0.0, |(at, _)| containers[at].bytes / page_bytes);
            set(columns, BlockFeature::article_share, row, share);
            set(
                columns,
                BlockFeature::article_largest,
                row,
                flag(article.is_some() && article.map(|(at, _)| at) == largest),
            );
            set(columns, BlockFeature::article_index, row, article.map_or(-1.0, |(_, place)| place as f32));
        }
    }

    fn measure_position(&mut self) {
        let count = self.blocks.list.len();
        let total: f32 = self.blocks.list.iter().map(|block| block.len() as f32).sum::<f32>().max(1.0);
        let cover = &self.columns[BlockFeature::title_cover as usize];
        let share = &self.columns[BlockFeature::title_share as usize];
        let likeness = |row: usize| cover[row].min(1.0) * share[row].min(1.0);
        let title =
            (0..count).rev().max_by(|a, b| likeness(*a).total_cmp(&likeness(*b))).filter(|row| likeness(*row) > 0.3);
        self.headline = title;
        let heading = &self.columns[BlockFeature::heading as usize];
        let h1 = (0..count).find(|row| heading[*row] == 1.0);
        let longest = (0..count)
            .max_by_key(|row| {
                self.blocks.list[*row].len() - self.blocks.list[*row].link_bytes.min(self.blocks.list[*row].len())
            })
            .unwrap_or(0);
        let signed = |row: usize, to: usize| {
            let distance = row as f32 - to as f32;
            log(distance.abs()).copysign(distance)
        };
        let (mut bytes, mut words) = (0.0, 0.0);
        let mut last_heading = None;
        for row in 0..count {
            self.set(BlockFeature::place, row, row as f32 / count as f32);
            self.set(BlockFeature::bytes_before, row, bytes / total);
            self.set(BlockFeature::words_before, row, log(words));
            self.set(BlockFeature::to_title, row, title.map_or(99.0, |title| signed(row, title)));
            self.set(BlockFeature::after_title, row, title.map_or(-1.0, |title| flag(row > title)));
            self.set(BlockFeature::to_longest, row, signed(row, longest));
            self.set(BlockFeature::to_h1, row, h1.map_or(99.0, |h1| signed(row, h1)));
            bytes += self.blocks.list[row].len() as f32;
            words += self.words[row].count;
            if self.columns[BlockFeature::heading as usize][row] > 0.0 {
                last_heading = Some(row);
            }
            self.section.push(last_heading.unwrap_or(row) as u32);
            let heading_odds = last_heading.map_or(0.0, |heading| {
                let words = &self.words[heading];
                words.lift / words.known.max(1) as f32
            });
            self.set(BlockFeature::heading_odds, row, heading_odds);
            self.set(BlockFeature::heading_distance, row, last_heading.map_or(99.0, |heading| (row - heading) as f32));
        }
    }

    fn measure_neighbours(&mut self) {
        const COPIES: [(BlockFeature, BlockFeature, isize); 16] = [
            (BlockFeature::prev1_length, BlockFeature::length, -1),
            (BlockFeature::prev1_links, BlockFeature::link_density, -1),
            (BlockFeature::prev1_heading, BlockFeature::heading, -1),
            (BlockFeature::prev1_sentences, BlockFeature::sentences, -1),
            (BlockFeature::prev1_odds, BlockFeature::odds, -1),
            (BlockFeature::next1_length, BlockFeature::length, 1),
            (BlockFeature::next1_links, BlockFeature::link_density, 1),
            (BlockFeature::next1_heading, BlockFeature::heading, 1),
            (BlockFeature::next1_sentences, BlockFeature::sentences, 1),
            (BlockFeature::next1_odds, BlockFeature::odds, 1),
            (BlockFeature::prev2_length, BlockFeature::length, -2),
            (BlockFeature::prev2_links, BlockFeature::link_density, -2),
            (BlockFeature::prev2_sentences, BlockFeature::sentences, -2),
            (BlockFeature::next2_length, BlockFeature::length, 2),
            (BlockFeature::next2_links, BlockFeature::link_density, 2),
            (BlockFeature::next2_sentences, BlockFeature::sentences, 2),
        ];
        let count = self.blocks.list.len();
        for (to, from, offset) in COPIES {
            for row in 0..count {
                let value = row.checked_add_signed(offset).and_then(|row| self.columns[from as usize].get(row));
                let value = value.copied().unwrap_or(-1.0);
                self.set(to, row, value);
            }
        }
        let (bytes, links): (Vec<f64>, Vec<f64>) = (
            prefix_sums(self.blocks.list.iter().map(|block| block.len() as f64)),
            prefix_sums(self.blocks.list.iter().map(|block| block.link_bytes as f64)),
        );
        for row in 0..count {
            let (from, to) = (row.saturating_sub(4), (row + 5).min(count));
            let near = bytes[to] - bytes[from];
            self.set(BlockFeature::around, row, log((near / (to - from) as f64) as f32));
            self.set(BlockFeature::around_links, row, ((links[to] - links[from]) / near.max(1.0)) as f32);
        }
    }

    fn measure_siblings(&mut self) {
        let page_bytes = self.containers[0].bytes.max(1.0);
        let mut groups: HashMap<u32, (f32, f32, f32), IdentityState> = HashMap::default();
        for (row, block) in self.blocks.list.iter().enumerate() {
            let group = groups.entry(self.path[row]).or_default();
            group.0 += 1.0;
            group.1 += block.len() as f32;
            group.2 += block.link_bytes as f32;
        }
        for row in 0..self.blocks.list.len() {
            let (count, bytes, links) = groups[&self.path[row]];
            self.set(BlockFeature::alike, row, log(count));
            self.set(BlockFeature::alike_bytes, row, bytes / page_bytes);
            self.set(BlockFeature::alike_links, row, links / bytes.max(1.0));
            self.set(BlockFeature::alike_mean, row, log(bytes / count));
        }
    }

    fn measure_page(&mut self, tree: &Tree, declared: &DeclaredMetadata<'_>, url: Option<&Url>) {
        let count = self.blocks.list.len();
        let top = &self.containers[0];
        let letters: u32 = self.words.iter().map(|words| words.letters).sum();
        let unspaced: u32 = self.words.iter().map(|words| words.unspaced).sum();
        let in_paragraphs: usize = self
            .blocks
            .list
            .iter()
            .filter(|block| block.element.is_some_and(|element| tree.is(element, &local_name!("p"))))
            .map(|block| block.len() - block.link_bytes.min(block.len()))
            .sum();
        let path = url.map_or("", |url| url.path().trim_start_matches('/'));
        let longest = self.blocks.list.iter().map(|block| block.len()).max().unwrap_or(0);
        let sentences: u32 = self.words.iter().map(|words| words.sentences).sum();
        let stops = self.words.iter().map(|words| words.stops as f32).sum::<f32>();
        let hints = self.page_hints;
        let values = [
            (BlockFeature::page_forum, flag(hints.forum)),
            (BlockFeature::page_docs, flag(hints.documentation)),
            (BlockFeature::page_shop, flag(hints.product)),
            (BlockFeature::page_listing, flag(hints.listing)),
            (BlockFeature::page_bytes, log(top.bytes)),
            (BlockFeature::page_blocks, log(count as f32)),
            (BlockFeature::page_links, top.links / top.bytes.max(1.0)),
            (BlockFeature::page_mean, log(top.bytes / count as f32)),
            (BlockFeature::page_h1, declared.h1.len() as f32),
            (BlockFeature::page_article, flag(declared.meta("og:type").any(|kind| kind.contains("article")))),
            (BlockFeature::page_linked, flag(declared.objects_of(is_article).next().is_some())),
            (BlockFeature::page_path, path.trim_end_matches('/').matches(['/', '-']).count() as f32),
            (BlockFeature::page_root, flag(path.len() < 2)),
            (BlockFeature::page_unspaced, unspaced as f32 / letters.max(1) as f32),
            (BlockFeature::page_sentences, log(sentences as f32)),
            (BlockFeature::page_longest, log(longest as f32)),
            (BlockFeature::page_stops, stops / self.words.iter().map(|words| words.count).sum::<f32>().max(1.0)),
            (BlockFeature::page_paragraphs, in_paragraphs as f32 / top.bytes.max(1.0)),
        ];
        for (column, value) in values {
            self.columns[column as usize].fill(value);
        }
    }
}

fn set(columns: &mut [Vec<f32>], column: BlockFeature, row: usize, value: f32) {
    columns[column as usize][row] = value;
}

/// Level of the heading that the element is or lies in; 0 for none.
fn heading_level(tree: &Tree, element: NodeId) -> u8 {
    let level = |id: NodeId| match tree.name(id) {
        Some(&local_name!("h1")) => 1,
        Some(&local_name!("h2")) => 2,
        Some(&local_name!("h3")) => 3,
        Some(&local_name!("h4")) => 4,
        Some(&local_name!("h5")) => 5,
        Some(&local_name!("h6")) => 6,
        _ => 0,
    };
    std::iter::once(element).chain(tree.ancestors(element).take(2)).map(level).find(|level| *level > 0).unwrap_or(0)
}

/// Prefix sums, with the total as the last element.
pub(super) fn prefix_sums(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut sum = 0.0;
    let mut sums = vec![0.0];
    for value in values {
        sum += value;
        sums.push(sum);
    }
    sums
}

pub(super) fn log(value: f32) -> f32 {
    (1.0 + value.max(0.0)).ln()
}

pub(super) fn flag(value: bool) -> f32 {
    f32::from(u8::from(value))
}
