//! The sample archive of the development data: openly licensed articles that are not part of the repository.
//!
//! Annotation of its texts is kept stand-off: site, path, a digest of the text and offsets.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::Deserialize;
use tidings_model::{Document, Paragraph, ParagraphKind};

/// The path of the archive in the folder of development data.
pub const FILE: &str = "sample-archive/articles.jsonl.zst";

/// An article of the archive.
#[derive(Debug, Clone, Deserialize)]
pub struct Article {
    /// The host name of its site.
    pub site: String,
    /// The path of its URL.
    pub path: String,
    /// The language code.
    pub lang: String,
    /// The headline.
    #[serde(default)]
    pub title: String,
    /// The article body.
    pub html: String,
}

/// Reads the articles of some languages; all if `languages` is empty.
pub fn read(shared: &Path, languages: &[&str]) -> Result<Vec<Article>> {
    let path = shared.join(FILE);
    let file = File::open(&path).with_context(|| {
        format!("cannot read {}; --shared names the folder of the development data", path.display())
    })?;
    let lines = BufReader::new(zstd::Decoder::new(file)?).lines();
    let mut articles = Vec::new();
    for line in lines {
        let article: Article =
            serde_json::from_str(&line?).with_context(|| format!("{} has a malformed line", path.display()))?;
        if languages.is_empty() || languages.contains(&article.lang.as_str()) {
            articles.push(article);
        }
    }
    Ok(articles)
}

impl Article {
    /// The article as a document, its blocks as paragraphs.
    pub fn document(&self) -> Document {
        let mut document = Document { site: self.site.clone(), paragraphs: blocks(&self.html), ..Document::default() };
        document.about.language = self.lang.clone();
        document.about.title = self.title.clone();
        document
    }
}

/// Elements whose text is left out.
const SKIPPED: [&str; 8] = ["script", "style", "pre", "code", "iframe", "audio", "video", "svg"];
/// Elements within a line.
const INLINE: [&str; 22] = [
    "a", "em", "strong", "i", "b", "u", "span", "cite", "q", "small", "sup", "sub", "tt", "abbr", "font", "del", "ins",
    "mark", "time", "s", "wbr", "kbd",
];

/// Splits an article body into blocks of text: a tag that is not inline ends a block.
fn blocks(html: &str) -> Vec<Paragraph> {
    let mut paragraphs = Vec::new();
    let mut kind = ParagraphKind::P;
    let mut text = String::new();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = comment.find("-->").map_or("", |end| &comment[end + 3..]);
            continue;
        }
        let Some(end) = rest.find('>') else { break };
        let tag = rest[1..end].to_ascii_lowercase();
        rest = &rest[end + 1..];
        let name: String = tag.trim_start_matches('/').chars().take_while(char::is_ascii_alphanumeric).collect();
        if SKIPPED.contains(&name.as_str()) && !tag.starts_with('/') && !tag.ends_with('/') {
            let closing = format!("</{name}");
            rest = rest.find(&closing).map_or("", |at| &rest[at..]);
            continue;
        }
        if name == "q" {
            text.push('"');
        }
        if INLINE.contains(&name.as_str()) || SKIPPED.contains(&name.as_str()) {
            continue;
        }
        push(&mut paragraphs, kind, &mut text);
        kind = match name.as_bytes() {
            [b'h', level @ b'1'..=b'6'] if !tag.starts_with('/') => ParagraphKind::Heading { level: level - b'0' },
            _ => ParagraphKind::P,
        };
    }
    text.push_str(rest);
    push(&mut paragraphs, kind, &mut text);
    paragraphs
}

fn push(paragraphs: &mut Vec<Paragraph>, kind: ParagraphKind, text: &mut String) {
    let words: Vec<&str> = text.split_whitespace().collect();
    let joined = decode(&words.join(" "));
    text.clear();
    let joined = joined.trim();
    if !joined.is_empty() {
        paragraphs.push(Paragraph { kind, text: joined.to_owned(), ..Paragraph::default() });
    }
}

/// Decodes character references; unknown names stay as they are.
fn decode(text: &str) -> String {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        decoded.push_str(&rest[..at]);
        rest = &rest[at..];
        let reference = rest.find(';').filter(|end| *end < 12).and_then(|end| Some((end, character(&rest[1..end])?)));
        match reference {
            Some((end, found)) => {
                decoded.push(found);
                rest = &rest[end + 1..];
            }
            None => {
                decoded.push('&');
                rest = &rest[1..];
            }
        }
    }
    decoded + rest
}

fn character(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(digits) => u32::from_str_radix(digits, 16),
            None => number.parse(),
        };
        return char::from_u32(code.ok()?);
    }
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" | "space" => ' ',
        "mdash" => '—',
        "ndash" => '–',
        "hellip" => '…',
        "ldquo" => '“',
        "rdquo" => '”',
        "lsquo" => '‘',
        "rsquo" => '’',
        "bdquo" => '„',
        "laquo" => '«',
        "raquo" => '»',
        "eacute" => 'é',
        "auml" => 'ä',
        "ouml" => 'ö',
        "uuml" => 'ü',
        "szlig" => 'ß',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_paragraphs_and_headings_with_decoded_text() {
        let found =
            blocks("<h2>News</h2> <p>A <em>small</em> &quot;step&quot;&#8212;<br/>so</p><pre>x < y</pre>tail &c");
        let texts: Vec<&str> = found.iter().map(|paragraph| paragraph.text.as_str()).collect();
        assert_eq!(texts, ["News", "A small \"step\"—", "so", "tail &c"]);
        assert_eq!(found[0].kind, ParagraphKind::Heading { level: 2 });
        assert_eq!(found[1].kind, ParagraphKind::P);
    }
}
