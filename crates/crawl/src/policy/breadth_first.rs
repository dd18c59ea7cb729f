//! All domains in turn, none is ever closed.

use super::{ArmView, Choice, Closing, DomainView, Evidence, PageWorth, Policy};

/// Breadth-first order: the domain that waited longest is next.
#[derive(Debug, Clone, Copy)]
pub struct BreadthFirst;

impl Policy for BreadthFirst {
    fn choose(&mut self, domain: &DomainView<'_>, _: &[ArmView]) -> Choice {
        Choice { priority: -(domain.turn as f64), arm: 0 }
    }

    fn learn(&mut self, _: &DomainView<'_>, _: &PageWorth) {}

    fn closes(&self, _: &DomainView<'_>, _: &Evidence) -> Option<Closing> {
        None
    }
}
