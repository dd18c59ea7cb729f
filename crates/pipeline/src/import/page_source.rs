//! Pages of one file, one at a time: a file of pages of a home, a web archive, or texts.
//!
//! What an import would store is read here without a home, for programs that clean pages where they lie. Pages of an
//! archive equal those that `tidings import` writes, except that an import stores each address once.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use tidings_fetch::decode::{Ceiling, Decoder};
use tidings_formats::warc::Position;
use tidings_model::Page;
use tidings_store::pages::{PageReader, is_page_file};
use tidings_store::removed::Removed;

use super::convert::Converter;
use super::format::{self, ImportFormat};
use super::source::{RecordFilter, RecordSource};
use super::text::TextDefaults;
use super::{MIN_CHARS, Options, name_of};
use crate::config::Config;

/// The pages of a file.
pub struct PageSource {
    name: String,
    kind: Kind,
}

enum Kind {
    Home(PageReader),
    Import { source: Box<RecordSource>, converter: Box<Converter>, decoder: Box<Decoder> },
}

/// The next record of a file.
#[derive(Debug)]
pub enum PageRecord {
    /// A page.
    Page(Box<Page>),
    /// A record without a page, and the reason.
    LeftOut(&'static str),
}

impl PageSource {
    /// Opens a file. Its format is detected if it is not given; `downloaded` is the time of download of pages and texts
    /// without one, RFC 3339.
    pub fn open(path: &Path, format: Option<ImportFormat>, config: &Config, downloaded: &str) -> Result<PageSource> {
        let name = name_of(path);
        if format.is_none_or(|format| format == ImportFormat::Pages) && is_page_file(path)? {
            return Ok(PageSource { name, kind: Kind::Home(PageReader::open(path)?) });
        }
        if path.is_dir() {
            bail!("{} is a folder; give the files in it", path.display());
        }
        let found = format::expand(&[path.to_owned()], format)?.known.pop();
        let format = found.with_context(|| format!("{} has an unknown format", path.display()))?.format;
        if matches!(format, ImportFormat::Html | ImportFormat::Opml | ImportFormat::Plan) {
            bail!("{} is no file of pages or texts; import it with `tidings import`", path.display());
        }
        let fetch = &config.fetch;
        let ceiling = Ceiling { max_bytes: fetch.max_page_mib << 20, max_ratio: fetch.max_unpack_ratio };
        let converter = Converter {
            format,
            name: name.clone(),
            defaults: TextDefaults {
                downloaded: downloaded.to_owned(),
                min_chars: MIN_CHARS,
                ..TextDefaults::default()
            },
            ceiling,
            removed: Arc::new(Removed::default()),
            compression: None,
        };
        let filter = RecordFilter { max_bytes: (fetch.max_page_mib as u64) << 21, sites: Vec::new() };
        let columns = Options::new(Vec::new()).columns;
        let source = RecordSource::open(path, format, Position::default(), filter, &columns)?;
        let (source, converter, decoder) = (Box::new(source), Box::new(converter), Box::new(Decoder::new(ceiling)));
        Ok(PageSource { name, kind: Kind::Import { source, converter, decoder } })
    }

    /// The next record; none at the end.
    pub fn next_record(&mut self) -> Result<Option<PageRecord>> {
        let what = &self.name;
        Ok(match &mut self.kind {
            Kind::Home(reader) => reader.next().transpose()?.map(|page| PageRecord::Page(Box::new(page))),
            Kind::Import { source, converter, decoder } => {
                let raw = source.next().with_context(|| format!("cannot read {what}"))?;
                raw.map(|raw| match converter.page(raw, decoder) {
                    Ok(page) => PageRecord::Page(Box::new(page)),
                    Err(why) => PageRecord::LeftOut(why),
                })
            }
        })
    }

    /// The number of damaged parts that were skipped.
    pub fn damaged(&self) -> usize {
        match &self.kind {
            Kind::Home(reader) => reader.damaged().len(),
            Kind::Import { .. } => 0,
        }
    }
}
