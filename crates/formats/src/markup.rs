//! Shared parts of XML, TEI and HTML: escaping, and a walk over a document with a table of element names.

use tidings_model::{Mark, Paragraph};

use crate::inline::{self, Inline};
use crate::layout::{LayoutBlock, List};

/// The tags of an element.
pub(crate) type Tags = (&'static str, &'static str);

/// The elements of a format.
pub(crate) struct Vocabulary {
    pub(crate) plain: Tags,
    /// Around all paragraphs of a quotation, and around each of them.
    pub(crate) quote: Tags,
    pub(crate) quoted: Tags,
    /// Code: white space and line ends are significant.
    pub(crate) code: Tags,
    pub(crate) bullets: Tags,
    pub(crate) numbers: Tags,
    pub(crate) item: Tags,
    pub(crate) table: Tags,
    pub(crate) row: Tags,
    pub(crate) header_row: Tags,
    pub(crate) cell: Tags,
    pub(crate) header_cell: Tags,
    pub(crate) strong: Tags,
    pub(crate) emphasis: Tags,
    pub(crate) inline_code: Tags,
    /// With the URL between two parts of the opening tag: `<a href="`, `">`, `</a>`.
    pub(crate) link: (&'static str, &'static str, &'static str),
    pub(crate) line_break: &'static str,
}

/// True if XML 1.0 allows a character.
fn is_allowed(c: char) -> bool {
    !matches!(c, '\0'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}')
}

/// Appends text for the content of an element or a double-quoted attribute.
pub(crate) fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if is_allowed(c) => out.push(c),
            _ => {}
        }
    }
}

/// The same as a value.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    escape(text, &mut out);
    out
}

