//! Pages, samples and sorting of concordances.

use super::{Hit, Limits, Order, Result, Search};
use crate::question::{Exactness, Line, SortKey, sort_lines};

/// The maximum number of hits to sort; of more hits a sample is sorted, and the answer says so.
pub const MOST_SORTED: usize = 200_000;

/// The selection and order of the lines of a concordance.
#[derive(Debug, Clone, Default)]
pub struct View {
    /// The order by date, if lines are not sorted.
    pub order: Order,
    /// The sort keys.
    pub sort: Vec<SortKey>,
    /// The size of a random sample instead of a page.
    pub sample: Option<usize>,
    /// The seed of the sample.
    pub seed: u64,
    /// The first line of the page.
    pub first: usize,
    /// The number of lines of the page.
    pub size: usize,
}

impl Search<'_> {
    /// The lines of a view, and whether they are a sample. Check [`Limits::cut_off`]: lines may be missing.
    pub fn view(&self, view: &View, context: u32, fields: &[&str], limits: &Limits) -> Result<(Vec<Line>, Exactness)> {
        let (hits, exactness) = self.hits_of(view, limits);
        let mut needed = fields.to_vec();
        for key in &view.sort {
            if let SortKey::Field(name) = key
                && !needed.contains(&name.as_str())
            {
                needed.push(name);
            }
        }
        let mut lines = self.engine().lines(&hits, context, &needed)?;
        if !view.sort.is_empty() {
            sort_lines(&mut lines, &view.sort);
            if view.sample.is_none() {
                lines = lines.into_iter().skip(view.first).take(view.size).collect();
            }
        }
        Ok((lines, exactness))
    }

    fn hits_of(&self, view: &View, limits: &Limits) -> (Vec<Hit>, Exactness) {
        let size = match view.sample {
            Some(size) => size.min(MOST_SORTED),
            None if !view.sort.is_empty() => MOST_SORTED,
            None => return (self.page(view.order, view.first, view.size, limits).0, Exactness::Exact),
        };
        let (hits, _) = self.sample(size, view.seed, limits);
        let of_hits = self.count(limits).hits;
        let number = hits.len() as u64;
        let exactness = match number < of_hits && limits.cut_off().is_none() {
            true => Exactness::Sample { hits: number, of_hits, seed: view.seed },
            false => Exactness::Exact,
        };
        (hits, exactness)
    }
}
