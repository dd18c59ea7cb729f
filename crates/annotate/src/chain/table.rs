//! Table of the annotators of further layers.

use super::{Gives, Input, LayerAnnotator, LayerTable, Need};
use crate::layers::{foreign, names, quotations};

/// The annotators of further layers that settings can name. Adding one is a row here; CONTRIBUTING.md has the recipe.
pub const LAYERS: &[LayerAnnotator] = &[
    // The order of rows is the order in which annotators run and columns are written, except that an annotator runs
    // after those whose layers it reads.
    LayerAnnotator {
        name: "names",
        version: names::VERSION,
        needs: &[Need::Optional(Input::Tags), Need::Optional(Input::Lemmas), Need::Optional(Input::Features)],
        gives: Gives::Spans(&[names::SPAN], names::names),
        // Reporting verbs are no names.
        tables: &[LayerTable::Names, LayerTable::Quotations],
    },
    LayerAnnotator {
        name: quotations::NAME,
        version: quotations::VERSION,
        needs: &[
            Need::Optional(Input::Tags),
            Need::Optional(Input::Lemmas),
            // Speakers have their full names.
            Need::Optional(Input::Layer("names")),
        ],
        gives: Gives::Spans(&[quotations::QUOTE, quotations::SPEAKER], quotations::quotations),
        // Titles and organisations can speak.
        tables: &[LayerTable::Names, LayerTable::Quotations],
    },
    LayerAnnotator {
        name: "foreign",
        version: foreign::VERSION,
        needs: &[],
        gives: Gives::Spans(&[foreign::SPAN], foreign::foreign),
        tables: &[],
    },
];
