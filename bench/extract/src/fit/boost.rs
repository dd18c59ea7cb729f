//! Gradient boosting of oblivious trees.
//!
//! Newton boosting with logistic loss on soft labels and weighted rows (Friedman 2001), over
//! histograms of at most 64 bins per column. Rows are sampled by gradient-based one-side sampling
//! (GOSS; Ke et al. 2017, "LightGBM"), columns uniformly. All randomness comes from a seed, so the
//! same pages give the same forest.

use tidings_clean::article::forest::{Forest, Tree, probability};

/// Training parameters.
#[derive(Debug, Clone, Copy)]
pub struct BoostParams {
    /// Number of trees.
    pub trees: usize,
    /// Splits per tree.
    pub depth: usize,
    /// Learning rate.
    pub learning_rate: f32,
    /// L2 regularisation of leaf values.
    pub l2: f32,
    /// Share of rows with the largest gradients, used for every tree (GOSS `a`).
    pub top_rate: f32,
    /// Share of the other rows sampled for each tree (GOSS `b`).
    pub other_rate: f32,
    /// Share of columns sampled for each tree.
    pub columns: f32,
    /// Seed of the random generator.
    pub seed: u64,
}

/// Columns quantised into at most 64 bins.
pub struct BinnedColumns {
    /// Bin of each row, one vector per column.
    pub bins: Vec<Vec<u8>>,
    /// Thresholds between bins: the bin of a value is the number of thresholds below it.
    pub borders: Vec<Vec<f32>>,
}

const MAX_BORDERS: usize = 63;

impl BinnedColumns {
    /// Quantises columns into bins of about equal weight. A value as heavy as a bin gets a bin of its own and the others
    /// share the rest, so that a column that is nearly always 0 keeps the resolution of its other values.
    pub fn of(columns: &[Vec<f32>], weights: &[f32]) -> BinnedColumns {
        let mut table = BinnedColumns { bins: Vec::new(), borders: Vec::new() };
        for column in columns {
            let borders = borders(&distinct_values(column, weights));
            let step = |value: &f32| borders.partition_point(|border| *value > *border) as u8;
            table.bins.push(column.iter().map(step).collect());
            table.borders.push(borders);
        }
        table
    }
}

/// The distinct values of the rows with a weight, in order, with the sum of their weights.
fn distinct_values(column: &[f32], weights: &[f32]) -> Vec<(f32, f64)> {
    let mut rows: Vec<(f32, f32)> =
        column.iter().copied().zip(weights.iter().copied()).filter(|(_, weight)| *weight > 0.0).collect();
    rows.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
    let mut values: Vec<(f32, f64)> = Vec::new();
    for (value, weight) in rows {
        match values.last_mut() {
            Some((last, sum)) if *last == value => *sum += f64::from(weight),
            _ => values.push((value, f64::from(weight))),
        }
    }
    values
}

/// The thresholds between at most 64 bins of weighted values.
fn borders(values: &[(f32, f64)]) -> Vec<f32> {
    let mut rest: f64 = values.iter().map(|(_, weight)| weight).sum();
    let mut bins_left = (MAX_BORDERS + 1) as f64;
    let mean = rest / bins_left;
    let is_heavy = |weight: f64| weight >= mean;
    for (_, weight) in values.iter().filter(|(_, weight)| is_heavy(*weight)) {
        rest -= weight;
        bins_left -= 1.0;
    }
    let target = rest / bins_left.max(1.0);
    let mut borders = Vec::new();
    let mut filled = 0.0;
    for pair in values.windows(2) {
        let [(value, weight), (next, next_weight)] = [pair[0], pair[1]];
        filled += weight;
        let is_full = filled >= target || is_heavy(weight) || is_heavy(next_weight) && filled >= target / 2.0;
        let is_few = values.len() <= MAX_BORDERS + 1;
        if (is_full || is_few) && borders.len() < MAX_BORDERS {
            let middle = value + (next - value) / 2.0;
            borders.push(if middle < next { middle } else { value });
            filled = 0.0;
        }
    }
    borders
}

