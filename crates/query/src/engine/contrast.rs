//! Pairs of subcorpora to compare.

use super::{Engine, Result, Subcorpus};
use crate::filter::Filter;

/// A focus and a reference subcorpus.
#[derive(Debug, Clone)]
pub struct ContrastOf<'a> {
    /// The filter of the focus.
    pub focus: &'a Filter,
    /// The filter of the reference; by default all other documents.
    pub reference: Option<&'a Filter>,
    /// A filter on both.
    pub within: Option<&'a Filter>,
    /// True to use only sites that have documents in both, so that new feeds do not look like new words.
    pub panel: bool,
}

impl Engine {
    /// The focus and the reference subcorpus.
    pub fn contrast(&self, asked: &ContrastOf<'_>) -> Result<(Subcorpus, Subcorpus)> {
        let complement = asked.focus.complement();
        let reference = asked.reference.unwrap_or(&complement);
        let both = |within: Option<&Filter>| -> Result<(Subcorpus, Subcorpus)> {
            let subcorpus = |own: &Filter| self.subcorpus(Filter::both(within.cloned(), Some(own.clone())).as_ref());
            Ok((subcorpus(asked.focus)?, subcorpus(reference)?))
        };
        let (focus, reference) = both(asked.within)?;
        match asked.panel {
            true => both(Filter::both(asked.within.cloned(), Some(self.panel_of_two(&focus, &reference))).as_ref()),
            false => Ok((focus, reference)),
        }
    }
}
