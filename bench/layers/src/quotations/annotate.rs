//! Annotation of the sample archive: prints numbered marks, and converts annotation by these numbers to stand-off rows.

use std::path::Path;

use anyhow::{Context as _, Result, bail};

use super::gold::digest;
use crate::archive::{self, Article};

/// Characters that may be quotation marks.
const MARKS: &str = "\"“”„‟«»‹›‘’‚‛「」『』'";

/// A mark of an article.
struct NumberedMark {
    paragraph: usize,
    /// Its byte offset in the paragraph.
    at: usize,
    /// Its offset in the article, without white space.
    offset: usize,
}

fn marks(article: &Article) -> Vec<NumberedMark> {
    let mut found = Vec::new();
    let mut offset = 0;
    for (paragraph, text) in article.document().paragraphs.iter().map(|one| one.text.as_str()).enumerate() {
        let mut before = ' ';
        let mut characters = text.char_indices().peekable();
        while let Some((at, character)) = characters.next() {
            let is_inside =
                before.is_alphanumeric() && characters.peek().is_some_and(|(_, next)| next.is_alphanumeric());
            if MARKS.contains(character) && !is_inside {
                found.push(NumberedMark { paragraph, at, offset });
            }
            before = character;
            offset += usize::from(!character.is_whitespace());
        }
    }
    found
}

/// Prints blocks with quotation marks; marks are numbered per document.
pub(super) fn print_marks(shared: &Path, language: &str) -> Result<()> {
    for article in archive::read(shared, &[language])? {
        println!("=== {} {}", article.site, article.path);
        let marks = marks(&article);
        for (index, paragraph) in article.document().paragraphs.iter().enumerate() {
            let mut line = String::new();
            let mut from = 0;
            for (number, mark) in marks.iter().enumerate().filter(|(_, mark)| mark.paragraph == index) {
                let end = mark.at + paragraph.text[mark.at..].chars().next().map_or(0, char::len_utf8);
                line.push_str(&format!("{}[{number}]", &paragraph.text[from..end]));
                from = end;
            }
            if from > 0 {
                println!("{index} {} {line}{}", paragraph.kind.name(), &paragraph.text[from..]);
            }
        }
    }
    Ok(())
}

/// Converts a file of lines `@ SITE PATH`, `d OPEN-CLOSE SPEAKER`, `s OPEN-CLOSE OPEN-CLOSE…` and `h OPEN-CLOSE…` to rows.
pub(super) fn convert(shared: &Path, file: &Path, language: &str) -> Result<()> {
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let articles = archive::read(shared, &[language])?;
    let mut current: Option<(&Article, Vec<NumberedMark>)> = None;
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("@ ") {
            let (site, path) = name.split_once(' ').context("a line @ needs site and path")?;
            let article = articles.iter().find(|one| one.site == site && one.path == path);
            let article = article.with_context(|| format!("the archive has no {name}"))?;
            current = Some((article, marks(article)));
            continue;
        }
        let Some((article, marks)) = &current else { bail!("{line} stands before the first line @") };
        let (kind, rest) = line.split_once(' ').with_context(|| format!("no marks in {line}"))?;
        let (pairs, speaker) = match kind {
            "d" => rest.split_once(' ').unwrap_or((rest, "")),
            _ => (rest, ""),
        };
        for pair in pairs.split(' ') {
            let (open, close) = pair.split_once('-').with_context(|| format!("no pair of marks in {line}"))?;
            let offset = |number: &str| -> Result<usize> {
                let mark = marks.get(number.parse::<usize>()?);
                Ok(mark.with_context(|| format!("{} has no mark {number}", article.path))?.offset)
            };
            let (start, end) = (offset(open)? + 1, offset(close)?);
            let speaker = speaker_range(article, speaker, start, end)?;
            let document = digest(&article.document().paragraphs);
            println!("{}\t{}\t{document}\t{kind}\t{start}\t{end}\t{speaker}", article.site, article.path);
        }
    }
    Ok(())
}

/// The mention of a speaker that is nearest to a quotation, as start and end.
fn speaker_range(article: &Article, speaker: &str, start: usize, end: usize) -> Result<String> {
    let bare = |text: &str| -> Vec<char> { text.chars().filter(|one| !one.is_whitespace()).collect() };
    let text: String = article.document().paragraphs.iter().map(|one| one.text.as_str()).collect();
    let (text, speaker) = (bare(&text), bare(speaker));
    if speaker.is_empty() {
        return Ok("\t".to_owned());
    }
    let mentions = text.windows(speaker.len()).enumerate().filter(|(_, window)| *window == speaker).map(|(at, _)| at);
    let distance = |at: &usize| if *at < start { start - at } else { at.saturating_sub(end) };
    let nearest = mentions.min_by_key(distance);
    let nearest = nearest.with_context(|| format!("{} does not mention {speaker:?}", article.path))?;
    Ok(format!("{nearest}\t{}", nearest + speaker.len()))
}
