//! `tidings sketch`: word sketches, the collocates of a lemma by grammatical relation.

use anyhow::{Result, bail};
use tidings_query::MatchRule;
use tidings_query::answer::{Exactness, Sketch};
use tidings_query::engine::SketchOf;
use tidings_query::sketch::Grammar;

use super::{QueryArgs, QueryContext, short};
use crate::args::Global;
use crate::cmd::Report;
use crate::table::Table;
use tidings_pipeline::display::{count, grouped};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Relations are patterns over parts of speech, by family of languages; they need a corpus with tags \
    (`tidings corpus languages`). Scores are logDice within the relation. --json gives for every row the query that shows its \
    very hits.\n\n\
    Examples:\n  \
    tidings sketch storm\n  \
    tidings sketch walk --pos VERB --examples --filter 'date>=2026-03'"
)]
pub struct Args {
    /// The lemma, as a dictionary lists it
    #[arg(value_name = "LEMMA")]
    lemma: String,
    #[command(flatten)]
    query_args: QueryArgs,
    /// Its part of speech, such as NOUN [default: the most frequent one]
    #[arg(long, value_name = "TAG")]
    pos: Option<String>,
    /// Together at least so often
    #[arg(long, value_name = "N", default_value_t = 3)]
    min: u64,
    /// Collocates for each relation
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    size: u32,
    /// Show where each collocate stands with the word, once
    #[arg(long)]
    examples: bool,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let context = args.query_args.open(global)?;
    let request = SketchOf {
        lemma: &args.lemma,
        tag: args.pos.as_deref(),
        grammar: Grammar::of(&context.corpus.language),
        filter: context.filter.as_ref(),
        at_least: args.min,
        rows: args.size as usize,
    };
    let (found, complete) = context.corpus.engine.sketch(&request, &context.limits())?;
    if found.hits == 0 {
        let known: Vec<&str> = found.tags.iter().map(|known| known.tag.as_str()).collect();
        match &args.pos {
            Some(pos) if !known.is_empty() => bail!("“{}” is no {pos} here; it is {}", args.lemma, known.join(", ")),
            _ => bail!(
                "there is no lemma “{}” with a part of speech in {}; {}",
                args.lemma,
                context.of_what(found.tokens),
                advice(&context, &args.lemma)
            ),
        }
    }
    let table = table(&found, &context, args.examples)?;
    let others: Vec<String> = found
        .tags
        .iter()
        .filter(|known| known.tag != found.tag)
        .map(|known| format!("{} {}", known.tag, grouped(known.hits)))
        .collect();
    let others = if others.is_empty() { String::new() } else { format!(" (also {})", others.join(", ")) };
    let rest = if complete { "" } else { "; time was over before all was counted" };
    let heading = format!(
        "{}, {}: {}{others} in {}{rest}",
        found.lemma,
        found.tag,
        count(found.hits, "hit"),
        context.of_what(found.tokens)
    );
    let about = context.about(None, MatchRule::default(), Exactness::of(complete, found.hits));
    Ok(context.report(&heading, &table, about, found))
}

/// Advice after a word that is no lemma: the lemma of the form, or how to find out about tags.
fn advice(context: &QueryContext, word: &str) -> String {
    match context.corpus.engine.likeliest_lemma(word, context.filter.as_ref(), &context.limits()) {
        Ok(Some(lemma)) => format!("it is a form of {lemma}"),
        _ => "lemmas are written as in a dictionary, and `tidings corpus languages` shows whether there are tags"
            .to_owned(),
    }
}

fn table(found: &Sketch, context: &QueryContext, examples: bool) -> Result<Table> {
    let mut columns = vec!["relation", "collocate", "#together", "#anywhere", "#logDice"];
    columns.extend(context.csv.then_some("query"));
    columns.extend(examples.then_some("example"));
    let mut table = Table::new(&columns);
    for relation in &found.relations {
        for (place, row) in relation.rows.iter().enumerate() {
            // People read a relation once, programs want it in every row.
            let name = match (place, context.csv) {
                (_, true) => relation.name.clone(),
                (0, _) => format!("{} ({})", relation.name, grouped(relation.hits)),
                _ => String::new(),
            };
            let mut fields =
                vec![name, row.value.clone(), row.together.to_string(), row.anywhere.to_string(), short(row.score)];
            fields.extend(context.csv.then(|| row.query.clone()));
            if examples {
                fields.push(context.corpus.engine.example(&row.query, context.filter.as_ref(), &context.limits())?);
            }
            table.push(fields);
        }
    }
    Ok(table)
}
