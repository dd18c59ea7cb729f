//! The target of an export, and the interface of the writers of all formats.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use tidings_store::output::{AtomicOutput, Made, Sink};

use super::manifest::{Figures, Manifest};
use super::selection::ExportItem;

/// Writes documents in a format.
pub trait ExportWriter {
    /// Writes a document, given the output of its renderer. Documents come in order.
    fn write(&mut self, item: ExportItem, rendered: Vec<u8>, target: &mut ExportTarget) -> Result<()>;
    /// Ends the export; returns the figures of the writer.
    fn finish(self: Box<Self>, target: &mut ExportTarget) -> Result<Figures>;
}

/// The destination of an export.
pub enum Destination {
    /// A file or a folder, which is published atomically.
    Path(PathBuf),
    /// A stream such as standard output, without further files or a manifest.
    Stream(Box<dyn Write + Send>),
}

impl Destination {
    /// The name for people and for files that refer to it.
    pub fn shown(&self) -> String {
        match self {
            Destination::Path(path) => path.display().to_string(),
            Destination::Stream(_) => STREAM.to_owned(),
        }
    }
}

/// The name of a stream.
const STREAM: &str = "-";

/// A target while it is written.
pub struct ExportTarget {
    output: Output,
    scratch: PathBuf,
    name: String,
}

enum Output {
    Files(AtomicOutput),
    /// A stream, until it becomes the main file.
    Stream(Option<Box<dyn Write + Send>>),
}

impl ExportTarget {
    /// Begins to write to a destination.
    pub fn open(destination: Destination, is_folder: bool, force: bool) -> Result<ExportTarget> {
        let (output, scratch, name) = match destination {
            Destination::Stream(_) if is_folder => {
                bail!("this format writes several files; give a folder instead of -")
            }
            Destination::Stream(stream) => (Output::Stream(Some(stream)), std::env::temp_dir(), STREAM.to_owned()),
            Destination::Path(path) => {
                let outlet = AtomicOutput::create(&path, is_folder, force)?;
                let scratch = outlet.scratch().to_owned();
                (Output::Files(outlet), scratch, path.file_name().unwrap_or_default().to_string_lossy().into_owned())
            }
        };
        Ok(ExportTarget { output, scratch, name })
    }

    /// A folder for temporary files.
    pub fn scratch(&self) -> &Path {
        &self.scratch
    }

    /// The name of the target, without its folder.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Begins the main file.
    pub fn main(&mut self) -> Result<Sink> {
        match &mut self.output {
            Output::Files(outlet) => Ok(outlet.file("")?),
            Output::Stream(stream) => stream_sink(stream),
        }
    }

    /// Opens the main file without compression, even if its name ends in `.gz` or `.zst`.
    pub fn main_as_is(&mut self) -> Result<Sink> {
        match &mut self.output {
            Output::Files(outlet) => Ok(outlet.file_as_is("")?),
            Output::Stream(stream) => stream_sink(stream),
        }
    }

    /// Ends a file.
    pub fn end(&mut self, sink: Sink) -> Result<()> {
        match &mut self.output {
            Output::Files(outlet) => outlet.add(sink)?,
            Output::Stream(_) => drop(sink.finish()?),
        }
        Ok(())
    }

    /// Opens a file in the target folder, or one next to the target file; `None` for a stream.
    pub fn file(&self, name: &str) -> Result<Option<Sink>> {
        Ok(match &self.output {
            Output::Files(outlet) => Some(outlet.file(name)?),
            Output::Stream(_) => None,
        })
    }

    /// Writes a small file in the target folder, or one next to the target file.
    pub fn write(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        if let Some(mut sink) = self.file(name)? {
            sink.push(bytes)?;
            self.end(sink)?;
        }
        Ok(())
    }

    /// The files that were written.
    pub fn made(&mut self) -> Vec<Made> {
        match &mut self.output {
            Output::Files(outlet) => outlet.made().to_vec(),
            Output::Stream(_) => Vec::new(),
        }
    }

    /// Moves all files to their places, the manifest last.
    pub fn publish(self, manifest: &Manifest) -> Result<()> {
        if let Output::Files(outlet) = self.output {
            // Keys of a `Value` are sorted, so that manifests of all versions can be compared line by line.
            outlet.publish(&serde_json::to_value(manifest)?)?;
        }
        Ok(())
    }
}

fn stream_sink(stream: &mut Option<Box<dyn Write + Send>>) -> Result<Sink> {
    Ok(Sink::stream(stream.take().context("a stream has one main file")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_has_one_main_file_and_no_companions() {
        let mut target = ExportTarget::open(Destination::Stream(Box::new(Vec::new())), false, false).unwrap();
        assert_eq!(target.name(), "-");
        let sink = target.main().unwrap();
        assert!(target.main().is_err());
        target.write(".registry", b"x").unwrap();
        target.end(sink).unwrap();
        assert!(target.file(".cdxj").unwrap().is_none() && target.made().is_empty());
    }

    #[test]
    fn formats_of_several_files_need_a_folder() {
        assert!(ExportTarget::open(Destination::Stream(Box::new(Vec::new())), true, false).is_err());
    }

    #[test]
    fn nothing_is_replaced_without_force() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("news.jsonl");
        std::fs::write(&path, "old").unwrap();
        assert!(ExportTarget::open(Destination::Path(path.clone()), false, false).is_err());
        let mut target = ExportTarget::open(Destination::Path(path), false, true).unwrap();
        assert_eq!(target.name(), "news.jsonl");
        let mut sink = target.main().unwrap();
        sink.push(b"new").unwrap();
        target.end(sink).unwrap();
        assert_eq!(target.made()[0].bytes, 3);
    }
}
