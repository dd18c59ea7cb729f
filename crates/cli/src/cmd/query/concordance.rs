//! `tidings query`: a concordance, hits in their context.

use std::fmt::Write as _;
use std::io::IsTerminal as _;

use anyhow::Result;
use tidings_query::cql::Attribute;
use tidings_query::engine::Order;
use tidings_query::question::{
    Answered, Concordance, ConcordanceLine, ConcordanceRequest, Cursor, Exactness, KwicToken, text_of,
};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::row_table::csv_table;
use super::{QueryArgs, QueryContext, QuestionArgs, at_least, of_corpus, short};
use crate::args::Global;
use crate::cmd::Report;
use crate::style::{Ink, Style};
use tidings_pipeline::display::count;

/// The width of lines without a terminal.
const USUAL_WIDTH: usize = 150;
/// Hits on a page if nothing is said.
const USUAL_SIZE: u64 = 20;

#[derive(Debug, clap::Args)]
#[command(after_help = "A query is a word, several words, or CQL:\n  \
    storm                                    the word, in any case; Storm only with the capital\n  \
    \"climate change\"                         words in a row\n  \
    [lc=\"inter.*\"]                           a regular expression over the whole word\n  \
    [word=\"go|goes|went\"] []{0,3} \"home\"     up to three words between\n  \
    \"the\" [word=\".*ing\"] within <s/>         inside one sentence\n  \
    \"rain\" within <doc site=\"gazette.example\" & date>=\"2026-01\"/>\n  \
    [lemma=\"go\" & pos=\"VERB\"]               a lemma and a part of speech; --show word,lemma,tag shows them\n  \
    [pos=\"NOUN\" & Case=\"Gen|Dat\"]           a feature, which begins with a capital; feats has them all. Words without it\n  \
    a:[pos=\"ADJ\"] b:[pos=\"NOUN\"] :: a.Case = b.Case    have no value: = is never true of them, != always")]
pub struct Args {
    #[command(flatten)]
    question: QuestionArgs<ConcordanceRequest>,
    #[command(flatten)]
    query_args: QueryArgs,
    /// The number of the page
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    #[arg(conflicts_with_all = ["sample", "cursor"])]
    page: u32,
    /// Attributes to show of each token: word, lemma, tag, feats, features such as Case or other layers, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "word", value_parser = parse_attribute)]
    show: Vec<Attribute>,
    /// The former spelling of --order oldest
    #[arg(long, hide = true, conflicts_with = "order")]
    oldest: bool,
    /// Count hits and show none, as `tidings count` does
    #[arg(long)]
    count: bool,
    /// Show the plan of the search, and stop
    #[arg(long)]
    explain: bool,
}

/// An attribute by its name on the command line.
fn parse_attribute(name: &str) -> Result<Attribute, String> {
    Attribute::named(name).ok_or_else(|| format!("give {}", Attribute::expected()))
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let context = args.query_args.open(global)?;
    let request = request(args, &context)?;
    context.with(|context| args.show.iter().try_for_each(|shown| context.check_attribute("show", *shown)))?;
    if args.explain {
        let plan = context.with(|context| {
            let filter = context.filter(&request.search.scope)?;
            Ok(context.search(&request.search.q, request.rule(), filter.as_ref())?.explain())
        })?;
        return Ok(Report { text: format!("{plan}\n"), json: serde_json::to_value(plan)?, ..Report::default() });
    }
    let answered = context.answer(&request)?;
    let heading = heading(&answered);
    let fields: Vec<&str> = request.fields.iter().map(String::as_str).collect();
    let mut shown = answered.body.lines.clone();
    shown.iter_mut().for_each(|line| show(line, &args.show));
    let text = if args.count {
        heading + "\n"
    } else if context.csv {
        let body = Concordance { lines: shown, ..answered.body.clone() };
        csv_table::<ConcordanceRequest>(&body, &fields).csv()
    } else {
        format!("{heading}\n\n{}", kwic(&shown, &fields, Style::stdout()))
    };
    Ok(context.marked(text, &answered))
}

fn request(args: &Args, context: &QueryContext) -> Result<ConcordanceRequest> {
    let mut request = args.question.request()?;
    if args.oldest {
        request.page.order = Order::Oldest;
    }
    if args.page > 1 {
        let size = request.page.size.unwrap_or(USUAL_SIZE);
        let generation = context.corpus.engine.snapshot().generation();
        request.page.cursor = Some(Cursor { generation, first: u64::from(args.page - 1) * size });
    }
    if args.count {
        request.page.size = Some(0);
    }
    Ok(request)
}

fn heading(answered: &Answered<Concordance>) -> String {
    let (body, exactness) = (&answered.body, answered.about.exactness);
    let hits = body.hits.unwrap_or(0);
    let rate = body.per_million.map(|rate| format!(", {} per million", short(rate))).unwrap_or_default();
    let corpus = of_corpus(&answered.about, body.tokens, false);
    let mut heading = format!("{}{}{rate} in {corpus}", at_least(&answered.about), count(hits, "hit"));
    if exactness != Exactness::Exact {
        let _ = write!(heading, "\n{exactness}");
    }
    heading
}

