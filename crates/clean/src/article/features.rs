//! What is known of each block, in numbers.
//!
//! One row a block, one column a feature: of its text, of the boxes it lies in, of its neighbours,
//! of its place, of the page. The forests in [`super::forest`] know the columns by name.

use std::collections::HashMap;

use html5ever::local_name;
use serde_json::Value;
use url::Url;

use super::blocks::{self, Blocks};
use super::evidence::{self, GROUPS, NEAR, Near, Own, Plain, ROLES, Role};
use super::words::{Lookup, WordSet, Words, each_word, stop_words, word_set};
use crate::facts::{Facts, is_article};
use crate::tree::{NodeId, Tree};

macro_rules! features {
    ($name:ident, $names:ident: $($feature:ident),* $(,)?) => {
        #[derive(Debug, Clone, Copy)]
        #[allow(missing_docs, non_camel_case_types)]
        #[repr(usize)]
        pub enum $name { $($feature),* }

        /// The names of the columns in their order.
        pub const $names: &[&str] = &[$(stringify!($feature)),*];
    };
}

features! { Alone, OWN_NAMES:
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
}

/// The number of columns of the first forest.
pub const FIRST: usize = OWN_NAMES.len() + NEAR;

features! { Context, CONTEXT_NAMES:
    p, p_prev1, p_prev2, p_prev3, p_next1, p_next2, p_next3, p_window5, p_window15, p_after, p_before,
    p_parent1, p_parent2, p_parent3, p_parent4, p_box, p_alike, p_page, core_parent1, core_parent2, core_parent3, core_parent4,
    core_prev, core_next, core_first, core_last, core_bytes, section, section_heading, rank,
}

/// The number of columns of the second forest.
pub const SECOND: usize = FIRST + CONTEXT_NAMES.len();

/// The name of a column.
pub fn name(column: usize) -> String {
    let near = column.wrapping_sub(OWN_NAMES.len());
    match column {
        _ if column < OWN_NAMES.len() => OWN_NAMES[column].to_owned(),
        _ if near < GROUPS.len() => format!("near_{}", GROUPS[near].name),
        _ if near < NEAR => format!("in_{}", ROLES[near - GROUPS.len()]),
        _ => CONTEXT_NAMES[column - FIRST].to_owned(),
    }
}

/// What words weigh, learned from annotated pages.
pub trait Odds {
    /// The weight of a name in class or id.
    fn name(&self, hash: u64) -> Option<f32>;
    /// The weight of a word of the text.
    fn word(&self, hash: u64) -> Option<f32>;
}

/// A page, measured.
#[derive(Debug)]
pub struct Survey {
    /// Its blocks.
    pub blocks: Blocks,
    /// What their words tell.
    pub words: Vec<Words>,
    /// The elements around blocks.
    pub boxes: Vec<Box>,
    /// For each block the box it lies in.
    pub home: Vec<u32>,
    /// For each block the hash of the path to it.
    pub path: Vec<u32>,
    /// For each block the box it shares with its neighbours: the nearest with several blocks.
    pub shared: Vec<u32>,
    /// For each block the last heading before it, or itself.
    pub section: Vec<u32>,
    /// Columns of the first forest, one row a block.
    pub columns: Vec<Vec<f32>>,
}

/// An element around blocks, with sums over them.
#[derive(Debug, Clone)]
pub struct Box {
    /// The element.
    pub node: NodeId,
    /// The box around it; the topmost box is its own.
    pub parent: u32,
    /// What it says by itself.
    pub own: Own,
    /// What is near.
    pub near: Near,
    depth: u32,
    odds_low: f32,
    odds_high: f32,
    odds_sum: f32,
    path: u32,
    bytes: f32,
    links: f32,
    blocks: f32,
    odds: f32,
    score: f32,
}

const NO_BOX: u32 = u32::MAX;

/// How many boxes around a block are measured, from the inside.
const LEVELS: usize = 4;

