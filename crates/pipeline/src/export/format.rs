//! The table of export formats, and the limits for publishable data.

use std::str::FromStr;

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};
use tidings_formats::{Format, tei_tokens};
use tidings_model::purpose::{Extent, Purpose};

use super::documents::{self, Partitions, Stream};
use super::pairs::{Pairs, Parallel};
use super::selection::ExportItem;
use super::target::{ExportTarget, ExportWriter};
use super::{Options, privacy, token_table, tokens};
use crate::display::grouped;

/// The minimum document frequency of a published n-gram.
pub const LEAST_PUBLIC_DOCUMENTS: u64 = 5;
/// The minimum number of published shuffled sentences.
const LEAST_PUBLIC_POOL: u64 = 1_000;

/// The formats that an export writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExportFormat {
    /// JSON lines.
    Jsonl,
    /// JSON lines with tokens and spans.
    JsonlTokens,
    /// Parquet by language and month.
    Parquet,
    /// Parquet with tokens and spans.
    ParquetTokens,
    /// The vertical format with a registry.
    Vertical,
    /// CoNLL-U.
    Conllu,
    /// CoNLL-U Plus with stand-off annotation.
    ConlluPlus,
    /// TEI P5.
    Tei,
    /// Annotated text in TEI P5.
    TeiTokens,
    /// Plain text.
    Text,
    /// Comma-separated values.
    Csv,
    /// Tab-separated values.
    Tsv,
    /// Raw pages as WARC 1.1 with a CDXJ index.
    Warc,
    /// Counts of n-grams.
    Ngrams,
    /// Shuffled sentences.
    Shuffled,
    /// Parallel texts.
    Pairs,
}

/// Renders one document; called on all cores.
type Render = fn(&ExportItem, &Options) -> Vec<u8>;
/// Creates the writer that receives rendered documents in order.
type Begin = fn(&Options, &mut ExportTarget, Option<Parallel>) -> Result<Box<dyn ExportWriter>>;

/// A row of the table of formats.
#[derive(Debug, Clone, Copy)]
pub struct FormatRow {
    /// The format.
    pub format: ExportFormat,
    /// Its name on the command line and in manifests.
    pub name: &'static str,
    /// The description in help texts.
    pub help: &'static str,
    /// Whether the output is a folder of files.
    pub is_folder: bool,
    /// Whether it needs annotated text.
    pub needs_tokens: bool,
    /// Whether it needs pairs of translations.
    pub needs_pairs: bool,
    /// The amount of text it contains.
    pub extent: Extent,
    pub(super) render: Render,
    pub(super) begin: Begin,
}

/// A format whose file is a sequence of rendered documents.
const fn row(format: ExportFormat, name: &'static str, help: &'static str, render: Render) -> FormatRow {
    FormatRow {
        format,
        name,
        help,
        is_folder: false,
        needs_tokens: false,
        needs_pairs: false,
        extent: Extent::Whole,
        render,
        begin: |_, target, _| Stream::begin(target, b"", ""),
    }
}

impl FormatRow {
    const fn folder(self) -> FormatRow {
        FormatRow { is_folder: true, ..self }
    }

    const fn tokens(self) -> FormatRow {
        FormatRow { needs_tokens: true, ..self }
    }

    const fn pairs(self) -> FormatRow {
        FormatRow { needs_pairs: true, ..self }
    }

    const fn extent(self, extent: Extent) -> FormatRow {
        FormatRow { extent, ..self }
    }

    /// The same with a writer of its own.
    const fn writer(self, begin: Begin) -> FormatRow {
        FormatRow { begin, ..self }
    }
}

/// The start of a table: its header, with a byte order mark if requested.
fn table_opening(options: &Options, separator: char) -> Vec<u8> {
    let bom = if options.bom { "\u{feff}" } else { "" };
    format!("{bom}{}", tidings_formats::csv::header(separator)).into_bytes()
}

