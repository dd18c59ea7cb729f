//! Faults of sites.
//!
//! Most of the effort of a crawler goes into misbehaving servers. Each [`Fault`] is one such behaviour found on the
//! real web; an [`SiteFault`] applies it to a part of a site.

use std::fmt;
use std::str::FromStr;

/// A way in which a site misbehaves or differs from the normal case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// Reads the request and never answers.
    Hang,
    /// Sends one byte at a time with long pauses ([`Spec::drip_every`](crate::Spec::drip_every)).
    Drip,
    /// Sends a body that never ends.
    Endless,
    /// Answers 500.
    Error,
    /// Answers 429 with `Retry-After`.
    TooMany,
    /// Answers 503 with `Retry-After`.
    Unavailable,
    /// Answers 404.
    NotFound,
    /// Answers 410.
    Gone,
    /// Responds with 301 once; the new URL on the same site works.
    Moved,
    /// Redirects five times on the same site before the response.
    RedirectChain,
    /// Redirects in a circle.
    RedirectLoop,
    /// Redirects to addresses inside a private network.
    RedirectPrivate,
    /// Redirects to a `file:` address.
    RedirectFile,
    /// Redirects every page to one host that all such sites share.
    RedirectShared,
    /// Announces more bytes than it sends, then closes.
    Truncated,
    /// Sends gzip with damaged bytes in the middle.
    BrokenGzip,
    /// Sends a small gzip body that expands to a large one ([`Spec::bomb_bytes`](crate::Spec::bomb_bytes)).
    GzipBomb,
    /// Declares a wrong character set.
    WrongCharset,
    /// Answers 200 with an empty body.
    Empty,
    /// Sends a head of many hundred kilobytes.
    HugeHeaders,
    /// Closes the connection instead of answering.
    Cut,
    /// Answers with an endless video.
    Video,
    /// Lists 50,000 items in its feed.
    HugeFeed,
    /// Serves an HTML page at the URL of the feed.
    NotXml,
    /// Forbids everything in robots.txt.
    RobotsDisallow,
    /// Disallows `/members/` in robots.txt, which contains every fifth article of a site.
    RobotsPath,
    /// Requests a `Crawl-delay` ([`Spec::crawl_delay`](crate::Spec::crawl_delay)).
    RobotsDelay,
    /// Reserves text and data mining rights: `tdmrep.json` and the `tdm-reservation` header.
    TdmReserved,
    /// Sends `X-Robots-Tag: noindex, noarchive`.
    XRobots,
    /// Sends Brotli to clients that accept it.
    Brotli,
    /// Sends Zstandard to clients that accept it.
    Zstd,
    /// Sends bodies in chunks, without a length.
    Chunked,
    /// Closes the connection after every response, with `Connection: close`.
    Close,
    /// Closes idle connections after a short time without notice.
    IdleClose,
    /// Answers 403.
    Forbidden,
    /// Redirects every article to the front page, as if it were gone.
    RedirectHome,
    /// Answers every article with the same consent wall.
    ConsentWall,
    /// Answers every article with status 200 and a text that says it does not exist.
    SoftNotFound,
    /// Shows only the first paragraph of an article.
    Stub,
}

/// The part of a site that a fault befalls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SitePart {
    /// Article pages.
    Pages,
    /// The feeds, in every format.
    Feed,
    /// robots.txt.
    Robots,
    /// Everything the site serves.
    Everything,
}

/// A fault and the part of the site that it affects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SiteFault {
    /// The fault.
    pub fault: Fault,
    /// The affected part.
    pub part: SitePart,
}

/// The names of faults on the command line, in the order of listing.
const NAMES: &[(&str, Fault)] = &[
    ("hang", Fault::Hang),
    ("drip", Fault::Drip),
    ("endless", Fault::Endless),
    ("error", Fault::Error),
    ("too-many", Fault::TooMany),
    ("unavailable", Fault::Unavailable),
    ("not-found", Fault::NotFound),
    ("gone", Fault::Gone),
    ("moved", Fault::Moved),
    ("redirect-chain", Fault::RedirectChain),
    ("redirect-loop", Fault::RedirectLoop),
    ("redirect-private", Fault::RedirectPrivate),
    ("redirect-file", Fault::RedirectFile),
    ("redirect-shared", Fault::RedirectShared),
    ("truncated", Fault::Truncated),
    ("broken-gzip", Fault::BrokenGzip),
    ("gzip-bomb", Fault::GzipBomb),
    ("wrong-charset", Fault::WrongCharset),
    ("empty", Fault::Empty),
    ("huge-headers", Fault::HugeHeaders),
    ("cut", Fault::Cut),
    ("video", Fault::Video),
    ("huge-feed", Fault::HugeFeed),
    ("not-xml", Fault::NotXml),
    ("robots-disallow", Fault::RobotsDisallow),
    ("robots-path", Fault::RobotsPath),
    ("robots-delay", Fault::RobotsDelay),
    ("tdm-reserved", Fault::TdmReserved),
    ("x-robots", Fault::XRobots),
    ("brotli", Fault::Brotli),
    ("zstd", Fault::Zstd),
    ("chunked", Fault::Chunked),
    ("close", Fault::Close),
    ("idle-close", Fault::IdleClose),
    ("forbidden", Fault::Forbidden),
    ("redirect-home", Fault::RedirectHome),
    ("consent-wall", Fault::ConsentWall),
    ("soft-not-found", Fault::SoftNotFound),
    ("stub", Fault::Stub),
];

