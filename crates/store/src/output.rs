//! Atomic output of exports: a file or a folder that is published completely or not at all.
//!
//! Everything is drafted in a hidden folder next to the target. At the end the old manifest is deleted, the data is
//! renamed, and the new manifest is written last. Names that end in `.zst` or `.gz` are compressed. Nothing is
//! overwritten without `force`. A target in an object store has no draft: see `object_output.rs`.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tidings_storage::objects::Upload;
use tidings_storage::{LocalStorage, Storage as _, file};

use crate::claims::random_id;
use crate::error::{Context, Error, Result};
use crate::object_output::ObjectOutput;

/// The zstd level of exports. Not a setting, because the same corpus must give the same bytes everywhere.
const ZSTD_LEVEL: i32 = 3;

/// A target in progress. Without publication it leaves no trace.
pub struct AtomicOutput {
    target: PathBuf,
    draft: PathBuf,
    is_folder: bool,
    /// The files of a target in an object store.
    objects: Option<ObjectOutput>,
    made: Vec<Made>,
}

/// A finished file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Made {
    /// Its name relative to the folder of the manifest.
    pub file: String,
    /// Its size.
    pub bytes: u64,
    /// The digest of its bytes, as `sha256sum` prints it.
    pub sha256: String,
}

impl AtomicOutput {
    /// Starts a file with companion files, or a folder. An existing target is only replaced with `force`.
    pub fn create(target: &Path, is_folder: bool, force: bool) -> Result<AtomicOutput> {
        let Some(name) = target.file_name() else {
            return Err(Error::Output { path: target.to_owned(), fault: "is not a valid name for an export" });
        };
        if let Some(objects) = ObjectOutput::create(target, is_folder, force)? {
            // Writers of some formats sort in files.
            let draft = std::env::temp_dir().join(format!("tidings-export-{}", random_id()));
            file::make_private_folder(&draft)?;
            return Ok(AtomicOutput {
                target: target.to_owned(),
                draft,
                is_folder,
                objects: Some(objects),
                made: Vec::new(),
            });
        }
        let draft = file::parent(target).join(format!(".{}.tmp", name.to_string_lossy()));
        // A draft next to it was left by an export that crashed before writing its manifest.
        let is_export = || manifest_of(target).is_file() || draft.is_dir();
        let refused = |fault| Err(Error::Output { path: target.to_owned(), fault });
        match (target.is_dir(), is_folder) {
            _ if !target.exists() => {}
            (true, false) => return refused("is a folder; give a file"),
            (false, true) => return refused("is a file; give a folder"),
            // A folder that is not an export is never replaced, even with `force`.
            (true, true) if !is_export() && fs::read_dir(target).context("read", target)?.count() > 0 => {
                return refused("is not an export and not empty; give another folder");
            }
            _ if force => {}
            _ => return refused("already exists; add --force to replace it"),
        }
        remove_folder(&draft)?;
        file::make_folder(&draft)?;
        Ok(AtomicOutput { target: target.to_owned(), draft, is_folder, objects: None, made: Vec::new() })
    }

    /// A folder for temporary files of the export; deleted with the draft.
    pub fn scratch(&self) -> &Path {
        &self.draft
    }

    /// Creates a file: in a folder by its name, otherwise the target itself or a companion with this extension.
    /// Compressed according to its name.
    pub fn file(&self, name: &str) -> Result<Sink> {
        let (full, path, out) = self.begin(name)?;
        Ok(Sink { packing: Packing::by_name(&full, out).context("create", &path)?, path, name: full })
    }

    /// Creates a file that is written without compression.
    pub fn file_as_is(&self, name: &str) -> Result<Sink> {
        let (full, path, out) = self.begin(name)?;
        Ok(Sink { packing: Packing::Plain(out), path, name: full })
    }

    fn begin(&self, name: &str) -> Result<(String, PathBuf, Digested)> {
        let full = match self.is_folder {
            true => name.to_owned(),
            false => self.target.file_name().unwrap_or_default().to_string_lossy().into_owned() + name,
        };
        if let Some(objects) = &self.objects {
            let upload = objects.begin(&full)?;
            return Ok((full, self.target.clone(), Digested::new(Out::Object(Box::new(upload)))));
        }
        let path = self.draft.join("out").join(&full);
        file::make_folder(file::parent(&path))?;
        let file = file::create_scratch(&path)?;
        Ok((full, path, Digested::new(Out::File(BufWriter::with_capacity(1 << 16, file)))))
    }

    /// Adds a finished file.
    pub fn add(&mut self, sink: Sink) -> Result<()> {
        let (made, upload) = sink.end()?;
        if let (Some(objects), Some(upload)) = (&mut self.objects, upload) {
            objects.add(&made.file, upload)?;
        }
        self.made.push(made);
        Ok(())
    }

