//! `A within B`: the match lies in one sentence, paragraph, document or match of a pattern.

use super::restriction::{RestrictionOperator, TargetMatches};
use super::{Operator, OperatorDoc, Syntax};
use crate::oracle::TokenSpan;
use std::ops::Range;

pub(super) const OPERATOR: Operator = Operator {
    doc: OperatorDoc {
        name: "within",
        syntax: "A within <s/>  A within B  A within 3 s  A within 5 words  A !within B",
        meaning: "Keeps matches of `A` that lie inside one structure or inside one match of `B`; `!within` keeps the others. \
            `within s` is the same as `within <s/>`. `within 3 s` keeps matches that touch at most three sentences, `within 5 words` \
            those of at most five tokens.",
        examples: &[
            (r#""but" []* "though" within <s/>"#, "both words in one sentence"),
            (r#"[lemma="the"] !within <doc topic=sport/>"#, "*the* outside of sport"),
        ],
        templates: &[
            "{pattern} within 2 s",
            "{pattern} !within 2 p",
            "{pattern} within 3 words",
            "{pattern} within <s/>",
            "{pattern} !within ({pattern})",
        ],
    },
    signs: "",
    syntax: Syntax::Other,
};

pub(super) struct Within;

impl RestrictionOperator for Within {
    fn relates(&self, hit: TokenSpan, target: TokenSpan) -> bool {
        target.0 <= hit.0 && hit.1 <= target.1
    }

    fn holds_for_structures(&self, hit: &Range<u32>, next_boundary: &dyn Fn(u32) -> u32) -> bool {
        next_boundary(hit.start + 1) >= hit.end
    }

    fn holds_for_matches(&self, hit: &Range<u32>, matches: &TargetMatches) -> bool {
        matches.farthest_end[matches.index(hit.start)] >= hit.end
    }

    fn keeps_inside(&self) -> bool {
        true
    }
}
