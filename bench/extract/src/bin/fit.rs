//! Trains the extractor's model on annotated pages and cross-validates it over domains.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context;
use bench_extract::fit::boost::{BinnedColumns, BoostParams, train};
use bench_extract::fit::labels::{Label, label};
use bench_extract::fit::lift::{self, Weights};
use bench_extract::score::{CommentLeaks, Segments, Shingles, shingles};
use bench_extract::sets::{self, Sample, TEXT_SETS};
use clap::Parser;
use tidings_clean::article::blocks;
use tidings_clean::article::declared_text::DeclaredBody;
use tidings_clean::article::features::{self, FIRST_COLUMNS, FeatureMatrix, SECOND_COLUMNS};
use tidings_clean::article::forest::{Forest, probability};
use tidings_clean::article::select::{self, ThresholdBias};
use tidings_clean::declared_metadata::DeclaredMetadata;
use tidings_clean::tree;
use url::Url;

/// Trains the extractor's model.
#[derive(Parser)]
struct Args {
    /// Folder of annotated pages.
    #[arg(long, default_value = "../shared/extract-dev")]
    data: PathBuf,
    /// Folder to write the model to; without it nothing is written.
    #[arg(long)]
    write: Option<PathBuf>,
    /// Trees per forest.
    #[arg(long, default_value_t = 100)]
    trees: usize,
    /// Splits per tree.
    #[arg(long, default_value_t = 6)]
    depth: usize,
    /// Learning rate.
    #[arg(long, default_value_t = 0.12)]
    rate: f32,
    /// L2 regularisation of leaf values.
    #[arg(long, default_value_t = 2.0)]
    shrinkage: f32,
    /// Number of forests to average.
    #[arg(long, default_value_t = 1)]
    forests: u64,
    /// Number of forests to average in each fold of the cross-validation.
    #[arg(long, default_value_t = 1)]
    fold_forests: u64,
    /// Share of rows with the largest gradients, used for every tree.
    #[arg(long, default_value_t = 0.2)]
    far: f32,
    /// Share of the other rows sampled for each tree.
    #[arg(long, default_value_t = 0.2)]
    near: f32,
    /// List this many pages with the largest loss.
    #[arg(long)]
    worst: Option<usize>,
    /// Save the out-of-fold probabilities of all blocks to this file.
    #[arg(long)]
    keep: Option<PathBuf>,
    /// Load the probabilities from such a file and only score them.
    #[arg(long)]
    again: Option<PathBuf>,
    /// Write all blocks with their predictions to this folder, one file per page.
    #[arg(long)]
    dump: Option<PathBuf>,
}

const FOLDS: u64 = 5;

/// The biases of the threshold that are reported; the presets are among them.
const THRESHOLDS: [f32; 7] = [0.8, 0.95, 1.05, 1.15, 1.25, 1.35, 1.5];

struct Page {
    sample: Sample,
    set: &'static str,
    fold: usize,
    domain: String,
    labels: Vec<Label>,
    matrix: FeatureMatrix,
    body: Option<DeclaredBody>,
    first_row: usize,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let clock = std::time::Instant::now();
    let mut samples = Vec::new();
    for set in TEXT_SETS {
        samples.extend(sets::read(&args.data, set)?.into_iter().map(|sample| (set, sample)));
    }
    eprintln!("{} pages read, {:.1?}", samples.len(), clock.elapsed());

    let counted: Vec<_> = samples
        .iter()
        .map(|(_, sample)| {
            let tree = tree::parse(&sample.html);
            let blocks = blocks::segment(&tree);
            let labels = label(sample, &blocks);
            let counts = lift::count(&tree, &blocks, &labels);
            (sample.fold(FOLDS), sample.domain(), labels, counts)
        })
        .collect();
    let weights_without = |fold: Option<usize>| {
        let pages = counted.iter().filter(|page| Some(page.0) != fold).map(|page| (page.1.as_str(), &page.3));
        lift::estimate(pages)
    };
    let by_fold: Vec<Weights> = (0..FOLDS as usize)
        .map(|fold| {
            let (names, words) = weights_without(Some(fold));
            Weights::of(&names, &words)
        })
        .collect();
    let (names, words) = weights_without(None);
    eprintln!("{} names, {} words, {:.1?}", names.len(), words.len(), clock.elapsed());

