//! Gradient boosting of trees whose levels ask one question each.
//!
//! Logistic loss, soft labels, weighted rows, a share of rows and columns drawn for every tree. All
//! draws come from a seed, so the same pages give the same forest.

use tidings_clean::article::forest::{Forest, Tree, probability};

/// How to grow a forest.
#[derive(Debug, Clone, Copy)]
pub struct Growth {
    /// The number of trees.
    pub trees: usize,
    /// Questions per tree.
    pub depth: usize,
    /// How much of each tree is believed.
    pub rate: f32,
    /// Shrinks leaves that rest on little weight.
    pub shrinkage: f32,
    /// The share of rows that count as far from right and are drawn for every tree.
    pub far: f32,
    /// The share of the other rows drawn for each tree.
    pub near: f32,
    /// The share of columns drawn for each tree.
    pub columns: f32,
    /// The seed of all draws.
    pub seed: u64,
}

/// A table of numbers in at most 64 steps a column.
pub struct Table {
    /// Steps: one vector a column.
    pub steps: Vec<Vec<u8>>,
    /// The thresholds between steps: a value lies in the step that counts the thresholds below it.
    pub borders: Vec<Vec<f32>>,
}

const MAX_BORDERS: usize = 63;

impl Table {
    /// Cuts columns into steps that hold about as many of the sampled rows each.
    pub fn of(columns: &[Vec<f32>]) -> Table {
        let mut table = Table { steps: Vec::new(), borders: Vec::new() };
        for column in columns {
            let mut sample: Vec<f32> = column.iter().copied().step_by((column.len() / 50_000).max(1)).collect();
            sample.sort_by(f32::total_cmp);
            let mut borders: Vec<f32> = Vec::new();
            for cut in 1..=MAX_BORDERS {
                let at = cut * (sample.len() - 1) / (MAX_BORDERS + 1);
                let (low, high) = (sample[at], sample[(at + 1).min(sample.len() - 1)]);
                let border = if low == high { low } else { (low + high) / 2.0 };
                if border < sample[sample.len() - 1] && borders.last().is_none_or(|last| border > *last) {
                    borders.push(border);
                }
            }
            // Rare values at the ends would fall between the quantiles.
            if borders.is_empty() && sample[0] < sample[sample.len() - 1] {
                borders.push(sample[0]);
            }
            let step = |value: &f32| borders.partition_point(|border| *value > *border) as u8;
            table.steps.push(column.iter().map(step).collect());
            table.borders.push(borders);
        }
        table
    }
}

/// Grows a forest on the chosen rows.
pub fn grow(table: &Table, labels: &[f32], weights: &[f32], rows: &[u32], growth: &Growth) -> Forest {
    let (mut positive, mut total) = (0.0f64, 0.0f64);
    for row in rows {
        let row = *row as usize;
        positive += f64::from(labels[row] * weights[row]);
        total += f64::from(weights[row]);
    }
    let share = (positive / total) as f32;
    let mut forest = Forest { bias: (share / (1.0 - share)).ln(), trees: Vec::new() };
    let mut sums = vec![forest.bias; labels.len()];
    let mut random = Random(growth.seed);
    for _ in 0..growth.trees {
        let columns: Vec<usize> = (0..table.steps.len())
            .filter(|column| !table.borders[*column].is_empty())
            .filter(|_| random.unit() < growth.columns)
            .collect();
        let (drawn, slopes) = draw(labels, weights, rows, &sums, growth, &mut random);
        let tree = grow_tree(table, &drawn, &slopes, &columns, growth);
        for (row, sum) in sums.iter_mut().enumerate() {
            *sum += tree.leaves[place(table, &tree, row)];
        }
        forest.trees.push(tree);
    }
    forest
}

/// Draws the rows for one tree: all that are far from right, and a share of the others, which then
/// weigh more.
fn draw(
    labels: &[f32],
    weights: &[f32],
    rows: &[u32],
    sums: &[f32],
    growth: &Growth,
    random: &mut Random,
) -> (Vec<u32>, Vec<(f32, f32)>) {
    let slope = |row: u32| {
        let row = row as usize;
        let p = probability(sums[row]);
        ((labels[row] - p) * weights[row], (p * (1.0 - p)).max(1e-4) * weights[row])
    };
    let all: Vec<(f32, f32)> = rows.iter().map(|row| slope(*row)).collect();
    let mut sizes: Vec<f32> = all.iter().map(|(slope, _)| slope.abs()).collect();
    let far = ((1.0 - growth.far) * sizes.len() as f32) as usize;
    let (_, border, _) = sizes.select_nth_unstable_by(far.min(rows.len() - 1), f32::total_cmp);
    let (border, more) = (*border, 1.0 / growth.near);
    let (mut drawn, mut slopes) = (Vec::new(), Vec::new());
    for (row, (slope, bend)) in rows.iter().zip(all) {
        if slope.abs() >= border {
            drawn.push(*row);
            slopes.push((slope, bend));
        } else if random.unit() < growth.near {
            drawn.push(*row);
            slopes.push((slope * more, bend * more));
        }
    }
    (drawn, slopes)
}

