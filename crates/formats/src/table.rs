//! The formats of whole documents.
//!
//! [`Format`] is the subset of [`FORMATS`](crate::FORMATS) in which a single document can be written. The functions of
//! each are in a row of [`WRITERS`].

use std::fmt;
use std::str::FromStr;

use tidings_model::Document;

use crate::{csv, html, json, markdown, tei, text, xml};

/// A format that a document can be written in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Format {
    /// Plain text.
    #[default]
    Txt,
    /// Markdown: CommonMark with tables.
    Md,
    /// One JSON object per line, with all metadata.
    Json,
    /// XML by a small schema of our own.
    Xml,
    /// TEI P5.
    Tei,
    /// One row of a CSV table, for spreadsheets and data frames.
    Csv,
    /// An HTML page that contains only the article.
    Html,
}

/// The functions of one document format.
struct Writer {
    format: Format,
    name: &'static str,
    ending: &'static str,
    /// Writes a file of one document.
    whole: fn(&Document) -> String,
    /// Writes the text before the first of many documents.
    opening: fn() -> String,
    /// Writes one of many documents with its name.
    item: fn(&str, &Document) -> String,
    closing: &'static str,
}

/// One row per document format, in the order of [`Format`].
static WRITERS: [Writer; 7] = [
    Writer {
        format: Format::Txt,
        name: "txt",
        ending: "txt",
        whole: text::write,
        opening: String::new,
        item: |name, document| named(name, &text::write(document)),
        closing: "",
    },
    Writer {
        format: Format::Md,
        name: "md",
        ending: "md",
        whole: markdown::write,
        opening: String::new,
        item: |name, document| named(name, &markdown::write(document)),
        closing: "",
    },
    Writer {
        format: Format::Json,
        name: "json",
        ending: "json",
        whole: json::write,
        opening: String::new,
        item: |_, document| json::write(document),
        closing: "",
    },
    Writer {
        format: Format::Xml,
        name: "xml",
        ending: "xml",
        whole: |document| format!("{}{}", xml::DECLARATION, xml::item(document)),
        opening: || format!("{}<documents>\n", xml::DECLARATION),
        item: |_, document| xml::item(document),
        closing: "</documents>\n",
    },
    Writer {
        format: Format::Tei,
        name: "tei",
        ending: "tei.xml",
        whole: |document| format!("{}{}", xml::DECLARATION, tei::item(document, true)),
        opening: || format!("{}{}", xml::DECLARATION, tei::CORPUS_OPENING),
        item: |_, document| tei::item(document, false),
        closing: "</teiCorpus>\n",
    },
    Writer {
        format: Format::Csv,
        name: "csv",
        ending: "csv",
        whole: |document| format!("{}{}", csv::HEADER, csv::item(document)),
        opening: || csv::HEADER.to_owned(),
        item: |_, document| csv::item(document),
        closing: "",
    },
    Writer {
        format: Format::Html,
        name: "html",
        ending: "html",
        whole: html::page,
        opening: || html::opening("", "Documents"),
        item: |_, document| html::item(document),
        closing: html::CLOSING,
    },
];

/// A document after a line with its name, for formats without document boundaries.
fn named(name: &str, text: &str) -> String {
    format!("==> {} <==\n{text}\n", name.replace('\n', " "))
}

impl Format {
    /// Every document format.
    pub const ALL: [Format; 7] = {
        let mut all = [Format::Txt; 7];
        let mut at = 0;
        while at < all.len() {
            all[at] = WRITERS[at].format;
            at += 1;
        }
        all
    };

    fn writer(self) -> &'static Writer {
        &WRITERS[self as usize]
    }

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        self.writer().name
    }

    /// The extension of its files.
    pub fn ending(self) -> &'static str {
        self.writer().ending
    }

    /// Writes a file of one document.
    pub fn write(self, document: &Document) -> String {
        (self.writer().whole)(document)
    }

    /// Writes the text before the first of many documents in one file.
    pub fn opening(self) -> String {
        (self.writer().opening)()
    }

    /// Writes one of many documents in one file. Text and Markdown start it with a line with its `name`.
    pub fn item(self, name: &str, document: &Document) -> String {
        (self.writer().item)(name, document)
    }

    /// The text that follows the last of many documents in one file.
    pub fn closing(self) -> &'static str {
        self.writer().closing
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
        Format::ALL
            .into_iter()
            .find(known)
            .ok_or_else(|| format!("unknown format `{name}`; known formats: {}", names()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn every_format_is_found_by_its_name() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse(), Ok(format));
        }
        assert!("docx".parse::<Format>().unwrap_err().contains("txt, md, json"));
    }

    #[test]
    fn rows_are_in_the_order_of_the_enum() {
        for (at, writer) in WRITERS.iter().enumerate() {
            assert_eq!(writer.format as usize, at);
        }
    }

    #[test]
    fn every_document_format_is_in_the_table_as_written() {
        for format in Format::ALL {
            let info = crate::by_name(format.name()).expect("a row for it");
            assert!(info.can_write && info.extensions.contains(&format.ending()), "{format}");
        }
    }

    #[test]
    fn many_documents_make_one_file_in_every_format() {
        for format in Format::ALL {
            let item = format.item("a\nb", &sample::article());
            let file = format.opening() + &item + &item + format.closing();
            assert!(file.matches("We carried our chairs").count() >= 2, "{format}");
            assert!(!matches!(format, Format::Txt | Format::Md) || file.starts_with("==> a b <==\n"), "{format}");
        }
    }
}
