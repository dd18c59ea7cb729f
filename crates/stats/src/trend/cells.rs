//! A trend test within sites, for corpora whose articles, sites and events change.
//!
//! Documents with a word depend on how long the documents are, and rates over all sites depend on which sites
//! there are. Here hits are compared with the tokens of the same site: in each cell of site and bin the residual
//! is the hits minus those expected from the site's own rate, so that new and silent sites and longer articles
//! leave the residuals at zero. Residuals are clipped, so that an event of one site counts little, and their
//! variance is that of the word's own residuals over bins, so that clumps and events widen it.

use super::course::{Course, SHAPES, Shape, z_of_student};
use super::deviance::{excess_at, excess_within, signed_root};
use super::moderate::{Dispersion, Prior, priors};
use crate::measure::bunching;
use crate::measure::special::normal_two_sided;

/// Hits of a word on one site in one bin. Cells without hits are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CellCount {
    /// The number of the site.
    pub site: u32,
    /// The number of the bin.
    pub bin: u32,
    /// Hits.
    pub hits: u32,
    /// Documents with hits.
    pub documents: u32,
}

/// Clips residuals at this number of standard deviations.
const CLIP: f64 = 2.5;
/// The standard deviations from no difference that clipped residuals of a short part must be able to show: two sites in one
/// month could show 3.5 otherwise, which is no evidence among thousands of words.
const REACH: f64 = 8.0;
/// The share of cells that is left out at the upper end when the dispersion is estimated for clipping.
const TRIM: f64 = 0.05;
/// The minimum bins with tokens of a site that has a slope.
const LEAST_BINS: usize = 3;
/// The minimum overdispersion: that of independent hits is 1, and an estimate from a few bins may be much less. Counts
/// that hardly vary would otherwise make the smallest slope significant.
const LEAST_DISPERSION: f64 = 0.1;

/// Articles that change in length by more than this share make documents with a word a measure of length.
const LENGTH_CHANGE: f64 = 0.02;
/// Words in more than this share of the documents are counted by hits: nearly every document has them, so that
/// documents with the word say little.
const COMMON: f64 = 1.0 / 3.0;

/// The text of a site.
#[derive(Debug, Clone)]
struct Site<const N: usize> {
    /// The tokens of each bin.
    tokens: Vec<f64>,
    sum: f64,
    documents: f64,
    /// The mean length of a document in each bin relative to that of all bins, minus 1.
    lengths: Vec<f64>,
    /// The mean height of each shape, weighted by tokens.
    centres: [f64; N],
    /// False if the text of the site cannot show a change.
    is_used: bool,
}

/// The text of all sites, site by site.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SiteVolume {
    /// The number of bins.
    pub bins: usize,
    /// The tokens of each site in each bin.
    pub tokens: Vec<f64>,
    /// The documents of each site in each bin; empty if unknown.
    pub documents: Vec<f64>,
}

impl SiteVolume {
    /// The tokens of each bin.
    pub fn tokens_by_bin(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.bins];
        for site in self.tokens.chunks_exact(self.bins.max(1)) {
            sums.iter_mut().zip(site).for_each(|(sum, tokens)| *sum += tokens);
        }
        sums
    }

    /// The same with some of the bins only.
    pub fn only(&self, bins: &[usize]) -> SiteVolume {
        let chosen = |counts: &[f64]| {
            let sites = counts.chunks_exact(self.bins.max(1));
            sites.flat_map(|site| bins.iter().map(|bin| site[*bin])).collect()
        };
        SiteVolume { bins: bins.len(), tokens: chosen(&self.tokens), documents: chosen(&self.documents) }
    }
}

/// What is counted in a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// Hits, which are proportional to tokens however long the documents are.
    Hits,
    /// Documents with hits, which vary less, but are fewer for each token if documents are longer.
    Documents,
}

impl CellCount {
    fn count(&self, counted: Counted) -> f64 {
        f64::from(match counted {
            Counted::Hits => self.hits,
            Counted::Documents => self.documents,
        })
    }
}

/// The regression of residuals on some shapes, for one list of sites and one list of bins; reused for all words.
#[derive(Debug, Clone)]
pub struct SiteRegression<const N: usize> {
    bins: usize,
    sites: Vec<Site<N>>,
    heights: [Vec<f64>; N],
    counted: Counted,
    /// The cells with text of each site in the shorter of two parts; none if all bins make up a course.
    shorter_part: Option<Vec<usize>>,
    scratch: Scratch,
}