impl Survey {
    /// Measures a page.
    pub fn of(tree: &Tree, blocks: Blocks, facts: &Facts<'_>, url: Option<&Url>, odds: &impl Odds) -> Survey {
        let (title, description) = (title_words(tree, facts), description_words(facts));
        let stops = facts.language.and_then(stop_words);
        let lookup = Lookup {
            weigh: |hash| odds.word(hash),
            stop: |hash| stops.is_some_and(|stops| stops.contains(&hash)),
            title: &title,
            description: &description,
        };
        let words = blocks.list.iter().map(|block| Words::read(block.text(&blocks), &lookup)).collect();
        let mut survey = Survey {
            home: Vec::with_capacity(blocks.list.len()),
            path: Vec::new(),
            shared: Vec::new(),
            section: Vec::new(),
            boxes: Vec::new(),
            columns: vec![vec![0.0; blocks.list.len()]; FIRST],
            blocks,
            words,
        };
        if survey.blocks.list.is_empty() {
            return survey;
        }
        survey.find_boxes(tree, odds);
        survey.sum_boxes();
        survey.measure_text(tree, &title, facts, stops.is_some());
        survey.measure_boxes();
        survey.measure_places();
        survey.measure_neighbours();
        survey.measure_alike();
        survey.measure_page(tree, facts, url);
        survey
    }

    fn find_boxes(&mut self, tree: &Tree, odds: &impl Odds) {
        let mut known = vec![NO_BOX; tree.len()];
        let mut chain = Vec::new();
        for block in &self.blocks.list {
            let element = block.element.unwrap_or(tree.root());
            chain.clear();
            let mut at = Some(element);
            while let Some(id) = at {
                if known[id.index()] != NO_BOX {
                    break;
                }
                chain.push(id);
                at = tree.parent(id);
            }
            for id in chain.drain(..).rev() {
                let parent = tree.parent(id).map_or(NO_BOX, |parent| known[parent.index()]);
                known[id.index()] = self.boxes.len() as u32;
                let own = evidence::read(tree, id, &|hash| odds.name(hash));
                self.boxes.push(Box::below(id, parent, self.boxes.get(parent as usize), own));
            }
            let home = known[element.index()];
            self.home.push(home);
            self.path.push(self.boxes[home as usize].path);
        }
    }

    fn sum_boxes(&mut self) {
        for (row, block) in self.blocks.list.iter().enumerate() {
            let words = &self.words[row];
            let bytes = block.len() as f32;
            let links = block.link_bytes as f32;
            // Running text weighs as readers weigh it: by length and sentences, less what is linked.
            let prose = if words.count >= 8.0 { (bytes - 2.0 * links).max(0.0) } else { 0.0 };
            let mut at = self.home[row];
            let mut level = 0;
            loop {
                let parent = {
                    let around = &mut self.boxes[at as usize];
                    around.bytes += bytes;
                    around.links += links;
                    around.blocks += 1.0;
                    around.odds += words.odds;
                    around.score += match level {
                        0 => 0.0,
                        1 => prose,
                        2 => prose / 2.0,
                        3 => prose / 4.0,
                        _ => 0.0,
                    };
                    around.parent
                };
                if parent == at {
                    break;
                }
                at = parent;
                level += 1;
            }
        }
        for row in 0..self.blocks.list.len() {
            let mut at = self.home[row];
            while self.boxes[at as usize].blocks < 3.0 && self.boxes[at as usize].parent != at {
                at = self.boxes[at as usize].parent;
            }
            self.shared.push(at);
        }
    }

    fn set(&mut self, column: Alone, row: usize, value: f32) {
        set(&mut self.columns, column, row, value);
    }