fn place(table: &Table, tree: &Tree, row: usize) -> usize {
    let ask = |(level, (column, threshold)): (usize, &(usize, f32))| {
        let borders = &table.borders[*column];
        let border = borders.partition_point(|border| border < threshold);
        usize::from(usize::from(table.steps[*column][row]) > border) << level
    };
    tree.splits.iter().enumerate().map(ask).sum()
}

fn grow_tree(table: &Table, drawn: &[u32], slopes: &[(f32, f32)], columns: &[usize], growth: &Growth) -> Tree {
    let mut leaves = vec![0u8; drawn.len()];
    let mut tree = Tree::default();
    for level in 0..growth.depth {
        let half = columns.len().div_ceil(2).max(1);
        let search = |part: &[usize]| best_question(table, drawn, slopes, &leaves, 1 << level, part, growth);
        let best = std::thread::scope(|scope| {
            let other = scope.spawn(|| search(columns.get(half..).unwrap_or_default()));
            let one = search(&columns[..half.min(columns.len())]);
            let other = other.join().expect("a search does not panic");
            if other.0 > one.0 { other } else { one }
        });
        let (_, column, border) = best;
        for (leaf, row) in leaves.iter_mut().zip(drawn) {
            *leaf |= u8::from(usize::from(table.steps[column][*row as usize]) > border) << level;
        }
        tree.splits.push((column, table.borders[column][border]));
    }
    let mut sums = vec![(0.0f64, 0.0f64); 1 << growth.depth];
    for (leaf, (slope, bend)) in leaves.iter().zip(slopes) {
        sums[usize::from(*leaf)].0 += f64::from(*slope);
        sums[usize::from(*leaf)].1 += f64::from(*bend);
    }
    let answer = |(slope, bend): &(f64, f64)| (slope / (bend + f64::from(growth.shrinkage))) as f32 * growth.rate;
    tree.leaves = sums.iter().map(answer).map(|answer| (answer * 1000.0).round() / 1000.0).collect();
    tree
}

fn best_question(
    table: &Table,
    drawn: &[u32],
    slopes: &[(f32, f32)],
    leaves: &[u8],
    leaf_count: usize,
    columns: &[usize],
    growth: &Growth,
) -> (f64, usize, usize) {
    let mut best = (f64::MIN, columns.first().copied().unwrap_or(0), 0);
    let steps = MAX_BORDERS + 1;
    let mut sums = vec![(0.0f32, 0.0f32); leaf_count * steps];
    for column in columns {
        sums.fill((0.0, 0.0));
        let values = &table.steps[*column];
        for ((row, leaf), (slope, bend)) in drawn.iter().zip(leaves).zip(slopes) {
            let cell = &mut sums[usize::from(*leaf) * steps + usize::from(values[*row as usize])];
            cell.0 += slope;
            cell.1 += bend;
        }
        let borders = table.borders[*column].len();
        let mut gains = vec![0.0f64; borders];
        let shrinkage = f64::from(growth.shrinkage);
        for leaf in sums.chunks(steps) {
            let total =
                leaf.iter().fold((0.0f64, 0.0f64), |sum, cell| (sum.0 + f64::from(cell.0), sum.1 + f64::from(cell.1)));
            let (mut slope, mut bend) = (0.0f64, 0.0f64);
            for (gain, cell) in gains.iter_mut().zip(leaf) {
                slope += f64::from(cell.0);
                bend += f64::from(cell.1);
                let (other_slope, other_bend) = (total.0 - slope, total.1 - bend);
                *gain +=
                    slope * slope / (bend + shrinkage) + other_slope * other_slope / (other_bend.max(0.0) + shrinkage);
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

/// A small random generator (xorshift).
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 40) as f32 / (1u64 << 24) as f32
    }
}