#[derive(Debug, Clone, Default)]
struct Scratch {
    /// The site of each row of the table of residuals, one row for each site with hits.
    rows: Vec<u32>,
    rates: Vec<f64>,
    residuals: Vec<f64>,
    ratios: Vec<f64>,
    /// The dispersion of the cells, for clipping.
    dispersion: f64,
    /// The change along the shape on each site, if one site must not decide it.
    of_sites: Vec<SiteSum>,
}

/// The residuals of one site along a shape.
#[derive(Debug, Clone, Copy)]
struct SiteSum {
    along: f64,
    square: f64,
    expected: f64,
}

/// The regression on the shapes of trends.
pub type SiteTrends = SiteRegression<{ SHAPES.len() }>;

impl SiteTrends {
    /// Prepares the test for bins at these times, ascending.
    pub fn new(when: &[f64], volume: &SiteVolume) -> SiteTrends {
        let (first, last) = (when.first().copied().unwrap_or(0.0), when.last().copied().unwrap_or(0.0));
        let share = |when: &f64| (when - first + 0.5) / (last - first + 1.0);
        let heights = SHAPES.map(|shape| when.iter().map(|when| shape.height(share(when))).collect::<Vec<f64>>());
        let has_slope = |tokens: &[f64]| tokens.iter().filter(|tokens| **tokens > 0.0).count() >= LEAST_BINS;
        SiteRegression::with_heights(heights, volume, has_slope)
    }
}

impl<const N: usize> SiteRegression<N> {
    /// Prepares the regression on shapes with these heights in each bin, over the sites whose tokens in each bin can show
    /// a change.
    pub fn with_heights(heights: [Vec<f64>; N], volume: &SiteVolume, is_used: impl Fn(&[f64]) -> bool) -> Self {
        let width = volume.bins.max(1);
        let site = |(number, tokens): (usize, &[f64])| {
            let sum: f64 = tokens.iter().sum();
            let mean = |heights: &Vec<f64>| heights.iter().zip(tokens).map(|(h, n)| h * n).sum::<f64>() / sum;
            let documents = volume.documents.get(number * width..(number + 1) * width).unwrap_or_default();
            let all_documents: f64 = documents.iter().sum();
            let length = |(tokens, documents): (&f64, &f64)| match *documents > 0.0 {
                true => tokens / documents * all_documents / sum - 1.0,
                false => 0.0,
            };
            let mut lengths: Vec<f64> = tokens.iter().zip(documents).map(length).collect();
            lengths.resize(width, 0.0);
            Site {
                tokens: tokens.to_vec(),
                sum,
                documents: all_documents,
                lengths,
                centres: std::array::from_fn(|shape| mean(&heights[shape])),
                is_used: is_used(tokens),
            }
        };
        let sites: Vec<Site<N>> = volume.tokens.chunks_exact(width).enumerate().map(site).collect();
        let counted = if lengths_change(&sites, &heights) { Counted::Hits } else { Counted::Documents };
        SiteRegression { bins: volume.bins, sites, heights, counted, shorter_part: None, scratch: Scratch::default() }
    }

    /// The same for the difference of two parts, with the cells with text of each site in the shorter one.
    pub fn of_parts(self, shorter_part: Vec<usize>) -> Self {
        SiteRegression { shorter_part: Some(shorter_part), ..self }
    }

    /// Fits the shapes to the counts of one word, sorted by site and bin.
    pub fn fit(&mut self, cells: &[CellCount]) -> SiteFit<N> {
        self.fit_counted(cells).0
    }

    /// The same, with what was counted.
    pub fn fit_counted(&mut self, cells: &[CellCount]) -> (SiteFit<N>, Counted) {
        let mut scratch = std::mem::take(&mut self.scratch);
        let sum = |count: fn(&CellCount) -> u32| cells.iter().map(|cell| f64::from(count(cell))).sum::<f64>();
        let (hits, documents) = (sum(|cell| cell.hits), sum(|cell| cell.documents));
        let counted = if self.is_common(cells, documents) { Counted::Hits } else { self.counted };
        self.residuals(cells, counted, &mut scratch);
        self.clip(&mut scratch);
        let mut fit = self.fit_shapes(&mut scratch);
        self.scratch = scratch;
        fit.hits = hits;
        fit.clumping = match counted {
            Counted::Hits => bunching(hits, documents),
            Counted::Documents => 1.0,
        };
        (fit, counted)
    }