    fn measure_text(&mut self, tree: &Tree, title: &WordSet, facts: &Facts<'_>, with_stops: bool) {
        let body = body_runs(facts);
        let page_words: f32 = self.words.iter().map(|words| words.count).sum::<f32>().max(1.0);
        let mut times: HashMap<u64, (u32, u32), Plain> = HashMap::default();
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
            self.set(Alone::length, row, log(bytes));
            self.set(Alone::words, row, log(words.count));
            self.set(Alone::word_length, row, words.letters as f32 / count);
            self.set(Alone::sentences, row, words.sentences as f32);
            self.set(Alone::ends, row, flag(words.ends));
            self.set(Alone::commas, row, words.commas as f32 / count);
            self.set(Alone::link_density, row, link_bytes as f32 / bytes);
            self.set(Alone::links, row, links as f32);
            self.set(Alone::capitals, row, words.capitals as f32 / count);
            self.set(Alone::digits, row, words.digits as f32 / characters);
            self.set(Alone::symbols, row, words.symbols as f32 / characters);
            self.set(Alone::dividers, row, words.dividers as f32 / count);
            self.set(Alone::breaks, row, breaks as f32);
            self.set(Alone::strong, row, strong as f32 / bytes);
            self.set(Alone::copyright, row, flag(words.copyright));
            self.set(Alone::starts_small, row, flag(words.starts_small));
            self.set(Alone::starts_quoted, row, flag(words.starts_quoted));
            self.set(Alone::odds, row, words.odds / words.known.max(1) as f32);
            self.set(Alone::odds_low, row, words.odds_low);
            self.set(Alone::odds_first, row, words.odds_first);
            self.set(Alone::known, row, words.known as f32 / count);
            self.set(Alone::odds_pair_low, row, words.odds_pair.0);
            self.set(Alone::odds_pair_high, row, words.odds_pair.1);
            self.set(Alone::stops, row, if with_stops { words.stops as f32 / count } else { -1.0 });
            self.set(Alone::pictures_before, row, pictures_before);
            self.set(Alone::pictures_after, row, pictures_after);
            self.set(Alone::title_share, row, words.in_title as f32 / count);
            self.set(Alone::title_cover, row, words.in_title as f32 / title.len().max(1) as f32);
            self.set(Alone::description_share, row, words.in_description as f32 / count);
            self.set(Alone::body_share, row, body_share);
            self.set(Alone::has_body, row, flag(body.is_some()));
            self.set(Alone::body_ratio, row, body.as_ref().map_or(0.0, |body| body.words / page_words));
            self.set(Alone::repeats, row, all as f32);
            self.set(Alone::repeated, row, seen as f32);
            self.set(Alone::heading, row, f32::from(heading));
        }
    }

    fn measure_boxes(&mut self) {
        let Survey { boxes, columns, home: homes, shared: groups, .. } = self;
        let page_bytes = boxes[0].bytes.max(1.0);
        let top = (0..boxes.len()).max_by(|a, b| boxes[*a].score.total_cmp(&boxes[*b].score)).unwrap_or(0);
        let mut on_top_path = vec![false; boxes.len()];
        let mut at = top as u32;
        loop {
            on_top_path[at as usize] = true;
            let parent = boxes[at as usize].parent;
            if parent == at {
                break;
            }
            at = parent;
        }
        let top_score = boxes[top].score.max(1.0);
        let top_depth = boxes[top].depth;
        let articles: Vec<usize> = (0..boxes.len())
            .filter(|at| boxes[*at].own.kinds >> (GROUPS.len() + Role::Article as usize) & 1 == 1)
            .collect();
        let largest = articles.iter().copied().max_by(|a, b| boxes[*a].bytes.total_cmp(&boxes[*b].bytes));
        let mut article_place: HashMap<u32, usize, Plain> = HashMap::default();
        for (place, at) in articles.iter().enumerate() {
            article_place.insert(*at as u32, place);
        }
        let mut box_seen: HashMap<u32, f32, Plain> = HashMap::default();
        for row in 0..homes.len() {
            let home = homes[row];
            let shared = groups[row];
            let around = &boxes[home as usize];
            for (place, distance) in around.near.0.iter().enumerate() {
                columns[OWN_NAMES.len() + place][row] = f32::from(*distance);
            }
            set(columns, Alone::tag_depth, row, around.depth as f32);
            set(columns, Alone::name_low, row, around.own.odds.0);
            set(columns, Alone::name_high, row, around.own.odds.1);
            set(columns, Alone::chain_low, row, around.odds_low);
            set(columns, Alone::chain_high, row, around.odds_high);
            set(columns, Alone::chain_sum, row, around.odds_sum);
            let mut at = home;
            for level in 0..LEVELS {
                at = boxes[at as usize].parent;
                let parent = &boxes[at as usize];
                let values = [
                    parent.bytes / page_bytes,
                    parent.links / parent.bytes.max(1.0),
                    log(parent.bytes / parent.blocks.max(1.0)),
                    log(parent.blocks),
                    parent.odds / parent.bytes.max(1.0) * 6.0,
                ];
                for (offset, value) in values.into_iter().enumerate() {
                    columns[Alone::parent1_bytes as usize + level * values.len() + offset][row] = value;
                }
            }
            let group = &boxes[shared as usize];
            let index = box_seen.entry(shared).or_default();
            *index += 1.0;
            let index = *index;
            set(columns, Alone::box_bytes, row, group.bytes / page_bytes);
            set(columns, Alone::box_links, row, group.links / group.bytes.max(1.0));
            set(columns, Alone::box_mean, row, log(group.bytes / group.blocks.max(1.0)));
            set(columns, Alone::box_index, row, index);
            set(columns, Alone::box_place, row, index / group.blocks.max(1.0));

            // Up to the box that also holds the one with the most running text.
            let mut at = home;
            let mut best: f32 = 0.0;
            let mut article = None;
            let mut steps = 0;
            let mut meeting = None;
            loop {
                let around = &boxes[at as usize];
                best = best.max(around.score);
                if article.is_none()
                    && let Some(place) = article_place.get(&at)
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
            set(columns, Alone::top_steps, row, (top_depth.saturating_sub(depth)) as f32);
            set(columns, Alone::top_within, row, steps as f32);
            set(columns, Alone::top_share, row, boxes[top].bytes / page_bytes);
            set(columns, Alone::best_ratio, row, best / top_score);
            set(columns, Alone::articles, row, articles.len() as f32);
            let share = article.map_or(0.0, |(at, _)| boxes[at].bytes / page_bytes);
            set(columns, Alone::article_share, row, share);
            set(columns, Alone::article_largest, row, flag(article.is_some() && article.map(|(at, _)| at) == largest));
            set(columns, Alone::article_index, row, article.map_or(-1.0, |(_, place)| place as f32));
        }
    }

    fn measure_places(&mut self) {
        let count = self.blocks.list.len();
        let total: f32 = self.blocks.list.iter().map(|block| block.len() as f32).sum::<f32>().max(1.0);
        let cover = &self.columns[Alone::title_cover as usize];
        let share = &self.columns[Alone::title_share as usize];
        let likeness = |row: usize| cover[row].min(1.0) * share[row].min(1.0);
        let title =
            (0..count).rev().max_by(|a, b| likeness(*a).total_cmp(&likeness(*b))).filter(|row| likeness(*row) > 0.3);
        let heading = &self.columns[Alone::heading as usize];
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
            self.set(Alone::place, row, row as f32 / count as f32);
            self.set(Alone::bytes_before, row, bytes / total);
            self.set(Alone::words_before, row, log(words));
            self.set(Alone::to_title, row, title.map_or(99.0, |title| signed(row, title)));
            self.set(Alone::after_title, row, title.map_or(-1.0, |title| flag(row > title)));
            self.set(Alone::to_longest, row, signed(row, longest));
            self.set(Alone::to_h1, row, h1.map_or(99.0, |h1| signed(row, h1)));
            bytes += self.blocks.list[row].len() as f32;
            words += self.words[row].count;
            if self.columns[Alone::heading as usize][row] > 0.0 {
                last_heading = Some(row);
            }
            self.section.push(last_heading.unwrap_or(row) as u32);
            let heading_odds = last_heading.map_or(0.0, |heading| {
                let words = &self.words[heading];
                words.odds / words.known.max(1) as f32
            });
            self.set(Alone::heading_odds, row, heading_odds);
            self.set(Alone::heading_distance, row, last_heading.map_or(99.0, |heading| (row - heading) as f32));
        }
    }

    fn measure_neighbours(&mut self) {
        const COPIES: [(Alone, Alone, isize); 16] = [
            (Alone::prev1_length, Alone::length, -1),
            (Alone::prev1_links, Alone::link_density, -1),
            (Alone::prev1_heading, Alone::heading, -1),
            (Alone::prev1_sentences, Alone::sentences, -1),
            (Alone::prev1_odds, Alone::odds, -1),
            (Alone::next1_length, Alone::length, 1),
            (Alone::next1_links, Alone::link_density, 1),
            (Alone::next1_heading, Alone::heading, 1),
            (Alone::next1_sentences, Alone::sentences, 1),
            (Alone::next1_odds, Alone::odds, 1),
            (Alone::prev2_length, Alone::length, -2),
            (Alone::prev2_links, Alone::link_density, -2),
            (Alone::prev2_sentences, Alone::sentences, -2),
            (Alone::next2_length, Alone::length, 2),
            (Alone::next2_links, Alone::link_density, 2),
            (Alone::next2_sentences, Alone::sentences, 2),
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
            running(self.blocks.list.iter().map(|block| block.len() as f64)),
            running(self.blocks.list.iter().map(|block| block.link_bytes as f64)),
        );
        for row in 0..count {
            let (from, to) = (row.saturating_sub(4), (row + 5).min(count));
            let near = bytes[to] - bytes[from];
            self.set(Alone::around, row, log((near / (to - from) as f64) as f32));
            self.set(Alone::around_links, row, ((links[to] - links[from]) / near.max(1.0)) as f32);
        }
    }

    fn measure_alike(&mut self) {
        let page_bytes = self.boxes[0].bytes.max(1.0);
        let mut groups: HashMap<u32, (f32, f32, f32), Plain> = HashMap::default();
        for (row, block) in self.blocks.list.iter().enumerate() {
            let group = groups.entry(self.path[row]).or_default();
            group.0 += 1.0;
            group.1 += block.len() as f32;
            group.2 += block.link_bytes as f32;
        }
        for row in 0..self.blocks.list.len() {
            let (count, bytes, links) = groups[&self.path[row]];
            self.set(Alone::alike, row, log(count));
            self.set(Alone::alike_bytes, row, bytes / page_bytes);
            self.set(Alone::alike_links, row, links / bytes.max(1.0));
            self.set(Alone::alike_mean, row, log(bytes / count));
        }
    }

    fn measure_page(&mut self, tree: &Tree, facts: &Facts<'_>, url: Option<&Url>) {
        let count = self.blocks.list.len();
        let top = &self.boxes[0];
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
        let values = [
            (Alone::page_bytes, log(top.bytes)),
            (Alone::page_blocks, log(count as f32)),
            (Alone::page_links, top.links / top.bytes.max(1.0)),
            (Alone::page_mean, log(top.bytes / count as f32)),
            (Alone::page_h1, facts.h1.len() as f32),
            (Alone::page_article, flag(facts.meta("og:type").any(|kind| kind.contains("article")))),
            (Alone::page_linked, flag(facts.things_of(is_article).next().is_some())),
            (Alone::page_path, path.trim_end_matches('/').matches(['/', '-']).count() as f32),
            (Alone::page_root, flag(path.len() < 2)),
            (Alone::page_unspaced, unspaced as f32 / letters.max(1) as f32),
            (Alone::page_sentences, log(sentences as f32)),
            (Alone::page_longest, log(longest as f32)),
            (Alone::page_stops, stops / self.words.iter().map(|words| words.count).sum::<f32>().max(1.0)),
            (Alone::page_paragraphs, in_paragraphs as f32 / top.bytes.max(1.0)),
        ];
        for (column, value) in values {
            self.columns[column as usize].fill(value);
        }
    }

    /// Adds the columns that tell what the first forest thinks of the neighbours.
    pub fn with_context(&self, p: &[f32]) -> Vec<Vec<f32>> {
        let count = p.len();
        let mut columns = vec![vec![0.0; count]; CONTEXT_NAMES.len()];
        if count == 0 {
            return columns;
        }
        let lengths: Vec<f32> = self.blocks.list.iter().map(|block| block.len() as f32).collect();
        let bytes = running(lengths.iter().map(|length| f64::from(*length)));
        let mass = running(lengths.iter().zip(p).map(|(length, p)| f64::from(length * p)));
        let core = |row: usize| p[row] > 0.5 && lengths[row] >= 60.0;
        let mut sums = vec![(0.0f32, 0.0f32); self.boxes.len()];
        let mut alike: HashMap<u32, (f32, f32), Plain> = HashMap::default();
        let mut core_bytes = 0.0;
        for row in 0..count {
            let (length, weighted) = (lengths[row], lengths[row] * p[row]);
            let in_core = if core(row) { length } else { 0.0 };
            core_bytes += in_core;
            let mut at = self.home[row];
            loop {
                sums[at as usize].0 += weighted;
                sums[at as usize].1 += in_core;
                let parent = self.boxes[at as usize].parent;
                if parent == at {
                    break;
                }
                at = parent;
            }
            let group = alike.entry(self.path[row]).or_default();
            group.0 += weighted;
            group.1 += length;
        }
        let rows: Vec<usize> = (0..count).filter(|row| core(*row)).collect();
        let (first, last) = (rows.first().copied(), rows.last().copied());
        let mean = |from: usize, to: usize| ((mass[to] - mass[from]) / (bytes[to] - bytes[from]).max(1.0)) as f32;
        let mut core_before: Option<usize> = None;
        let mut next_core = 0;
        // The end of the section that begins at a heading.
        let mut section_end = vec![count; count];
        let mut end = count;
        for row in (0..count).rev() {
            section_end[row] = end;
            if self.section[row] as usize == row {
                end = row;
            }
        }
        let page = mean(0, count);
        let highest = p.iter().copied().fold(0.0f32, f32::max).max(1e-6);
        for row in 0..count {
            while next_core < rows.len() && rows[next_core] <= row {
                next_core += 1;
            }
            let mut set = |column: Context, value: f32| columns[column as usize][row] = value;
            let at = |offset: isize| row.checked_add_signed(offset).and_then(|row| p.get(row)).copied().unwrap_or(0.0);
            set(Context::p, p[row]);
            set(Context::p_prev1, at(-1));
            set(Context::p_prev2, at(-2));
            set(Context::p_prev3, at(-3));
            set(Context::p_next1, at(1));
            set(Context::p_next2, at(2));
            set(Context::p_next3, at(3));
            set(Context::p_window5, mean(row.saturating_sub(2), (row + 3).min(count)));
            set(Context::p_window15, mean(row.saturating_sub(7), (row + 8).min(count)));
            set(Context::p_before, mean(row.saturating_sub(5), row));
            set(Context::p_after, mean(row + 1, (row + 6).min(count).max(row + 1)));
            let mut around = self.home[row];
            for level in 0..LEVELS {
                around = self.boxes[around as usize].parent;
                let (weighted, in_core) = sums[around as usize];
                columns[Context::p_parent1 as usize + level][row] =
                    weighted / self.boxes[around as usize].bytes.max(1.0);
                columns[Context::core_parent1 as usize + level][row] = in_core / f32::max(core_bytes, 1.0);
            }
            let mut set = |column: Context, value: f32| columns[column as usize][row] = value;
            let shared = self.shared[row] as usize;
            set(Context::p_box, sums[shared].0 / self.boxes[shared].bytes.max(1.0));
            let (weighted, length) = alike[&self.path[row]];
            set(Context::p_alike, weighted / length.max(1.0));
            set(Context::p_page, page);
            set(Context::core_prev, core_before.map_or(99.0, |before| (row - before) as f32));
            set(Context::core_next, rows.get(next_core).map_or(99.0, |next| (next - row) as f32));
            set(Context::core_first, first.map_or(99.0, |first| row as f32 - first as f32));
            set(Context::core_last, last.map_or(99.0, |last| row as f32 - last as f32));
            set(Context::core_bytes, log(core_bytes));
            set(Context::section, mean(row + 1, section_end[row].max(row + 1)));
            set(Context::section_heading, p[self.section[row] as usize]);
            set(Context::rank, p[row] / highest);
            if core(row) {
                core_before = Some(row);
            }
        }
        columns
    }
}

