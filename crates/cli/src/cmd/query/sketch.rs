//! `tidings sketch`: word sketches, the collocates of a lemma by grammatical relation.

use anyhow::{Result, bail};
use tidings_query::Filter;
use tidings_query::question::{Answered, SketchAnswer, SketchRequest};

use super::{QueryArgs, QueryContext, QuestionArgs, at_least, known, of_corpus};
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
    #[command(flatten)]
    question: QuestionArgs<SketchRequest>,
    #[command(flatten)]
    query_args: QueryArgs,
    /// Show an example of each collocate
    #[arg(long, conflicts_with = "csv")]
    examples: bool,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let request = args.question.request()?;
    let context = args.query_args.open(global)?;
    let answered = context.answer(&request)?;
    let filter = context.with(|context| context.filter(&request.scope))?;
    let found = &answered.body;
    // A search that was cut off says nothing about what it did not see.
    if found.hits == 0 && !answered.about.exactness.is_cut_off() {
        return no_hits(&context, &request, &answered, filter.as_ref());
    }
    let table = table(found, &context, filter.as_ref(), args.examples)?;
    let others: Vec<String> = found
        .tags
        .iter()
        .filter(|known| known.tag != found.tag)
        .map(|known| format!("{} {}", known.tag, grouped(known.hits)))
        .collect();
    let others = if others.is_empty() { String::new() } else { format!(" (also {})", others.join(", ")) };
    let heading = format!(
        "{}, {}: {}{}{others} in {}",
        found.lemma,
        if found.tag.is_empty() { "no part of speech found yet" } else { found.tag.as_str() },
        at_least(&answered.about),
        count(found.hits, "hit"),
        of_corpus(&answered.about, found.tokens, false)
    );
    Ok(context.report::<SketchRequest>(&heading, &table, &answered))
}

/// Says why there is no sketch: another part of speech, a form that is no lemma, or a corpus without tags.
fn no_hits(
    context: &QueryContext,
    request: &SketchRequest,
    answered: &Answered<SketchAnswer>,
    filter: Option<&Filter>,
) -> Result<Report> {
    let known: Vec<&str> = answered.body.tags.iter().map(|known| known.tag.as_str()).collect();
    match &request.pos {
        Some(pos) if !known.is_empty() => bail!("“{}” is no {pos} here; it is {}", request.lemma, known.join(", ")),
        _ => bail!(
            "there is no lemma “{}” with a part of speech in {}; {}",
            request.lemma,
            of_corpus(&answered.about, answered.body.tokens, false),
            advice(context, &request.lemma, filter)
        ),
    }
}

/// Advice after a word that is no lemma: the lemma of the form, or how to find out about tags.
fn advice(context: &QueryContext, word: &str, filter: Option<&Filter>) -> String {
    match context.corpus.engine.likeliest_lemma(word, filter, &context.limits) {
        Ok(Some(lemma)) => format!("it is a form of {lemma}"),
        _ => "lemmas are written as in a dictionary, and `tidings corpus languages` shows whether there are tags"
            .to_owned(),
    }
}

fn table(found: &SketchAnswer, context: &QueryContext, filter: Option<&Filter>, examples: bool) -> Result<Table> {
    let mut columns = vec!["relation", "collocate", "#together", "#anywhere", "#logDice"];
    columns.extend(examples.then_some("example"));
    let mut table = Table::new(&columns);
    for relation in &found.relations {
        let rows = found.rows.iter().filter(|row| row.relation == relation.name);
        for (number, row) in rows.enumerate() {
            // The table names a relation once.
            let name = match number {
                0 => format!("{} ({})", relation.name, grouped(relation.hits)),
                _ => String::new(),
            };
            let mut fields =
                vec![name, row.value.clone(), row.together.to_string(), row.anywhere.to_string(), known(row.score)];
            if examples {
                fields.push(context.corpus.engine.example(&row.query, filter, &context.limits)?);
            }
            table.push(fields);
        }
    }
    context.corpus.engine.intact()?;
    Ok(table)
}
