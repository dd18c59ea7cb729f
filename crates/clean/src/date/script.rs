//! Dates in the state that a page's scripts carry, for pages that show nothing without them.

use html5ever::local_name;
use memchr::memmem;

use super::written::{Habit, find, stamp};
use super::{Candidate, Place, Role, Source};
use crate::tree::Tree;

/// Script text searched in one page.
const MOST_BYTES: usize = 1_000_000;

/// A script that writes one line is smaller.
const SMALL_BYTES: usize = 400;
/// Scripts looked at for that.
const MOST_LITERALS: usize = 100;

/// Keys of JSON that hold the day of publication, the surest first.
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

/// Looks for the first of the keys that holds a date.
pub(super) fn read(tree: &Tree, habit: Habit, candidates: &mut Vec<Candidate>) {
    let mut budget = MOST_BYTES;
    let mut best: Option<(usize, Candidate)> = None;
    for id in tree.elements(&local_name!("script")) {
        let Some(text) = tree.first_child(id).and_then(|child| tree.as_text(child)) else { continue };
        let text = &text[..text.floor_char_boundary(budget)];
        budget -= text.len();
        // Every key has one of these; most scripts have neither.
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
                if let Some(stamp) = value(rest).and_then(|value| stamp(value, habit)) {
                    best = Some((rank, Candidate::of(stamp, Source::Script, Role::Published, Place::Head)));
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

/// The first date in a small script of the body, such as one that writes the date itself.
pub(super) fn literal(tree: &Tree, habit: Habit, candidates: &mut Vec<Candidate>) {
    let texts = tree.descendants(tree.body()).filter(|id| tree.is(*id, &local_name!("script"))).take(MOST_LITERALS);
    let texts = texts.filter_map(|id| tree.as_text(tree.first_child(id)?)).filter(|text| text.len() < SMALL_BYTES);
    let found = texts.flat_map(|text| find(text, habit)).find(|found| !found.vague);
    candidates.extend(found.map(|found| Candidate::on(found.day, Source::Script, Role::Unclear, Place::Body)));
}

/// The value after a key: `":"2019-08-02"`, `\":\"…`, `': 1564740000`.
fn value(rest: &str) -> Option<&str> {
    let rest = rest.trim_start_matches(['"', '\'', '\\', ' ']);
    let rest = rest.strip_prefix([':', '='])?.trim_start_matches(['"', '\'', '\\', ' ', '[']);
    let end = rest.find(['"', '\'', '\\', ',', '}', ';', '<', '\n'])?;
    Some(&rest[..end])
}
