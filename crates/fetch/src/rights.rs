//! Statements of a publisher about the use of a page, stored as evidence. They are interpreted at export, when the
//! purpose is known.

use std::collections::BTreeMap;

use http::HeaderMap;
use serde_json::Value;

use tidings_model::{AGENT, RobotsDirectives};

use crate::robots::matches;

/// Headers about rights.
const RIGHTS_HEADERS: &[&str] = &[
    "tdm-reservation",
    "tdm-policy",
    "x-robots-tag",
    "content-usage",
    "content-signal",
    "permissions-policy-ai",
    "license",
];

/// Headers for later stages: dates, language, caching, links.
const USEFUL_HEADERS: &[&str] = &["last-modified", "etag", "date", "content-language", "link", "server", "age"];

/// Longest header value that is kept.
const MAX_VALUE_BYTES: usize = 2048;

/// The directives of `X-Robots-Tag` for all agents and for ours.
pub fn robots_directives(headers: &HeaderMap) -> RobotsDirectives {
    let values = headers.get_all("x-robots-tag").iter().filter_map(|value| value.to_str().ok());
    RobotsDirectives::of_header(values, AGENT)
}

fn pick(headers: &HeaderMap, names: &[&str]) -> BTreeMap<String, String> {
    let mut picked = BTreeMap::new();
    for name in names {
        let values: Vec<String> =
            headers.get_all(*name).iter().map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).collect();
        if !values.is_empty() {
            let mut joined = values.join(", ");
            joined.truncate(joined.floor_char_boundary(MAX_VALUE_BYTES));
            picked.insert((*name).to_owned(), joined);
        }
    }
    picked
}

/// Selects the headers about rights.
pub fn of_headers(headers: &HeaderMap) -> BTreeMap<String, String> {
    pick(headers, RIGHTS_HEADERS)
}

/// Selects the headers that are stored with a page.
pub fn useful(headers: &HeaderMap) -> BTreeMap<String, String> {
    pick(headers, USEFUL_HEADERS)
}

/// The rules of a `/.well-known/tdmrep.json`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TdmRules(Vec<TdmRule>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct TdmRule {
    location: Box<str>,
    reservation: Option<String>,
    policy: Option<String>,
}

/// Most rules that are read from a file.
const MAX_TDM_RULES: usize = 1000;

impl TdmRules {
    /// Parses the file; invalid parts are ignored.
    pub fn parse(bytes: &[u8]) -> TdmRules {
        let rules = match serde_json::from_slice(bytes) {
            Ok(Value::Array(rules)) => rules,
            _ => return TdmRules::default(),
        };
        let text = |rule: &Value, key: &str| match rule.get(key)? {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        let read = |rule: &Value| {
            Some(TdmRule {
                location: text(rule, "location")?.into_boxed_str(),
                // Other values than 0 and 1 count as unset.
                reservation: text(rule, "tdm-reservation").filter(|value| value == "0" || value == "1"),
                policy: text(rule, "tdm-policy"),
            })
        };
        TdmRules(rules.iter().take(MAX_TDM_RULES).filter_map(read).collect())
    }

    /// Reservation and policy of a path: those of the first rule that matches.
    pub fn of(&self, path: &str) -> (Option<String>, Option<String>) {
        match self.0.iter().find(|rule| matches(&rule.location, path)) {
            Some(rule) => (rule.reservation.clone(), rule.policy.clone()),
            None => (None, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_matching_tdm_rule_applies() {
        let rules = TdmRules::parse(
            br#"[{"location":"/free/","tdm-reservation":0},{"location":"/*","tdm-reservation":1,"tdm-policy":"https://e.org/p"}]"#,
        );
        assert_eq!(rules.of("/free/a"), (Some("0".into()), None));
        assert_eq!(rules.of("/a"), (Some("1".into()), Some("https://e.org/p".into())));
        assert_eq!(TdmRules::parse(b"{}").of("/"), (None, None));
        assert_eq!(TdmRules::parse(br#"[{"location":"/","tdm-reservation":7}]"#).of("/"), (None, None));
    }
}
