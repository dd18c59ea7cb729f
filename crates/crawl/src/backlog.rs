//! Links in the journal of a crawl that goes on.
//!
//! A full journal has several hundred thousand links, which take seconds to parse and to compare with the seen-set. None
//! of them is needed for the first requests, because the last checkpoint has waiting URLs: they are offered again piece
//! by piece while the crawl sends requests, and stay in the journal until the next checkpoint.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::frame_log;
use crate::record::Record;

/// Reads links and aliases of a journal, frame by frame, up to its end at the time of opening.
pub(crate) struct Backlog {
    path: PathBuf,
    /// The journal, compressed.
    bytes: Vec<u8>,
    at: usize,
}

impl Backlog {
    /// The links of a journal; none if it is empty.
    pub(crate) fn open(path: &Path) -> Result<Option<Backlog>> {
        let bytes = std::fs::read(path).map_err(Error::read(path))?;
        Ok((!bytes.is_empty()).then(|| Backlog { path: path.to_owned(), bytes, at: 0 }))
    }

    /// The links and aliases of the next frame that has any; nothing at the end.
    pub(crate) fn next(&mut self) -> Result<Vec<Record>> {
        while let Some((text, end)) = frame_log::frame(&self.path, &self.bytes, self.at)? {
            self.at = end;
            let links = text
                .lines()
                .filter(|line| line.starts_with(['l', 'a']))
                .map(|line| Record::parse(line).ok_or_else(|| Error::damaged(&self.path, "a line is not a record")));
            let links: Vec<Record> = links.collect::<Result<_>>()?;
            if !links.is_empty() {
                return Ok(links);
            }
        }
        Ok(Vec::new())
    }
}
