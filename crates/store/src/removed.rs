//! Tombstones of deleted pages, hosts and documents, which must not return: `removed.tsv`.
//!
//! A tombstone has no content. A URL is stored as its hash and a document as its id, which is a hash too; only hosts
//! and patterns are readable, because future URLs must be matched. Rows are only added; the list is part of backups and
//! applied to restored homes.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tidings_model::{FailureKind, address};
use tidings_storage::write_atomic;
use xxhash_rust::xxh3::xxh3_128;

use crate::error::Result;
use crate::home::Home;
use crate::table::{self, Field, columns};

/// The status of removed entries in the plan.
pub const STATUS: &str = FailureKind::Removed.word();

/// The kind of a tombstone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum TombstoneKind {
    /// One URL, by its hash.
    #[default]
    Address,
    /// A host and all hosts under it.
    Host,
    /// All URLs that match a pattern, in which `*` matches any text.
    Pattern,
    /// A removed document, by its id.
    Document,
}

impl TombstoneKind {
    const WORDS: [(TombstoneKind, &str); 4] = [
        (TombstoneKind::Address, "address"),
        (TombstoneKind::Host, "host"),
        (TombstoneKind::Pattern, "pattern"),
        (TombstoneKind::Document, "document"),
    ];

    /// The name in the table.
    pub fn word(self) -> &'static str {
        TombstoneKind::WORDS.iter().find(|row| row.0 == self).map_or("address", |row| row.1)
    }
}

impl Field for TombstoneKind {
    fn to_text(&self) -> String {
        self.word().to_owned()
    }

    fn from_text(text: String) -> TombstoneKind {
        TombstoneKind::WORDS.iter().find(|row| row.1 == text).map(|row| row.0).unwrap_or_default()
    }
}

/// A row of `removed.tsv`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tombstone {
    /// The kind of the tombstone.
    pub kind: TombstoneKind,
    /// The hash of a URL, a host, a pattern, or the id of a document.
    pub what: String,
    /// The time of the decision, RFC 3339.
    pub date: String,
    /// The reason that the user gave.
    pub reason: String,
    /// The time when everything was deleted; empty while the takedown is unfinished.
    pub done: String,
}

columns!(Tombstone { kind, what, date, reason, done });

/// The hash of a URL.
pub fn hash(url: &str) -> String {
    format!("{:032x}", xxh3_128(address::normalise(url, None).as_deref().unwrap_or(url).as_bytes()))
}

/// The hashes under which a tombstone of a URL may be stored. Version 0.1.0 left percent-encodings and session ids as
/// they were given.
fn hashes(url: &str) -> impl Iterator<Item = String> {
    let normal = address::normalise(url, None).unwrap_or_else(|| url.to_owned());
    let mut forms = if address::may_have_equivalents(url) { address::earlier_forms(&normal) } else { Vec::new() };
    forms.extend(address::identity(url).filter(|form| *form != normal));
    forms.insert(0, normal);
    forms.into_iter().map(|form| format!("{:032x}", xxh3_128(form.as_bytes())))
}

/// Everything that must stay away.
#[derive(Debug, Clone, Default)]
pub struct Removed {
    rows: Vec<Tombstone>,
    /// URLs and documents by their hashes.
    by_hash: HashMap<(TombstoneKind, String), usize>,
    /// Rows of hosts and patterns.
    wide: Vec<usize>,
}

impl Removed {
    /// Reads the tombstones of a home.
    pub fn read(home: &Home) -> Result<Removed> {
        Removed::read_file(&path(home))
    }

    /// The same from any file.
    pub fn read_file(path: &Path) -> Result<Removed> {
        let mut removed = Removed::default();
        table::read(path, |row: Tombstone| removed.push(row))?;
        Ok(removed)
    }

    /// The same from the text of the table, for a process without the home.
    pub fn from_text(text: &str) -> Result<Removed> {
        let mut removed = Removed::default();
        table::read_from(text.as_bytes(), Path::new("removed.tsv"), |row: Tombstone| removed.push(row))?;
        Ok(removed)
    }

