//! Scores of the quotations layer.

use std::path::Path;

use anyhow::Result;

use crate::archive;

/// Arguments of `bench-layers quotations`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print the blocks of the archive's articles in this language that have quotation marks, to annotate them
    #[arg(long, value_name = "CODE")]
    print: Option<String>,
}

/// Runs the benchmark.
pub fn run(shared: &Path, args: &Args) -> Result<()> {
    if let Some(language) = &args.print {
        print_marks(shared, language)?;
    }
    Ok(())
}

/// Characters that may be quotation marks.
const MARKS: &str = "\"“”„‟«»‹›‘’‚‛「」『』'";

/// Prints blocks with quotation marks; marks are numbered per document.
fn print_marks(shared: &Path, language: &str) -> Result<()> {
    for article in archive::read(shared, &[language])? {
        println!("=== {} {}", article.site, article.path);
        let mut number = 0;
        for (index, paragraph) in article.document().paragraphs.iter().enumerate() {
            let mut line = String::new();
            let mut before = ' ';
            let mut characters = paragraph.text.chars().peekable();
            let mut has_mark = false;
            while let Some(character) = characters.next() {
                line.push(character);
                let is_inside =
                    before.is_alphanumeric() && characters.peek().is_some_and(|next| next.is_alphanumeric());
                if MARKS.contains(character) && !is_inside {
                    has_mark = true;
                    line.push_str(&format!("[{number}]"));
                    number += 1;
                }
                before = character;
            }
            if has_mark {
                println!("{index} {} {line}", paragraph.kind.name());
            }
        }
    }
    Ok(())
}
