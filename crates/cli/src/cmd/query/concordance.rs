//! `tidings query`: a concordance, hits in their context.

use std::fmt::Write as _;
use std::io::IsTerminal as _;

use anyhow::Result;
use tidings_query::MatchRule;
use tidings_query::answer::{Concordance, Exactness, Line, SortKey, text_of};
use tidings_query::cql::Attribute;
use tidings_query::engine::{Order, View};
use tidings_query::measure::per_million;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::{QueryArgs, parse_attribute, short};
use crate::args::Global;
use crate::cmd::Report;
use crate::table::Table;
use tidings_pipeline::display::{count, grouped};

/// The width of lines without a terminal.
const USUAL_WIDTH: usize = 150;

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
    /// The query
    #[arg(value_name = "CQL")]
    query: String,
    #[command(flatten)]
    query_args: QueryArgs,
    /// Sort by left, right, node, date or another field; several with commas between
    #[arg(long, value_name = "KEYS", value_delimiter = ',')]
    sort: Vec<String>,
    /// Show a random sample of so many hits
    #[arg(long, value_name = "N", conflicts_with = "page")]
    sample: Option<usize>,
    /// Which sample, and the same one every time
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Which page
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    page: u32,
    /// Hits on a page
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(0..=10_000))]
    size: u32,
    /// Tokens on each side
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u32).range(0..=200))]
    context: u32,
    /// Fields of the documents to show
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "date,site")]
    fields: Vec<String>,
    /// What to show of each token: word, lemma, tag, feats or features such as Case; several with commas between
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "word", value_parser = parse_attribute)]
    show: Vec<Attribute>,
    /// The oldest hits first
    #[arg(long)]
    oldest: bool,
    /// Of several matches that begin at one place, take the longest
    #[arg(long)]
    longest: bool,
    /// Only count
    #[arg(long)]
    count: bool,
    /// Say how the index is searched, and stop
    #[arg(long)]
    explain: bool,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let context = args.query_args.open(global)?;
    let rule = if args.longest { MatchRule::Longest } else { MatchRule::Shortest };
    let (query, search) = context.search(&args.query, rule)?;
    if args.explain {
        let plan = search.explain();
        return Ok(Report { text: format!("{plan}\n"), json: serde_json::to_value(plan)?, ..Report::default() });
    }

    let limits = context.limits();
    let counted = search.count(&limits);
    let tokens = search.tokens();
    let first = if args.sample.is_some() { 0 } else { u64::from(args.page - 1) * u64::from(args.size) };
    let view = View {
        order: if args.oldest { Order::Oldest } else { Order::Newest },
        sort: args.sort.iter().map(|name| SortKey::named(name)).collect(),
        sample: args.sample,
        seed: args.seed,
        first: first as usize,
        size: args.size as usize,
    };
    let fields: Vec<&str> = args.fields.iter().map(String::as_str).collect();
    let (lines, exactness) = match args.count {
        true => (Vec::new(), Exactness::Exact),
        false => search.view(&view, args.context, &fields, &limits)?,
    };

    let at_least = if counted.complete { "" } else { "at least " };
    let rate = per_million(counted.hits as f64, tokens as f64).map(|rate| format!(", {} per million", short(rate)));
    let mut heading =
        format!("{at_least}{}{} in {}", count(counted.hits, "hit"), rate.unwrap_or_default(), context.of_what(tokens));
    if let Exactness::Sample { hits, of_hits, seed } = exactness {
        let _ = write!(heading, "\na sample of {} of {} hits, seed {seed}", grouped(hits), grouped(of_hits));
    }
    let body = Concordance { hits: counted.hits, first, lines };
    let mut about = context.about(Some(&query), rule, exactness);
    if !counted.complete {
        about.exactness = Exactness::of(false, counted.hits);
    }
    let mut shown = body.lines.clone();
    shown.iter_mut().for_each(|line| show(line, &args.show));
    if context.csv {
        return Ok(context.report(&heading, &as_table(&shown, &fields), about, body));
    }
    let text = format!("{heading}\n\n{}", kwic(&shown, &fields));
    let json = serde_json::to_value(tidings_query::answer::Answer { about, body }).expect("answers serialise");
    Ok(Report { text: if args.count { heading + "\n" } else { text }, json, ..Report::default() })
}

/// Replaces each word by the wanted attributes of its token: `storms/storm/NOUN`.
fn show(line: &mut Line, wanted: &[Attribute]) {
    if wanted == [Attribute::Word] {
        return;
    }
    for token in [&mut line.left, &mut line.node, &mut line.right].into_iter().flatten() {
        let values = wanted.iter().map(|attribute| {
            let stored = match attribute {
                Attribute::Word | Attribute::Lc => &token.word,
                Attribute::Lemma => &token.lemma,
                Attribute::Tag => &token.tag,
                Attribute::Feats | Attribute::Feature(_) => &token.feats,
            };
            attribute.value(stored)
        });
        token.word = values.collect::<Vec<_>>().join("/");
        token.space_after = true;
    }
}

fn as_table(lines: &[Line], fields: &[&str]) -> Table {
    // The names of columns live as long as the program; there are few, and it ends soon.
    let names = fields.iter().map(|name| &*Box::leak((*name).to_owned().into_boxed_str()));
    let columns: Vec<&'static str> = names.chain(["document", "left", "node", "right"]).collect();
    let mut table = Table::new(&columns);
    for line in lines {
        let mut row: Vec<String> =
            fields.iter().map(|name| line.fields.get(*name).cloned().unwrap_or_default()).collect();
        row.push(line.document.clone());
        row.extend([&line.left, &line.node, &line.right].map(|tokens| text_of(tokens).trim().to_owned()));
        table.push(row);
    }
    table
}

/// Lines with their hits below each other, as wide as the terminal.
fn kwic(lines: &[Line], fields: &[&str]) -> String {
    let heads: Vec<String> = lines
        .iter()
        .map(|line| {
            let values = fields.iter().map(|name| line.fields.get(*name).map(String::as_str).unwrap_or_default());
            values.collect::<Vec<&str>>().join("  ")
        })
        .collect();
    let head_width = heads.iter().map(|head| head.width()).max().unwrap_or(0).min(40);
    let node_width = lines.iter().map(|line| text_of(&line.node).trim().width()).max().unwrap_or(0).min(40);
    let side = (width().saturating_sub(head_width + node_width + 6) / 2).max(10);
    let mut text = String::new();
    for (line, head) in lines.iter().zip(&heads) {
        let head = first_columns(head, head_width);
        let left = last_columns(text_of(&line.left).trim_end(), side);
        let node = text_of(&line.node);
        let right = first_columns(&text_of(&line.right), side);
        let _ = writeln!(
            text,
            "{head}{}  {}{left}  {}{}  {right}",
            " ".repeat(head_width - head.width()),
            " ".repeat(side - left.width()),
            node.trim(),
            " ".repeat(node_width.saturating_sub(node.trim().width())),
        );
    }
    text
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
    use tidings_query::answer::KwicToken;

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
            space_after: true,
        };
        let line = |left: &str, node: &str| Line {
            document: "d".into(),
            fields: [("site".to_owned(), "e.org".to_owned())].into(),
            position: 0,
            left: left.split(' ').map(token).collect(),
            node: vec![token(node)],
            right: vec![token("it")],
        };
        let text = kwic(&[line("and then came the", "rain"), line("dry", "storms")], &["site"]);
        let places: Vec<usize> =
            text.lines().zip(["rain", "storms"]).map(|(line, node)| line.find(node).unwrap()).collect();
        assert_eq!(places[0], places[1], "{text}");
    }
}
