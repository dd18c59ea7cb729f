//! Hard exclusion rules for containers that are never part of the article.
//!
//! The forests predict; a rule overrides them, so it must be right almost always, which is measured
//! on held-out domains. A rule names a kind of container and the condition under which it holds. No
//! rule removes the only text of a page: each compares the text inside with the text outside.

use super::containers::Container;
use super::evidence::{ElementRole, IdentityState, group_index};
use super::features::FeatureMatrix;
use super::words::{WordSet, each_trigram};

/// A kind of container whose blocks are excluded.
pub struct ExclusionRule {
    /// Name of the rule.
    pub name: &'static str,
    /// Reason for the exclusion.
    pub because: &'static str,
    /// Returns whether a container is of this kind, by its own names and attributes.
    is_kind: fn(&FeatureMatrix, usize) -> bool,
    /// Returns whether a container of this kind is to be excluded.
    applies: fn(&PageMass<'_>, usize) -> bool,
}

/// All rules, in order of evaluation.
pub const RULES: &[ExclusionRule] = &[
    ExclusionRule {
        name: "comments",
        because: "reader comments are not part of the article, except in forums",
        is_kind: |matrix, at| matrix.containers[at].own.has_role(ElementRole::Comments),
        applies: |page, at| {
            !page.matrix.page_hints.forum && !page.holds_headline(at) && page.outside(at) >= MIN_ARTICLE_WORDS
        },
    },
    ExclusionRule {
        name: "hidden",
        because: "text that readers do not see is a copy, a template or a dialog, unless it is most of the page",
        is_kind: |matrix, at| matrix.containers[at].own.has_role(ElementRole::Concealed),
        applies: |page, _| page.concealed <= page.all * MAX_HIDDEN_SHARE,
    },
    ExclusionRule {
        name: "author-box",
        because: "a biography of the author is not part of the article",
        is_kind: |matrix, at| {
            let Container { own, near, .. } = &matrix.containers[at];
            own.kinds & AUTHOR_BOX == AUTHOR_BOX && !near.role(ElementRole::Header)
        },
        applies: |page, at| page.inside(at) <= page.all * MAX_BOX_SHARE,
    },
];

/// Names of both groups: the author, and a few sentences about them.
const AUTHOR_BOX: u128 = 1 << group_index("bio") | 1 << group_index("byline");
/// Expected number of article words outside the comments from which on they are excluded.
const MIN_ARTICLE_WORDS: f32 = 30.0;
/// Maximum share of the expected article words in hidden containers.
const MAX_HIDDEN_SHARE: f32 = 0.5;
/// Maximum share of the expected article words in an author box.
const MAX_BOX_SHARE: f32 = 0.3;

/// Expected numbers of article words in the containers of a page.
struct PageMass<'m> {
    matrix: &'m FeatureMatrix,
    /// For each container, its words weighted by their probability.
    words: Vec<f32>,
    all: f32,
    /// Words in hidden containers.
    concealed: f32,
    /// The containers around the headline.
    around_headline: Vec<u32>,
}

impl PageMass<'_> {
    fn of<'m>(matrix: &'m FeatureMatrix, p: &[f32]) -> PageMass<'m> {
        let mut words = vec![0.0; matrix.containers.len()];
        let (mut all, mut concealed) = (0.0, 0.0);
        for (row, p) in p.iter().enumerate() {
            let mass = matrix.words[row].count * p;
            all += mass;
            if matrix.containers[matrix.innermost[row] as usize].near.role(ElementRole::Concealed) {
                concealed += mass;
            }
            for at in matrix.around(row) {
                words[at as usize] += mass;
            }
        }
        let around_headline = matrix.headline.map(|row| matrix.around(row).collect()).unwrap_or_default();
        PageMass { matrix, words, all, concealed, around_headline }
    }

    fn inside(&self, at: usize) -> f32 {
        self.words[at]
    }

    fn outside(&self, at: usize) -> f32 {
        self.all - self.words[at]
    }

    fn holds_headline(&self, at: usize) -> bool {
        self.around_headline.contains(&(at as u32))
    }
}

/// The rules that exclude each block; `None` for blocks that no rule excludes.
pub fn exclusions(matrix: &FeatureMatrix, p: &[f32]) -> Vec<Option<&'static ExclusionRule>> {
    let page = PageMass::of(matrix, p);
    let mut by_container: Vec<Option<&'static ExclusionRule>> = Vec::with_capacity(matrix.containers.len());
    for (at, container) in matrix.containers.iter().enumerate() {
        // Parents come before children, and the root is its own parent.
        let inherited = by_container.get(container.parent as usize).copied().flatten();
        let own = || RULES.iter().find(|rule| (rule.is_kind)(matrix, at) && (rule.applies)(&page, at));
        by_container.push(inherited.or_else(own));
    }
    let mut excluded: Vec<_> = matrix.innermost.iter().map(|at| by_container[*at as usize]).collect();
    exclude_hidden_copies(matrix, p, &mut excluded);
    excluded
}

/// Excludes hidden text that the page also shows, even if it is most of the page.
fn exclude_hidden_copies(matrix: &FeatureMatrix, p: &[f32], excluded: &mut [Option<&'static ExclusionRule>]) {
    let is_hidden = |row: usize| matrix.containers[matrix.innermost[row] as usize].near.role(ElementRole::Hidden);
    let hidden: Vec<usize> = (0..p.len()).filter(|row| excluded[*row].is_none() && is_hidden(*row)).collect();
    if hidden.is_empty() {
        return;
    }
    let mut shown = WordSet::with_hasher(IdentityState);
    for row in (0..p.len()).filter(|row| !is_hidden(*row)) {
        each_trigram(matrix.blocks.list[row].text(&matrix.blocks), |run| {
            shown.insert(run);
        });
    }
    let rule = RULES.iter().find(|rule| rule.name == "hidden");
    for row in hidden {
        let (mut all, mut known) = (0u32, 0u32);
        each_trigram(matrix.blocks.list[row].text(&matrix.blocks), |run| {
            all += 1;
            known += u32::from(shown.contains(&run));
        });
        if all > 0 && known * 10 >= all * 8 {
            excluded[row] = rule;
        }
    }
}