    /// The files finished so far, by name.
    pub fn made(&mut self) -> &[Made] {
        self.made.sort_by(|a, b| a.file.cmp(&b.file));
        &self.made
    }

    /// Puts everything in its place, the manifest last.
    pub fn publish(mut self, manifest: &impl Serialize) -> Result<()> {
        let mut text = serde_json::to_vec_pretty(manifest).expect("manifests serialise");
        text.push(b'\n');
        if let Some(objects) = self.objects.take() {
            return objects.publish(&text);
        }
        let storage = LocalStorage::new(file::parent(&self.target));
        let beside = manifest_of(&self.target).file_name().unwrap_or_default().to_string_lossy().into_owned();
        storage.remove(&beside)?;
        let out = self.draft.join("out");
        if self.is_folder {
            file::make_folder(&out)?;
            if self.target.exists() {
                // The old folder is renamed first, so that a crash between the renames loses neither.
                file::rename(&self.target, &self.draft.join("old"))?;
            }
            file::rename(&out, &self.target)?;
        } else {
            for made in &self.made {
                storage.publish_file(&out.join(&made.file), &made.file)?;
            }
        }
        Ok(storage.put_atomic(&beside, &text)?)
    }
}

impl Drop for AtomicOutput {
    fn drop(&mut self) {
        // Published drafts have been renamed.
        let _ = fs::remove_dir_all(&self.draft);
    }
}

/// The path of the manifest, next to the target.
pub fn manifest_of(target: &Path) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    target.with_file_name(format!("{name}.manifest.json"))
}

fn remove_folder(path: &Path) -> Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Ok(Err(error).context("remove", path)?),
        _ => Ok(()),
    }
}

/// A file of an export while it is written.
pub struct Sink {
    packing: Packing,
    path: PathBuf,
    name: String,
}

impl Sink {
    /// A sink that writes to a stream of the caller, such as standard output.
    pub fn stream(out: Box<dyn Write + Send>) -> Sink {
        let packing = Packing::Plain(Digested::new(Out::Stream(out)));
        Sink { packing, path: PathBuf::from("-"), name: "-".to_owned() }
    }

    /// Adds bytes.
    pub fn push(&mut self, bytes: &[u8]) -> Result<()> {
        let written = match &mut self.packing {
            Packing::Plain(out) => out.write_all(bytes),
            Packing::Zstd(out) => out.write_all(bytes),
            Packing::Gzip(out) => out.write_all(bytes),
        };
        Ok(written.context("write", &self.path)?)
    }

    /// The number of bytes written, after compression.
    pub fn len(&self) -> u64 {
        match &self.packing {
            Packing::Plain(out) => out.bytes,
            Packing::Zstd(out) => out.get_ref().bytes,
            Packing::Gzip(out) => out.get_ref().bytes,
        }
    }

    /// Whether nothing has been written.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Flushes, makes a file durable, and returns its description.
    pub fn finish(self) -> Result<Made> {
        Ok(self.end()?.0)
    }

    /// The same with the upload of an object, which is not published yet.
    fn end(self) -> Result<(Made, Option<Upload>)> {
        let packed = match self.packing {
            Packing::Plain(out) => Ok(out),
            Packing::Zstd(out) => out.finish(),
            Packing::Gzip(out) => out.finish(),
        };
        let Digested { mut out, hash, bytes } = packed.context("write", &self.path)?;
        out.flush().context("write", &self.path)?;
        if let Out::File(file) = &out {
            file.get_ref().sync_all().context("sync", &self.path)?;
        }
        let sha256 = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        let upload = if let Out::Object(upload) = out { Some(*upload) } else { None };
        Ok((Made { file: self.name, bytes, sha256 }, upload))
    }
}

enum Packing {
    Plain(Digested),
    Zstd(zstd::stream::write::Encoder<'static, Digested>),
    Gzip(flate2::write::GzEncoder<Digested>),
}

impl Packing {
    fn by_name(name: &str, out: Digested) -> io::Result<Packing> {
        Ok(match name.rsplit('.').next() {
            Some("zst") => {
                let mut encoder = zstd::stream::write::Encoder::new(out, ZSTD_LEVEL)?;
                encoder.include_checksum(true)?;
                Packing::Zstd(encoder)
            }
            Some("gz") => Packing::Gzip(flate2::write::GzEncoder::new(out, flate2::Compression::default())),
            _ => Packing::Plain(out),
        })
    }
}

/// The place of the bytes of a sink.
enum Out {
    File(BufWriter<File>),
    Stream(Box<dyn Write + Send>),
    Object(Box<Upload>),
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Out::File(file) => file.write(bytes),
            Out::Stream(stream) => stream.write(bytes),
            Out::Object(upload) => upload.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Out::File(file) => file.flush(),
            Out::Stream(stream) => stream.flush(),
            Out::Object(upload) => upload.flush(),
        }
    }
}

