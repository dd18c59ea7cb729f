//! Element names of RSS 0.90, 1.0 and 1.1, which are RDF.

use tidings_model::FeedFormat;

use super::element::ElementRole;

/// The role of an RDF element. Entries are siblings of the channel there.
pub(super) fn role(name: &str) -> Option<ElementRole> {
    Some(match name {
        "rdf" => ElementRole::Root(FeedFormat::Rdf),
        _ => return None,
    })
}
