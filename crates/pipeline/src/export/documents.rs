//! Writers of documents: JSON lines, tables, TEI, plain text, Parquet.

use std::collections::BTreeMap;

use anyhow::Result;
use jiff::Timestamp;
use jiff::civil::{Date, date};
use tidings_formats::parquet::{Table, Type, Value};
use tidings_formats::{Format, csv, jsonl};
use tidings_store::output::Sink;

use super::manifest::Figures;
use super::selection::ExportItem;
use super::target::{ExportTarget, ExportWriter};

/// A document as a line of JSON.
pub fn jsonl(item: &ExportItem) -> Vec<u8> {
    jsonl::write(&item.document, &item.attributes, None)
}

/// A document as a line of JSON with its tokens, further attributes and spans.
pub fn jsonl_tokens(item: &ExportItem) -> Vec<u8> {
    match &item.text {
        Some(text) => jsonl::write(&item.document, &item.attributes, Some(text)),
        None => Vec::new(),
    }
}

/// A document as a row of a table.
pub fn csv_row(item: &ExportItem) -> Vec<u8> {
    csv::row(&item.document, ',').into_bytes()
}

/// A document as a row with tabs between columns.
pub fn tsv_row(item: &ExportItem) -> Vec<u8> {
    csv::row(&item.document, '\t').into_bytes()
}

/// A document as TEI.
pub fn tei(item: &ExportItem) -> Vec<u8> {
    Format::Tei.item("", &item.document).into_bytes()
}

/// Renders a document with one paragraph per line and a final empty line.
pub fn text(item: &ExportItem) -> Vec<u8> {
    let mut text = String::new();
    for paragraph in &item.document.paragraphs {
        let line = paragraph.text.replace(['\n', '\r', '\t'], " ");
        text.push_str(line.trim());
        text.push('\n');
    }
    text.push('\n');
    text.into_bytes()
}

/// A stream of rendered documents between a header and a footer.
pub struct Stream {
    sink: Sink,
    closing: &'static str,
}

impl Stream {
    /// Begins the main file with its opening.
    pub fn begin(target: &mut ExportTarget, opening: &[u8], closing: &'static str) -> Result<Box<dyn ExportWriter>> {
        let mut sink = target.main()?;
        sink.push(opening)?;
        Ok(Box::new(Stream { sink, closing }))
    }
}

impl ExportWriter for Stream {
    fn write(&mut self, _: ExportItem, rendered: Vec<u8>, _: &mut ExportTarget) -> Result<()> {
        Ok(self.sink.push(&rendered)?)
    }

    fn finish(mut self: Box<Self>, target: &mut ExportTarget) -> Result<Figures> {
        self.sink.push(self.closing.as_bytes())?;
        target.end(self.sink)?;
        Ok(Figures::None)
    }
}

/// The columns of a Parquet file. Language and month are the names of its folders.
const COLUMNS: &[(&str, Type)] = &[
    ("id", Type::Text),
    ("text", Type::Text),
    ("url", Type::Text),
    ("site", Type::Text),
    ("title", Type::OptionalText),
    ("date", Type::OptionalDay),
    ("date_source", Type::OptionalText),
    ("date_confidence", Type::OptionalFloat),
    ("downloaded", Type::OptionalTime),
    ("language_tag", Type::OptionalText),
    ("language_score", Type::OptionalFloat),
    ("licence", Type::OptionalText),
    ("licence_url", Type::OptionalText),
    ("feed", Type::OptionalText),
    ("site_name", Type::OptionalText),
    ("description", Type::OptionalText),
    ("topic", Type::OptionalText),
    ("genre", Type::OptionalText),
    ("country", Type::OptionalText),
    ("authors", Type::Texts),
    ("categories", Type::Texts),
    ("tags", Type::Texts),
    ("extractor", Type::OptionalText),
];

/// The size of a table at which its file is written: large enough for fast reading, small enough for memory.
const FILE_BYTES: usize = 128 << 20;
/// Memory limit of all tables together. Documents of any month may come on any day.
const WAITING_BYTES: usize = 512 << 20;

/// Parquet files by language and month (Hive partitioning).
pub struct Partitions {
    /// Creates the table of a language.
    create: Box<dyn Fn(&str) -> Table + Send>,
    /// Adds a document to its table.
    push: fn(&mut Table, &ExportItem),
    tables: BTreeMap<String, Table>,
    files: BTreeMap<String, u32>,
    waiting: usize,
    rows: u64,
}

impl Partitions {
    /// Documents with their metadata.
    pub fn of_documents() -> Partitions {
        Partitions::new(|_| Table::new(COLUMNS), push)
    }

    /// Documents as rows of tables of their language.
    pub fn new(create: impl Fn(&str) -> Table + Send + 'static, push: fn(&mut Table, &ExportItem)) -> Partitions {
        let (tables, files) = (BTreeMap::new(), BTreeMap::new());
        Partitions { create: Box::new(create), push, tables, files, waiting: 0, rows: 0 }
    }