    /// The tokens of the sites that can show a change.
    pub fn tokens_used(&self) -> f64 {
        self.sites.iter().filter(|site| site.is_used).map(|site| site.sum).sum()
    }

    /// The number of sites that can show a change.
    pub fn sites_used(&self) -> usize {
        self.sites.iter().filter(|site| site.is_used).count()
    }

    /// What is counted: documents with a word if the articles of each site keep their length.
    pub fn counted(&self) -> Counted {
        self.counted
    }

    fn site(&self, number: u32) -> Option<&Site<N>> {
        self.sites.get(number as usize).filter(|site| site.is_used)
    }

    fn is_common(&self, cells: &[CellCount], documents: f64) -> bool {
        let sites = cells.chunk_by(|a, b| a.site == b.site).filter_map(|cells| self.site(cells[0].site));
        let all: f64 = sites.map(|site| site.documents).sum();
        all > 0.0 && documents > COMMON * all
    }

    fn residuals(&self, cells: &[CellCount], counted: Counted, scratch: &mut Scratch) {
        scratch.rows.clear();
        scratch.rates.clear();
        scratch.residuals.clear();
        for cells in cells.chunk_by(|a, b| a.site == b.site) {
            let Some(site) = self.site(cells[0].site) else { continue };
            let start = scratch.residuals.len();
            let sum: f64 = cells.iter().map(|cell| cell.count(counted)).sum();
            let rate = sum / site.sum;
            scratch.rows.push(cells[0].site);
            scratch.rates.push(rate);
            scratch.residuals.extend(site.tokens.iter().map(|tokens| -rate * tokens));
            for cell in cells {
                scratch.residuals[start + cell.bin as usize] += cell.count(counted);
            }
        }
    }

    /// The standard deviations at which residuals are clipped if only few cells of these sites show a difference.
    fn clip_of_few(&self, rows: &[u32]) -> Option<f64> {
        let cells = self.shorter_part.as_ref()?;
        let few = rows.iter().map(|row| cells[*row as usize]).sum::<usize>().max(1) as f64;
        (few < REACH * REACH).then(|| CLIP.max(REACH / few.sqrt()))
    }

    /// Clips residuals and takes their mean out of each site again.
    fn clip(&self, scratch: &mut Scratch) {
        let few = self.clip_of_few(&scratch.rows);
        let Scratch { rows, rates, residuals, ratios, dispersion: kept, .. } = scratch;
        ratios.clear();
        for ((row, rate), residuals) in rows.iter().zip(&*rates).zip(residuals.chunks_exact(self.bins)) {
            let tokens = &self.sites[*row as usize].tokens;
            let cells = residuals.iter().zip(tokens).filter(|(_, tokens)| **tokens > 0.0);
            ratios.extend(cells.map(|(residual, tokens)| residual * residual / (rate * tokens)));
        }
        let dispersion = trimmed_mean(ratios).max(1.0);
        *kept = dispersion;
        let root = few.unwrap_or(CLIP) * dispersion.sqrt();
        for ((row, rate), residuals) in rows.iter().zip(&*rates).zip(residuals.chunks_exact_mut(self.bins)) {
            let site = &self.sites[*row as usize];
            let mut sum = 0.0;
            for (residual, tokens) in residuals.iter_mut().zip(&site.tokens) {
                let most = root * (rate * tokens).sqrt();
                *residual = match few.is_some() && *residual > most {
                    true => residual.min(excess_at(rate * tokens, root)),
                    false => residual.clamp(-most, most),
                };
                sum += *residual;
            }
            let mean = sum / site.sum;
            residuals.iter_mut().zip(&site.tokens).for_each(|(residual, tokens)| *residual -= mean * tokens);
        }
    }

