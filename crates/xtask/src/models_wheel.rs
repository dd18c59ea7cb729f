//! The Python package `tidings-models`: packs of the languages that are not in the wheel `tidings`, as data alone.
//!
//! Most users read a few languages, and a wheel with all models is half as large again. The package `tidings` finds the
//! packs by the name of this one (`python/tidings/_models.py`).

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{Cursor, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::command::{read, write};

/// A pack of a language that is not in small programs.
#[derive(Debug)]
pub struct Pack {
    pub path: PathBuf,
    language: String,
    licence: String,
    treebanks: String,
}

/// The packs that programs with the models of the largest languages lack.
pub fn optional_packs() -> Result<Vec<Pack>> {
    let folder = crate::root().join("crates/annotate/models");
    let registry = String::from_utf8(read(&folder.join("registry.tsv"))?)?;
    let mut packs = Vec::new();
    for line in registry.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let &[kind, language, file, set, _, _, licence, treebanks] = fields.as_slice() else {
            anyhow::bail!("models/registry.tsv has a line with {} fields instead of 8: {line}", fields.len());
        };
        if kind == "tags" && set != "core" {
            let path = folder.join(file);
            let [language, licence, treebanks] = [language, licence, treebanks].map(str::to_owned);
            packs.push(Pack { path, language, licence, treebanks });
        }
    }
    Ok(packs)
}

/// The licences and treebanks of packs, as a text.
pub fn attribution(packs: &[Pack]) -> String {
    let mut text = "Models of Tidings for lemmas, parts of speech and morphological features. Each was trained on treebanks of\n\
        Universal Dependencies (https://universaldependencies.org) and has their licences, which are not that of the program:\n\n"
        .to_owned();
    for Pack { language, licence, treebanks, .. } in packs {
        let _ = writeln!(text, "{language}: {licence}; {treebanks}");
    }
    text
}

/// Writes the wheel.
pub fn build(version: &str, out: &Path) -> Result<()> {
    let packs = optional_packs()?;
    let licences: BTreeSet<&str> = packs.iter().flat_map(|pack| pack.licence.split(", ")).collect();
    let licences: Vec<&str> = licences.iter().map(|licence| spdx(licence)).collect::<Result<_>>()?;
    let info = format!("tidings_models-{version}.dist-info");
    let metadata = format!(
        "Metadata-Version: 2.4\nName: tidings-models\nVersion: {version}\nSummary: Tagging models of further languages for \
         the package tidings\nRequires-Python: >=3.10\nLicense-Expression: {}\nLicense-File: ATTRIBUTION\n\
         Description-Content-Type: text/markdown\n\nThe models of {} languages that the package `tidings` does not contain \
         itself. It uses them once this package is installed; `tidings models` lists all.\n",
        licences.join(" AND "),
        packs.len()
    );
    let mut files = vec![(
        "tidings_models/__init__.py".to_owned(),
        b"\"\"\"Tagging models of further languages; the package tidings reads the files of this folder.\"\"\"\n"
            .to_vec(),
    )];
    for pack in &packs {
        files.push((format!("tidings_models/{}.tags", pack.language), read(&pack.path)?));
    }
    files.push((format!("{info}/METADATA"), metadata.into_bytes()));
    files.push((
        format!("{info}/WHEEL"),
        b"Wheel-Version: 1.0\nGenerator: tidings-xtask\nRoot-Is-Purelib: true\nTag: py3-none-any\n".to_vec(),
    ));
    files.push((format!("{info}/licenses/ATTRIBUTION"), attribution(&packs).into_bytes()));
    let record = record(&files, &info);
    files.push((format!("{info}/RECORD"), record.into_bytes()));
    write(&out.join(format!("tidings_models-{version}-py3-none-any.whl")), zipped(&files)?)
}

/// The list of files with their digests that installers check.
fn record(files: &[(String, Vec<u8>)], info: &str) -> String {
    let mut record = String::new();
    for (name, bytes) in files {
        let digest = URL_SAFE_NO_PAD.encode(Sha256::digest(bytes));
        let _ = writeln!(record, "{name},sha256={digest},{}", bytes.len());
    }
    record + &format!("{info}/RECORD,,\n")
}

/// An archive with the earliest time that the format knows; packs are compressed already.
fn zipped(files: &[(String, Vec<u8>)]) -> Result<Vec<u8>> {
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(zip::DateTime::default())
        .unix_permissions(0o644);
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        archive.start_file(name.as_str(), options).with_context(|| format!("cannot add {name}"))?;
        archive.write_all(bytes)?;
    }
    Ok(archive.finish()?.into_inner())
}

/// The SPDX identifier of a licence of treebanks.
fn spdx(licence: &str) -> Result<&'static str> {
    Ok(match licence {
        "CC BY 4.0" => "CC-BY-4.0",
        "CC BY-SA 3.0" => "CC-BY-SA-3.0",
        "CC BY-SA 4.0" => "CC-BY-SA-4.0",
        "LGPL-LR" => "LGPLLR",
        other => anyhow::bail!("the licence {other} of a model has no SPDX identifier here"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wheel_lists_its_files_and_is_the_same_each_time() {
        let [one, other] = [0, 1].map(|_| {
            let folder = tempfile::tempdir().expect("a folder");
            build("1.2.3", folder.path()).expect("built");
            read(&folder.path().join("tidings_models-1.2.3-py3-none-any.whl")).expect("written")
        });
        assert!(one == other, "two builds differ");
        let mut archive = zip::ZipArchive::new(Cursor::new(one)).expect("a ZIP file");
        let record =
            std::io::read_to_string(archive.by_name("tidings_models-1.2.3.dist-info/RECORD").expect("a record"));
        let record = record.expect("text");
        let names: Vec<&str> = record.lines().filter_map(|line| line.split(',').next()).collect();
        for name in &names {
            archive.by_name(name).expect("a file of the record");
        }
        assert_eq!(archive.len(), names.len());
        assert!(names.contains(&"tidings_models/fi.tags") && !names.contains(&"tidings_models/en.tags"));
    }
}
