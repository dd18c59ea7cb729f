//! Two parts of a corpus beside each other.

use super::{Engine, Result, Subcorpus};
use crate::filter::Filter;

/// Two virtual corpora that are compared.
#[derive(Debug, Clone)]
pub struct ContrastOf<'a> {
    /// The documents in focus.
    pub focus: &'a Filter,
    /// The documents they are compared with; all others if nothing is said.
    pub reference: Option<&'a Filter>,
    /// A filter that holds for both.
    pub within: Option<&'a Filter>,
    /// Whether only sites count that have documents in both parts, so that new feeds do not look like new words.
    pub panel: bool,
}

impl Engine {
    /// The documents in focus and those they are compared with.
    pub fn contrast(&self, asked: &ContrastOf<'_>) -> Result<(Subcorpus, Subcorpus)> {
        let complement = asked.focus.complement();
        let reference = asked.reference.unwrap_or(&complement);
        let parts = |within: Option<&Filter>| -> Result<(Subcorpus, Subcorpus)> {
            let part = |own: &Filter| self.subcorpus(Filter::both(within.cloned(), Some(own.clone())).as_ref());
            Ok((part(asked.focus)?, part(reference)?))
        };
        let (focus, reference) = parts(asked.within)?;
        match asked.panel {
            true => parts(Filter::both(asked.within.cloned(), Some(self.panel_of_two(&focus, &reference))).as_ref()),
            false => Ok((focus, reference)),
        }
    }
}
