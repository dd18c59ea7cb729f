//! Table of the annotators of further layers.

use super::LayerAnnotator;

/// The annotators of further layers that settings can name. Adding one is a row here; CONTRIBUTING.md has the recipe.
pub const LAYERS: &[LayerAnnotator] = &[
    // The order of rows is the order in which annotators run and columns are written, except that an annotator runs
    // after those whose layers it reads.
];
