//! Readers and writers of other programs' formats: pure functions over readers, writers and bytes.
//!
//! | file | format | direction |
//! |---|---|---|
//! | [`vertical`] | one token per line, for corpus managers | both |
//! | [`conllu`] | CoNLL-U and CoNLL-U Plus, for treebanks and taggers | both |
//! | [`tei_tokens`] | annotated text in TEI | both |
//! | [`warc`] | WARC and WET, web archives | both |
//! | [`zip`] | the directory of ZIP files, for WACZ | in |
//! | [`gzip`], [`compressed`] | gzip members; gzip or zstd by first bytes | in |
//! | [`saved_page`] | HTML files of mirroring tools | in |
//! | [`Format`] | plain text, Markdown, JSON, XML, TEI, CSV, HTML of one document | out |
//! | [`jsonl`], [`parquet`], [`csv`] | tables for data teams | out |
//! | [`registry`] | the registry file of Manatee | out |
//! | [`cdxj`], [`tmx`] | index of web archives, translation memory | out |
//!
//! Written text is always well-formed: characters that XML forbids are omitted, crossing spans are closed and reopened,
//! offsets inside a character move to its end. Readers have bounded memory; they return an [`Error`] with file and
//! line, or skip the record, but never panic.
//!
//! ```
//! use tidings_formats::{Format, by_name};
//! use tidings_model::{Document, Paragraph};
//!
//! let paragraphs = vec![Paragraph { text: "1 < 2".into(), ..Paragraph::default() }];
//! let document = Document { paragraphs, ..Document::default() };
//! assert_eq!(Format::Txt.write(&document), "1 < 2\n");
//! assert!(Format::Xml.write(&document).contains("<p>1 &lt; 2</p>"));
//! assert!(by_name("conllu").is_some_and(|format| format.can_read && format.can_write));
//! ```

pub mod cdxj;
pub mod compressed;
pub mod conllu;
pub mod csv;
mod error;
pub mod gzip;
mod html;
mod inline;
mod json;
pub mod jsonl;
mod layout;
mod markdown;
mod markup;
pub mod parquet;
pub mod registry;
#[cfg(test)]
mod sample;
pub mod saved_page;
mod table;
mod tei;
pub mod tei_tokens;
mod text;
pub mod tmx;
pub mod vertical;
pub mod warc;
mod xml;
mod xml_read;
pub mod zip;

pub use error::{Error, Result};
pub use table::Format;

/// A format that this crate reads or writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormatInfo {
    /// Its name.
    pub name: &'static str,
    /// Extensions of its files without a compression suffix, the usual one first.
    pub extensions: &'static [&'static str],
    /// True if there is a reader.
    pub can_read: bool,
    /// True if there is a writer.
    pub can_write: bool,
}

const fn row(name: &'static str, extensions: &'static [&'static str], can_read: bool, can_write: bool) -> FormatInfo {
    FormatInfo { name, extensions, can_read, can_write }
}

/// Every format, by name.
pub const FORMATS: &[FormatInfo] = &[
    row("cdxj", &["cdxj"], false, true),
    row("conllu", &["conllu", "conllup"], true, true),
    row("csv", &["csv", "tsv"], false, true),
    row("html", &["html", "htm"], false, true),
    row("json", &["json"], true, true),
    row("jsonl", &["jsonl", "ndjson"], false, true),
    row("md", &["md"], false, true),
    row("parquet", &["parquet"], false, true),
    row("registry", &["registry"], false, true),
    row("tei", &["tei.xml"], true, true),
    row("tmx", &["tmx"], false, true),
    row("txt", &["txt"], false, true),
    row("vertical", &["vert", "vertical"], true, true),
    row("wacz", &["wacz"], true, false),
    row("warc", &["warc"], true, true),
    row("wet", &["wet"], true, false),
    row("xml", &["xml"], false, true),
];

/// Finds a format by its name.
pub fn by_name(name: &str) -> Option<&'static FormatInfo> {
    FORMATS.iter().find(|format| format.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_each_row_has_a_direction_and_an_extension() {
        assert!(FORMATS.is_sorted_by(|a, b| a.name < b.name));
        assert!(FORMATS.iter().all(|format| (format.can_read || format.can_write) && !format.extensions.is_empty()));
        assert!(by_name("docx").is_none());
    }
}
