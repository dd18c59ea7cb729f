//! Commands of the questions without a view of their own: the rows of the answer as a table.

use anyhow::Result;
use clap::{ArgMatches, Args as _, Command};
use serde_json::{Map, Value};
use tidings_query::question::{Parameter, QUESTIONS, QuestionInfo};

use super::question_args::{augment, checked, leaked, values};
use super::row_table::{Headings, row_table};
use super::{QueryArgs, at_least, of_corpus, short, with_notes, without_function_words};
use crate::args::Global;
use crate::chart::{SPARK_COLUMNS, sparkline};
use crate::cmd::Report;
use tidings_pipeline::display::grouped;

/// Questions that have a command of another file, or none: one document is looked up by programs.
const ELSEWHERE: &[&str] = &[
    "query",
    "parallel",
    "freq",
    "crosstab",
    "colloc",
    "sketch",
    "words",
    "keywords",
    "terms",
    "timeline",
    "trends",
    "bursts",
    "new-words",
    "neologisms",
    "names",
    "quotes",
    "document",
    "context",
];

/// A question with its arguments.
#[derive(Debug)]
pub struct QuestionCommand {
    question: &'static QuestionInfo,
    parameters: &'static [Parameter],
    values: Map<String, Value>,
    query_args: QueryArgs,
}

fn questions() -> impl Iterator<Item = &'static QuestionInfo> {
    QUESTIONS.iter().filter(|question| !ELSEWHERE.contains(&question.name))
}

impl clap::FromArgMatches for QuestionCommand {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let chosen = matches.subcommand();
        let found = chosen.and_then(|(name, matches)| Some((questions().find(|known| known.name == name)?, matches)));
        let (question, matches) = found.ok_or_else(|| clap::Error::new(clap::error::ErrorKind::InvalidSubcommand))?;
        let parameters = leaked((question.parameters)());
        Ok(QuestionCommand {
            question,
            parameters,
            values: values(parameters, matches),
            query_args: <QueryArgs as clap::FromArgMatches>::from_arg_matches(matches)?,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = <QuestionCommand as clap::FromArgMatches>::from_arg_matches(matches)?;
        Ok(())
    }
}

impl clap::Subcommand for QuestionCommand {
    fn augment_subcommands(command: Command) -> Command {
        questions().fold(command, |command, question| {
            let own = augment(Command::new(question.name), leaked((question.parameters)()));
            // Last, because flattened arguments bring their own description.
            command.subcommand(QueryArgs::augment_args(own).about(question.summary).long_about(None))
        })
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        questions().any(|question| question.name == name)
    }
}

pub fn run(command: &QuestionCommand, global: &Global) -> Result<Report> {
    let request = checked(command.parameters, &command.values)?;
    let context = command.query_args.open(global)?;
    let fields = fields(command);
    let answered = context.with(|context| (command.question.answer)(request, context))?;
    let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
    let at_least = at_least(&answered.about);
    let table = row_table(command.question, &answered.body, &fields, Headings::Words, |name, value, text| match name {
        "hits" => format!("{at_least}{text}"),
        _ => cell(value, text),
    });
    let tokens = answered.body["tokens"].as_u64();
    let corpus = tokens.map_or(answered.about.corpus.clone(), |tokens| of_corpus(&answered.about, tokens, false));
    let csv = || row_table(command.question, &answered.body, &fields, Headings::Names, |_, _, text| text);
    let notes = answered.body["notes"].as_array().into_iter().flatten();
    let notes: Vec<String> = notes.filter_map(Value::as_str).map(str::to_owned).collect();
    let number = |name: &str| answered.body[name].as_u64();
    let found = match (number("values"), number("tested")) {
        (Some(values), Some(tested)) => {
            let left_out = without_function_words(number("left_out").unwrap_or(0));
            format!("{}: {} of {} words tested{left_out}", command.question.name, grouped(values), grouped(tested))
        }
        _ => command.question.name.to_owned(),
    };
    let heading = with_notes(format!("{found} in {corpus}"), &notes);
    Ok(context.report_with(&heading, &table, csv, &answered))
}

/// The fields of documents that were asked for.
fn fields(command: &QuestionCommand) -> Vec<String> {
    let parameter = command.parameters.iter().find(|parameter| parameter.name == "fields");
    let default = parameter.and_then(|parameter| parameter.default.as_ref());
    let names = command.values.get("fields").or(default).and_then(Value::as_array).into_iter().flatten();
    names.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// A number with its meaningful digits, a series of numbers as a sparkline, or the text.
fn cell(value: &Value, text: String) -> String {
    match value {
        Value::Number(number) if number.is_f64() => number.as_f64().map(short).unwrap_or_default(),
        Value::Array(values) if !values.is_empty() && values.iter().all(|value| value.is_f64() || value.is_null()) => {
            let values: Vec<f64> = values.iter().map(|value| value.as_f64().unwrap_or(0.0)).collect();
            sparkline(&values, SPARK_COLUMNS)
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn series_are_sparklines_and_numbers_have_their_meaningful_digits() {
        let shown = |value: Value| cell(&value, value.to_string());
        assert_eq!(shown(json!([0.0, null, 8.0])), "▁▁█");
        assert_eq!(shown(json!(0.123456789)), short(0.123456789));
        assert_eq!(shown(json!(["sea", "wind"])), r#"["sea","wind"]"#);
    }
}
