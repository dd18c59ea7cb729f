//! Keys of the settings: their environment variables, and suggestions for misspelt ones.

use std::path::Path;

use anyhow::{Result, bail};

use super::Config;

/// Applies `TIDINGS_TABLE_KEY` for every key.
pub(super) fn override_from(table: &mut toml::Table, environment: &dyn Fn(&str) -> Option<String>) -> Result<()> {
    for (folder, key) in keys() {
        let name = variable(&folder, &key);
        let Some(text) = environment(&name) else { continue };
        // A value that is not valid TOML is taken as a string.
        let value = match format!("value = {text}").parse::<toml::Table>() {
            Ok(mut parsed) => parsed.remove("value").unwrap_or(toml::Value::String(text)),
            Err(_) => toml::Value::String(text),
        };
        let mut place = &mut *table;
        for part in folder {
            let inner = place.entry(part).or_insert_with(|| toml::Value::Table(toml::Table::new()));
            let Some(inner) = inner.as_table_mut() else { bail!("{name}: no such table in the settings") };
            place = inner;
        }
        place.insert(key, value);
    }
    Ok(())
}

fn variable(folder: &[String], key: &str) -> String {
    format!("TIDINGS_{}_{key}", folder.join("_")).to_ascii_uppercase()
}

/// The environment variables that override the file.
pub fn variables() -> Vec<String> {
    keys().iter().map(|(folder, key)| variable(folder, key)).collect()
}

/// All keys with the names of their tables.
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

/// Renders an error with its line and, for a misspelt key, a suggestion.
pub(super) fn explain(path: &Path, text: &str, error: &toml::de::Error) -> String {
    let line = error.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
    let message = error.message();
    let guess = message.strip_prefix("unknown field `").map(|rest| {
        let given = rest.split('`').next().unwrap_or_default();
        match nearest_key(given) {
            Some(known) => format!("unknown key `{given}`; did you mean {known}?"),
            None => format!("unknown key `{given}`; the settings file written by `tidings init` lists all keys"),
        }
    });
    format!("{}, line {line}: {}", path.display(), guess.unwrap_or_else(|| message.to_owned()))
}

/// The known table or key that is most similar to a misspelt one.
fn nearest_key(given: &str) -> Option<String> {
    let keys = keys();
    let table = |folder: &[String]| folder.join(".");
    let named = keys.iter().map(|(folder, key)| (key.clone(), format!("`{key}` of the table `[{}]`", table(folder))));
    // The last of equally similar names wins: a table, if the time limit of a stage in [run] has the same name.
    let tables = keys.iter().map(|(folder, _)| (table(folder), format!("the table `[{}]`", table(folder))));
    let names: Vec<(String, String)> = named.chain(tables).collect();
    let likeness = |name: &str| strsim::jaro_winkler(name, given);
    let (name, shown) = names.into_iter().max_by(|a, b| likeness(&a.0).total_cmp(&likeness(&b.0)))?;
    (likeness(&name) > 0.75).then_some(shown)
}