/// The table of formats. A new format is a row here and, if it has its own file format, a writer in `tidings-formats`.
pub const FORMATS: [FormatRow; 16] = [
    row(
        ExportFormat::Jsonl,
        "jsonl",
        "One JSON object per line: id, text, source, created, added, metadata",
        |item, _| documents::jsonl(item),
    ),
    row(
        ExportFormat::JsonlTokens,
        "jsonl-tokens",
        "The same with tokens, lemmas, tags, further attributes and spans",
        |item, _| documents::jsonl_tokens(item),
    )
    .tokens(),
    row(ExportFormat::Parquet, "parquet", "Parquet in folders by language and month", |_, _| Vec::new())
        .folder()
        .writer(|_, _, _| Ok(Box::new(Partitions::of_documents()))),
    row(
        ExportFormat::ParquetTokens,
        "parquet-tokens",
        "Parquet with lists of tokens, lemmas, tags, further attributes and spans",
        |_, _| Vec::new(),
    )
    .folder()
    .tokens()
    .writer(|options, _, _| Ok(Box::new(token_table::partitions(options)))),
    row(
        ExportFormat::Vertical,
        "vertical",
        "One token per line, with a registry file for Manatee (NoSketch Engine, KonText)",
        tokens::vertical,
    )
    .tokens()
    .writer(|options, target, _| tokens::Vertical::begin(options, target)),
    row(ExportFormat::Conllu, "conllu", "CoNLL-U", |item, _| tokens::conllu(item)).tokens(),
    row(
        ExportFormat::ConlluPlus,
        "conllu-plus",
        "CoNLL-U Plus with stand-off files of sentences, texts and alignment",
        |_, _| Vec::new(),
    )
    .folder()
    .tokens()
    .pairs()
    .writer(|options, _, parallel| Ok(tokens::Plus::begin(options, parallel.expect("the row needs pairs")))),
    row(ExportFormat::Tei, "tei", "TEI P5, one corpus", |item, _| documents::tei(item))
        .writer(|_, target, _| Stream::begin(target, Format::Tei.opening().as_bytes(), Format::Tei.closing())),
    row(
        ExportFormat::TeiTokens,
        "tei-tokens",
        "TEI P5 with tokens, lemmas, tags and further layers, one corpus",
        |item, _| tokens::tei(item),
    )
    .tokens()
    .writer(|_, target, _| Stream::begin(target, tei_tokens::OPENING.as_bytes(), tei_tokens::CLOSING)),
    row(
        ExportFormat::Text,
        "text",
        "Plain text, one paragraph per line, an empty line between documents",
        |item, _| documents::text(item),
    ),
    row(ExportFormat::Csv, "csv", "Comma-separated table", |item, _| documents::csv_row(item))
        .writer(|options, target, _| Stream::begin(target, &table_opening(options, ','), "")),
    row(ExportFormat::Tsv, "tsv", "Tab-separated table", |item, _| documents::tsv_row(item))
        .writer(|options, target, _| Stream::begin(target, &table_opening(options, '\t'), "")),
    row(ExportFormat::Warc, "warc", "Raw pages as WARC 1.1, with a CDXJ index", |_, _| Vec::new())
        .writer(|_, _, _| unreachable!("WARC export writes pages")),
    row(ExportFormat::Ngrams, "ngrams", "Counts of n-grams that occur in enough documents", |item, options| {
        privacy::ngrams(item, usize::from(options.n))
    })
    .tokens()
    .extent(Extent::Counts)
    .writer(|options, target, _| Ok(privacy::Ngrams::begin(target, usize::from(options.n), options.threshold))),
    row(ExportFormat::Shuffled, "shuffled", "Sentences in random order", |item, _| privacy::sentences(item))
        .tokens()
        .extent(Extent::Sentences)
        .writer(|options, target, _| Ok(privacy::Shuffled::begin(target, options.seed, options.pool))),
    row(ExportFormat::Pairs, "pairs", "Pairs of translated sentences or documents", |_, _| Vec::new())
        .tokens()
        .pairs()
        .writer(|options, _, parallel| Ok(Pairs::begin(parallel.expect("the row needs pairs"), options.level))),
];

