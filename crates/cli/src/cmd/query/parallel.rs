//! `tidings parallel`: hits with their translations, one under the other.

use anyhow::Result;
use tidings_pipeline::display::{count, grouped};
use tidings_query::question::{KwicToken, ParallelLine, ParallelRequest, text_of};

use super::QuestionCommand;
use super::row_table::csv_table;
use crate::args::Global;
use crate::cmd::Report;
use crate::style::{Ink, Style};

/// The flags of the command.
pub type Args = QuestionCommand<ParallelRequest>;

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let asked = args.ask(global)?;
    let body = &asked.answered.body;
    let fields: Vec<&str> = asked.request.fields.iter().map(String::as_str).collect();
    if asked.context.csv {
        return Ok(asked.context.marked(csv_table::<ParallelRequest>(body, &fields).csv(), &asked.answered));
    }
    let mut text = format!(
        "parallel: {} in {} with a translation into {}",
        count(body.hits, "hit"),
        count(body.documents, "document"),
        asked.request.to
    );
    if body.unaligned > 0 {
        text.push_str(&format!("; {} further ones without a counterpart", grouped(body.unaligned)));
    }
    text.push('\n');
    if let Some(warning) = asked.answered.about.exactness.warning() {
        text.push_str(&format!("{warning}\n"));
    }
    if body.documents == 0 {
        text.push_str(
            "no document has a known translation; `tidings pairs find` finds them by the links of pages, and `tidings pairs add \
             FILE` takes a list\n",
        );
    }
    let style = Style::stdout();
    body.lines.iter().for_each(|line| text.push_str(&shown(line, &fields, style)));
    Ok(asked.context.marked(text, &asked.answered))
}

/// A hit under its fields, and the translation under it.
fn shown(line: &ParallelLine, fields: &[&str], style: Style) -> String {
    let values: Vec<&str> = fields.iter().filter_map(|name| line.fields.get(*name)).map(String::as_str).collect();
    let own =
        format!("{}{}{}", text_of(&line.left), style.paint(Ink::Hit, text_of(&line.node).trim_end()), behind(line));
    let translation = match line.translation.is_empty() {
        true => "(no counterpart)".to_owned(),
        false => marked(&line.translation, &line.marked, style),
    };
    format!("\n{}\n  {}\n  {}\n", style.paint(Ink::Faint, &values.join("  ")), own.trim(), translation.trim())
}

/// What stands behind the hit, with the blank that its last token ends with.
fn behind(line: &ParallelLine) -> String {
    let blank = if line.node.last().is_some_and(|token| token.space_after) { " " } else { "" };
    format!("{blank}{}", text_of(&line.right))
}

/// Tokens with some of them marked.
fn marked(tokens: &[KwicToken], numbers: &[u32], style: Style) -> String {
    let token = |(number, token): (u32, &KwicToken)| {
        let text = text_of(std::slice::from_ref(token));
        match numbers.contains(&number) {
            true => text.replace(text.trim_end(), &style.paint(Ink::Hit, text.trim_end())),
            false => text,
        }
    };
    (0..).zip(tokens).map(token).collect()
}
