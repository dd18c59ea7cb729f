//! Runs of blocks: the items of a list, the cells of a table, the lines of a poem.
//!
//! A short line on its own says little, but an ingredient among ingredients is like its neighbours.
//! Consecutive blocks of one list, table or container form a run, and features of the run are
//! features of each of its blocks.

use super::evidence::{ElementRole, GROUPS};
use super::features::{BlockFeature, FeatureMatrix, flag, log};

/// Consecutive blocks in one list, table or container.
#[derive(Debug, Clone, Copy, Default)]
pub struct Run {
    /// The first row.
    pub start: u32,
    /// The row after the last.
    pub end: u32,
    /// Whether the blocks are in a list, table or definition list.
    pub is_list: bool,
}

/// Maximum number of levels between a block and the list or table that it is in.
const MAX_LEVELS: usize = 5;

impl FeatureMatrix {
    /// Finds the runs and measures them.
    pub(super) fn measure_runs(&mut self) {
        let containers: Vec<(u32, bool)> = (0..self.blocks.list.len()).map(|row| self.run_container(row)).collect();
        let mut start = 0;
        for same in containers.chunk_by(|one, other| one == other) {
            let end = start + same.len();
            let run = Run { start: start as u32, end: end as u32, is_list: same[0].1 };
            self.run.extend(std::iter::repeat_n(run, same.len()));
            let (mut bytes, mut links, mut lift, mut known) = (0.0f32, 0.0f32, 0.0f32, 0u32);
            for row in start..end {
                bytes += self.blocks.list[row].len() as f32;
                links += self.blocks.list[row].link_bytes as f32;
                lift += self.words[row].lift;
                known += self.words[row].known;
            }
            let count = same.len() as f32;
            for row in start..end {
                self.set(BlockFeature::run_blocks, row, log(count));
                self.set(BlockFeature::run_place, row, (row - start) as f32 / count);
                self.set(BlockFeature::run_bytes, row, log(bytes));
                self.set(BlockFeature::run_links, row, links / bytes.max(1.0));
                self.set(BlockFeature::run_mean, row, log(bytes / count));
                self.set(BlockFeature::run_odds, row, lift / known.max(1) as f32);
                self.set(BlockFeature::run_list, row, flag(run.is_list));
            }
            start = end;
        }
    }

    /// The container that the run of a block lies in, and whether it is a list or table.
    fn run_container(&self, row: usize) -> (u32, bool) {
        const LISTS: u128 = 1 << (GROUPS.len() + ElementRole::List as usize)
            | 1 << (GROUPS.len() + ElementRole::Table as usize)
            | 1 << (GROUPS.len() + ElementRole::Definition as usize);
        let parent = self.containers[self.innermost[row] as usize].parent;
        let mut at = self.innermost[row];
        for _ in 0..MAX_LEVELS {
            let around = &self.containers[at as usize];
            if around.own.kinds & LISTS != 0 {
                return (at, true);
            }
            at = around.parent;
        }
        (parent, false)
    }

    /// Measures where each block lies relative to the reader comments.
    pub(super) fn measure_comments(&mut self) {
        let is_comment: Vec<bool> = self
            .innermost
            .iter()
            .map(|innermost| self.containers[*innermost as usize].near.role(ElementRole::Comments))
            .collect();
        let bytes = |rows: &dyn Fn(usize) -> bool| {
            let list = self.blocks.list.iter().enumerate();
            list.filter(|(row, _)| rows(*row)).map(|(_, block)| block.len() as f32).sum::<f32>()
        };
        let share = bytes(&|row| is_comment[row]) / bytes(&|_| true).max(1.0);
        let first = is_comment.iter().position(|is_comment| *is_comment).unwrap_or(usize::MAX);
        for row in 0..is_comment.len() {
            self.set(BlockFeature::after_comments, row, flag(row >= first));
            self.set(BlockFeature::page_comments, row, share);
        }
    }
}