/// A writer that counts and digests its bytes.
struct Digested {
    out: Out,
    hash: Sha256,
    bytes: u64,
}

impl Digested {
    fn new(out: Out) -> Digested {
        Digested { out, hash: Sha256::new(), bytes: 0 }
    }
}

impl Write for Digested {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hash.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_file_is_published_with_its_companions_and_the_manifest() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("corpus.vert.gz");
        {
            let mut output = AtomicOutput::create(&target, false, false).unwrap();
            let mut sink = output.file("").unwrap();
            sink.push(b"half").unwrap();
            output.add(sink).unwrap();
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "unpublished output leaves no trace");
        let mut output = AtomicOutput::create(&target, false, false).unwrap();
        for (ending, text) in [("", "rain\n"), (".registry", "PATH x\n")] {
            let mut sink = output.file(ending).unwrap();
            sink.push(text.as_bytes()).unwrap();
            output.add(sink).unwrap();
        }
        assert_eq!(output.made()[1].file, "corpus.vert.gz.registry");
        assert_eq!(output.made()[1].bytes, 7);
        output.publish(&json!({ "format": "vertical" })).unwrap();
        let mut names: Vec<String> =
            fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        assert_eq!(names, ["corpus.vert.gz", "corpus.vert.gz.manifest.json", "corpus.vert.gz.registry"]);
        let mut text = String::new();
        io::Read::read_to_string(&mut flate2::read::GzDecoder::new(File::open(&target).unwrap()), &mut text).unwrap();
        assert_eq!(text, "rain\n");
        let refused = AtomicOutput::create(&target, false, false).err().expect("it exists").to_string();
        assert!(refused.contains("--force"), "{refused}");
    }

    #[test]
    fn a_folder_replaces_an_export_but_never_other_files() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("out");
        for text in ["one", "two"] {
            let mut output = AtomicOutput::create(&target, true, true).unwrap();
            let mut sink = output.file("language=de/part-0.txt").unwrap();
            sink.push(text.as_bytes()).unwrap();
            output.add(sink).unwrap();
            output.publish(&json!({})).unwrap();
            assert_eq!(fs::read_to_string(target.join("language=de/part-0.txt")).unwrap(), text);
        }
        let own = folder.path().join("thesis");
        fs::create_dir(&own).unwrap();
        fs::write(own.join("chapter"), "1").unwrap();
        assert!(
            AtomicOutput::create(&own, true, true)
                .err()
                .expect("not an export")
                .to_string()
                .contains("is not an export")
        );
    }

    #[test]
    fn a_file_and_a_folder_do_not_replace_each_other() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), "x").unwrap();
        fs::create_dir(folder.path().join("folder")).unwrap();
        let refused = |name: &str, is_folder| {
            AtomicOutput::create(&folder.path().join(name), is_folder, true).err().expect("refused").to_string()
        };
        assert!(refused("file", true).ends_with("is a file; give a folder"));
        assert!(refused("folder", false).ends_with("is a folder; give a file"));
        assert!(AtomicOutput::create(Path::new("/"), true, true).is_err());
    }

    #[test]
    fn an_export_is_reproducible_and_has_the_digest_of_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str| {
            let mut output = AtomicOutput::create(&folder.path().join(name), false, false).unwrap();
            let mut sink = output.file("").unwrap();
            assert!(sink.is_empty() || name.ends_with("zst"));
            sink.push(b"rain\n").unwrap();
            output.add(sink).unwrap();
            let made = output.made().to_vec();
            output.publish(&json!({})).unwrap();
            (made[0].clone(), fs::read(folder.path().join(name)).unwrap())
        };
        for ending in ["txt", "txt.zst", "txt.gz"] {
            let ((one, first), (two, second)) = (write(&format!("a.{ending}")), write(&format!("b.{ending}")));
            assert_eq!((first.len() as u64, &first), (one.bytes, &second));
            assert_eq!(one.sha256, two.sha256);
            let digest: String = Sha256::digest(&first).iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(one.sha256, digest);
        }
    }

    #[test]
    fn a_stream_is_counted_and_not_published() {
        let mut sink = Sink::stream(Box::new(Vec::new()));
        sink.push(b"rain\n").unwrap();
        assert_eq!(sink.len(), 5);
        let made = sink.finish().unwrap();
        assert_eq!((made.file.as_str(), made.bytes), ("-", 5));
    }
}
