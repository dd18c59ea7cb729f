//! RSS 0.90, 1.0 and 1.1: the words that are RDF's own.

use tidings_model::FeedFormat;

use super::element::ElementRole;

/// What an element of RDF means. Entries stand beside the channel there, not in it.
pub(super) fn role(name: &str) -> Option<ElementRole> {
    Some(match name {
        "rdf" => ElementRole::Root(FeedFormat::Rdf),
        _ => return None,
    })
}