    let mut pages = Vec::new();
    let mut rows = 0;
    for ((set, sample), (fold, domain, labels, _)) in samples.into_iter().zip(counted) {
        let tree = tree::parse(&sample.html);
        let declared = DeclaredMetadata::read(&tree);
        let matrix = FeatureMatrix::of(
            &tree,
            blocks::segment(&tree),
            &declared,
            Url::parse(&sample.url).ok().as_ref(),
            &by_fold[fold],
        );
        let count = matrix.blocks.list.len();
        let body = DeclaredBody::read(&declared);
        pages.push(Page { sample, set, fold, domain, labels, matrix, body, first_row: rows });
        rows += count;
    }
    eprintln!("{rows} blocks, {:.1?}", clock.elapsed());

    let labels: Vec<f32> = pages.iter().flat_map(|page| page.labels.iter().map(|label| label.article_share)).collect();
    let weights: Vec<f32> = pages.iter().flat_map(|page| page.labels.iter().map(|label| label.weight)).collect();
    let fold_of: Vec<usize> = pages.iter().flat_map(|page| page.labels.iter().map(|_| page.fold)).collect();
    let mut columns: Vec<Vec<f32>> = (0..FIRST_COLUMNS).map(|_| Vec::with_capacity(rows)).collect();
    for page in &pages {
        for (to, from) in columns.iter_mut().zip(&page.matrix.columns) {
            to.extend_from_slice(from);
        }
    }
    let params = |seed| BoostParams {
        trees: args.trees,
        depth: args.depth,
        learning_rate: args.rate,
        l2: args.shrinkage,
        top_rate: args.far,
        other_rate: args.near,
        columns: 0.4,
        seed,
    };
    if let Some(path) = &args.again {
        let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let p: Vec<f32> =
            bytes.chunks_exact(4).map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect();
        report("again", &pages, &p, &THRESHOLDS);
        return Ok(());
    }
    let (first, p) = crossfit(
        &columns,
        &labels,
        &weights,
        &fold_of,
        args.write.is_some(),
        &params(1),
        (args.forests, args.fold_forests),
    );
    eprintln!("first forest, {:.1?}", clock.elapsed());
    report("first", &pages, &p, &[1.0]);

    columns.resize(SECOND_COLUMNS, Vec::new());
    for page in &pages {
        let own = &p[page.first_row..page.first_row + page.labels.len()];
        for (to, from) in columns[FIRST_COLUMNS..].iter_mut().zip(page.matrix.with_context(own)) {
            to.extend(from);
        }
    }
    // Annotations of live blogs and long lists in `andy` are truncated; text missing there is not
    // boilerplate.
    let mut weights = weights;
    let mut down_weighted = 0;
    for page in pages.iter().filter(|page| page.set == "andy") {
        let (precision, recall) = shingles(&text(page, &p, 1.0), page.sample.gold.text.as_deref().unwrap_or_default());
        if precision < 0.5 && recall > 0.8 {
            down_weighted += 1;
            for weight in &mut weights[page.first_row..page.first_row + page.labels.len()] {
                *weight *= 0.1;
            }
        }
    }
    eprintln!("{down_weighted} annotations down-weighted");
    let (second, p) = crossfit(
        &columns,
        &labels,
        &weights,
        &fold_of,
        args.write.is_some(),
        &params(2),
        (args.forests, args.fold_forests),
    );
    eprintln!("second forest, {:.1?}", clock.elapsed());
    report("second", &pages, &p, &THRESHOLDS);
    if let Some(path) = &args.keep {
        std::fs::write(path, p.iter().flat_map(|p| p.to_le_bytes()).collect::<Vec<u8>>())?;
    }
    if let Some(worst) = args.worst {
        show_worst(&pages, &p, worst);
    }

