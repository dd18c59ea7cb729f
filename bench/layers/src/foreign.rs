//! Scores of the code-switching layer on text that was annotated by hand.
//!
//! Texts written for the purpose are in `foreign/texts/CODE.txt`: `{fr:…}` is a stretch in French. Documents alternate
//! between development and held-out; errors are shown for development only.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde::Serialize;
use tidings_annotate::annotate;
use tidings_annotate::layers::foreign::{VERSION, foreign};

use crate::marked::{self, MarkedDocument};
use crate::quotations::{Counts, offsets};

/// Languages with gold data.
pub const LANGUAGES: [&str; 5] = ["en", "de", "es", "ru", "zh"];

/// Arguments of `bench-layers foreign`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Show errors of this language, in development documents
    #[arg(long, value_name = "CODE")]
    show: Option<String>,
    /// Write the scores as JSON to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Counts of one set of documents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Score {
    /// Stretches with exactly the annotated tokens and the right language.
    pub stretches: Counts,
    /// Tokens in stretches of the right language.
    pub tokens: Counts,
}

impl Score {
    fn merge(&mut self, other: &Score) {
        self.stretches.merge(&other.stretches);
        self.tokens.merge(&other.tokens);
    }
}

/// Scores of a language.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Scores {
    /// Documents whose errors may be looked at.
    pub development: Score,
    /// The others.
    pub held_out: Score,
}

impl Scores {
    /// The counts of both sets.
    pub fn all(&self) -> Score {
        let mut all = self.development;
        all.merge(&self.held_out);
        all
    }
}

/// Results, as written by `--json`.
#[derive(Debug, Serialize)]
struct Results {
    benchmark: &'static str,
    version: u32,
    scores: BTreeMap<&'static str, Scores>,
}

/// Runs the benchmark.
pub fn run(args: &Args) -> Result<()> {
    let mut scores = BTreeMap::new();
    println!("language  set          gold      stretches         tokens");
    for language in LANGUAGES {
        let found = score(language, &gold(language)?, args.show.as_deref() == Some(language));
        for (set, score) in [("development", found.development), ("held-out", found.held_out), ("all", found.all())] {
            let cell = |counts: &Counts| format!("{:.3} / {:.3}", counts.precision(), counts.recall());
            let (stretches, tokens) = (cell(&score.stretches), cell(&score.tokens));
            println!("{language:9} {set:11} {:5} {stretches:>14} {tokens:>14}", score.stretches.gold);
        }
        scores.insert(language, found);
    }
    if let Some(path) = &args.json {
        let benchmark = "code-switching: exact stretches with their language, and tokens; own texts";
        let text = serde_json::to_string_pretty(&Results { benchmark, version: VERSION, scores })? + "\n";
        fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// The gold documents of a language.
pub fn gold(language: &str) -> Result<Vec<MarkedDocument>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("foreign/texts").join(format!("{language}.txt"));
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    marked::parse(&text).with_context(|| format!("cannot read {}", path.display()))
}

/// Scores gold documents; every second one is held out.
pub fn score(language: &str, gold: &[MarkedDocument], show: bool) -> Scores {
    let mut scores = Scores::default();
    for (number, one) in gold.iter().enumerate() {
        let is_held_out = number % 2 == 1;
        let score = score_document(language, one, show && !is_held_out);
        if is_held_out { &mut scores.held_out } else { &mut scores.development }.merge(&score);
    }
    scores
}

/// A stretch as a range of tokens, with its language.
type Stretch<'a> = (usize, usize, &'a str);

fn score_document(language: &str, gold: &MarkedDocument, show: bool) -> Score {
    let annotated = annotate(gold.document(language), &[], |_, _| true);
    let spans = foreign(&annotated, language);
    let offsets = offsets(&annotated);
    let token_at = |offset: usize| offsets.partition_point(|known| *known <= offset) - 1;
    let wanted: Vec<Stretch<'_>> =
        gold.stretches.iter().map(|one| (token_at(one.start), token_at(one.end - 1) + 1, one.label.as_str())).collect();
    let found: Vec<Stretch<'_>> = spans
        .iter()
        .map(|span| (span.start as usize, span.end as usize, span.attribute("lang").unwrap_or_default()))
        .collect();
    let words: Vec<&str> = annotated.tokens().map(|token| token.word.as_str()).collect();
    if show {
        let print = |sign: char, (start, end, code): &Stretch<'_>| {
            println!("{} {sign} {code}: {}", gold.name, words[*start..*end].join(" "));
        };
        wanted.iter().filter(|one| !found.contains(one)).for_each(|one| print('-', one));
        found.iter().filter(|one| !wanted.contains(one)).for_each(|one| print('+', one));
    }
    let language_of = |stretches: &[Stretch<'_>], token: usize| {
        let inside = stretches.iter().find(|(start, end, _)| (*start..*end).contains(&token));
        inside.map(|(_, _, code)| (*code).to_owned())
    };
    let tokens: Vec<(Option<String>, Option<String>)> =
        (0..words.len()).map(|token| (language_of(&wanted, token), language_of(&found, token))).collect();
    Score {
        stretches: Counts {
            gold: wanted.len(),
            found: found.len(),
            right: found.iter().filter(|one| wanted.contains(one)).count(),
        },
        tokens: Counts {
            gold: tokens.iter().filter(|(gold, _)| gold.is_some()).count(),
            found: tokens.iter().filter(|(_, found)| found.is_some()).count(),
            right: tokens.iter().filter(|(gold, found)| gold.is_some() && gold == found).count(),
        },
    }
}
