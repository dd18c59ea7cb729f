//! Readers and writers of other programs' formats: pure functions over readers, writers and bytes.
//!
//! | file | format | direction |
//! |---|---|---|
//! | [`vertical`] | one token a line, for corpus managers | both |
//! | [`conllu`] | CoNLL-U and CoNLL-U Plus, for treebanks and taggers | both |
//! | [`warc`] | WARC and WET, web archives | both |
//! | [`zip`] | the directory of ZIP files, for WACZ | in |
//! | [`gzip`], [`compressed`] | gzip members; gzip or zstd by first bytes | in |
//! | [`saved_page`] | HTML files of mirroring tools | in |
//! | [`Format`] | plain text, Markdown, JSON, XML, TEI, CSV, HTML of one document | out |
//! | [`jsonl`], [`parquet`], [`csv`] | tables for data teams | out |
//! | [`registry`] | the registry file of Manatee | out |
//! | [`cdxj`], [`tmx`] | index of web archives, translation memory | out |
//!
//! Written text is always well-formed: characters that XML forbids are left out, spans that cross
//! each other are closed and reopened, offsets inside a character move to its end. Readers are bounded in memory and
//! give an [`Error`] that names file and line, or skip the record, but never panic.
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
mod text;
pub mod tmx;
pub mod vertical;
pub mod warc;
mod xml;
pub mod zip;

pub use error::{Error, Result};
pub use table::{FORMATS, Format, FormatInfo, by_name};
