//! Policies of hosts: robots.txt and tdmrep.json, cached for a day and kept as evidence.
//!
//! `state/rules.tsv` has the last response of each origin; `state/rules.jsonl.zst` keeps every distinct body that a
//! decision was based on, by its digest.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tidings_storage::Appender;
use xxhash_rust::xxh3::xxh3_128;

use crate::error::Result;
use crate::frames::{self, FrameEncoder, Log};
use crate::home::Home;
use crate::table::{self, columns};

pub(crate) const FORMAT: &str = "rules";
pub(crate) const VERSION: u32 = 1;

/// An answer to a request for rules.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RulesAnswer {
    /// Scheme, host and port.
    pub origin: String,
    /// `robots` or `tdmrep`.
    pub kind: String,
    /// The time of the request.
    pub fetched: String,
    /// The status, or 0 without a response.
    pub status: u16,
    /// The digest of the body; empty without one.
    pub digest: String,
    /// The body, only in memory; the table refers to it by the digest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
}

columns!(RulesAnswer { origin, kind, fetched, status, digest });

#[derive(Serialize, Deserialize)]
struct KeptBody {
    digest: String,
    origin: String,
    kind: String,
    fetched: String,
    body: String,
}

/// The digest of a body.
pub fn digest(body: &[u8]) -> String {
    format!("{:032x}", xxh3_128(body))
}

fn bodies(home: &Home) -> PathBuf {
    home.state("rules.jsonl.zst")
}

/// Calls `see` with every cached response that `wanted` selects, with its body.
pub fn read(home: &Home, wanted: impl Fn(&RulesAnswer) -> bool, mut see: impl FnMut(RulesAnswer)) -> Result<()> {
    let mut waiting: HashMap<String, Vec<RulesAnswer>> = HashMap::new();
    table::read(&home.state("rules.tsv"), |answer: RulesAnswer| {
        if wanted(&answer) {
            if answer.digest.is_empty() {
                see(answer);
            } else {
                waiting.entry(answer.digest.clone()).or_default().push(answer);
            }
        }
    })?;
    for_each_body(home, |kept| {
        for answer in waiting.remove(&kept.digest).unwrap_or_default() {
            see(RulesAnswer { body: Some(kept.body.clone()), ..answer });
        }
    })?;
    // A response whose body is lost is ignored and requested again.
    Ok(())
}

/// Calls `see` with every body of a kind that a decision was based on, with its digest.
pub fn kept(home: &Home, kind: &str, mut see: impl FnMut(&str, &str)) -> Result<()> {
    for_each_body(home, |kept| {
        if kept.kind == kind {
            see(&kept.digest, &kept.body);
        }
    })?;
    Ok(())
}

/// Calls `see` with every stored body; returns the length of the valid part of the file.
fn for_each_body(home: &Home, mut see: impl FnMut(KeptBody)) -> Result<u64> {
    let path = bodies(home);
    if !path.exists() {
        return Ok(0);
    }
    let mut log = Log::open(&path, FORMAT, VERSION)?;
    while let Some(text) = log.next()? {
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).for_each(&mut see);
    }
    Ok(log.sound_bytes())
}

/// Copies the responses of a home to another, so that they are not requested again.
pub fn share(from: &Home, to: &Home) -> Result<()> {
    let mut answers = Vec::new();
    read(from, |_| true, |answer| answers.push(answer))?;
    merge(to, answers)
}

/// Adds the responses of a run: bodies first, then the table that refers to them.
pub(crate) fn merge(home: &Home, answers: Vec<RulesAnswer>) -> Result<()> {
    if answers.is_empty() {
        return Ok(());
    }
    let mut known = HashSet::new();
    let sound = for_each_body(home, |kept| {
        known.insert(kept.digest);
    })?;
    let mut text = String::new();
    let mut newest: HashMap<(String, String), RulesAnswer> = HashMap::new();
    for mut answer in answers {
        if let Some(body) = answer.body.take()
            && known.insert(answer.digest.clone())
        {
            let RulesAnswer { digest, origin, kind, fetched, .. } = answer.clone();
            let kept = KeptBody { digest, origin, kind, fetched, body };
            text.push_str(&serde_json::to_string(&kept).expect("strings serialise"));
            text.push('\n');
        }
        newest.insert((answer.origin.clone(), answer.kind.clone()), answer);
    }
    if !text.is_empty() {
        let mut file = Appender::reopen(&bodies(home), sound)?;
        if sound == 0 {
            file.append(&frames::header(FORMAT, VERSION, ""))?;
        }
        file.append(&FrameEncoder::new(3).encode(text.as_bytes()))?;
        file.sync()?;
    }

    let key = |answer: &RulesAnswer| (answer.origin.clone(), answer.kind.clone());
    table::merge(&home.state("rules.tsv"), newest, key, |_, new| new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::home;

    fn answer(origin: &str, body: &str) -> RulesAnswer {
        let (kind, status) = ("robots".to_owned(), 200);
        let body = Some(body.to_owned()).filter(|body| !body.is_empty());
        let digest = body.as_ref().map(|body| digest(body.as_bytes())).unwrap_or_default();
        RulesAnswer { origin: origin.to_owned(), kind, fetched: "2026-03-01".into(), status, digest, body }
    }

    fn all(home: &Home) -> Vec<RulesAnswer> {
        let mut all = Vec::new();
        read(home, |_| true, |answer| all.push(answer)).unwrap();
        all.sort_by(|a, b| a.origin.cmp(&b.origin));
        all
    }

    #[test]
    fn responses_are_read_back_with_their_bodies_and_equal_bodies_are_stored_once() {
        let (_folder, home) = home();
        merge(&home, Vec::new()).unwrap();
        assert!(!bodies(&home).exists());
        let answers = [answer("http://a", "Disallow: /"), answer("http://b", "Disallow: /"), answer("http://c", "")];
        merge(&home, answers.to_vec()).unwrap();
        assert_eq!(all(&home), answers);
        let mut number = 0;
        kept(&home, "robots", |_, body| {
            assert_eq!(body, "Disallow: /");
            number += 1;
        })
        .unwrap();
        assert_eq!(number, 1);
        kept(&home, "tdmrep", |_, _| panic!("there is none")).unwrap();
    }

    #[test]
    fn a_newer_response_replaces_the_older_and_its_body_is_kept() {
        let (_folder, home) = home();
        merge(&home, vec![answer("http://a", "one")]).unwrap();
        merge(&home, vec![answer("http://a", "two")]).unwrap();
        assert_eq!(all(&home), [answer("http://a", "two")]);
        let mut bodies = Vec::new();
        kept(&home, "robots", |_, body| bodies.push(body.to_owned())).unwrap();
        assert_eq!(bodies, ["one", "two"]);
    }

    #[test]
    fn a_truncated_body_is_discarded_and_written_again() {
        let (_folder, home) = home();
        merge(&home, vec![answer("http://a", "one")]).unwrap();
        let whole = std::fs::read(bodies(&home)).unwrap();
        std::fs::write(bodies(&home), &whole[..whole.len() - 3]).unwrap();
        assert!(all(&home).is_empty(), "a response without its body is ignored");
        merge(&home, vec![answer("http://a", "one")]).unwrap();
        assert_eq!(all(&home), [answer("http://a", "one")]);
    }

    #[test]
    fn responses_are_shared_with_another_home() {
        let ((_one, from), (_two, to)) = (home(), home());
        merge(&from, vec![answer("http://a", "one")]).unwrap();
        share(&from, &to).unwrap();
        assert_eq!(all(&to), all(&from));
    }
}