/// Trains a forest on the given rows.
pub fn train(table: &BinnedColumns, labels: &[f32], weights: &[f32], rows: &[u32], params: &BoostParams) -> Forest {
    let (mut positive, mut total) = (0.0f64, 0.0f64);
    for row in rows {
        let row = *row as usize;
        positive += f64::from(labels[row] * weights[row]);
        total += f64::from(weights[row]);
    }
    let share = (positive / total) as f32;
    let mut forest = Forest { bias: (share / (1.0 - share)).ln(), trees: Vec::new() };
    let mut sums = vec![forest.bias; labels.len()];
    let mut random = XorShift(params.seed);
    for _ in 0..params.trees {
        let columns: Vec<usize> = (0..table.bins.len())
            .filter(|column| !table.borders[*column].is_empty())
            .filter(|_| random.unit() < params.columns)
            .collect();
        let (sampled, gradients) = sample_rows(labels, weights, rows, &sums, params, &mut random);
        let tree = train_tree(table, &sampled, &gradients, &columns, params);
        for (row, sum) in sums.iter_mut().enumerate() {
            *sum += tree.leaves[leaf_index(table, &tree, row)];
        }
        forest.trees.push(tree);
    }
    forest
}

/// Samples the rows for one tree by GOSS: all with large gradients, and a share of the others with
/// their weight scaled up. Returns the rows with their gradients and Hessians.
fn sample_rows(
    labels: &[f32],
    weights: &[f32],
    rows: &[u32],
    sums: &[f32],
    params: &BoostParams,
    random: &mut XorShift,
) -> (Vec<u32>, Vec<(f32, f32)>) {
    let gradient = |row: u32| {
        let row = row as usize;
        let p = probability(sums[row]);
        ((labels[row] - p) * weights[row], (p * (1.0 - p)).max(1e-4) * weights[row])
    };
    let all: Vec<(f32, f32)> = rows.iter().map(|row| gradient(*row)).collect();
    let mut sizes: Vec<f32> = all.iter().map(|(gradient, _)| gradient.abs()).collect();
    let top = ((1.0 - params.top_rate) * sizes.len() as f32) as usize;
    let (_, border, _) = sizes.select_nth_unstable_by(top.min(rows.len() - 1), f32::total_cmp);
    let (border, more) = (*border, 1.0 / params.other_rate);
    let (mut sampled, mut gradients) = (Vec::new(), Vec::new());
    for (row, (gradient, hessian)) in rows.iter().zip(all) {
        if gradient.abs() >= border {
            sampled.push(*row);
            gradients.push((gradient, hessian));
        } else if random.unit() < params.other_rate {
            sampled.push(*row);
            gradients.push((gradient * more, hessian * more));
        }
    }
    (sampled, gradients)
}

fn leaf_index(table: &BinnedColumns, tree: &Tree, row: usize) -> usize {
    let bit = |(level, (column, threshold)): (usize, &(usize, f32))| {
        let borders = &table.borders[*column];
        let border = borders.partition_point(|border| border < threshold);
        usize::from(usize::from(table.bins[*column][row]) > border) << level
    };
    tree.splits.iter().enumerate().map(bit).sum()
}