impl Box {
    fn below(node: NodeId, parent: u32, above: Option<&Box>, own: Own) -> Box {
        let near = above.map_or(Near::NOTHING, |above| above.near).below(&own);
        let inherited =
            above.map_or((0.0, 0.0, 0.0, 0), |above| (above.odds_low, above.odds_high, above.odds_sum, above.path));
        Box {
            node,
            parent: if above.is_some() { parent } else { 0 },
            near,
            depth: above.map_or(0, |above| above.depth + 1),
            odds_low: inherited.0.min(own.odds.0),
            odds_high: inherited.1.max(own.odds.1),
            odds_sum: inherited.2 + own.odds.0 + own.odds.1,
            path: inherited.3.rotate_left(7).wrapping_mul(31) ^ own.signature,
            own,
            bytes: 0.0,
            links: 0.0,
            blocks: 0.0,
            odds: 0.0,
            score: 0.0,
        }
    }
}

fn set(columns: &mut [Vec<f32>], column: Alone, row: usize, value: f32) {
    columns[column as usize][row] = value;
}

/// The rank of a heading, or of the heading an element lies in; 0 for none.
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

fn title_words(tree: &Tree, facts: &Facts<'_>) -> WordSet {
    let declared = facts.meta("og:title").chain(facts.meta("twitter:title")).next().map(str::to_owned);
    let title = declared.or_else(|| facts.title.map(|title| tree.text(title))).unwrap_or_default();
    word_set(without_site(&title[..title.floor_char_boundary(1000)]))
}

