//! Inputs in object stores: an object, all objects below a prefix, or those that match a pattern.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use glob::{MatchOptions, Pattern};
use tidings_storage::ObjectUrl;
use tidings_storage::objects::{Bucket, about};

use crate::extract::glob::is_pattern;

/// `*` stays within a part of a key, as in paths.
const MATCHING: MatchOptions =
    MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: false };

/// Objects that an argument stands for.
#[derive(Debug, PartialEq, Eq)]
pub enum Listed {
    /// This one, which was named.
    One(PathBuf),
    /// All below a prefix, or all that match a pattern, by key.
    Many(Vec<PathBuf>),
}

/// The objects of an argument such as `s3://bucket/prefix/*.warc.gz`; `None` if it is a local path.
pub fn expand(argument: &Path) -> Result<Option<Listed>> {
    let Some(text) = argument.to_str() else { return Ok(None) };
    let Some(url) = ObjectUrl::parse(text) else { return Ok(None) };
    let url = url.map_err(|fault| anyhow!(fault))?;
    let bucket = about(Bucket::of(&url), "open", &url)?;
    let exists = || Ok::<_, anyhow::Error>(about(bucket.stat(&url.key), "inspect", &url)?.is_some());
    if is_pattern(&url.key) && !exists()? {
        let listed = about(bucket.list(fixed_prefix(&url.key)), "list", &url)?;
        let keys = listed.into_iter().map(|object| object.key).collect();
        let found = matching(&url.key, keys)?;
        if found.is_empty() {
            bail!("{text}: no object matches");
        }
        return Ok(Some(Listed::Many(paths(&url, found))));
    }
    // A slash at the end says that a prefix is meant.
    if !url.key.is_empty() && !text.ends_with('/') && exists()? {
        return Ok(Some(Listed::One(url.to_path())));
    }
    let found: Vec<String> = about(bucket.list(&url.key), "list", &url)?.into_iter().map(|object| object.key).collect();
    if found.is_empty() {
        bail!("{text} not found: there is no such object, and none below it");
    }
    Ok(Some(Listed::Many(paths(&url, found))))
}

fn paths(url: &ObjectUrl, keys: Vec<String>) -> Vec<PathBuf> {
    keys.into_iter().map(|key| url.with_key(&key).to_path()).collect()
}

/// The parts of a pattern before the first with a wildcard: only objects below them are listed.
fn fixed_prefix(pattern: &str) -> &str {
    let wild = pattern.find(['*', '?', '[']).unwrap_or(pattern.len());
    pattern[..wild].rfind('/').map_or("", |slash| &pattern[..slash])
}

/// The keys that match a pattern.
fn matching(pattern: &str, mut keys: Vec<String>) -> Result<Vec<String>> {
    let compiled = Pattern::new(pattern).with_context(|| format!("`{pattern}` is not a valid pattern"))?;
    keys.retain(|key| compiled.matches_with(key, MATCHING));
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prefix_of_a_pattern_has_whole_parts() {
        for (pattern, prefix) in [
            ("crawl/2026/CC-NEWS-*.warc.gz", "crawl/2026"),
            ("crawl/*/wet/*.gz", "crawl"),
            ("*.warc.gz", ""),
            ("a/b?", "a"),
            ("a/b/c", "a/b"),
        ] {
            assert_eq!(fixed_prefix(pattern), prefix);
        }
    }

    #[test]
    fn a_star_stays_within_a_part_and_two_cross_parts() {
        let keys = || ["a/1.warc.gz", "a/1.txt", "a/b/2.warc.gz", "ab/3.warc.gz"].map(str::to_owned).to_vec();
        assert_eq!(matching("a/*.warc.gz", keys()).unwrap(), ["a/1.warc.gz"]);
        assert_eq!(matching("a/**/*.warc.gz", keys()).unwrap(), ["a/1.warc.gz", "a/b/2.warc.gz"]);
        assert_eq!(matching("a/[0-9].*", keys()).unwrap(), ["a/1.warc.gz", "a/1.txt"]);
        assert!(matching("a/[", keys()).is_err());
    }

    #[test]
    fn local_paths_are_no_objects_and_bad_addresses_are_errors() {
        assert_eq!(expand(Path::new("crawl/*.warc.gz")).unwrap(), None);
        assert!(expand(Path::new("s3:///x")).unwrap_err().to_string().contains("names no bucket"));
    }
}
