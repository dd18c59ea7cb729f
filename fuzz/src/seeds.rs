//! Seeds that are made by code: binary formats, which are hard to write by hand.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use tidings_store::FrameEncoder;

use crate::index;

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate has a folder above it").to_owned()
}

/// The seeds of a target that are in the repository.
pub fn of(target: &crate::Target) -> Vec<PathBuf> {
    let own = root().join("fuzz/seeds").join(target.name);
    let folders = std::iter::once(own).chain(target.fixtures.iter().map(|folder| root().join(folder)));
    let files = folders.filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    let mut files: Vec<PathBuf> = files.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort();
    files
}

/// Writes the seeds of binary formats.
pub fn write() {
    for (at, (name, bytes)) in index::files().iter().enumerate() {
        put("segments", &name.to_string_lossy(), &with_choice(at as u8, bytes));
    }
    let models = fs::read(root().join("fixtures/formats/v1/models.bin")).unwrap_or_default();
    put("models", "file", &with_choice(0, &models));
    let packed = tidings_annotate::Models::from_bytes(models.into());
    let model = packed.iter().flat_map(|models| models.packed()).next().map(|(_, packed)| unpacked(packed));
    put("models", "tagger", &with_choice(1, &model.unwrap_or_default()));
    put("models", "boundaries", &with_choice(2, &tidings_annotate::BoundaryModel::write(&[(7, 0.5)], &[(9, -1.0)])));

    for (name, bytes) in crate::exchanges::seeds() {
        let (target, name) = name.split_once('/').expect("names have a target");
        put(target, name, &bytes);
    }

    let page = br#"{"url":"https://gazette.example/1","final_url":"https://gazette.example/1","downloaded":"2026-11-15T08:00:00Z","content_type":"text/html","body":"<p>Rain"}"#;
    put("frames", "inside", &with_choice(0, &[&page[..], b"\n"].concat()));
    let frame = FrameEncoder::new(1).encode(&[&page[..], b"\n"].concat());
    put("frames", "frame", &with_choice(1, &frame));
    put("frames", "two-frames", &with_choice(1, &[&frame[..], &frame[..]].concat()));

    let body = b"<p>It rained for three days, and it rained for three days more.</p>";
    put("encodings", "gzip", &with_choice(0, &gzip(body)));
    put("encodings", "deflate", &with_choice(1, &zlib(body)));
    put("encodings", "zstd", &with_choice(3, &FrameEncoder::new(1).encode(body)));
    put("encodings", "twice", &with_choice(4, &gzip(&gzip(body))));
    put("encodings", "plain", &with_choice(6, body));

    let warc = warc_record();
    put("warc", "plain", &warc);
    put("warc", "gzip", &gzip(&warc));
    put("warc", "two-members", &[gzip(&warc), gzip(&warc)].concat());
    put("warc", "zstd", &FrameEncoder::new(1).encode(&warc));
    put("wet", "plain", &wet_record());
    put("wet", "gzip", &gzip(&wet_record()));
    put("zip", "stored", &zip("archive/data.warc", &warc));
    put("zip", "inner-gzip", &zip("archive/data.warc.gz", &gzip(&warc)));
}

fn put(target: &str, name: &str, bytes: &[u8]) {
    let path = root().join("fuzz/seeds").join(target).join(name);
    fs::create_dir_all(path.parent().expect("it has a folder")).expect("the repository can be written");
    fs::write(path, bytes).expect("the repository can be written");
}

/// Bytes after the one that chooses what they are.
fn with_choice(choice: u8, bytes: &[u8]) -> Vec<u8> {
    [&[choice], bytes].concat()
}

fn unpacked(packed: &[u8]) -> Vec<u8> {
    let mut model = Vec::new();
    let frames = tidings_formats::compressed::decompressed(std::io::Cursor::new(packed.to_vec()));
    if let Ok(mut reader) = frames {
        let _ = std::io::copy(&mut reader, &mut model);
    }
    model
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("compression into memory does not fail")
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("compression into memory does not fail")
}

fn record(kind: &str, content_type: &str, block: &str) -> Vec<u8> {
    format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:1>\r\nWARC-Date: 2026-11-15T08:00:00Z\r\n\
         WARC-Target-URI: https://gazette.example/1\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\r\n\
         {block}\r\n\r\n",
        block.len()
    )
    .into_bytes()
}

fn warc_record() -> Vec<u8> {
    let response = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>It rained for three days.";
    record("response", "application/http; msgtype=response", response)
}

fn wet_record() -> Vec<u8> {
    let line = "It rained for three days, and on the fourth the river came into the town, and people carried their \
                chairs upstairs to wait for the water to leave again.\nHome\n";
    record("conversion", "text/plain", line)
}

/// A ZIP file with one stored entry.
fn zip(name: &str, bytes: &[u8]) -> Vec<u8> {
    let (length, name_length) = ((bytes.len() as u32).to_le_bytes(), (name.len() as u16).to_le_bytes());
    let crc = {
        let mut crc = flate2::Crc::new();
        crc.update(bytes);
        crc.sum().to_le_bytes()
    };
    let shared = [&[20, 0, 0, 0, 0, 0, 0, 0, 0, 0][..], &crc, &length, &length, &name_length, &[0, 0]].concat();
    let mut file = [&b"PK\x03\x04"[..], &shared, name.as_bytes(), bytes].concat();
    let directory = [&b"PK\x01\x02\x14\x00"[..], &shared, &[0; 14], name.as_bytes()].concat();
    let start = (file.len() as u32).to_le_bytes();
    file.extend(&directory);
    let size = (directory.len() as u32).to_le_bytes();
    file.extend([&b"PK\x05\x06\0\0\0\0\x01\0\x01\0"[..], &size, &start, &[0, 0]].concat());
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_has_seeds_and_every_folder_of_seeds_a_target() {
        for target in crate::TARGETS {
            assert!(!of(target).is_empty(), "{} has no seeds", target.name);
        }
        for entry in fs::read_dir(root().join("fuzz/seeds")).unwrap().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            assert!(crate::by_name(&name).is_some(), "seeds/{name} belongs to no target");
        }
    }
}
