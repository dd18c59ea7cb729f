//! Dropped pages: the lines of `docs/dropped/DAY.jsonl.zst`.

use std::borrow::Cow;
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::home::Home;
use crate::scan;

/// A dropped page with the rule that dropped it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DroppedPage<'a> {
    /// Its address, as the plan has it.
    pub url: Cow<'a, str>,
    /// The feed that listed it.
    pub feed: Cow<'a, str>,
    /// The title in the feed.
    pub title: Cow<'a, str>,
    /// The time of download.
    pub downloaded: Cow<'a, str>,
    /// The content type that the server named.
    pub content_type: Cow<'a, str>,
    /// Bytes of its body.
    pub bytes: u64,
    /// The name of the rule.
    pub reason: Cow<'a, str>,
    /// The figure that the rule measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<f64>,
    /// The limit of the rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
}

/// Calls `see` with the dropped pages of a day whose lines contain a string. Unreadable lines are skipped.
pub fn dropped_pages(home: &Home, day: &str, words: &str, mut see: impl FnMut(DroppedPage<'_>)) -> Result<()> {
    scan::dropped(home, day, words, |line| {
        if let Ok(page) = serde_json::from_slice(line) {
            see(page);
        }
        ControlFlow::Continue(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> DroppedPage<'static> {
        DroppedPage {
            url: "http://e.org/1".into(),
            feed: "http://e.org/feed".into(),
            title: "Rain".into(),
            downloaded: "2026-03-01T00:00:00.000Z".into(),
            content_type: "text/html".into(),
            bytes: 7,
            reason: "too-short".into(),
            measured: Some(2.0),
            limit: Some(25.0),
        }
    }

    #[test]
    fn the_bytes_of_a_line_are_pinned() {
        let line = r#"{"url":"http://e.org/1","feed":"http://e.org/feed","title":"Rain","downloaded":"2026-03-01T00:00:00.000Z","content_type":"text/html","bytes":7,"reason":"too-short","measured":2.0,"limit":25.0}"#;
        assert_eq!(serde_json::to_string(&page()).unwrap(), line);
        assert_eq!(serde_json::from_str::<DroppedPage<'_>>(line).unwrap(), page());
        let plain = DroppedPage { measured: None, limit: None, ..page() };
        assert!(serde_json::to_string(&plain).unwrap().ends_with("\"reason\":\"too-short\"}"));
    }
}