    fn flush(&mut self, partition: &str, target: &mut ExportTarget) -> Result<()> {
        let Some(table) = self.tables.remove(partition) else { return Ok(()) };
        self.waiting -= table.bytes();
        let number = self.files.entry(partition.to_owned()).or_default();
        let sink = target.file(&format!("{partition}/part-{number:05}.parquet"))?;
        *number += 1;
        let mut sink = sink.expect("a folder is not standard output");
        table.finish(|bytes| sink.push(bytes))?;
        target.end(sink)
    }
}

impl ExportWriter for Partitions {
    fn write(&mut self, item: ExportItem, _: Vec<u8>, target: &mut ExportTarget) -> Result<()> {
        let partition = partition(&item);
        let table = self.tables.entry(partition.clone()).or_insert_with(|| (self.create)(&item.language));
        let before = table.bytes();
        (self.push)(table, &item);
        self.rows += 1;
        self.waiting += table.bytes() - before;
        if table.bytes() >= FILE_BYTES {
            return self.flush(&partition, target);
        }
        if self.waiting >= WAITING_BYTES {
            let largest = self.tables.iter().max_by_key(|(_, table)| table.bytes());
            let name = largest.expect("at least one table").0.clone();
            return self.flush(&name, target);
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>, target: &mut ExportTarget) -> Result<Figures> {
        let names: Vec<String> = self.tables.keys().cloned().collect();
        names.iter().try_for_each(|name| self.flush(name, target))?;
        Ok(Figures::Partitions { partitions: self.files.len() as u64, rows: self.rows })
    }
}

/// The partition of a document: its language and the month of its date.
fn partition(item: &ExportItem) -> String {
    let month = item.attributes.date.get(..7).filter(|month| month.is_ascii());
    format!("language={}/month={}", item.language, month.unwrap_or("__HIVE_DEFAULT_PARTITION__"))
}

fn push(table: &mut Table, item: &ExportItem) {
    let (document, about) = (&item.document, &item.document.about);
    fn some(text: &str) -> Option<&str> {
        Some(text).filter(|text| !text.is_empty())
    }
    fn value(text: Option<&str>) -> Value<'_> {
        text.map_or(Value::Nothing, Value::Text)
    }
    let dated = document.dated.as_ref();
    let day = dated.and_then(|dated| dated.day.parse::<Date>().ok());
    let day = day.and_then(|day| day.since(date(1970, 1, 1)).ok()).map(|span| span.get_days());
    let downloaded = document.downloaded.parse::<Timestamp>().ok().map(|time| time.as_microsecond());
    let licence = about.licence.as_ref();
    let number = |number: Option<f32>| number.map_or(Value::Nothing, Value::Float);
    let body = document.text();
    table.push(&[
        Value::Text(&document.id),
        Value::Text(&body),
        Value::Text(&document.url),
        Value::Text(&document.site),
        value(some(&about.title)),
        day.map_or(Value::Nothing, Value::Day),
        value(dated.map(|dated| dated.source.as_str())),
        number(dated.map(|dated| dated.confidence)),
        downloaded.map_or(Value::Nothing, Value::Time),
        value(some(&about.language)),
        number(about.language_score),
        value(licence.map(|licence| licence.name.as_str())),
        value(licence.and_then(|licence| some(&licence.url))),
        value(some(&document.feed)),
        value(some(&about.site_name)),
        value(some(&about.description)),
        value(item.attributes.field("topic")),
        value(item.attributes.field("genre")),
        value(item.attributes.field("country")),
        Value::Texts(&about.authors),
        Value::Texts(&about.categories),
        Value::Texts(&about.tags),
        value(some(&document.extractor)),
    ]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidings_model::{Document, Paragraph};

    fn item(date: &str) -> ExportItem {
        let mut item = ExportItem { language: "de".to_owned(), ..ExportItem::default() };
        date.clone_into(&mut item.attributes.date);
        item
    }

    #[test]
    fn documents_are_partitioned_by_language_and_month() {
        assert_eq!(partition(&item("2026-03-01")), "language=de/month=2026-03");
        assert_eq!(partition(&item("")), "language=de/month=__HIVE_DEFAULT_PARTITION__");
    }

    #[test]
    fn plain_text_has_one_paragraph_per_line_and_an_empty_line_at_the_end() {
        let paragraph = |text: &str| Paragraph { text: text.to_owned(), ..Paragraph::default() };
        let document =
            Document { paragraphs: vec![paragraph(" One\ttwo\n"), paragraph("Three")], ..Document::default() };
        assert_eq!(text(&ExportItem { document, ..item("") }), b"One two\nThree\n\n");
    }
}
