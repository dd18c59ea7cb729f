//! Named rules of well-known corpora and tools.

use crate::rule::{Level, Levels, Rule};

/// A named rule.
#[derive(Debug, Clone, Copy)]
pub struct Preset {
    /// Its name in settings and on the command line.
    pub name: &'static str,
    /// The rule.
    pub rule: Rule,
    /// Its origin.
    pub because: &'static str,
}

const fn level(level: Level) -> Levels {
    Levels::one(level)
}

/// The default rule.
pub(crate) const TIDINGS: Rule = Rule { ngram: 5, threshold: 0.5, smoothing: 20, levels: level(Level::Paragraph) };

/// All presets.
pub const PRESETS: [Preset; 4] = [
    Preset {
        name: "tidings",
        rule: TIDINGS,
        because: "best on the benchmark generator: finds edited paragraphs, keeps quotations",
    },
    Preset {
        name: "onion",
        rule: Rule { ngram: 7, threshold: 0.5, smoothing: 20, levels: level(Level::Paragraph) },
        because: "the default of Onion, used by SpiderLing",
    },
    Preset {
        name: "aranea",
        rule: Rule { ngram: 5, threshold: 0.9, smoothing: 0, levels: level(Level::Paragraph) },
        because: "5-grams, 0.9, no smoothing, as in the Aranea corpora",
    },
    Preset {
        name: "now",
        rule: Rule { ngram: 11, threshold: 0.5, smoothing: 0, levels: level(Level::Document) },
        because: "whole articles by shared 11-grams, as in the NOW corpus (with the scope `month`)",
    },
];

/// Looks up a preset by name.
pub fn preset(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}
