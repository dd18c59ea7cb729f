//! Every key by its name: in the environment, and when it was misspelt.

use std::path::Path;

use anyhow::{Result, bail};

use super::Config;

/// `TIDINGS_TABLE_KEY` for every key there is.
pub(super) fn override_from(table: &mut toml::Table, environment: &dyn Fn(&str) -> Option<String>) -> Result<()> {
    for (folder, key) in keys() {
        let name = variable(&folder, &key);
        let Some(text) = environment(&name) else { continue };
        // What is no TOML value by itself is text.
        let value = match format!("value = {text}").parse::<toml::Table>() {
            Ok(mut parsed) => parsed.remove("value").unwrap_or(toml::Value::String(text)),
            Err(_) => toml::Value::String(text),
        };
        let mut place = &mut *table;
        for part in folder {
            let inner = place.entry(part).or_insert_with(|| toml::Value::Table(toml::Table::new()));
            let Some(inner) = inner.as_table_mut() else { bail!("{name}: the settings have no table for it") };
            place = inner;
        }
        place.insert(key, value);
    }
    Ok(())
}

fn variable(folder: &[String], key: &str) -> String {
    format!("TIDINGS_{}_{key}", folder.join("_")).to_ascii_uppercase()
}

/// The variables of the environment that win over the file.
pub fn variables() -> Vec<String> {
    keys().iter().map(|(folder, key)| variable(folder, key)).collect()
}

/// Every key there is, with the names of the tables that it is in.
fn keys() -> Vec<(Vec<String>, String)> {
    fn walk(table: &toml::Table, folder: &[String], found: &mut Vec<(Vec<String>, String)>) {
        for (key, value) in table {
            match value.as_table() {
                Some(inner) => walk(inner, &[folder, std::slice::from_ref(key)].concat(), found),
                None => found.push((folder.to_vec(), key.clone())),
            }
        }
    }
    let known = toml::Table::try_from(Config::default()).expect("the defaults are a table");
    let mut found = Vec::new();
    walk(&known, &[], &mut found);
    found
}

/// Names the line of a fault and, for a misspelt key, what was probably meant.
pub(super) fn explain(path: &Path, text: &str, error: &toml::de::Error) -> String {
    let line = error.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
    let message = error.message();
    let guess = message.strip_prefix("unknown field `").map(|rest| {
        let given = rest.split('`').next().unwrap_or_default();
        match nearest_key(given) {
            Some(known) => format!("unknown key `{given}` here; did you mean {known}?"),
            None => format!("unknown key `{given}`; the settings that `tidings init` writes show the known ones"),
        }
    });
    format!("{}, line {line}: {}", path.display(), guess.unwrap_or_else(|| message.to_owned()))
}

/// The table or key that a misspelt one was probably meant to be, wherever it belongs.
fn nearest_key(given: &str) -> Option<String> {
    let keys = keys();
    let table = |folder: &[String]| folder.join(".");
    let named = keys.iter().map(|(folder, key)| (key.clone(), format!("`{key}` of the table `[{}]`", table(folder))));
    // The last of those that are alike counts: a table, where a stage's time in [run] has the same name.
    let tables = keys.iter().map(|(folder, _)| (table(folder), format!("the table `[{}]`", table(folder))));
    let names: Vec<(String, String)> = named.chain(tables).collect();
    let likeness = |name: &str| strsim::jaro_winkler(name, given);
    let (name, shown) = names.into_iter().max_by(|a, b| likeness(&a.0).total_cmp(&likeness(&b.0)))?;
    (likeness(&name) > 0.75).then_some(shown)
}
