//! `tidings corpus`: named subcorpora, and the languages of the corpus.

use anyhow::Result;
use tidings_pipeline::comparable::{self, ComparableCorpora, ComparablePart};
use tidings_pipeline::display::grouped;
use tidings_pipeline::frozen::{self, FrozenRow};
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
    /// Show a named subcorpus in every language side by side: sizes, and keywords against the rest of each language
    Across {
        /// Name of the subcorpus
        name: String,
        /// Maximum keywords of each language; 0: sizes only
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(..=10_000))]
        limit: u64,
    },
    /// Keep the present state of the index under a name, so that answers can be cited and asked again with --as-of
    Freeze {
        /// Name of the state: letters, digits and hyphens
        name: String,
        /// The language, such as de [default: all]
        #[arg(long, value_name = "CODE")]
        lang: Option<String>,
    },
    /// List the frozen states and what they take on the disk
    States,
    /// Delete a frozen state: answers that cite it cannot be asked again
    Unfreeze {
        /// Name of the state
        name: String,
        /// The language, such as de [default: all]
        #[arg(long, value_name = "CODE")]
        lang: Option<String>,
    },
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
        CorpusAction::Across { name, limit } => across(&comparable::across(pipeline.home(), name, *limit)?),
        CorpusAction::Freeze { name, lang } => frozen::freeze(&pipeline, name, lang.as_deref())?.into(),
        CorpusAction::States => states(&frozen::list(pipeline.home())?),
        CorpusAction::Unfreeze { name, lang } => frozen::unfreeze(&pipeline, name, lang.as_deref())?.into(),
        CorpusAction::Remove { name } => virtual_corpora::remove(&pipeline, name)?.into(),
    })
}

fn corpora(rows: &[VirtualCorpus]) -> Report {
    let mut table = Table::new(&["name", "filter"]);
    rows.iter().for_each(|row| table.push(vec![row.name.clone(), row.filter.clone()]));
    let text = if rows.is_empty() { "no named subcorpora\n".to_owned() } else { table.text(Style::stdout()) };
    Report::list(text, rows)
}

/// The languages as columns: sizes first, then the keywords by rank.
fn across(found: &ComparableCorpora) -> Report {
    let names = found.languages.iter().map(|part| part.corpus.clone());
    let mut table = Table::with_columns(std::iter::once(String::new()).chain(names).collect());
    let mut row = |label: &str, cell: &dyn Fn(&ComparablePart) -> String| {
        let cells = found.languages.iter().map(cell);
        table.push(std::iter::once(label.to_owned()).chain(cells).collect());
    };
    row("documents", &|part| grouped(part.documents));
    row("of all", &|part| grouped(part.of_documents));
    row("tokens", &|part| grouped(part.tokens));
    row("of all", &|part| grouped(part.of_tokens));
    for rank in 0..found.languages.iter().map(|part| part.keywords.len()).max().unwrap_or(0) {
        let word = |part: &ComparablePart| part.keywords.get(rank).map(|word| word.value.clone()).unwrap_or_default();
        row(&format!("keyword {}", rank + 1), &word);
    }
    let faults = found.languages.iter().filter_map(|part| Some(format!("{}: {}\n", part.corpus, part.fault.as_ref()?)));
    let heading = format!("{}: {}\n\n", found.name, found.filter);
    let text = heading + &table.text(Style::stdout()) + &faults.collect::<String>();
    Report { text, json: serde_json::to_value(found).expect("outcomes serialise"), ..Report::default() }
}

fn states(rows: &[FrozenRow]) -> Report {
    let mut table =
        Table::new(&["name", "language", "frozen", "#documents", "#tokens", "#removed", "#bytes", "#own bytes"]);
    for row in rows {
        let FrozenRow { corpus, record, cost } = row;
        let counts = [record.documents, record.tokens, row.withdrawn_documents(), cost.bytes, cost.own_bytes];
        let names = [record.name.clone(), corpus.clone(), record.frozen.get(..10).unwrap_or_default().to_owned()];
        table.push(names.into_iter().chain(counts.map(|count| count.to_string())).collect());
    }
    let text = if rows.is_empty() { "no frozen states\n".to_owned() } else { table.text(Style::stdout()) };
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