fn train_tree(
    table: &BinnedColumns,
    sampled: &[u32],
    gradients: &[(f32, f32)],
    columns: &[usize],
    params: &BoostParams,
) -> Tree {
    let mut leaves = vec![0u8; sampled.len()];
    let mut tree = Tree::default();
    for level in 0..params.depth {
        let half = columns.len().div_ceil(2).max(1);
        let search = |part: &[usize]| best_split(table, sampled, gradients, &leaves, 1 << level, part, params);
        let best = std::thread::scope(|scope| {
            let other = scope.spawn(|| search(columns.get(half..).unwrap_or_default()));
            let one = search(&columns[..half.min(columns.len())]);
            let other = other.join().expect("the search does not panic");
            if other.0 > one.0 { other } else { one }
        });
        let (_, column, border) = best;
        for (leaf, row) in leaves.iter_mut().zip(sampled) {
            *leaf |= u8::from(usize::from(table.bins[column][*row as usize]) > border) << level;
        }
        tree.splits.push((column, table.borders[column][border]));
    }
    let mut sums = vec![(0.0f64, 0.0f64); 1 << params.depth];
    for (leaf, (gradient, hessian)) in leaves.iter().zip(gradients) {
        sums[usize::from(*leaf)].0 += f64::from(*gradient);
        sums[usize::from(*leaf)].1 += f64::from(*hessian);
    }
    let leaf =
        |(gradient, hessian): &(f64, f64)| (gradient / (hessian + f64::from(params.l2))) as f32 * params.learning_rate;
    tree.leaves = sums.iter().map(leaf).map(|leaf| (leaf * 1000.0).round() / 1000.0).collect();
    tree
}

fn best_split(
    table: &BinnedColumns,
    sampled: &[u32],
    gradients: &[(f32, f32)],
    leaves: &[u8],
    leaf_count: usize,
    columns: &[usize],
    params: &BoostParams,
) -> (f64, usize, usize) {
    let mut best = (f64::MIN, columns.first().copied().unwrap_or(0), 0);
    let bins = MAX_BORDERS + 1;
    let mut sums = vec![(0.0f32, 0.0f32); leaf_count * bins];
    for column in columns {
        sums.fill((0.0, 0.0));
        let values = &table.bins[*column];
        for ((row, leaf), (gradient, hessian)) in sampled.iter().zip(leaves).zip(gradients) {
            let cell = &mut sums[usize::from(*leaf) * bins + usize::from(values[*row as usize])];
            cell.0 += gradient;
            cell.1 += hessian;
        }
        let borders = table.borders[*column].len();
        let mut gains = vec![0.0f64; borders];
        let l2 = f64::from(params.l2);
        for leaf in sums.chunks(bins) {
            let total =
                leaf.iter().fold((0.0f64, 0.0f64), |sum, cell| (sum.0 + f64::from(cell.0), sum.1 + f64::from(cell.1)));
            let (mut gradient, mut hessian) = (0.0f64, 0.0f64);
            for (gain, cell) in gains.iter_mut().zip(leaf) {
                gradient += f64::from(cell.0);
                hessian += f64::from(cell.1);
                let (other_gradient, other_hessian) = (total.0 - gradient, total.1 - hessian);
                *gain += gradient * gradient / (hessian + l2)
                    + other_gradient * other_gradient / (other_hessian.max(0.0) + l2);
            }
        }
        for (border, gain) in gains.into_iter().enumerate() {
            if gain > best.0 {
                best = (gain, *column, border);
            }
        }
    }
    best
}

/// xorshift64 random generator.
struct XorShift(u64);

impl XorShift {
    fn unit(&mut self) -> f32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 40) as f32 / (1u64 << 24) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rare_column_keeps_the_resolution_of_its_values() {
        let mut column = vec![0.0; 10_000];
        for (value, row) in (0..10_000).step_by(100).enumerate() {
            column[row] = (value % 5 + 1) as f32;
        }
        let table = BinnedColumns::of(&[column], &vec![1.0; 10_000]);
        assert_eq!(table.borders[0], [0.5, 1.5, 2.5, 3.5, 4.5]);
    }

    #[test]
    fn bins_have_about_equal_weight() {
        let column: Vec<f32> = (0..6400).map(|row| row as f32).collect();
        let mut weights = vec![1.0; 6400];
        weights[..3200].fill(0.0);
        let table = BinnedColumns::of(&[column], &weights);
        assert_eq!(table.borders[0].len(), MAX_BORDERS);
        assert!(table.borders[0].iter().all(|border| *border >= 3200.0));
        assert_eq!(table.bins[0].iter().filter(|bin| **bin == 20).count(), 50);
    }
}
