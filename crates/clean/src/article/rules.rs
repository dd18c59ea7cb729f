//! Hard exclusion rules for containers that are never part of the article.
//!
//! The forests predict; a rule overrides them, so it must be right almost always, which is measured
//! on held-out domains. Each rule has a reason and a page in `fixtures/pages` that motivated it.

use super::evidence::{ElementRole, GROUPS};
use super::features::FeatureMatrix;

/// A kind of container whose blocks are excluded.
pub struct ExclusionRule {
    /// Name of the rule.
    pub name: &'static str,
    /// Reason for the exclusion.
    pub because: &'static str,
    /// Returns whether a block lies in such a container.
    applies: fn(&BlockContext<'_>) -> bool,
}

/// All rules, in order of evaluation.
pub const RULES: &[ExclusionRule] = &[ExclusionRule {
    name: "author-box",
    because: "a biography of the author is not part of the article",
    applies: |place| place.is_named(&["bio", "byline"], 3) && !place.role(ElementRole::Header),
}];

/// Returns the first rule that excludes a block.
pub fn excluded_by(matrix: &FeatureMatrix, row: usize) -> Option<&'static ExclusionRule> {
    let place = BlockContext { matrix, row };
    RULES.iter().find(|rule| (rule.applies)(&place))
}

struct BlockContext<'a> {
    matrix: &'a FeatureMatrix,
    row: usize,
}

impl BlockContext<'_> {
    /// Returns whether one of the `levels` innermost containers has names of all given groups.
    fn is_named(&self, groups: &[&str], levels: usize) -> bool {
        let bits = groups.iter().filter_map(|group| GROUPS.iter().position(|known| known.name == *group));
        let wanted = bits.fold(0u128, |bits, place| bits | 1 << place);
        let mut at = self.matrix.innermost[self.row];
        (0..levels).any(|_| {
            let around = &self.matrix.containers[at as usize];
            at = around.parent;
            around.own.kinds & wanted == wanted
        })
    }

    fn role(&self, role: ElementRole) -> bool {
        self.matrix.containers[self.matrix.innermost[self.row] as usize].near.role(role)
    }
}
