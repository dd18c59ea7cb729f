//! Gold texts with inline annotation.
//!
//! A file holds documents, each after a line `=== NAME`; every other line is a paragraph, and a heading if it
//! begins with `# `. `{LABEL:text}` annotates a stretch of a paragraph and may be nested. Offsets count the characters
//! of the document that are not white space, so that they do not depend on tokens or line ends.

use anyhow::{Result, bail, ensure};
use tidings_model::{Document, Paragraph, ParagraphKind};

/// A document with labelled stretches.
#[derive(Debug, Clone, Default)]
pub struct MarkedDocument {
    /// The name of the document.
    pub name: String,
    /// Its text without annotation.
    pub paragraphs: Vec<Paragraph>,
    /// The labelled stretches, in order of their ends.
    pub stretches: Vec<Stretch>,
}

/// A labelled stretch of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stretch {
    /// The label.
    pub label: String,
    /// The first character, counted without white space from the start of the document.
    pub start: usize,
    /// The character after the last one.
    pub end: usize,
}

impl MarkedDocument {
    /// The document without its annotation.
    pub fn document(&self, language: &str) -> Document {
        let mut document = Document { paragraphs: self.paragraphs.clone(), ..Document::default() };
        document.about.language = language.to_owned();
        document
    }
}

/// Reads a file of documents with inline annotation.
pub fn parse(text: &str) -> Result<Vec<MarkedDocument>> {
    let mut documents: Vec<MarkedDocument> = Vec::new();
    let mut offset = 0;
    let mut open: Vec<(String, usize)> = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        if let Some(name) = line.strip_prefix("=== ") {
            ensure!(open.is_empty(), "a document before line {} has an open brace", number + 1);
            documents.push(MarkedDocument { name: name.trim().to_owned(), ..MarkedDocument::default() });
            offset = 0;
            continue;
        }
        let Some(document) = documents.last_mut() else {
            bail!("line {} stands before the first line that begins with ===", number + 1)
        };
        let (kind, line) = match line.strip_prefix("# ") {
            Some(heading) => (ParagraphKind::Heading { level: 2 }, heading),
            None => (ParagraphKind::P, line),
        };
        match strip(line, &mut offset, &mut open, &mut document.stretches) {
            Some(text) => document.paragraphs.push(Paragraph { kind, text, ..Paragraph::default() }),
            None => bail!("line {} has a closing brace too many or a brace without a label", number + 1),
        }
    }
    ensure!(open.is_empty(), "the last document has an open brace");
    Ok(documents)
}

/// The text of a line without annotation; none if a brace closes nothing. A stretch may go on in the next line.
fn strip(
    line: &str,
    offset: &mut usize,
    open: &mut Vec<(String, usize)>,
    stretches: &mut Vec<Stretch>,
) -> Option<String> {
    let mut text = String::new();
    let mut rest = line;
    while let Some(character) = rest.chars().next() {
        rest = &rest[character.len_utf8()..];
        match character {
            '{' => {
                let (label, after) = rest.split_once(':')?;
                open.push((label.to_owned(), *offset));
                rest = after;
            }
            '}' => {
                let (label, start) = open.pop()?;
                stretches.push(Stretch { label, start, end: *offset });
            }
            _ => {
                text.push(character);
                *offset += usize::from(!character.is_whitespace());
            }
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn annotation_is_removed_and_counted_without_white_space() {
        let found = parse("=== one\n# A {s:b c}\n“{d1:Go {s:now}!}” said {@1:Eve}.\n").unwrap();
        let texts: Vec<&str> = found[0].paragraphs.iter().map(|paragraph| paragraph.text.as_str()).collect();
        assert_eq!(texts, ["A b c", "“Go now!” said Eve."]);
        let stretches: Vec<(&str, usize, usize)> =
            found[0].stretches.iter().map(|one| (one.label.as_str(), one.start, one.end)).collect();
        assert_eq!(stretches, [("s", 1, 3), ("s", 6, 9), ("d1", 4, 10), ("@1", 15, 18)]);
        assert!(parse("=== one\n{d:a\n").is_err() && parse("text").is_err());
    }
}
