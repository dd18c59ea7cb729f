//! The plan of a search, for `--explain`.

use serde::Serialize;

/// The plan of a search, a line for each token test and segment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// The lines.
    pub explain: Vec<String>,
}

impl std::fmt::Display for Explanation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.explain.join("\n"))
    }
}
