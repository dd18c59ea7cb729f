//! The robots.txt of a site and its evaluation.
//!
//! Every request is compared with the current rules, so that tests can check the number of disallowed requests. Only
//! the group for all robots (`User-agent: *`) is read, because the name of the client is unknown.

use std::time::Duration;

/// The rules of a robots.txt for every robot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Patterns, and whether they allow.
    paths: Vec<(String, bool)>,
    /// The delay between two requests.
    pub delay: Option<Duration>,
}

impl Rules {
    /// Reads the group for all robots.
    pub fn read(text: &str) -> Self {
        let mut rules = Rules::default();
        let (mut ours, mut in_names) = (false, false);
        for line in text.lines() {
            let line = line.split('#').next().unwrap_or_default();
            let Some((name, value)) = line.split_once(':') else {
                continue;
            };
            let (name, value) = (name.trim().to_ascii_lowercase(), value.trim());
            if name == "user-agent" {
                // Consecutive names share one group.
                ours = (in_names && ours) || value == "*";
                in_names = true;
                continue;
            }
            in_names = false;
            match name.as_str() {
                "allow" | "disallow" if ours && !value.is_empty() => {
                    rules.paths.push((value.to_string(), name == "allow"));
                }
                "crawl-delay" if ours => {
                    rules.delay = value.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
                }
                _ => {}
            }
        }
        rules
    }

    /// Whether a robot may request the path. The longest pattern decides, and a tie allows.
    pub fn allow(&self, path: &str) -> bool {
        if path == "/robots.txt" {
            return true;
        }
        let matching = self.paths.iter().filter(|(pattern, _)| matches(pattern, path));
        matching.max_by_key(|(pattern, allows)| (pattern.len(), *allows)).is_none_or(|(_, allows)| *allows)
    }
}

/// Compares a path with a pattern, in which `*` matches anything and a final `$` the end.
fn matches(pattern: &str, path: &str) -> bool {
    let (pattern, to_the_end) = match pattern.strip_suffix('$') {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let mut pieces = pattern.split('*');
    let Some(mut rest) = path.strip_prefix(pieces.next().unwrap_or_default()) else {
        return false;
    };
    let mut last = None;
    for piece in pieces {
        let Some(at) = rest.find(piece) else {
            return false;
        };
        rest = &rest[at + piece.len()..];
        last = Some(piece);
    }
    !to_the_end || rest.is_empty() || last.is_some_and(|piece| rest.ends_with(piece))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_pattern_decides() {
        let rules =
            Rules::read("User-agent: *\nDisallow: /a\nAllow: /a/b # but\nDisallow: /*.pdf$\nCrawl-delay: 2.5\n");
        assert!(!rules.allow("/a/c"));
        assert!(rules.allow("/a/b/c"));
        assert!(!rules.allow("/x/y.pdf"));
        assert!(rules.allow("/x/y.pdf?z"));
        assert!(rules.allow("/robots.txt"));
        assert_eq!(rules.delay, Some(Duration::from_millis(2500)));
    }

    #[test]
    fn other_groups_are_ignored() {
        let rules = Rules::read("User-agent: Badbot\nDisallow: /\n\nUser-agent: x\nUser-agent: *\nDisallow: /y\n");
        assert!(rules.allow("/a"));
        assert!(!rules.allow("/y"));
    }

    #[test]
    fn an_empty_rule_forbids_nothing() {
        assert!(Rules::read("User-agent: *\nDisallow:\n").allow("/a"));
    }
}
