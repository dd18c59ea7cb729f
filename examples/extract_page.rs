//! Extracts one HTML file: its title, date, language and text.

use std::fs;
use std::io::{Write, stdout};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use tidings_clean::Options;
use tidings_lang::{Hints, identify};
use tidings_model::Page;
use tidings_pipeline::extract_guarded::read_page;

fn main() -> Result<()> {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [file] = &arguments[..] else { bail!("give an HTML file") };
    run(file, &mut stdout())
}

/// Prints the extracted data of a file. A page without text is an error with the reason.
pub fn run(file: &Path, out: &mut dyn Write) -> Result<()> {
    let body = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    // The URL and the headers of the response help with dates and character sets; a bare file has none.
    let page = Page { body, ..Page::default() };
    let document = read_page(&page, &Options::default())
        .map_err(|reason| anyhow!("{} gives no document: {}", file.display(), reason.name()))?;
    let text = document.text();
    let declared = Some(document.about.declared_language.as_str()).filter(|code| !code.is_empty());
    let guess = identify(&text, Hints { declared, tld: None });
    writeln!(out, "title     {}", document.about.title)?;
    match &document.dated {
        Some(dated) => writeln!(out, "date      {} (by {}, {:.2})", dated.day, dated.source, dated.confidence)?,
        None => writeln!(out, "date      unknown")?,
    }
    writeln!(out, "language  {} ({:.2})\n", guess.lang, guess.score)?;
    writeln!(out, "{}", text.trim_end())?;
    Ok(())
}