/// Text on one line, for attributes and titles.
pub(crate) fn one_line(text: &str) -> String {
    escaped(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// A URL for an attribute: characters that URLs do not contain are percent-encoded.
pub(crate) fn address(url: &str) -> String {
    let mut out = String::with_capacity(url.len());
    for c in url.trim().chars() {
        let is_plain = c.is_ascii_graphic() && !"<>\"{}|\\^`".contains(c);
        if is_plain {
            escape(c.encode_utf8(&mut [0; 4]), &mut out);
        } else {
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                out.push_str(&format!("%{byte:02X}"));
            }
        }
    }
    out
}

/// True if a URL leads to the web or to a mailbox, and not to the local machine.
pub(crate) fn is_harmless(url: &str) -> bool {
    let scheme = url.trim().split(':').next().unwrap_or_default();
    ["http", "https", "mailto"].iter().any(|known| scheme.eq_ignore_ascii_case(known))
}

/// Appends `<name>text</name>` as a line, unless there is no text.
pub(crate) fn field(name: &str, text: &str, out: &mut String) {
    let text = one_line(text);
    if !text.is_empty() {
        out.push_str(&format!("<{name}>{text}</{name}>\n"));
    }
}

/// Appends the inside of a paragraph.
pub(crate) fn inside(paragraph: &Paragraph, words: &Vocabulary, out: &mut String) {
    stretch(paragraph, 0, paragraph.text.len(), words, out);
}

fn stretch(paragraph: &Paragraph, from: usize, to: usize, words: &Vocabulary, out: &mut String) {
    let mut line_break = words.line_break;
    inline::walk(&paragraph.text, &paragraph.spans, from, to, |step| match step {
        Inline::Open(Mark::Link { href }) => {
            out.push_str(words.link.0);
            out.push_str(&if is_harmless(href) { address(href) } else { String::new() });
            out.push_str(words.link.1);
        }
        Inline::Close(Mark::Link { .. }) => out.push_str(words.link.2),
        Inline::Open(mark) => {
            // In program text a line end is a line end.
            line_break = if *mark == Mark::Code { "\n" } else { line_break };
            out.push_str(tags(mark, words).0);
        }
        Inline::Close(mark) => {
            line_break = if *mark == Mark::Code { words.line_break } else { line_break };
            out.push_str(tags(mark, words).1);
        }
        Inline::Text(text) => {
            for (number, line) in text.split('\n').enumerate() {
                if number > 0 {
                    out.push_str(line_break);
                }
                escape(line, out);
            }
        }
    });
}

fn tags(mark: &Mark, words: &Vocabulary) -> Tags {
    match mark {
        Mark::Strong => words.strong,
        Mark::Emphasis => words.emphasis,
        Mark::Code => words.inline_code,
        Mark::Link { .. } => (words.link.0, words.link.2),
    }
}

/// Appends a block; headings differ between formats and are passed to `heading`.
pub(crate) fn part(
    part: &LayoutBlock<'_>,
    words: &Vocabulary,
    out: &mut String,
    mut heading: impl FnMut(u8, &Paragraph, &mut String),
) {
    match part {
        LayoutBlock::Heading(level, paragraph) => heading(*level, paragraph, out),
        LayoutBlock::Plain(paragraph) => element(words.plain, out, |out| inside(paragraph, words, out)),
        LayoutBlock::Code(paragraph) => {
            element(words.code, out, |out| escape(&paragraph.text, out));
        }
        LayoutBlock::Quote(run) => {
            element(words.quote, out, |out| {
                for paragraph in *run {
                    out.push_str(words.quoted.0);
                    inside(paragraph, words, out);
                    out.push_str(words.quoted.1);
                }
            });
        }
        LayoutBlock::List(list) => {
            nested(list, words, out);
            out.push('\n');
        }
        LayoutBlock::Table(rows) => {
            element(words.table, out, |out| {
                out.push('\n');
                rows.iter().for_each(|row| table_row(row, words, out));
            });
        }
    }
}

fn element(tags: Tags, out: &mut String, fill: impl FnOnce(&mut String)) {
    out.push_str(tags.0);
    fill(out);
    out.push_str(tags.1);
    out.push('\n');
}

fn nested(list: &List<'_>, words: &Vocabulary, out: &mut String) {
    let (open, close) = if list.ordered { words.numbers } else { words.bullets };
    out.push_str(open);
    out.push('\n');
    for item in &list.items {
        out.push_str(words.item.0);
        inside(item.paragraph, words, out);
        item.lists.iter().for_each(|list| nested(list, words, out));
        out.push_str(words.item.1);
        out.push('\n');
    }
    out.push_str(close);
}

fn table_row(row: &Paragraph, words: &Vocabulary, out: &mut String) {
    let is_header = matches!(row.kind, tidings_model::ParagraphKind::Row { header: true });
    let (around, cell) = if is_header { (words.header_row, words.header_cell) } else { (words.row, words.cell) };
    element(around, out, |out| {
        for (from, to) in inline::cells(&row.text) {
            out.push_str(cell.0);
            stretch(row, from, to, words, out);
            out.push_str(cell.1);
        }
    });
}

/// A date as `YYYY-MM-DD`; `None` if invalid.
pub(crate) fn day(text: &str) -> Option<&str> {
    text.parse::<jiff::civil::Date>().ok().filter(|_| text.len() == 10).map(|_| text)
}

/// A syntactically valid language tag.
pub(crate) fn language(tag: &str) -> Option<String> {
    let tag = tag.trim().replace('_', "-");
    let is_part = |part: &str| (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let begins =
        tag.split('-').next().is_some_and(|part| part.len() >= 2 && part.bytes().all(|b| b.is_ascii_alphabetic()));
    (begins && tag.split('-').all(is_part)).then_some(tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_xml_forbids_are_omitted() {
        assert_eq!(escaped("a\0\u{b}\u{1f}\u{fffe}\t\n<&>\"é😀"), "a\t\n&lt;&amp;&gt;&quot;é😀");
    }

    #[test]
    fn urls_are_percent_encoded() {
        assert_eq!(address("http://e.org/a b?c=\"<ü>&d"), "http://e.org/a%20b?c=%22%3C%C3%BC%3E&amp;d");
        assert!(is_harmless("HTTPS://e.org") && !is_harmless("javascript:alert(1)") && !is_harmless("java\nscript:x"));
    }

    #[test]
    fn only_valid_dates_and_languages_pass() {
        assert_eq!((day("2026-03-01"), day("2026-02-30"), day("March")), (Some("2026-03-01"), None, None));
        assert_eq!(language("de_AT").as_deref(), Some("de-AT"));
        assert!(language("").is_none() && language("x y").is_none() && language("12").is_none());
    }
}