    /// The text of the table.
    pub fn to_text(&self) -> String {
        table::text(self.rows.iter().cloned())
    }

    /// Adds a tombstone; an existing one is not changed. Returns whether it is new.
    pub fn add(&mut self, row: Tombstone) -> bool {
        let is_known = self.rows.iter().any(|known| (known.kind, &known.what) == (row.kind, &row.what));
        if !is_known {
            self.push(row);
        }
        !is_known
    }

    /// Adds an unfinished tombstone, also if it was finished before: pages may have returned since.
    pub fn begin(&mut self, row: Tombstone) {
        match self.rows.iter_mut().find(|known| (known.kind, &known.what) == (row.kind, &row.what)) {
            Some(known) => known.done.clear(),
            None => self.push(Tombstone { done: String::new(), ..row }),
        }
    }

    fn push(&mut self, row: Tombstone) {
        let at = self.rows.len();
        match row.kind {
            TombstoneKind::Address | TombstoneKind::Document => {
                self.by_hash.entry((row.kind, row.what.clone())).or_insert(at);
            }
            TombstoneKind::Host | TombstoneKind::Pattern => self.wide.push(at),
        }
        self.rows.push(row);
    }

    /// All tombstones, in the order of their creation.
    pub fn rows(&self) -> &[Tombstone] {
        &self.rows
    }

    /// The unfinished tombstones.
    pub fn unfinished(&self) -> impl Iterator<Item = &Tombstone> {
        self.rows.iter().filter(|row| row.done.is_empty())
    }

    /// A list of the unfinished tombstones.
    pub fn only_unfinished(&self) -> Removed {
        let mut removed = Removed::default();
        self.unfinished().for_each(|row| removed.push(row.clone()));
        removed
    }

    /// Notes that all work is done.
    pub fn finish(&mut self, date: &str) {
        self.rows.iter_mut().filter(|row| row.done.is_empty()).for_each(|row| date.clone_into(&mut row.done));
    }

    /// Whether there are no tombstones.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The tombstone that covers a URL.
    pub fn covers(&self, url: &str) -> Option<&Tombstone> {
        if self.rows.is_empty() {
            return None;
        }
        let wide = self.wide.iter().map(|at| &self.rows[*at]).find(|row| row.covers(url));
        let mut narrow = hashes(url).filter_map(|hash| self.by_hash.get(&(TombstoneKind::Address, hash)));
        wide.or_else(|| narrow.next().map(|at| &self.rows[*at]))
    }

    /// The tombstone of a document.
    pub fn document(&self, id: &str) -> Option<&Tombstone> {
        self.by_hash.get(&(TombstoneKind::Document, id.to_owned())).map(|at| &self.rows[*at])
    }

    /// Writes the complete list.
    pub fn write(&self, home: &Home) -> Result<()> {
        Ok(write_atomic(&path(home), table::text(self.rows.iter().cloned()).as_bytes())?)
    }
}

impl Tombstone {
    /// Whether it covers a URL.
    pub fn covers(&self, url: &str) -> bool {
        match self.kind {
            TombstoneKind::Address => hashes(url).any(|hash| hash == self.what),
            TombstoneKind::Document => false,
            TombstoneKind::Host => address::host(url).is_some_and(|host| {
                // A host may contain multi-byte letters, so the length alone may point into one.
                let split = host.len().checked_sub(self.what.len()).and_then(|at| host.split_at_checked(at));
                split.is_some_and(|(under, host)| {
                    host.eq_ignore_ascii_case(&self.what) && (under.is_empty() || under.ends_with('.'))
                })
            }),
            TombstoneKind::Pattern => {
                let whole = self.what.contains("://");
                let seen = if whole { url } else { url.split_once("://").map_or(url, |(_, rest)| rest) };
                looks_like(self.what.as_bytes(), seen.as_bytes())
            }
        }
    }
}

