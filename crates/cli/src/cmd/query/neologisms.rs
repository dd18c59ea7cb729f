//! `tidings neologisms`: candidates for new words with their evidence, and decisions about them.

use std::io::Read as _;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use tidings_pipeline::display::count;
use tidings_pipeline::neologisms::{self, DecisionRow, ListRow, NewDecisions};
use tidings_query::question::{NeologismRow, NeologismsRequest};

use super::{Asked, QuestionCommand, number_of};
use crate::args::Global;
use crate::cmd::{Report, open_interruptible};
use crate::style::Style;
use crate::table::Table;

/// The longest list of words that is read.
const MAX_LIST_BYTES: u64 = 16 << 20;

#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Candidates are those of `tidings new-words`, with spellings and decided variants merged. Decisions are \
    kept in the home and hold for later runs; every one stays in the history.\n\n\
    Examples:\n  \
    tidings neologisms --lang en\n  \
    tidings neologisms accept rainbank --note 'attested in three dailies' --lang en\n  \
    tidings neologisms variant 'rain bank' rainbank --lang en\n  \
    tidings neologisms exclude firms firms.txt --lang en\n  \
    tidings neologisms --status accepted --limit 10000 --csv --lang en >neologisms.csv"
)]
pub struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    question: QuestionCommand<NeologismsRequest>,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Accept words as new words of the language
    Accept(Decide),
    /// Reject words: they are no new words
    Reject(Decide),
    /// Put words aside to look at them again
    Later(Decide),
    /// Take the decisions about words back
    Reopen(Decide),
    /// Count a word as a variant of another
    Variant {
        /// Variant
        word: String,
        /// Word that it is a variant of; empty for none
        of: String,
        #[command(flatten)]
        language: Language,
    },
    /// Show all decisions, the oldest first
    History {
        /// Word [default: all]
        word: Option<String>,
        #[command(flatten)]
        language: Language,
    },
    /// Put the words of a file on a list of words to leave out
    Exclude {
        /// Name of the list
        list: String,
        /// File with a word on each line; - for standard input
        file: PathBuf,
        #[command(flatten)]
        language: Language,
    },
    /// Show the lists of words to leave out
    Lists,
    /// Remove a list of words to leave out
    RemoveList {
        /// Name of the list
        list: String,
    },
}

#[derive(Debug, clap::Args)]
struct Language {
    /// Language, such as de [default: the only one there is]
    #[arg(long, value_name = "CODE")]
    lang: Option<String>,
}

#[derive(Debug, clap::Args)]
struct Decide {
    /// Words
    #[arg(required = true)]
    words: Vec<String>,
    /// Note [default: the last one]
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    #[command(flatten)]
    language: Language,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    match &args.action {
        None => candidates(&args.question, global),
        Some(action) => act(action, global),
    }
}

fn act(action: &Action, global: &Global) -> Result<Report> {
    let pipeline = open_interruptible(global)?;
    let decide = |Decide { words, note, language }: &Decide, status: &str| {
        let status = Some(status.to_owned());
        let (words, note, lang) = (words.clone(), note.clone(), language.lang.clone());
        neologisms::decide(&pipeline, &NewDecisions { lang, words, status, note, variant_of: None })
    };
    Ok(match action {
        Action::Accept(words) => decide(words, "accepted")?.into(),
        Action::Reject(words) => decide(words, "rejected")?.into(),
        Action::Later(words) => decide(words, "later")?.into(),
        Action::Reopen(words) => decide(words, "open")?.into(),
        Action::Variant { word, of, language } => {
            let (words, variant_of) = (vec![word.clone()], Some(of.clone()));
            let new = NewDecisions { lang: language.lang.clone(), words, variant_of, ..NewDecisions::default() };
            neologisms::decide(&pipeline, &new)?.into()
        }
        Action::History { word, language } => {
            history(&neologisms::history(pipeline.home(), language.lang.as_deref(), word.as_deref())?)
        }
        Action::Exclude { list, file, language } => {
            neologisms::exclude(&pipeline, language.lang.as_deref(), list, &list_of(file)?)?.into()
        }
        Action::Lists => lists(&neologisms::lists(pipeline.home())?),
        Action::RemoveList { list } => neologisms::remove_list(&pipeline, list)?.into(),
    })
}

/// The text of a list.
fn list_of(file: &PathBuf) -> Result<String> {
    let mut text = String::new();
    let read = match file.as_os_str() == "-" {
        true => std::io::stdin().take(MAX_LIST_BYTES).read_to_string(&mut text),
        false => std::fs::File::open(file).and_then(|file| file.take(MAX_LIST_BYTES).read_to_string(&mut text)),
    };
    read.with_context(|| {
        format!("cannot read the words of {}; give a UTF-8 file with a word on each line", file.display())
    })?;
    Ok(text)
}

fn candidates(question: &QuestionCommand<NeologismsRequest>, global: &Global) -> Result<Report> {
    let Asked { context, request, answered } = question.ask(global)?;
    let found = &answered.body;
    let columns = [
        "word",
        "variants",
        "status",
        "first seen",
        "#documents",
        "#sites",
        "#days",
        "#months",
        "first citation",
        "note",
    ];
    let mut table = Table::new(&columns);
    for row in &found.rows {
        table.push(vec![
            row.value.clone(),
            row.variants.join(", "),
            row.status.name().to_owned(),
            row.first_seen.map(|day| day.to_string()).unwrap_or_default(),
            row.documents.to_string(),
            row.sites.to_string(),
            row.days.to_string(),
            row.months.to_string(),
            shown_citation(row),
            row.note.clone(),
        ]);
    }
    let states: Vec<String> = found.states.iter().map(|(state, words)| format!("{words} {state}")).collect();
    let heading = format!(
        "{} ({}) since {} in {}: {}; {} on exclusion lists",
        number_of(found.values, "word"),
        request.status.name(),
        found.since,
        answered.about.corpus,
        states.join(", "),
        count(found.excluded, "candidate"),
    );
    Ok(context.report::<NeologismsRequest>(&heading, &table, &answered))
}

/// The characters of a citation on each side of the word.
const SHOWN_CHARS: usize = 30;

fn shown_citation(row: &NeologismRow) -> String {
    let Some(citation) = &row.citation else { return String::new() };
    let left: Vec<char> = citation.left.chars().collect();
    let left: String = left[left.len().saturating_sub(SHOWN_CHARS)..].iter().collect();
    let right: String = citation.right.chars().take(SHOWN_CHARS).collect();
    format!("{}: …{left}{}{right}…", citation.site, citation.node)
}

fn history(rows: &[DecisionRow]) -> Report {
    let mut table = Table::new(&["decided", "language", "word", "status", "variant of", "note"]);
    for row in rows {
        let DecisionRow { decided, lang, word, status, variant_of, note } = row.clone();
        table.push(vec![decided, lang, word, status, variant_of, note]);
    }
    let text = if rows.is_empty() { "no decisions\n".to_owned() } else { table.text(Style::stdout()) };
    Report::list(text, rows)
}

fn lists(rows: &[ListRow]) -> Report {
    let mut table = Table::new(&["list", "language", "#words"]);
    rows.iter().for_each(|row| table.push(vec![row.list.clone(), row.lang.clone(), row.words.to_string()]));
    let text = if rows.is_empty() { "no lists\n".to_owned() } else { table.text(Style::stdout()) };
    Report::list(text, rows)
}
