//! The judged documents of the last day, so that the next round judges only what the day gained.
//!
//! The log is a cache: without it, or if it belongs to other days before, the day is judged as a whole, with the same
//! result.
//!
//! ```text
//! header as a line of JSON | documents: length (4), JSON, length (4), trace | digest of all before (16)
//! ```

use serde::{Deserialize, Serialize};
use tidings_storage::file::{self, files_in};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::{JudgedDays, VerdictLine};
use crate::error::Result;
use crate::home::Home;

const FORMAT: &str = "tidings dedup growth 2";
const DIGEST_BYTES: usize = 16;

/// A document that was judged.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct JudgedDocument {
    /// The digest of its line among the documents, in hexadecimal.
    pub key: String,
    /// The verdict before amendments, without copies.
    pub verdict: VerdictLine,
    /// Whether its date is that of its publication.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_dated: bool,
    /// The fingerprint of its URL.
    pub url: u64,
    /// The checksum of its raw page, if pages are compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// The digest of the ids of its revisions; 0 if it has none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub revisions: u64,
    /// The first block of the document that it is a copy of, if that is of an earlier day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_block: Option<u32>,
    /// Whether it is known not to be published before the document that it is a copy of.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_no_original: bool,
    /// What the judgement asked and added.
    #[serde(skip)]
    pub trace: Vec<u8>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[derive(Serialize, Deserialize, PartialEq)]
struct Header {
    format: String,
    day: String,
    /// The digest of the parameters and of all days before.
    before: String,
}

impl Header {
    fn of(judged: &JudgedDays, day: &str) -> Header {
        let mut before = Xxh3::new();
        before.update(serde_json::json!([judged.params.version, judged.params.settings]).to_string().as_bytes());
        for known in judged.days.iter().take_while(|known| known.day.as_str() < day) {
            [&known.day, &known.docs, &known.verdicts.xxh3].into_iter().for_each(|text| before.update(text.as_bytes()));
        }
        let before = format!("{:032x}", before.digest128());
        Header { format: FORMAT.to_owned(), day: day.to_owned(), before }
    }
}

/// The log of a day.
pub struct GrowthLog;

impl GrowthLog {
    /// The documents of a day that were judged after the same days; empty if they are not known.
    pub fn read(home: &Home, judged: &JudgedDays, day: &str) -> Result<Vec<JudgedDocument>> {
        let bytes = home.storage().read(&key(day))?.unwrap_or_default();
        Ok(parse(&bytes, &Header::of(judged, day)).unwrap_or_default())
    }

    /// Replaces the log by that of another state or day.
    pub fn write(home: &Home, judged: &JudgedDays, day: &str, documents: &[JudgedDocument]) -> Result<()> {
        let mut bytes = serde_json::to_vec(&Header::of(judged, day)).expect("headers serialise");
        bytes.push(b'\n');
        for document in documents {
            let json = serde_json::to_vec(document).expect("documents serialise");
            for part in [&json, &document.trace] {
                bytes.extend((part.len() as u32).to_le_bytes());
                bytes.extend(part);
            }
        }
        let digest = xxh3_128(&bytes).to_le_bytes();
        bytes.extend(digest);
        home.storage().put_atomic(&key(day), &bytes)?;
        GrowthLog::keep_only(home, day)
    }

    /// Deletes the logs of other days.
    pub fn keep_only(home: &Home, day: &str) -> Result<()> {
        for other in files_in(&home.seen().join("growth"))?.into_iter().filter(|other| home.key(other) != key(day)) {
            file::remove(&other)?;
        }
        Ok(())
    }
}

fn key(day: &str) -> String {
    format!("seen/growth/{day}.bin")
}

fn parse(bytes: &[u8], wanted: &Header) -> Option<Vec<JudgedDocument>> {
    let (content, digest) = bytes.split_at_checked(bytes.len().checked_sub(DIGEST_BYTES)?)?;
    if xxh3_128(content).to_le_bytes() != digest {
        return None;
    }
    let end = memchr::memchr(b'\n', content)?;
    let header: Header = serde_json::from_slice(&content[..end]).ok()?;
    let mut rest = (header == *wanted).then(|| &content[end + 1..])?;
    let mut documents = Vec::new();
    while !rest.is_empty() {
        let document: JudgedDocument = serde_json::from_slice(take(&mut rest)?).ok()?;
        documents.push(JudgedDocument { trace: take(&mut rest)?.to_vec(), ..document });
    }
    Some(documents)
}

fn take<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (len, after) = rest.split_first_chunk()?;
    let (part, after) = after.split_at_checked(u32::from_le_bytes(*len) as usize)?;
    *rest = after;
    Some(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dedup_state::DedupParams;
    use crate::testing::home;

    #[test]
    fn a_log_is_read_back_unless_it_is_damaged_or_other_days_are_before() {
        let (_folder, home) = home();
        let params = |version| DedupParams::new("tidings 1", version, serde_json::Value::Null);
        let judged = JudgedDays::create(&home, params(1)).unwrap();
        let document =
            |key: &str| JudgedDocument { key: key.to_owned(), trace: vec![1, 2], ..JudgedDocument::default() };
        let documents = vec![document("a"), document("b")];
        let day = "2026-03-02";
        GrowthLog::write(&home, &judged, "2026-03-01", &documents[..1]).unwrap();
        GrowthLog::write(&home, &judged, day, &documents).unwrap();
        assert_eq!(files_in(&home.seen().join("growth")).unwrap().len(), 1, "only the last day has a log");
        assert_eq!(GrowthLog::read(&home, &judged, day).unwrap(), documents);
        assert!(GrowthLog::read(&home, &judged, "2026-03-01").unwrap().is_empty());
        let other = JudgedDays { params: params(2), ..judged.clone() };
        assert!(GrowthLog::read(&home, &other, day).unwrap().is_empty());
        let path = home.storage().path(&key(day));
        let whole = std::fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            std::fs::write(&path, damaged).unwrap();
            assert!(GrowthLog::read(&home, &judged, day).unwrap().is_empty(), "byte {at}");
        }
    }
}
