//! Archives of other programs: WARC, WACZ, WET and texts in JSON lines.

use std::io::{Cursor, Read as _};
use std::path::Path;
use std::sync::{Mutex, OnceLock};

use tidings_formats::warc::{Position, RecordEvent, RecordReader};
use tidings_formats::{gzip, zip};
use tidings_pipeline::Pipeline;
use tidings_pipeline::import::{self, ImportFormat};

use crate::scratch;

/// Bytes of a record or an entry that are read.
const MAX_BYTES: u64 = 1 << 20;

/// WARC, plain and compressed: every record is read, and the position after it leads to the next one.
pub fn warc(bytes: &[u8]) {
    let Ok(mut records) = RecordReader::new(Cursor::new(bytes.to_vec()), Position::default()) else { return };
    let mut events = 0;
    while let Some(event) = records.next(|_| Ok(MAX_BYTES)) {
        if let RecordEvent::Record(record) = event {
            let _ = (record.answer(), record.is_sound(), record.head.date(), record.head.target());
        }
        events += 1;
        assert!(events <= bytes.len() + 16, "records end");
    }
    let mut members = gzip::MemberReader::new(Cursor::new(bytes.to_vec()), 0);
    let _ = std::io::copy(&mut (&mut members).take(MAX_BYTES), &mut std::io::sink());
}

/// ZIP and WACZ: the directory, every entry, and the archives inside.
pub fn zip(bytes: &[u8]) {
    let path = Path::new("a.wacz");
    let Ok(entries) = zip::directory(&mut Cursor::new(bytes), path) else { return };
    for entry in entries.iter().take(64) {
        if let Ok(inside) = zip::read_entry(Cursor::new(bytes.to_vec()), entry, path) {
            let _ = std::io::copy(&mut inside.take(MAX_BYTES), &mut std::io::sink());
        }
    }
    imported("a.wacz", ImportFormat::Wacz, bytes);
}

/// WET and WARC through the import: records to pages and texts.
pub fn wet(bytes: &[u8]) {
    imported("a.wet", ImportFormat::Warc, bytes);
}

/// JSON lines through the import: texts, documents and pages. The first byte chooses.
pub fn jsonl(bytes: &[u8]) {
    let (first, lines) = bytes.split_first().map_or((0, bytes), |(first, rest)| (*first, rest));
    let format = if first % 2 == 0 { ImportFormat::Jsonl } else { ImportFormat::Pages };
    imported("a.jsonl", format, lines);
}

/// Imports a file without writing.
fn imported(name: &str, format: ImportFormat, bytes: &[u8]) {
    static PIPELINE: OnceLock<Mutex<Pipeline>> = OnceLock::new();
    let pipeline = PIPELINE.get_or_init(|| {
        let root = scratch::folder().join("import");
        let mut pipeline = Pipeline::create(&root).expect("the temporary folder can be written");
        let mut config = pipeline.config().clone();
        config.clean.threads = 1;
        config.store.min_free_mib = 0;
        pipeline = pipeline.with_config(config);
        Mutex::new(pipeline)
    });
    let path = scratch::file(name, bytes);
    // A panic in another test must not hide this one.
    let pipeline = pipeline.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let options = import::Options { format: Some(format), dry_run: true, ..import::Options::new(vec![path]) };
    let _ = import::run(&pipeline, &options);
}