    if let Some(folder) = args.dump {
        dump(&folder, &pages, &p)?;
    }

    if let Some(folder) = args.write {
        let columns: Vec<String> = (0..SECOND_COLUMNS).map(features::name).collect();
        let write = |name: &str, text: String| {
            let path = folder.join(name);
            std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
        };
        write("first.forest", first.write(&columns))?;
        write("second.forest", second.write(&columns))?;
        for (name, table) in [("names.tsv", names), ("words.tsv", words)] {
            write(name, table.iter().map(|(name, weight)| format!("{name}\t{weight}\n")).collect())?;
        }
    }
    Ok(())
}

/// Writes all blocks with their predictions, one file per page; errors are marked with `!!`.
fn dump(folder: &Path, pages: &[Page], p: &[f32]) -> anyhow::Result<()> {
    for page in pages {
        let mut lines = format!("{} {:?}\n", page.sample.url, page.sample.page_type);
        for (row, block) in page.matrix.blocks.list.iter().enumerate() {
            let label = page.labels[row];
            let p = p[page.first_row + row];
            let near: Vec<String> = (0..features::FIRST_COLUMNS)
                .map(|column| (features::name(column), page.matrix.columns[column][row]))
                .filter(|(name, value)| {
                    *value > 0.0 && *value < 4.0 && (name.starts_with("near_") || name.starts_with("in_"))
                })
                .map(|(name, value)| format!("{}{value}", name.trim_start_matches("near_").trim_start_matches("in_")))
                .collect();
            let text = block.text(&page.matrix.blocks).replace('\n', "⏎");
            lines += &format!(
                "{} p={p:.2} y={:.2} w={:.4} n={} {}\t[{}]\n",
                if (p > 0.45) != (label.article_share > 0.5) && label.weight > 0.0 { "!!" } else { "  " },
                label.article_share,
                label.weight,
                block.len(),
                text.chars().take(140).collect::<String>(),
                near.join(" ")
            );
        }
        std::fs::write(folder.join(page.sample.id.replace('/', "_") + ".txt"), lines)?;
    }
    Ok(())
}

/// Trains a forest on all rows if `whole`, and predicts each row with a forest that was trained
/// without its domain (cross-fitting).
fn crossfit(
    columns: &[Vec<f32>],
    labels: &[f32],
    weights: &[f32],
    fold_of: &[usize],
    whole: bool,
    params: &BoostParams,
    (forests, fold_forests): (u64, u64),
) -> (Forest, Vec<f32>) {
    let table = BinnedColumns::of(columns, weights);
    let mut p = vec![0.0; labels.len()];
    let rows = |fold: Option<usize>| -> Vec<u32> {
        (0..labels.len())
            .filter(|row| weights[*row] > 0.0 && Some(fold_of[*row]) != fold)
            .map(|row| row as u32)
            .collect()
    };
    let average = |rows: &[u32], forests: u64| {
        let mut mean = Forest::default();
        for index in 0..forests {
            let params = BoostParams { seed: params.seed + 1000 * index, ..*params };
            let forest = train(&table, labels, weights, rows, &params);
            mean.bias += forest.bias / forests as f32;
            mean.trees.extend(forest.trees.into_iter().map(|mut tree| {
                tree.leaves.iter_mut().for_each(|leaf| *leaf /= forests as f32);
                tree
            }));
        }
        mean
    };
    for fold in 0..FOLDS as usize {
        let forest = average(&rows(Some(fold)), fold_forests);
        let sums = forest.predict(labels.len(), |column| &columns[column]);
        for (row, sum) in sums.into_iter().enumerate() {
            if fold_of[row] == fold {
                p[row] = probability(sum);
            }
        }
    }
    let forest = if whole { average(&rows(None), forests) } else { Forest::default() };
    (forest, p)
}

