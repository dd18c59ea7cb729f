//! `tidings corpus`: virtual corpora by name.
//!
//! A virtual corpus is a filter that somebody gave a name; its documents are found anew whenever it is
//! asked, so that it grows with the corpus. They lie in `corpora.tsv`, which may be edited.

use anyhow::{Result, bail};
use serde_json::json;
use tidings_index::Snapshot;
use tidings_query::Filter;
use tidings_query::engine::Engine;
use tidings_store::corpora::{self, Named};
use tidings_store::{Home, text};

use super::parse_filter;
use crate::args::Global;
use crate::cmd::{Report, open_home};
use crate::table::Table;
use tidings_pipeline::context::RunContext;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Name a filter, such as: tidings corpus save spring "date>=2026-03 date<=2026-05"
    Save {
        /// Letters, digits, hyphens
        name: String,
        /// Which documents
        filter: String,
    },
    /// Show all that are named
    List,
    /// Show the languages: how large each is, what is known of its words, and who told
    Languages,
    /// Forget one
    Remove {
        /// Its name
        name: String,
    },
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let (home, config) = open_home(global)?;
    match &args.what {
        What::List => {
            let known = corpora::read(&home)?;
            let mut table = Table::new(&["name", "filter"]);
            known.iter().for_each(|named| table.push(vec![named.name.clone(), named.filter.clone()]));
            let text = if known.is_empty() { "no virtual corpus is named yet\n".to_owned() } else { table.text() };
            let rows: Vec<_> =
                known.iter().map(|named| json!({ "name": named.name, "filter": named.filter })).collect();
            Ok(Report { text, json: json!(rows), ..Report::default() })
        }
        What::Languages => languages(&home),
        What::Save { name, filter } => {
            let is_plain = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
            if name.is_empty() || name.len() > 64 || !name.chars().all(is_plain) {
                bail!("`{name}` is no name for a corpus; use letters, digits and hyphens");
            }
            let filter = parse_filter(filter)?.to_string();
            let session = RunContext::open(&tidings_pipeline::Pipeline::new(home, config), "corpus")?;
            let mut known = corpora::read(&session.home)?;
            known.retain(|named| named.name != *name);
            known.push(Named { name: name.clone(), filter: filter.clone() });
            known.sort_by(|a, b| a.name.cmp(&b.name));
            corpora::write(&session.home, known)?;
            let text = format!("{name} is {filter}; ask it with --in {name}\n");
            Ok(Report { text, json: json!({ "name": name, "filter": filter }), ..Report::default() })
        }
        What::Remove { name } => {
            find(&home, name)?;
            let session = RunContext::open(&tidings_pipeline::Pipeline::new(home, config), "corpus")?;
            let mut known = corpora::read(&session.home)?;
            known.retain(|named| named.name != *name);
            corpora::write(&session.home, known)?;
            Ok(Report { text: format!("{name} is forgotten\n"), json: json!({ "removed": name }), ..Report::default() })
        }
    }
}

/// The languages that can be asked.
fn languages(home: &Home) -> Result<Report> {
    let mut table = Table::new(&["language", "#documents", "#tokens", "attributes", "told by", "#of tokens"]);
    let mut rows = Vec::new();
    let mut layers = text::layers(home)?;
    for code in home.indexed()? {
        let engine = Engine::new(Snapshot::open(&home.index().join(&code))?);
        let (snapshot, attributes, features) = (engine.snapshot(), engine.attributes(), engine.features());
        let layers = layers.remove(&code).unwrap_or_default();
        let (documents, tokens) = (snapshot.documents(), snapshot.tokens());
        let sizes = [code.clone(), documents.to_string(), tokens.to_string(), attributes.join(" ")];
        let nobody = [("nobody".to_owned(), 0)];
        let shown = layers.iter().map(|(by, seen)| (by.clone(), *seen));
        let shown: Vec<(String, u64)> = if layers.is_empty() { nobody.to_vec() } else { shown.collect() };
        for (place, (by, seen)) in shown.into_iter().enumerate() {
            let sizes = if place == 0 { sizes.to_vec() } else { vec![String::new(); 4] };
            table.push([sizes, vec![by, seen.to_string()]].concat());
        }
        let layers: Vec<_> = layers.iter().map(|(by, tokens)| json!({ "by": by, "tokens": tokens })).collect();
        rows.push(json!({
            "corpus": code,
            "documents": documents,
            "tokens": tokens,
            "attributes": attributes,
            "features": features,
            "layers": layers,
        }));
    }
    let text = if rows.is_empty() { "nothing is searchable yet\n".to_owned() } else { table.text() };
    Ok(Report { text, json: json!(rows), ..Report::default() })
}

/// The filter of a name.
pub fn find(home: &Home, name: &str) -> Result<Filter> {
    let known = corpora::read(home)?;
    match known.iter().find(|named| named.name == name) {
        Some(named) => parse_filter(&named.filter),
        None if known.is_empty() => bail!("there is no virtual corpus yet; name one with `tidings corpus save`"),
        None => {
            let names: Vec<&str> = known.iter().map(|named| named.name.as_str()).collect();
            bail!("there is no virtual corpus {name}; there are {}", names.join(", "))
        }
    }
}