impl Fault {
    /// All faults.
    pub fn all() -> impl Iterator<Item = Fault> {
        NAMES.iter().map(|(_, fault)| *fault)
    }

    /// The name used on the command line.
    pub fn name(self) -> &'static str {
        let row = NAMES.iter().find(|(_, fault)| *fault == self);
        row.expect("every fault has a row in the table of names").0
    }

    /// The part of a site that this fault affects by default.
    pub fn usual_part(self) -> SitePart {
        match self {
            Fault::HugeFeed | Fault::NotXml => SitePart::Feed,
            Fault::RobotsDisallow | Fault::RobotsPath | Fault::RobotsDelay => SitePart::Robots,
            Fault::TdmReserved | Fault::Brotli | Fault::Zstd | Fault::Chunked | Fault::Close | Fault::IdleClose => {
                SitePart::Everything
            }
            _ => SitePart::Pages,
        }
    }

    /// The same fault on another part of the site.
    pub fn on(self, part: SitePart) -> SiteFault {
        SiteFault { fault: self, part }
    }
}

/// Faults that also matter on other parts than the default one, for [`SiteFault::mix`].
const ELSEWHERE: &[(Fault, SitePart)] = &[
    (Fault::Hang, SitePart::Feed),
    (Fault::Drip, SitePart::Feed),
    (Fault::Endless, SitePart::Feed),
    (Fault::Error, SitePart::Feed),
    (Fault::TooMany, SitePart::Feed),
    (Fault::Gone, SitePart::Feed),
    (Fault::Moved, SitePart::Feed),
    (Fault::RedirectLoop, SitePart::Feed),
    (Fault::Truncated, SitePart::Feed),
    (Fault::GzipBomb, SitePart::Feed),
    (Fault::Hang, SitePart::Robots),
    (Fault::Error, SitePart::Robots),
    (Fault::NotFound, SitePart::Robots),
    (Fault::Endless, SitePart::Robots),
    (Fault::Cut, SitePart::Everything),
];

impl SiteFault {
    /// All faults on their default parts, and those that matter on feeds and robots.txt there too.
    pub fn mix() -> impl Iterator<Item = SiteFault> {
        Fault::all().map(SiteFault::from).chain(ELSEWHERE.iter().map(|(fault, part)| fault.on(*part)))
    }
}

impl From<Fault> for SiteFault {
    fn from(fault: Fault) -> Self {
        fault.on(fault.usual_part())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl fmt::Display for SiteFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.part == self.fault.usual_part() {
            return self.fault.fmt(out);
        }
        let prefix = match self.part {
            SitePart::Pages => "pages-",
            SitePart::Feed => "feed-",
            SitePart::Robots => "robots-",
            SitePart::Everything => "all-",
        };
        write!(out, "{prefix}{}", self.fault)
    }
}

impl FromStr for SiteFault {
    type Err = UnknownFault;

    /// Parses `hang`, and with a part `feed-hang`, `robots-error`, `all-cut`, `pages-close`.
    fn from_str(text: &str) -> Result<Self, UnknownFault> {
        let named = |name: &str| NAMES.iter().find(|(known, _)| *known == name).map(|row| row.1);
        if let Some(fault) = named(text) {
            return Ok(fault.into());
        }
        let parts = [
            ("pages-", SitePart::Pages),
            ("feed-", SitePart::Feed),
            ("robots-", SitePart::Robots),
            ("all-", SitePart::Everything),
        ];
        parts
            .iter()
            .find_map(|(prefix, part)| Some(named(text.strip_prefix(prefix)?)?.on(*part)))
            .ok_or_else(|| UnknownFault { name: text.to_string() })
    }
}

/// The error of an unknown fault name.
#[derive(Debug, thiserror::Error)]
#[error("unknown fault {name}")]
pub struct UnknownFault {
    /// The given name.
    pub name: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_site_fault_survives_printing_and_parsing() {
        for fault in Fault::all() {
            for part in [SitePart::Pages, SitePart::Feed, SitePart::Robots, SitePart::Everything] {
                let fault = fault.on(part);
                assert_eq!(fault.to_string().parse::<SiteFault>().unwrap(), fault);
            }
        }
    }

    #[test]
    fn an_unknown_name_is_rejected() {
        assert!("feed-holiday".parse::<SiteFault>().is_err());
    }
}
