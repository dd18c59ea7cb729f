//! What hosts say about being asked: robots.txt and tdmrep.json, kept for a day and as evidence.
//!
//! `state/rules.tsv` says which answer each origin gave last; `state/rules.jsonl.zst` keeps every
//! distinct body that a decision was ever based on, under its digest.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use crate::disk::Appender;
use crate::error::Result;
use crate::frames::{self, Log, Packer};
use crate::home::Home;
use crate::table::{self, Tabular};

pub(crate) const FORMAT: &str = "rules";
pub(crate) const VERSION: u32 = 1;

/// An answer to a request for rules.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RulesAnswer {
    /// Scheme, host and port.
    pub origin: String,
    /// `robots` or `tdmrep`.
    pub kind: String,
    /// When it was asked for.
    pub fetched: String,
    /// The status, or 0 if there was no answer.
    pub status: u16,
    /// The digest of the body, or nothing where there was none.
    pub digest: String,
    /// The body; only while the answer travels, the table refers to it by the digest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
}

impl Tabular for RulesAnswer {
    const COLUMNS: &'static [&'static str] = &["origin", "kind", "fetched", "status", "digest"];

    fn fields(&self) -> Vec<String> {
        vec![self.origin.clone(), self.kind.clone(), self.fetched.clone(), self.status.to_string(), self.digest.clone()]
    }

    fn from_fields(field: &dyn Fn(&str) -> String) -> RulesAnswer {
        RulesAnswer {
            origin: field("origin"),
            kind: field("kind"),
            fetched: field("fetched"),
            status: field("status").parse().unwrap_or(0),
            digest: field("digest"),
            body: None,
        }
    }
}

#[derive(Serialize, Deserialize)]
struct KeptBody {
    digest: String,
    origin: String,
    kind: String,
    fetched: String,
    body: String,
}

/// The digest under which a body is kept.
pub fn digest(body: &[u8]) -> String {
    format!("{:032x}", xxh3_128(body))
}

fn bodies(home: &Home) -> PathBuf {
    home.state("rules.jsonl.zst")
}

/// Gives every remembered answer that `wanted` asks for, with its body, to `see`.
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
    // An answer whose body is lost is no answer: the host will be asked again.
    Ok(())
}

/// Shows every body of a kind that a decision was ever based on to `see`, with its digest.
pub fn kept(home: &Home, kind: &str, mut see: impl FnMut(&str, &str)) -> Result<()> {
    for_each_body(home, |kept| {
        if kept.kind == kind {
            see(&kept.digest, &kept.body);
        }
    })?;
    Ok(())
}

/// Shows every kept body to `see`; gives the length of the sound part of the file.
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

/// Gives a home the answers that another one has, so that nobody is asked for them again.
pub fn share(from: &Home, to: &Home) -> Result<()> {
    let mut answers = Vec::new();
    read(from, |_| true, |answer| answers.push(answer))?;
    merge(to, answers)
}

/// Adds the answers of a run: bodies first, then the table that refers to them.
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
            file.append(&frames::label(FORMAT, VERSION, ""))?;
        }
        file.append(&Packer::new(3).pack(text.as_bytes()))?;
        file.sync()?;
    }

    let key = |answer: &RulesAnswer| (answer.origin.clone(), answer.kind.clone());
    table::merge(&home.state("rules.tsv"), newest, key, |_, new| new)
}