/// A title without the name of its site, which stands beside it behind a bar or a dash and is shorter.
fn without_site(title: &str) -> &str {
    let parts = [" | ", " - ", " – ", " — ", " · ", " :: ", " » "].iter().filter_map(|bar| {
        let (first, last) = (title.split(*bar).next()?, title.rsplit(*bar).next()?);
        (first.len() < title.len()).then_some(if first.len() >= last.len() { first } else { last })
    });
    parts.min_by_key(|part| part.len()).filter(|part| part.len() * 2 >= title.len()).unwrap_or(title)
}

fn description_words(facts: &Facts<'_>) -> WordSet {
    let description = facts.meta("og:description").chain(facts.meta("description")).next().unwrap_or_default();
    word_set(&description[..description.floor_char_boundary(2000)])
}

/// The runs of words of the article body in JSON-LD.
struct BodyRuns {
    runs: WordSet,
    words: f32,
}

/// The article as JSON-LD gives it, markup and all.
pub fn declared_body(facts: &Facts<'_>) -> Option<String> {
    let bodies = facts.things_of(is_article).filter_map(|thing| thing.get("articleBody").and_then(Value::as_str));
    bodies.max_by_key(|body| body.len()).filter(|body| body.len() >= 200).map(plain)
}

/// The text of a value that may hold markup, itself escaped once or not.
fn plain(value: &str) -> String {
    let mut text = value.to_owned();
    for _ in 0..2 {
        if !text.contains(['<', '&']) {
            break;
        }
        let blocks = blocks::cut(&crate::tree::parse(&text));
        text = blocks.list.iter().map(|block| block.text(&blocks)).collect::<Vec<_>>().join("\n");
    }
    text
}

