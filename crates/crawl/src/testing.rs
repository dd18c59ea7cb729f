//! Waiting URLs for tests.

use tidings_model::LinkRegion;
use url::Url;

use crate::queue::WaitingUrl;
use crate::record::Link;
use crate::shape;

/// A URL that was found in a list of links.
pub(crate) fn waiting(url: &str) -> WaitingUrl {
    let parsed = Url::parse(url).expect("a URL");
    WaitingUrl {
        url: url.to_owned(),
        domain: shape::domain(&parsed).to_owned(),
        section: shape::section(&parsed),
        region: LinkRegion::List,
        source_yield: 0.0,
        day: None,
        depth: 0,
    }
}

/// A link without a source.
pub(crate) fn link(url: &str) -> Link {
    Link::new(waiting(url), "")
}