    fn fit_shapes(&self, scratch: &mut Scratch) -> SiteFit<N> {
        let is_decided_by_few = scratch.rows.len() > 1 && self.clip_of_few(&scratch.rows) > Some(CLIP);
        scratch.of_sites.clear();
        let mut sums = vec![0.0; self.bins];
        let mut expected = vec![0.0; self.bins];
        let mut centred: [Vec<f64>; N] = std::array::from_fn(|_| vec![0.0; self.bins]);
        let mut along = [0.0; N];
        let mut square = [0.0; N];
        let mut on = [0.0; N];
        for ((row, rate), residuals) in
            scratch.rows.iter().zip(&scratch.rates).zip(scratch.residuals.chunks_exact(self.bins))
        {
            let site = &self.sites[*row as usize];
            for bin in 0..self.bins {
                sums[bin] += residuals[bin];
                expected[bin] += rate * site.tokens[bin];
            }
            for shape in 0..N {
                let centre = site.centres[shape];
                let (mut a, mut s) = (0.0, 0.0);
                let expected = centre * rate * site.sum;
                for bin in 0..self.bins {
                    let height = self.heights[shape][bin] - centre;
                    let weight = height * rate * site.tokens[bin];
                    a += height * residuals[bin];
                    s += height * weight;
                    centred[shape][bin] += weight;
                }
                along[shape] += a;
                square[shape] += s;
                on[shape] += expected;
                if is_decided_by_few {
                    scratch.of_sites.push(SiteSum { along: a, square: s, expected });
                }
            }
        }
        let bins = expected.iter().filter(|expected| **expected > 0.0).count();
        let freedom = bins as f64 - 2.0;
        if bins < 4 {
            return SiteFit { shapes: [ShapeFit::default(); N], freedom: 0.0, hits: 0.0, clumping: 1.0 };
        }
        let shape = |shape: usize| {
            if square[shape] <= 0.0 {
                return ShapeFit::default();
            }
            let slope = along[shape] / square[shape];
            let mut rest = 0.0;
            for bin in 0..self.bins {
                if expected[bin] > 0.0 {
                    rest += (sums[bin] - slope * centred[shape][bin]).powi(2) / expected[bin];
                }
            }
            let slope = match is_decided_by_few {
                true => tempered(&scratch.of_sites, scratch.dispersion) / square[shape],
                false => slope,
            };
            ShapeFit { slope, information: square[shape], dispersion: rest / freedom, expected: on[shape] }
        };
        SiteFit { shapes: std::array::from_fn(shape), freedom, hits: 0.0, clumping: 1.0 }
    }
}

/// Returns true if articles become longer or shorter within sites, along any of the shapes.
fn lengths_change<const N: usize>(sites: &[Site<N>], heights: &[Vec<f64>; N]) -> bool {
    (0..N).any(|shape| {
        let (mut along, mut square) = (0.0, 0.0);
        for site in sites.iter().filter(|site| site.is_used) {
            for ((height, length), tokens) in heights[shape].iter().zip(&site.lengths).zip(&site.tokens) {
                let height = height - site.centres[shape];
                along += height * length * tokens;
                square += height * height * tokens;
            }
        }
        let range = heights[shape].iter().copied().fold(0.0, f64::max);
        square > 0.0 && (along / square * range).abs() > LENGTH_CHANGE
    })
}

/// The sum of a change over sites, of which the strongest counts no more than the second strongest or a clipped residual:
/// an event of one site is no difference.
fn tempered(sites: &[SiteSum], dispersion: f64) -> f64 {
    let sum: f64 = sites.iter().map(|site| site.along).sum();
    let root = |site: &SiteSum| signed_root(site.expected, site.square, site.along) / dispersion.sqrt() * sum.signum();
    let mut strongest: Option<(f64, SiteSum)> = None;
    let mut second = CLIP;
    for site in sites {
        let root = root(site);
        match strongest {
            Some((most, _)) if root <= most => second = second.max(root),
            _ => {
                second = second.max(strongest.map_or(second, |(most, _)| most));
                strongest = Some((root, *site));
            }
        }
    }
    strongest.map_or(sum, |(_, SiteSum { along, square, expected })| {
        sum - along + excess_within(expected, square, along, second * dispersion.sqrt())
    })
}

/// The mean without the largest values; 0 of nothing.
fn trimmed_mean(values: &mut [f64]) -> f64 {
    let kept = values.len() - (values.len() as f64 * TRIM) as usize;
    if kept < values.len() {
        values.select_nth_unstable_by(kept, f64::total_cmp);
    }
    values[..kept].iter().sum::<f64>() / kept.max(1) as f64
}

