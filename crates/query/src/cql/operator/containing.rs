//! `A containing B`: the match has a structure or a match of a pattern in it.

use super::restriction::{RestrictionOperator, TargetMatches};
use super::{Operator, OperatorDoc, Syntax};
use crate::oracle::TokenSpan;
use std::ops::Range;

pub(super) const OPERATOR: Operator = Operator {
    doc: OperatorDoc {
        name: "containing",
        syntax: "A containing B  A !containing B",
        meaning: "Keeps matches of `A` that have a whole structure or a match of `B` inside; `!containing` keeps the others.",
        examples: &[
            (r#"<s/> containing [lemma="market"]"#, "sentences with a form of *market*"),
            (r#"<s/> !containing [tag="VERB"]"#, "sentences without a verb"),
        ],
        templates: &["{pattern} containing {token}", "<s/> !containing ({pattern})"],
    },
    signs: "",
    syntax: Syntax::Other,
};

pub(super) struct Containing;

impl RestrictionOperator for Containing {
    fn relates(&self, hit: TokenSpan, target: TokenSpan) -> bool {
        hit.0 <= target.0 && target.1 <= hit.1
    }

    fn holds_for_structures(&self, hit: &Range<u32>, next_boundary: &dyn Fn(u32) -> u32) -> bool {
        let start = next_boundary(hit.start);
        start < hit.end && next_boundary(start + 1) <= hit.end
    }

    fn holds_for_matches(&self, hit: &Range<u32>, matches: &TargetMatches) -> bool {
        let starts = matches.index(hit.start)..matches.index(hit.end);
        matches.nearest_end[starts].iter().any(|end| *end <= hit.end)
    }
}