/// Whether a text matches a pattern in which `*` matches any text.
fn looks_like(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut seen) = (0, 0);
    // The position of the last star, and the length of its match so far.
    let mut star: Option<(usize, usize)> = None;
    while seen < text.len() {
        if pattern.get(at) == Some(&b'*') {
            star = Some((at, seen));
            at += 1;
        } else if pattern.get(at) == Some(&text[seen]) {
            (at, seen) = (at + 1, seen + 1);
        } else if let Some((place, taken)) = star {
            star = Some((place, taken + 1));
            (at, seen) = (place + 1, taken + 1);
        } else {
            return false;
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

/// The state of `removed.tsv`: it differs after every change of the list. Nothing if there is no list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stamp(Option<(SystemTime, u64, u64)>);

/// The state of the list of a home, without reading it.
pub fn stamp(home: &Home) -> Stamp {
    let about = std::fs::metadata(path(home)).ok();
    Stamp(about.and_then(|about| Some((about.modified().ok()?, about.len(), about.ino()))))
}

fn path(home: &Home) -> PathBuf {
    home.root().join("removed.tsv")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stone(kind: TombstoneKind, what: &str) -> Tombstone {
        Tombstone { kind, what: what.into(), date: String::new(), reason: "asked".into(), done: String::new() }
    }

    #[test]
    fn a_tombstone_covers_what_it_names_and_nothing_else() {
        let host = stone(TombstoneKind::Host, "example.org");
        assert!(host.covers("http://example.org/a") && host.covers("https://www.Example.org:8080/"));
        assert!(!host.covers("http://anexample.org/") && !host.covers("http://org/") && !host.covers("x"));
        let pattern = stone(TombstoneKind::Pattern, "example.org/*/private*");
        assert!(
            pattern.covers("https://example.org/2026/private.html") && !pattern.covers("https://example.org/private")
        );
        assert!(stone(TombstoneKind::Pattern, "https://e.org/*").covers("https://e.org/"));
        assert!(!stone(TombstoneKind::Pattern, "https://e.org/*").covers("http://e.org/"));
        let address = stone(TombstoneKind::Address, &hash("http://e.org/1"));
        assert!(address.covers("http://e.org/1#top") && !address.covers("http://e.org/11"));
    }

    #[test]
    fn a_tombstone_of_an_earlier_version_covers_the_normal_form() {
        let old = "http://e.org/%7Eada/caf%c3%a9";
        let what = format!("{:032x}", xxh3_128("http://e.org/~ada/caf%c3%a9".as_bytes()));
        let earlier = stone(TombstoneKind::Address, &what);
        let mut removed = Removed::default();
        removed.add(earlier.clone());
        for url in ["http://e.org/~ada/caf%C3%A9", "http://e.org/~ada/caf%c3%a9", old] {
            assert!(earlier.covers(url) && removed.covers(url).is_some(), "{url}");
            assert!(stone(TombstoneKind::Address, &hash(old)).covers(url), "{url}");
        }
        assert!(!earlier.covers("http://e.org/ada/caf%C3%A9"));
    }

    #[test]
    fn tombstones_survive_writing_and_are_unique() {
        let folder = tempfile::tempdir().unwrap();
        Home::create(folder.path(), "", "").unwrap();
        let home = Home::at(folder.path()).unwrap();
        let mut removed = Removed::read(&home).unwrap();
        assert!(removed.is_empty() && removed.covers("http://e.org/").is_none());
        assert!(removed.add(stone(TombstoneKind::Host, "e.org")) && !removed.add(stone(TombstoneKind::Host, "e.org")));
        assert!(removed.add(stone(TombstoneKind::Document, "0123")));
        let before = stamp(&home);
        removed.write(&home).unwrap();
        let written = stamp(&home);
        removed.write(&home).unwrap();
        assert!(before == Stamp::default() && written != before && stamp(&home) != written);
        let mut again = Removed::read(&home).unwrap();
        assert_eq!(again.rows(), removed.rows());
        assert!(again.covers("http://www.e.org/").is_some() && again.document("0123").is_some());
        assert_eq!(again.unfinished().count(), 2);
        again.finish("2026-03-01T00:00:00.000Z");
        assert_eq!(again.unfinished().count(), 0);
    }

    #[test]
    fn stars_match_any_text_in_bounded_time() {
        assert!(looks_like(b"*", b"") && looks_like(b"a*b*c", b"axxbyybzc") && !looks_like(b"a*b", b"ac"));
        let (pattern, text) = ("*a".repeat(50), "a".repeat(49) + &"b".repeat(5000));
        assert!(!looks_like(pattern.as_bytes(), text.as_bytes()));
    }

    #[test]
    fn tombstones_are_read_back_with_what_they_cover() {
        let (_folder, home) = crate::testing::home();
        let mut removed = Removed::read(&home).unwrap();
        assert!(removed.is_empty() && removed.covers("http://a.example/").is_none());
        assert!(removed.add(stone(TombstoneKind::Host, "a.example")));
        assert!(!removed.add(stone(TombstoneKind::Host, "a.example")), "it exists already");
        removed.add(stone(TombstoneKind::Pattern, "b.example/*/private"));
        removed.add(stone(TombstoneKind::Address, &hash("http://c.example/1")));
        removed.add(stone(TombstoneKind::Document, "00ff"));
        removed.write(&home).unwrap();
        let again = Removed::read(&home).unwrap();
        assert_eq!(again.rows(), removed.rows());
        for url in ["http://a.example/x", "https://www.A.example/", "http://b.example/1/private", "http://c.example/1"]
        {
            assert!(again.covers(url).is_some(), "{url}");
        }
        for url in ["http://aa.example/", "http://a.example.org/", "http://b.example/1/public", "http://c.example/2"] {
            assert!(again.covers(url).is_none(), "{url}");
        }
        assert!(again.document("00ff").is_some() && again.document("00fe").is_none());
    }

    #[test]
    fn a_finished_takedown_can_be_repeated() {
        let mut removed = Removed::default();
        removed.begin(stone(TombstoneKind::Host, "a.example"));
        removed.begin(stone(TombstoneKind::Host, "b.example"));
        removed.finish("2026-03-01");
        assert_eq!(removed.unfinished().count(), 0);
        removed.begin(stone(TombstoneKind::Host, "b.example"));
        let unfinished = removed.only_unfinished();
        assert_eq!((unfinished.rows().len(), removed.rows().len()), (1, 2));
        assert!(unfinished.covers("http://b.example/").is_some() && unfinished.covers("http://a.example/").is_none());
    }

    proptest! {
        #[test]
        fn any_url_and_tombstone_are_handled(what in ".{0,8}", url in "(https?://)?.{0,12}", host in "[a-zé日.]{0,8}") {
            for kind in [TombstoneKind::Address, TombstoneKind::Host, TombstoneKind::Pattern, TombstoneKind::Document] {
                let _ = stone(kind, &what).covers(&url);
                let _ = stone(kind, &what).covers(&format!("http://{host}/"));
                let _ = stone(kind, &host).covers(&format!("http://é{host}/"));
            }
        }

        #[test]
        fn a_pattern_with_stars_for_parts_of_a_text_matches_it(parts in prop::collection::vec("[a-c]{0,3}", 1..5), between in prop::collection::vec("[a-c]{0,3}", 4)) {
            let text: String = parts.iter().zip(&between).map(|(part, between)| format!("{part}{between}")).collect();
            let pattern: String = parts.iter().map(|part| format!("{part}*")).collect();
            prop_assert!(looks_like(pattern.as_bytes(), text.as_bytes()), "{} {}", pattern, text);
            prop_assert!(looks_like(text.as_bytes(), text.as_bytes()));
            let longer = text.clone() + "d";
            prop_assert!(!looks_like(longer.as_bytes(), text.as_bytes()));
        }
    }
}