/// Replaces each word by the wanted attributes of its token: `storms/storm/NOUN`.
fn show(line: &mut ConcordanceLine, wanted: &[Attribute]) {
    if wanted == [Attribute::Word] {
        return;
    }
    let empty = String::new();
    for token in [&mut line.left, &mut line.node, &mut line.right].into_iter().flatten().flatten() {
        let values = wanted.iter().map(|attribute| {
            let stored = match attribute {
                Attribute::Word | Attribute::Lc => &token.word,
                Attribute::Lemma => &token.lemma,
                Attribute::Tag => &token.tag,
                Attribute::Feats => &token.feats,
                Attribute::Layer(name) => token.layers.get(name.as_str()).unwrap_or(&empty),
                // A feature is in one of the sets.
                Attribute::Feature(_) => {
                    let has_value = |stored: &&String| !attribute.value(stored).is_empty();
                    let mut sets = std::iter::once(&token.feats).chain(token.layers.values());
                    sets.find(has_value).unwrap_or(&empty)
                }
            };
            attribute.value(stored)
        });
        token.word = values.collect::<Vec<_>>().join("/");
        token.space_after = true;
    }
}

/// The text of tokens; that of a line that may not be shown is empty.
fn text(tokens: &Option<Vec<KwicToken>>) -> String {
    tokens.as_deref().map(text_of).unwrap_or_default()
}

/// Lines with their hits below each other, as wide as the terminal.
fn kwic(lines: &[ConcordanceLine], fields: &[&str], style: Style) -> String {
    let heads: Vec<String> = lines
        .iter()
        .map(|line| {
            let values = fields.iter().map(|name| line.fields.get(*name).map(String::as_str).unwrap_or_default());
            values.collect::<Vec<&str>>().join("  ")
        })
        .collect();
    let head_width = heads.iter().map(|head| head.width()).max().unwrap_or(0).min(40);
    let node_width = lines.iter().map(|line| text(&line.node).trim().width()).max().unwrap_or(0).min(40);
    let side = (width().saturating_sub(head_width + node_width + 6) / 2).max(10);
    let mut page = String::new();
    for (line, head) in lines.iter().zip(&heads) {
        let head = first_columns(head, head_width);
        let left = last_columns(text(&line.left).trim_end(), side);
        let node = text(&line.node);
        let right = first_columns(&text(&line.right), side);
        let _ = writeln!(
            page,
            "{}{}  {}{left}  {}{}  {right}",
            style.paint(Ink::Faint, &head),
            " ".repeat(head_width - head.width()),
            " ".repeat(side - left.width()),
            style.paint(Ink::Hit, node.trim()),
            " ".repeat(node_width.saturating_sub(node.trim().width())),
        );
    }
    page
}

fn width() -> usize {
    let size = std::io::stdout().is_terminal().then(|| rustix::termios::tcgetwinsize(std::io::stdout()).ok()).flatten();
    size.map(|size| usize::from(size.ws_col)).filter(|columns| *columns >= 40).unwrap_or(USUAL_WIDTH)
}

/// As much from the beginning as fits.
fn first_columns(text: &str, columns: usize) -> String {
    let mut used = 0;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used <= columns
    };
    text.chars().take_while(fits).collect()
}

/// As much from the end as fits.
fn last_columns(text: &str, columns: usize) -> String {
    let mut used = 0;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used <= columns
    };
    let kept: Vec<char> = text.chars().rev().take_while(fits).collect();
    kept.into_iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_by_columns_and_never_inside_a_letter() {
        assert_eq!((first_columns("雨が降る", 5), last_columns("雨が降る", 5)), ("雨が".into(), "降る".into()));
        assert_eq!(last_columns("a short text", 4), "text");
    }

    #[test]
    fn hits_stand_below_each_other() {
        let token = |word: &str| KwicToken {
            word: word.into(),
            lemma: String::new(),
            tag: String::new(),
            feats: String::new(),
            layers: Default::default(),
            space_after: true,
        };
        let line = |left: &str, node: &str| ConcordanceLine {
            document: "d".into(),
            fields: [("site".to_owned(), "e.org".to_owned())].into(),
            restricted: false,
            position: Some(0),
            left: Some(left.split(' ').map(token).collect()),
            node: Some(vec![token(node)]),
            right: Some(vec![token("it")]),
        };
        let lines = [line("and then came the", "rain"), line("dry", "storms")];
        let text = kwic(&lines, &["site"], Style::PLAIN);
        let places: Vec<usize> =
            text.lines().zip(["rain", "storms"]).map(|(line, node)| line.find(node).unwrap()).collect();
        assert_eq!(places[0], places[1], "{text}");
        let coloured = kwic(&lines, &["site"], Style::COLOURED);
        assert!(coloured.contains("\x1b[1;31mrain\x1b[0m") && coloured.contains("\x1b[2me.org\x1b[0m"), "{coloured:?}");
        assert!(!text.contains('\x1b'), "{text:?}");
    }
}