/// The fit of one shape.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct ShapeFit {
    /// The change of the rate for each unit of height, relative to the mean rate.
    slope: f64,
    /// The reciprocal variance of the slope, if counts were independent.
    information: f64,
    /// The dispersion of what the shape leaves over.
    dispersion: f64,
    /// The sum of the expected counts, times the height.
    expected: f64,
}

/// The fits of all shapes to one word.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SiteFit<const N: usize> {
    shapes: [ShapeFit; N],
    freedom: f64,
    hits: f64,
    clumping: f64,
}

/// The slope of one shape with its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SlopeEstimate {
    /// The change of the rate for each unit of height, relative to the mean rate.
    pub slope: f64,
    /// Its standard error.
    pub error: f64,
    /// Standard deviations from no change.
    pub z: f64,
    /// The dispersion of the counts of a bin, moderated.
    pub dispersion: f64,
}

impl<const N: usize> SiteFit<N> {
    /// The dispersion of the word, for [`super::moderate::priors`].
    pub fn dispersion(&self) -> Dispersion {
        Dispersion { own: self.shapes[0].dispersion, freedom: self.freedom, clumping: self.clumping, hits: self.hits }
    }

    /// The slope of a shape with the dispersion moderated by a prior; none if there are too few bins.
    pub fn slope(&self, shape: usize, prior: &Prior) -> Option<SlopeEstimate> {
        let fit = &self.shapes[shape];
        if self.freedom <= 0.0 || fit.information <= 0.0 {
            return None;
        }
        let (dispersion, freedom) = prior.moderate(fit.dispersion, &self.dispersion());
        let dispersion = dispersion.max(LEAST_DISPERSION);
        let error = (dispersion / fit.information).sqrt();
        Some(SlopeEstimate { slope: fit.slope, error, z: z_of_student(fit.slope / error, freedom), dispersion })
    }
}

impl SiteFit<1> {
    /// The difference of two parts, whose shape is 1 in one of them. z is the signed root of the deviance, as the counts of a
    /// short part are few and skewed.
    pub fn difference(&self, prior: &Prior) -> Option<SlopeEstimate> {
        let estimate = self.slope(0, prior)?;
        let fit = &self.shapes[0];
        let root = signed_root(fit.expected, fit.information, fit.slope * fit.information);
        let (_, freedom) = prior.moderate(fit.dispersion, &self.dispersion());
        Some(SlopeEstimate { z: z_of_student(root / estimate.dispersion.sqrt(), freedom), ..estimate })
    }
}

/// The fits of the shapes of trends.
pub type TrendFit = SiteFit<{ SHAPES.len() }>;

/// The course of a word within sites, with the change over the whole time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SiteCourse {
    /// The shape that fits best, and its test.
    pub course: Course,
    /// The binary logarithm of the rate at the end by that at the beginning, as the shape fits them.
    pub log_ratio: f64,
    /// Its standard error.
    pub error: f64,
}

impl TrendFit {
    fn course(&self, prior: &Prior) -> SiteCourse {
        let course = |(number, shape): (usize, &Shape)| {
            let estimate = self.slope(number, prior);
            let z = estimate.map_or(0.0, |estimate| estimate.z);
            // A rate that grows by the same share in equal times has the slope of its logarithm near the mean.
            let range = (shape.height(1.0) - shape.height(0.0)) / std::f64::consts::LN_2;
            SiteCourse {
                course: Course { shape: *shape, z, p: (normal_two_sided(z) / shape.share()).min(1.0) },
                log_ratio: estimate.map_or(0.0, |estimate| estimate.slope * range),
                error: estimate.map_or(f64::INFINITY, |estimate| estimate.error * range),
            }
        };
        let courses = SHAPES.iter().enumerate().map(course);
        courses.min_by(|a, b| a.course.p.total_cmp(&b.course.p)).expect("there are three shapes")
    }
}

/// The courses of all words of a vocabulary: words lend each other evidence about their dispersion.
pub fn site_courses(fits: &[TrendFit]) -> Vec<SiteCourse> {
    let dispersions: Vec<Dispersion> = fits.iter().map(TrendFit::dispersion).collect();
    let priors = priors(&dispersions);
    fits.iter().zip(&priors).map(|(fit, prior)| fit.course(prior)).collect()
}
