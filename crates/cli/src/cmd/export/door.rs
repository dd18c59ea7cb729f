//! Where an export goes, and what its formats have in common.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use tidings_store::outlet::{Made, Outlet, Sink};

use super::selection::Item;

/// Takes documents in their order and writes them down.
pub trait Taker {
    /// Takes a document, and what was made of it on another thread.
    fn take(&mut self, item: Item, rendered: Vec<u8>, door: &mut Door) -> Result<()>;
    /// Ends the export. Whatever it counted, it tells.
    fn finish(self: Box<Self>, door: &mut Door) -> Result<serde_json::Value>;
}

/// A file, a folder, or standard output.
pub struct Door {
    outlet: Option<Outlet>,
    scratch: PathBuf,
    target: PathBuf,
}

impl Door {
    /// Opens the door to a target; `-` is standard output.
    pub fn open(target: &Path, is_folder: bool, force: bool) -> Result<Door> {
        let to_stdout = target == Path::new("-");
        if to_stdout && is_folder {
            bail!("this format makes several files; name a folder instead of -");
        }
        let outlet = if to_stdout { None } else { Some(Outlet::create(target, is_folder, force)?) };
        let scratch = outlet.as_ref().map_or_else(std::env::temp_dir, |outlet| outlet.scratch().to_owned());
        Ok(Door { outlet, scratch, target: target.to_owned() })
    }

    /// A folder for things that wait on disk.
    pub fn scratch(&self) -> &Path {
        &self.scratch
    }

    /// The name of the target.
    pub fn name(&self) -> String {
        self.target.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Whether it is standard output.
    pub fn is_stdout(&self) -> bool {
        self.outlet.is_none()
    }

    /// Begins the file that was asked for.
    pub fn main(&self) -> Result<Sink> {
        match &self.outlet {
            Some(outlet) => Ok(outlet.file("")?),
            None => Ok(Sink::stream(Box::new(std::io::BufWriter::new(std::io::stdout())))),
        }
    }

    /// Begins the file that was asked for, as it is, whatever its name ends in.
    pub fn unpacked(&self) -> Result<Sink> {
        match &self.outlet {
            Some(outlet) => Ok(outlet.file_as_is("")?),
            None => self.main(),
        }
    }

    /// Ends a file.
    pub fn end(&mut self, sink: Sink) -> Result<()> {
        match &mut self.outlet {
            Some(outlet) => outlet.add(sink)?,
            None => drop(sink.finish()?),
        }
        Ok(())
    }

    /// Begins a file of a folder, or a companion of a file; standard output has none.
    pub fn file(&self, name: &str) -> Result<Option<Sink>> {
        Ok(match &self.outlet {
            Some(outlet) => Some(outlet.file(name)?),
            None => None,
        })
    }

    /// Writes a small file of a folder, or a companion of a file.
    pub fn write(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        if let Some(mut sink) = self.file(name)? {
            sink.push(bytes)?;
            self.end(sink)?;
        }
        Ok(())
    }

    /// What was made.
    pub fn made(&mut self) -> Vec<Made> {
        self.outlet.as_mut().map(|outlet| outlet.made().to_vec()).unwrap_or_default()
    }

    /// Puts everything in its place.
    pub fn publish(self, manifest: &serde_json::Value) -> Result<()> {
        if let Some(outlet) = self.outlet {
            outlet.publish(manifest)?;
        }
        Ok(())
    }
}
