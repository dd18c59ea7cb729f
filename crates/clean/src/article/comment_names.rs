//! Names of containers that hold reader comments.
//!
//! Comment sections name themselves: `#comments`, `commentlist`, `disqus_thread`, `leserkommentare`.
//! The words also occur in names of other containers: a link to the comments, their number, a post
//! that may be commented on, and in German and French an opinion piece. These are told apart here
//! by the other words of the name.

use html5ever::{LocalName, local_name};

/// Stems of words for comments, in the languages of blog software.
const STEMS: &[&str] = &[
    "comment",
    "kommentar",
    "comentari",
    "commenti",
    "commento",
    "komentar",
    "komment",
    "disqus",
    "livefyre",
    "usercomment",
    "readercomment",
    "leserkommentar",
    "leserbrief",
    "reactie",
    "yorum",
    "guestbook",
];

/// Words that begin with a stem and mean opinion.
const OPINION: &[&str] = &["commentary", "commentaries", "commentator", "commentators", "commentariat"];

/// Other words of names that are not comment sections: counters, links, forms and states.
const OTHER: &[&str] = &[
    "count", "counter", "counts", "number", "num", "link", "links", "icon", "button", "btn", "open", "closed",
    "enabled", "disabled", "allowed", "has", "with", "without", "no", "recent", "latest", "top", "most", "popular",
    "total", "toggle", "jump", "anchor", "post", "posts", "article", "news", "page", "main", "widget", "feed", "rss",
    "bubble", "show", "view",
];

/// Returns whether a class or id is the name of a container of comments.
pub(super) fn is_container(element: &LocalName, name: &str) -> bool {
    let is_wrapper =
        matches!(*element, local_name!("html") | local_name!("body") | local_name!("main") | local_name!("a"));
    if is_wrapper || !mentions(name) {
        return false;
    }
    let mut found = false;
    for word in words(name) {
        let word = word.to_ascii_lowercase();
        if OPINION.contains(&word.as_str()) || OTHER.contains(&word.as_str()) {
            return false;
        }
        // "nocomments" and "articlecomments" are one word in many templates.
        found |=
            STEMS.iter().any(|stem| word.starts_with(stem)) || word.ends_with("comments") && !word.starts_with("no");
        if word.ends_with("count") || word.ends_with("link") || word.ends_with("form") && word.len() > 4 {
            return false;
        }
    }
    found
}

/// A cheap test that most names fail.
fn mentions(name: &str) -> bool {
    const PARTS: &[&[u8]] = &[b"om", b"isqus", b"ivefyre", b"eserbrief", b"eactie", b"orum", b"uestbook"];
    let bytes = name.as_bytes();
    bytes.len() >= 5
        && PARTS.iter().any(|part| bytes.windows(part.len()).any(|window| window.eq_ignore_ascii_case(part)))
}

/// The words of a name: separated by punctuation, digits or a capital.
fn words(name: &str) -> impl Iterator<Item = &str> {
    let mut rest = name;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| !c.is_alphabetic());
        if rest.is_empty() {
            return None;
        }
        let mut lower_before = false;
        let end = rest
            .char_indices()
            .find(|(_, c)| {
                let ends = !c.is_alphabetic() || (c.is_ascii_uppercase() && lower_before);
                lower_before = c.is_ascii_lowercase();
                ends
            })
            .map_or(rest.len(), |(at, _)| at);
        let (word, after) = rest.split_at(end);
        rest = after;
        Some(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comment_sections_are_recognised_by_their_names() {
        let div = LocalName::from("div");
        for name in [
            "comments",
            "commentlist",
            "comment-list",
            "comments-area",
            "disqus_thread",
            "commentBody",
            "comment",
            "comment-12",
            "leserkommentare",
            "kommentare",
            "comentarios",
            "userComments",
            "fb-comments",
            "Blog1_comments-block-wrapper",
            "articlecomments",
        ] {
            assert!(is_container(&div, name), "{name}");
        }
        for name in [
            "comments-open",
            "has-comments",
            "no-comments",
            "nocomments",
            "comment-count",
            "comments-link",
            "commentform",
            "commentary",
            "content",
            "post-comments-enabled",
            "commentcount",
            "recent-comments",
            "community",
            "common",
        ] {
            assert!(!is_container(&div, name), "{name}");
        }
        assert!(!is_container(&LocalName::from("body"), "comments"));
    }
}
