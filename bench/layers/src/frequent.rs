//! The most frequent names, speakers and reporting verbs of the sample archive, to judge them by reading.

use std::collections::HashMap;
use std::path::Path;

use anyhow::Result;
use tidings_annotate::layers::names;
use tidings_annotate::layers::quotations::{KIND, QUOTE, QuoteKind, SPEAKER, VERB, quotations};

use crate::archive;
use crate::quotations::Predictor;

/// Arguments of `bench-layers frequent`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The language
    language: String,
    /// Read every Nth article
    #[arg(long, default_value_t = 1)]
    step: usize,
    /// Number of names, speakers and verbs
    #[arg(long, default_value_t = 40)]
    limit: usize,
    /// Print the words around each occurrence of this value
    #[arg(long)]
    value: Option<String>,
}

/// Occurrences of a value, and the documents that have it.
#[derive(Debug, Clone, Copy, Default)]
struct Uses {
    documents: usize,
    occurrences: usize,
    last: usize,
}

#[derive(Debug, Default)]
struct Counts(HashMap<String, Uses>);

impl Counts {
    fn add(&mut self, value: &str, document: usize) {
        let uses = self.0.entry(value.to_owned()).or_default();
        uses.occurrences += 1;
        uses.documents += usize::from(uses.last != document);
        uses.last = document;
    }

    fn print(self, heading: &str, limit: usize) {
        let mut rows: Vec<(String, Uses)> = self.0.into_iter().collect();
        rows.sort_by(|a, b| (b.1.documents, b.1.occurrences, &a.0).cmp(&(a.1.documents, a.1.occurrences, &b.0)));
        println!("{heading}: {}", rows.len());
        for (value, uses) in rows.iter().take(limit) {
            println!("{:6} {:6}  {value}", uses.documents, uses.occurrences);
        }
    }
}

/// Runs both layers over the articles and prints what they found most often.
pub fn run(shared: &Path, args: &Args) -> Result<()> {
    let language = args.language.as_str();
    let predictor = Predictor::new();
    let (mut found, mut speakers, mut verbs) = (Counts::default(), Counts::default(), Counts::default());
    let articles = archive::read(shared, &[language])?;
    for (number, article) in articles.iter().step_by(args.step.max(1)).enumerate() {
        let document = predictor.annotate(article.document(), language)?;
        let quotes = quotations(&document, language);
        let words: Vec<&str> = document.tokens().map(|token| token.word.as_str()).collect();
        let show = |value: &str, start: u32, end: u32| {
            if args.value.as_deref() == Some(value) {
                let (start, end) = (start as usize, end as usize);
                let part = |from: usize, to: usize| words[from..to.min(words.len())].join(" ");
                println!("… {} [{}] {}", part(start.saturating_sub(12), start), part(start, end), part(end, end + 12));
            }
        };
        for span in &document.spans {
            let name = span.attribute(names::NAME).unwrap_or_default();
            found.add(&format!("{name}\t{}", span.attribute(names::TYPE).unwrap_or_default()), number + 1);
            show(name, span.start, span.end);
        }
        let is_direct = |kind: Option<&str>| kind == Some(QuoteKind::Direct.name());
        for span in quotes.iter().filter(|span| span.name == QUOTE && is_direct(span.attribute(KIND))) {
            let speaker = span.attribute(SPEAKER).unwrap_or_default();
            speakers.add(speaker, number + 1);
            verbs.add(span.attribute(VERB).unwrap_or_default(), number + 1);
            show(speaker, span.start, span.end);
        }
    }
    found.print("names", args.limit);
    speakers.print("speakers", args.limit);
    verbs.print("verbs", args.limit);
    Ok(())
}
