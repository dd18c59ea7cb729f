//! Context features: the first forest's predictions for a block's neighbours, containers and section.

use std::collections::HashMap;

use super::evidence::IdentityState;
use super::features::{CONTEXT_FEATURES, ContextFeature, FeatureMatrix, LEVELS, log, prefix_sums};

impl FeatureMatrix {
    /// Computes the context columns of the second forest from the first forest's probabilities.
    pub fn with_context(&self, p: &[f32]) -> Vec<Vec<f32>> {
        let count = p.len();
        let mut columns = vec![vec![0.0; count]; CONTEXT_FEATURES.len()];
        if count == 0 {
            return columns;
        }
        let lengths: Vec<f32> = self.blocks.list.iter().map(|block| block.len() as f32).collect();
        let bytes = prefix_sums(lengths.iter().map(|length| f64::from(*length)));
        let mass = prefix_sums(lengths.iter().zip(p).map(|(length, p)| f64::from(length * p)));
        let core = |row: usize| p[row] > 0.5 && lengths[row] >= 60.0;
        let ContextSums { containers: sums, siblings, core_bytes } = self.context_sums(&lengths, p, core);
        let rows: Vec<usize> = (0..count).filter(|row| core(*row)).collect();
        let (first, last) = (rows.first().copied(), rows.last().copied());
        let mean = |from: usize, to: usize| ((mass[to] - mass[from]) / (bytes[to] - bytes[from]).max(1.0)) as f32;
        let (mut core_before, mut next_core) = (None, 0);
        let section_end = self.section_ends();
        let page = mean(0, count);
        let run_high = self.highest_of_runs(p);
        let highest = p.iter().copied().fold(0.0f32, f32::max).max(1e-6);
        for row in 0..count {
            while next_core < rows.len() && rows[next_core] <= row {
                next_core += 1;
            }
            let mut set = |column: ContextFeature, value: f32| columns[column as usize][row] = value;
            let at = |offset: isize| row.checked_add_signed(offset).and_then(|row| p.get(row)).copied().unwrap_or(0.0);
            set(ContextFeature::p, p[row]);
            set(ContextFeature::p_prev1, at(-1));
            set(ContextFeature::p_prev2, at(-2));
            set(ContextFeature::p_prev3, at(-3));
            set(ContextFeature::p_next1, at(1));
            set(ContextFeature::p_next2, at(2));
            set(ContextFeature::p_next3, at(3));
            set(ContextFeature::p_window5, mean(row.saturating_sub(2), (row + 3).min(count)));
            set(ContextFeature::p_window15, mean(row.saturating_sub(7), (row + 8).min(count)));
            set(ContextFeature::p_before, mean(row.saturating_sub(5), row));
            set(ContextFeature::p_after, mean(row + 1, (row + 6).min(count).max(row + 1)));
            let mut around = self.innermost[row];
            for level in 0..LEVELS {
                around = self.containers[around as usize].parent;
                let (weighted, in_core) = sums[around as usize];
                columns[ContextFeature::p_parent1 as usize + level][row] =
                    weighted / self.containers[around as usize].bytes.max(1.0);
                columns[ContextFeature::core_parent1 as usize + level][row] = in_core / f32::max(core_bytes, 1.0);
            }
            let mut set = |column: ContextFeature, value: f32| columns[column as usize][row] = value;
            let shared = self.shared[row] as usize;
            set(ContextFeature::p_box, sums[shared].0 / self.containers[shared].bytes.max(1.0));
            let (weighted, length) = siblings[&self.path[row]];
            set(ContextFeature::p_alike, weighted / length.max(1.0));
            set(ContextFeature::p_page, page);
            set(ContextFeature::core_prev, core_before.map_or(99.0, |before| (row - before) as f32));
            set(ContextFeature::core_next, rows.get(next_core).map_or(99.0, |next| (next - row) as f32));
            set(ContextFeature::core_first, first.map_or(99.0, |first| row as f32 - first as f32));
            set(ContextFeature::core_last, last.map_or(99.0, |last| row as f32 - last as f32));
            set(ContextFeature::core_bytes, log(core_bytes));
            set(ContextFeature::section, mean(row + 1, section_end[row].max(row + 1)));
            set(ContextFeature::section_heading, p[self.section[row] as usize]);
            set(ContextFeature::rank, p[row] / highest);
            let run = self.run[row];
            set(ContextFeature::p_run, mean(run.start as usize, run.end as usize));
            set(ContextFeature::p_run_before, (run.start as usize).checked_sub(1).map_or(0.0, |row| p[row]));
            set(ContextFeature::p_run_after, p.get(run.end as usize).copied().unwrap_or(0.0));
            set(ContextFeature::p_run_high, run_high[row]);
            if core(row) {
                core_before = Some(row);
            }
        }
        columns
    }

    /// Sums the bytes of blocks, weighted by probability and restricted to the core, over containers
    /// and over blocks with the same path.
    fn context_sums(&self, lengths: &[f32], p: &[f32], core: impl Fn(usize) -> bool) -> ContextSums {
        let mut containers = vec![(0.0f32, 0.0f32); self.containers.len()];
        let mut siblings: HashMap<u32, (f32, f32), IdentityState> = HashMap::default();
        let mut core_bytes = 0.0;
        for row in 0..p.len() {
            let (length, weighted) = (lengths[row], lengths[row] * p[row]);
            let in_core = if core(row) { length } else { 0.0 };
            core_bytes += in_core;
            let mut at = self.innermost[row];
            loop {
                containers[at as usize].0 += weighted;
                containers[at as usize].1 += in_core;
                let parent = self.containers[at as usize].parent;
                if parent == at {
                    break;
                }
                at = parent;
            }
            let group = siblings.entry(self.path[row]).or_default();
            group.0 += weighted;
            group.1 += length;
        }
        ContextSums { containers, siblings, core_bytes }
    }

    /// For each block, the highest probability in its run.
    fn highest_of_runs(&self, p: &[f32]) -> Vec<f32> {
        let mut high = vec![0.0; p.len()];
        let mut start = 0;
        while start < p.len() {
            let end = self.run[start].end as usize;
            let highest = p[start..end].iter().copied().fold(0.0, f32::max);
            high[start..end].fill(highest);
            start = end;
        }
        high
    }

    /// For each block, the row after the last block of its section.
    fn section_ends(&self) -> Vec<usize> {
        let mut end = self.section.len();
        let mut ends = vec![end; end];
        for row in (0..ends.len()).rev() {
            ends[row] = end;
            if self.section[row] as usize == row {
                end = row;
            }
        }
        ends
    }
}

/// Sums of the first forest's predictions.
struct ContextSums {
    /// For each container, its bytes weighted by probability, and its bytes in the core.
    containers: Vec<(f32, f32)>,
    /// For each path, the bytes weighted by probability, and all bytes.
    siblings: HashMap<u32, (f32, f32), IdentityState>,
    /// Bytes of blocks that are likely and long enough to be the core of the article.
    core_bytes: f32,
}
