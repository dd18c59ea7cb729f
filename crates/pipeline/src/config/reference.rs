//! The reference of all settings, and the settings in force, for people and programs.

use std::fmt;

use serde::Serialize;
use tidings_store::Home;

use super::{Config, TEMPLATE};
use crate::outcome::Outcome;

/// The settings in force in a home.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InForce {
    /// Always true: they could be read.
    pub done: bool,
    /// The home.
    pub home: String,
    /// Its settings with the environment put over them.
    pub config: Config,
    #[serde(skip)]
    text: String,
}

impl InForce {
    /// The settings of a home.
    pub fn new(home: &Home, config: Config) -> anyhow::Result<InForce> {
        let text = format!("# {}\n{}", home.settings().display(), toml::to_string(&config)?);
        Ok(InForce { done: true, home: home.root().display().to_string(), config, text })
    }
}

impl Outcome for InForce {}

impl fmt::Display for InForce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Introduces the reference.
const INTRODUCTION: &str = "# Every setting\n\nThe file `tidings.toml` of a home has a table for each part of the pipeline. \
    A key that is not there has the default that is shown here. An environment\nvariable wins over the file: \
    `TIDINGS_FETCH_CONCURRENCY=100`. `tidings config` prints what is in force; a key that does not exist is an error.\n\n\
    This page is made by `tidings config --reference`.\n";

/// Every setting as a page of Markdown, made of the comments of the settings file that `init` writes.
pub fn reference() -> String {
    let mut page = INTRODUCTION.to_owned();
    let (mut comment, mut keys) = (String::new(), String::new());
    // The comment on the file itself stands before the first table.
    let tables = TEMPLATE.lines().skip_while(|line| !line.starts_with('['));
    for line in tables.chain([""]) {
        if let Some(key) = line.strip_prefix('#').filter(|rest| !rest.starts_with(' ')) {
            keys += &format!("{key}\n");
        } else if let Some(words) = line.strip_prefix("# ") {
            comment += &format!("{words}\n");
        } else {
            if !keys.is_empty() {
                page += &format!("\n{comment}\n```toml\n{keys}```\n");
            } else if !comment.is_empty() {
                page += &format!("\n{comment}");
            }
            comment.clear();
            keys.clear();
            if line.starts_with('[') {
                page += &format!("\n## `{line}`\n");
            }
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_about_settings_is_up_to_date() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/SETTINGS.md");
        let made = reference();
        let kept = std::fs::read_to_string(path).unwrap_or_default();
        assert!(made == kept, "write it anew: tidings config --reference >docs/SETTINGS.md");
        let keys = TEMPLATE.lines().filter(|line| line.starts_with('#') && !line.starts_with("# ")).count();
        assert!(keys > 50 && made.matches(" = ").count() >= keys, "every key is on the page");
    }

    #[test]
    fn the_settings_in_force_are_toml_under_the_name_of_their_file() {
        let folder = tempfile::tempdir().unwrap();
        Home::create(folder.path(), TEMPLATE, "").unwrap();
        let home = Home::at(folder.path()).unwrap();
        let text = InForce::new(&home, Config::default()).unwrap().to_string();
        let (name, settings) = text.split_once('\n').unwrap();
        assert_eq!(name, format!("# {}", home.settings().display()));
        assert_eq!(toml::from_str::<Config>(settings).unwrap(), Config::default());
    }
}
