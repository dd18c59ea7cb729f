//! Dates in embedded scripts, for pages that render on the client.

use html5ever::local_name;
use memchr::memmem;

use super::locale::DateLocale;
use super::parse::{find, machine_date};
use super::{Candidate, DatePosition, DateRole, DateSource};
use crate::tree::Tree;

/// Maximum number of script bytes searched per page.
const MAX_BYTES: usize = 1_000_000;

/// Upper size limit of scripts that just print a date.
const MAX_SMALL_BYTES: usize = 400;
/// Maximum number of such scripts searched.
const MAX_LITERALS: usize = 100;

/// JSON keys of the publication date, most reliable first.
const KEYS: [&str; 18] = [
    "datePublished",
    "published_time",
    "publishedAt",
    "published_at",
    "publishDate",
    "publish_date",
    "publishedDate",
    "published_date",
    "publicationDate",
    "publication_date",
    "pubDate",
    "pub_date",
    "firstPublished",
    "firstPublishDate",
    "publishTime",
    "publish_time",
    "datePosted",
    "article_date",
];

/// Adds the first date found under one of the keys.
pub(super) fn read(tree: &Tree, locale: DateLocale, candidates: &mut Vec<Candidate>) {
    let mut budget = MAX_BYTES;
    let mut best: Option<(usize, Candidate)> = None;
    for id in tree.elements(&local_name!("script")) {
        let Some(text) = tree.first_child(id).and_then(|child| tree.as_text(child)) else { continue };
        let text = &text[..text.floor_char_boundary(budget)];
        budget -= text.len();
        // Every key contains one of these; most scripts contain neither.
        if memmem::find(text.as_bytes(), b"ub").is_none() && memmem::find(text.as_bytes(), b"date").is_none() {
            continue;
        }
        for (rank, key) in KEYS.iter().enumerate() {
            if best.as_ref().is_some_and(|(found, _)| *found <= rank) {
                break;
            }
            for at in memmem::find_iter(text.as_bytes(), key).take(3) {
                let rest = &text[at + key.len()..];
                let rest = &rest[..rest.floor_char_boundary(64)];
                if let Some(stamp) = value(rest).and_then(|value| machine_date(value, locale)) {
                    best =
                        Some((rank, Candidate::of(stamp, DateSource::Script, DateRole::Published, DatePosition::Head)));
                    break;
                }
            }
        }
        if budget == 0 {
            break;
        }
    }
    candidates.extend(best.map(|(_, candidate)| candidate));
}

/// Adds the first date in a small script of the body, such as one that prints it.
pub(super) fn literal(tree: &Tree, locale: DateLocale, candidates: &mut Vec<Candidate>) {
    let texts = tree.descendants(tree.body()).filter(|id| tree.is(*id, &local_name!("script"))).take(MAX_LITERALS);
    let texts = texts.filter_map(|id| tree.as_text(tree.first_child(id)?)).filter(|text| text.len() < MAX_SMALL_BYTES);
    let found = texts.flat_map(|text| find(text, locale)).find(|found| !found.vague);
    candidates
        .extend(found.map(|found| Candidate::on(found.day, DateSource::Script, DateRole::Unclear, DatePosition::Body)));
}

/// The value after a key: `":"2019-08-02"`, `\\":\\"…`, `': 1564740000`.
fn value(rest: &str) -> Option<&str> {
    let rest = rest.trim_start_matches(['"', '\'', '\\', ' ']);
    let rest = rest.strip_prefix([':', '='])?.trim_start_matches(['"', '\'', '\\', ' ', '[']);
    let end = rest.find(['"', '\'', '\\', ',', '}', ';', '<', '\n'])?;
    Some(&rest[..end])
}