impl ExportFormat {
    /// The row of the table.
    pub fn row(self) -> &'static FormatRow {
        FORMATS.iter().find(|row| row.format == self).expect("every format has a row")
    }
}

impl FromStr for ExportFormat {
    type Err = String;

    fn from_str(name: &str) -> Result<ExportFormat, String> {
        let row = FORMATS.iter().find(|row| row.name == name);
        row.map(|row| row.format)
            .ok_or_else(|| format!("unknown format; give one of {}", FORMATS.map(|row| row.name).join(", ")))
    }
}

/// Rejects options that would publish reconstructible text, or an unreadable file.
pub fn check(options: &Options, target: &str, keeps_duplicates: bool) -> Result<()> {
    let is_public = options.purpose != Purpose::Research;
    match options.format {
        ExportFormat::Ngrams if is_public && keeps_duplicates => bail!(
            "this corpus keeps duplicates: a text copied by {LEAST_PUBLIC_DOCUMENTS} sites could be reconstructed from its n-grams; \
             set annotate.duplicates = \"drop\" and run `tidings annotate`, or use --purpose research"
        ),
        ExportFormat::Ngrams if is_public && options.threshold < LEAST_PUBLIC_DOCUMENTS => bail!(
            "texts could be reconstructed from n-grams of fewer than {LEAST_PUBLIC_DOCUMENTS} documents; use a higher --threshold or --purpose research"
        ),
        ExportFormat::Shuffled if is_public && options.pool < LEAST_PUBLIC_POOL => bail!(
            "texts could be reconstructed from fewer than {} shuffled sentences; use a larger --pool or --purpose research",
            grouped(LEAST_PUBLIC_POOL)
        ),
        ExportFormat::Warc if !target.ends_with(".gz") => {
            bail!("WARC export needs a compressed file for its index; give a name such as pages.warc.gz")
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_has_a_row_and_the_name_used_in_manifests() {
        for row in FORMATS {
            assert_eq!(row.format.row().name, row.name);
            assert_eq!(row.name.parse(), Ok(row.format));
            assert_eq!(serde_json::to_string(&row.format).unwrap(), format!("\"{}\"", row.name));
        }
        assert!("docx".parse::<ExportFormat>().is_err());
    }

    fn options(format: ExportFormat, purpose: Purpose) -> Options {
        Options { purpose, ..Options::new(format) }
    }

    #[test]
    fn ngrams_of_few_documents_are_not_published() {
        let few = |purpose| Options { threshold: 4, ..options(ExportFormat::Ngrams, purpose) };
        assert!(check(&few(Purpose::Research), "a", false).is_ok());
        assert!(check(&few(Purpose::Public), "a", false).is_err());
        assert!(check(&few(Purpose::Train), "a", false).is_err());
        assert!(check(&options(ExportFormat::Ngrams, Purpose::Public), "a", false).is_ok());
    }

    #[test]
    fn ngrams_of_a_corpus_with_duplicates_are_not_published() {
        assert!(check(&options(ExportFormat::Ngrams, Purpose::Public), "a", true).is_err());
        assert!(check(&options(ExportFormat::Ngrams, Purpose::Research), "a", true).is_ok());
    }

    #[test]
    fn few_shuffled_sentences_are_not_published() {
        let few = |purpose| Options { pool: 999, ..options(ExportFormat::Shuffled, purpose) };
        assert!(check(&few(Purpose::Public), "a", false).is_err());
        assert!(check(&few(Purpose::Research), "a", false).is_ok());
    }

    #[test]
    fn archives_are_compressed_files() {
        let archive = options(ExportFormat::Warc, Purpose::Research);
        assert!(check(&archive, "pages.warc.gz", false).is_ok());
        assert!(check(&archive, "pages.warc", false).is_err());
        assert!(check(&archive, "-", false).is_err());
    }
}