fn text(page: &Page, p: &[f32], bias: f32) -> String {
    let own = &p[page.first_row..page.first_row + page.labels.len()];
    let rows = select::choose(&page.matrix, own, ThresholdBias(bias));
    let blocks = &page.matrix.blocks;
    let shown: f32 = rows.iter().map(|row| page.matrix.words[*row].count).sum();
    match &page.body {
        Some(body) if body.replaces(shown as usize) => body.text.clone(),
        _ => rows.iter().map(|row| blocks.list[*row].text(blocks)).collect::<Vec<_>>().join("\n"),
    }
}

/// Scores of a group of pages.
#[derive(Default)]
struct GroupScore {
    segments: Segments,
    runs: Shingles,
    comments: CommentLeaks,
}

impl GroupScore {
    fn add(&mut self, sample: &Sample, text: &str) {
        let gold = &sample.gold;
        match &gold.text {
            Some(gold) => self.runs.add(shingles(text, gold)),
            None => {
                let list = |list: &Option<Vec<String>>| list.clone().unwrap_or_default();
                self.segments.add(Segments::of(text, &list(&gold.with), &list(&gold.without)));
            }
        }
        if let Some(comments) = &gold.comments {
            self.comments.add(text, comments);
        }
    }
}

fn report(name: &str, pages: &[Page], p: &[f32], thresholds: &[f32]) {
    for threshold in thresholds {
        let mut groups: BTreeMap<String, GroupScore> = BTreeMap::new();
        for page in pages {
            let text = text(page, p, *threshold);
            groups.entry(page.set.to_owned()).or_default().add(&page.sample, &text);
            if page.sample.gold.text.is_some() {
                let recognised = page.matrix.page_type().name();
                groups.entry(format!("as {recognised}")).or_default().add(&page.sample, &text);
            }
            if let Some(kind) = page.sample.page_type.as_ref().filter(|_| page.set == "wcxb") {
                groups.entry(format!("wcxb {kind}")).or_default().add(&page.sample, &text);
            }
        }
        let mut line = format!("{name:>7} {threshold:.2} ");
        for (group, GroupScore { segments, runs, comments }) in &groups {
            let (precision, recall, f) = match group.as_str() {
                "trafi" => (segments.precision(), segments.recall(), segments.f()),
                _ => (runs.precision(), runs.recall(), runs.f()),
            };
            line += &format!("| {group} {precision:.3} {recall:.3} {f:.4} ");
            if comments.pages > 0 {
                line += &format!("leak {:.3} ", comments.share());
            }
        }
        println!("{line}");
    }
}

fn show_worst(pages: &[Page], p: &[f32], count: usize) {
    let mut losses = Vec::new();
    for (place, page) in pages.iter().enumerate() {
        let text = text(page, p, 1.0);
        let (precision, recall) = match &page.sample.gold.text {
            Some(gold) => shingles(&text, gold),
            None => {
                let none = Vec::new();
                let gold = &page.sample.gold;
                let counts =
                    Segments::of(&text, gold.with.as_ref().unwrap_or(&none), gold.without.as_ref().unwrap_or(&none));
                let all = (counts.found + counts.missed + counts.leaked + counts.kept_out).max(1) as f64;
                (1.0 - counts.leaked as f64 / all, 1.0 - counts.missed as f64 / all)
            }
        };
        losses.push((2.0 - precision - recall, place, precision, recall));
    }
    losses.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (_, place, precision, recall) in losses.into_iter().take(count) {
        let page = &pages[place];
        println!("{} {} P {precision:.2} R {recall:.2} {:?}", page.sample.id, page.domain, page.sample.page_type);
    }
}
