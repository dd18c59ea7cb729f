//! Documents as other programs and people want them: plain text, Markdown, JSON, XML, TEI, CSV,
//! HTML.
//!
//! A writer is a pure function from a document to text. Whatever a document holds, the result is
//! well-formed: characters that XML forbids are left out, marks that cross each other are closed
//! and opened again, offsets that lie in the middle of a character move to its end.
//!
//! ```
//! use tidings_model::{Document, Paragraph};
//! use tidings_store::format::Format;
//!
//! let paragraphs = vec![Paragraph { text: "1 < 2".into(), ..Paragraph::default() }];
//! let document = Document { paragraphs, ..Document::default() };
//! assert_eq!(Format::Txt.write(&document), "1 < 2\n");
//! assert!(Format::Xml.write(&document).contains("<p>1 &lt; 2</p>"));
//! ```

pub mod cdxj;
pub mod conllu;
pub mod csv;
mod html;
mod inline;
mod json;
mod layout;
pub mod lines;
mod markdown;
mod markup;
pub mod parquet;
pub mod registry;
#[cfg(test)]
mod sample;
mod tei;
mod text;
pub mod tmx;
pub mod vertical;
mod xml;

use std::fmt;
use std::str::FromStr;

use tidings_model::Document;

pub use csv::quoted as csv_field;

/// A form that a document can be written in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Format {
    /// The text alone.
    #[default]
    Txt,
    /// Markdown, as CommonMark with tables.
    Md,
    /// One JSON object a line, with everything that is known.
    Json,
    /// XML by a small schema of our own.
    Xml,
    /// TEI P5.
    Tei,
    /// A row of a table, for spreadsheets and data frames.
    Csv,
    /// A page with the article and nothing else.
    Html,
}

impl Format {
    /// Every format.
    pub const ALL: [Format; 7] =
        [Format::Txt, Format::Md, Format::Json, Format::Xml, Format::Tei, Format::Csv, Format::Html];

    /// Its name, on the command line and, but for TEI, at the end of file names.
    pub fn name(self) -> &'static str {
        match self {
            Format::Txt => "txt",
            Format::Md => "md",
            Format::Json => "json",
            Format::Xml => "xml",
            Format::Tei => "tei",
            Format::Csv => "csv",
            Format::Html => "html",
        }
    }

    /// How names of its files end.
    pub fn ending(self) -> &'static str {
        match self {
            Format::Tei => "tei.xml",
            other => other.name(),
        }
    }

    /// A document alone: a whole file.
    pub fn write(self, document: &Document) -> String {
        match self {
            Format::Txt => text::write(document),
            Format::Md => markdown::write(document),
            Format::Json => json::write(document),
            Format::Xml => format!("{}{}", xml::DECLARATION, xml::item(document)),
            Format::Tei => format!("{}{}", xml::DECLARATION, tei::item(document, true)),
            Format::Csv => format!("{}{}", csv::HEADER, csv::item(document)),
            Format::Html => html::page(document),
        }
    }

    /// What stands before the first of many documents in one file.
    pub fn opening(self) -> String {
        match self {
            Format::Txt | Format::Md | Format::Json => String::new(),
            Format::Xml => format!("{}<documents>\n", xml::DECLARATION),
            Format::Tei => format!("{}{}", xml::DECLARATION, tei::CORPUS_OPENING),
            Format::Csv => csv::HEADER.to_owned(),
            Format::Html => html::opening("", "Documents"),
        }
    }

    /// One of many documents in one file. Text and Markdown have no way to tell where a document
    /// begins, so that it is told there by a line with its `name`.
    pub fn item(self, name: &str, document: &Document) -> String {
        match self {
            Format::Txt | Format::Md => format!("==> {} <==\n{}\n", name.replace('\n', " "), self.write(document)),
            Format::Json => json::write(document),
            Format::Xml => xml::item(document),
            Format::Tei => tei::item(document, false),
            Format::Csv => csv::item(document),
            Format::Html => html::item(document),
        }
    }

    /// What stands behind the last of many documents in one file.
    pub fn closing(self) -> &'static str {
        match self {
            Format::Txt | Format::Md | Format::Json | Format::Csv => "",
            Format::Xml => "</documents>\n",
            Format::Tei => "</teiCorpus>\n",
            Format::Html => html::CLOSING,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Format, String> {
        let known = |format: &Format| format.name() == name;
        let names = || Format::ALL.map(Format::name).join(", ");
        Format::ALL.into_iter().find(known).ok_or_else(|| format!("`{name}` is no format; there are {}", names()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_found_by_its_name() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse(), Ok(format));
        }
        assert!("docx".parse::<Format>().unwrap_err().contains("txt, md, json"));
    }
}