fn body_runs(facts: &Facts<'_>) -> Option<BodyRuns> {
    let body = &declared_body(facts)?;
    let mut words = 0.0;
    let mut runs = WordSet::default();
    each_run(body, |run| {
        runs.insert(run);
        words += 1.0;
    });
    Some(BodyRuns { runs, words })
}

impl BodyRuns {
    /// The share of a text's runs that are in the body.
    fn share(&self, text: &str) -> f32 {
        let (mut all, mut shared) = (0.0f32, 0.0);
        each_run(text, |run| {
            all += 1.0;
            shared += flag(self.runs.contains(&run));
        });
        shared / all.max(1.0)
    }
}

/// Runs of three words; a shorter text is one run.
fn each_run(text: &str, mut found: impl FnMut(u64)) {
    let mut last = [0u64; 3];
    let mut count = 0;
    each_word(text, |word, _, _| {
        last.rotate_left(1);
        last[2] = word;
        count += 1;
        if count >= 3 {
            found(last[0].rotate_left(21) ^ last[1].rotate_left(42) ^ last[2]);
        }
    });
}

/// Sums of everything before each place, and of everything.
fn running(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut sum = 0.0;
    let mut sums = vec![0.0];
    for value in values {
        sum += value;
        sums.push(sum);
    }
    sums
}

fn log(value: f32) -> f32 {
    (1.0 + value.max(0.0)).ln()
}

fn flag(value: bool) -> f32 {
    f32::from(u8::from(value))
}
