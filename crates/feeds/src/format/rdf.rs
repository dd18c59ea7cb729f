//! RSS 0.90, 1.0 and 1.1: the words that are RDF's own.

use tidings_model::FeedFormat;

use super::vocabulary::Word;

/// What an element of RDF means. Entries stand beside the channel there, not in it.
pub(super) fn word(name: &str) -> Option<Word> {
    Some(match name {
        "rdf" => Word::Root(FeedFormat::Rdf),
        _ => return None,
    })
}
