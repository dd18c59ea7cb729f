//! `tidings corpus`: named subcorpora, and the languages of the corpus.

use anyhow::Result;
use tidings_pipeline::virtual_corpora::{self, LanguageRow, VirtualCorpus};

use crate::args::Global;
use crate::cmd::{Report, open_interruptible};
use crate::style::Style;
use crate::table::Table;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: CorpusAction,
}

#[derive(Debug, clap::Subcommand)]
enum CorpusAction {
    /// Save a filter under a name, for example: spring "date>=2026-03 date<=2026-05"
    Save {
        /// Name of the subcorpus: letters, digits and hyphens
        name: String,
        /// Filter by metadata, such as "site=gazette.example date>=2026-01"
        filter: String,
    },
    /// List the named subcorpora
    List,
    /// List the languages with their sizes, attributes and annotators
    Languages,
    /// Delete a name
    Remove {
        /// Name of the subcorpus
        name: String,
    },
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let pipeline = open_interruptible(global)?;
    Ok(match &args.action {
        CorpusAction::List => corpora(&virtual_corpora::list(pipeline.home())?),
        CorpusAction::Languages => languages(&virtual_corpora::languages(pipeline.home())?),
        CorpusAction::Save { name, filter } => virtual_corpora::save(&pipeline, name, filter)?.into(),
        CorpusAction::Remove { name } => virtual_corpora::remove(&pipeline, name)?.into(),
    })
}

fn corpora(rows: &[VirtualCorpus]) -> Report {
    let mut table = Table::new(&["name", "filter"]);
    rows.iter().for_each(|row| table.push(vec![row.name.clone(), row.filter.clone()]));
    let text = if rows.is_empty() { "no named subcorpora\n".to_owned() } else { table.text(Style::stdout()) };
    Report::list(text, rows)
}

fn languages(rows: &[LanguageRow]) -> Report {
    let mut table = Table::new(&["language", "#documents", "#tokens", "attributes", "annotator", "#annotated tokens"]);
    for row in rows {
        let spans = row.spans.keys().map(|name| format!("<{name}>"));
        let names: Vec<String> = row.attributes.iter().cloned().chain(spans).collect();
        let sizes = [row.corpus.clone(), row.documents.to_string(), row.tokens.to_string(), names.join(" ")];
        let mut layers: Vec<[String; 2]> =
            row.layers.iter().map(|layer| [layer.by.clone(), layer.tokens.to_string()]).collect();
        if layers.is_empty() {
            layers.push(["none".to_owned(), "0".to_owned()]);
        }
        // Only the first line of a language has its sizes; further lines are for further annotators.
        let sizes = std::iter::once(sizes.to_vec()).chain(std::iter::repeat(vec![String::new(); 4]));
        sizes.zip(layers).for_each(|(sizes, layer)| table.push([sizes, layer.to_vec()].concat()));
    }
    let text = if rows.is_empty() { "the corpus has no index yet\n".to_owned() } else { table.text(Style::stdout()) };
    Report::list(text, rows)
}
