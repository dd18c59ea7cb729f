//! What can be wrong with a site.
//!
//! Most of the effort of a harvester goes into servers that do not do what servers should. Each
//! [`Fault`] is one such behaviour that was met on the real web; an [`Ailment`] says which part of
//! a site it befalls.

use std::fmt;
use std::str::FromStr;

/// One way in which a site misbehaves, or merely differs from the plain case.
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
    /// Answers 301 once; the new address on the same site works.
    Moved,
    /// Redirects five times on the same site before it answers.
    RedirectChain,
    /// Redirects in a circle.
    RedirectLoop,
    /// Redirects to addresses inside a private network.
    RedirectPrivate,
    /// Redirects to a `file:` address.
    RedirectFile,
    /// Redirects every page to the one host that all such sites share.
    RedirectShared,
    /// Announces more bytes than it sends, then closes.
    Truncated,
    /// Sends gzip with damaged bytes in the middle.
    BrokenGzip,
    /// Sends a little gzip that expands to a lot ([`Spec::bomb_bytes`](crate::Spec::bomb_bytes)).
    GzipBomb,
    /// Declares another character set than the one used.
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
    /// Serves an HTML page where the feed should be.
    NotXml,
    /// Forbids everything in robots.txt.
    RobotsDisallow,
    /// Forbids `/members/` in robots.txt, where every fifth article of a site is.
    RobotsPath,
    /// Asks for a `Crawl-delay` ([`Spec::crawl_delay`](crate::Spec::crawl_delay)).
    RobotsDelay,
    /// Reserves text and data mining rights: `tdmrep.json` and the `tdm-reservation` header.
    TdmReserved,
    /// Sends `X-Robots-Tag: noindex, noarchive`.
    XRobots,
    /// Sends Brotli to those who accept it.
    Brotli,
    /// Sends Zstandard to those who accept it.
    Zstd,
    /// Sends bodies in chunks, without a length.
    Chunked,
    /// Closes the connection after every answer, and says so.
    Close,
    /// Closes a connection that has been idle for a moment, without a word.
    IdleClose,
}

/// The part of a site that a fault befalls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// Article pages.
    Pages,
    /// The feeds, in every format.
    Feed,
    /// robots.txt.
    Robots,
    /// Everything the site serves.
    Everything,
}

/// A fault and the part of the site where it shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ailment {
    /// What is wrong.
    pub fault: Fault,
    /// Where it shows.
    pub part: Part,
}

/// The names by which faults are known on the command line, in the order of their listing.
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
];

impl Fault {
    /// Every fault there is.
    pub fn all() -> impl Iterator<Item = Fault> {
        NAMES.iter().map(|(_, fault)| *fault)
    }

    /// The name used on the command line.
    pub fn name(self) -> &'static str {
        let row = NAMES.iter().find(|(_, fault)| *fault == self);
        row.expect("every fault has a row in the table of names").0
    }

    /// The part of a site where this fault shows unless somebody says otherwise.
    pub fn usual_part(self) -> Part {
        match self {
            Fault::HugeFeed | Fault::NotXml => Part::Feed,
            Fault::RobotsDisallow | Fault::RobotsPath | Fault::RobotsDelay => Part::Robots,
            Fault::TdmReserved | Fault::Brotli | Fault::Zstd | Fault::Chunked | Fault::Close | Fault::IdleClose => {
                Part::Everything
            }
            _ => Part::Pages,
        }
    }

    /// The same fault on a part of the site that one chooses.
    pub fn on(self, part: Part) -> Ailment {
        Ailment { fault: self, part }
    }
}

/// Faults that matter on other parts than their usual one, and so belong into every mixture.
const ELSEWHERE: &[(Fault, Part)] = &[
    (Fault::Hang, Part::Feed),
    (Fault::Drip, Part::Feed),
    (Fault::Endless, Part::Feed),
    (Fault::Error, Part::Feed),
    (Fault::TooMany, Part::Feed),
    (Fault::Gone, Part::Feed),
    (Fault::Moved, Part::Feed),
    (Fault::RedirectLoop, Part::Feed),
    (Fault::Truncated, Part::Feed),
    (Fault::GzipBomb, Part::Feed),
    (Fault::Hang, Part::Robots),
    (Fault::Error, Part::Robots),
    (Fault::NotFound, Part::Robots),
    (Fault::Endless, Part::Robots),
    (Fault::Cut, Part::Everything),
];

impl Ailment {
    /// A mixture of everything that can go wrong: every fault where it usually shows, and those
    /// that hurt on feeds and robots.txt there too.
    pub fn mix() -> impl Iterator<Item = Ailment> {
        Fault::all().map(Ailment::from).chain(ELSEWHERE.iter().map(|(fault, part)| fault.on(*part)))
    }
}

impl From<Fault> for Ailment {
    fn from(fault: Fault) -> Self {
        fault.on(fault.usual_part())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl fmt::Display for Ailment {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.part == self.fault.usual_part() {
            return self.fault.fmt(out);
        }
        let prefix = match self.part {
            Part::Pages => "pages-",
            Part::Feed => "feed-",
            Part::Robots => "robots-",
            Part::Everything => "all-",
        };
        write!(out, "{prefix}{}", self.fault)
    }
}

impl FromStr for Ailment {
    type Err = UnknownFault;

    /// Reads `hang`, and with a part `feed-hang`, `robots-error`, `all-cut`, `pages-close`.
    fn from_str(text: &str) -> Result<Self, UnknownFault> {
        let named = |name: &str| NAMES.iter().find(|(known, _)| *known == name).map(|row| row.1);
        if let Some(fault) = named(text) {
            return Ok(fault.into());
        }
        let parts =
            [("pages-", Part::Pages), ("feed-", Part::Feed), ("robots-", Part::Robots), ("all-", Part::Everything)];
        parts
            .iter()
            .find_map(|(prefix, part)| Some(named(text.strip_prefix(prefix)?)?.on(*part)))
            .ok_or_else(|| UnknownFault { name: text.to_string() })
    }
}

/// A name that no fault has.
#[derive(Debug, thiserror::Error)]
#[error("there is no fault called {name}")]
pub struct UnknownFault {
    /// What was asked for.
    pub name: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ailment_can_be_read_back_from_its_name() {
        for fault in Fault::all() {
            for part in [Part::Pages, Part::Feed, Part::Robots, Part::Everything] {
                let ailment = fault.on(part);
                assert_eq!(ailment.to_string().parse::<Ailment>().unwrap(), ailment);
            }
        }
    }

    #[test]
    fn an_unknown_name_is_refused() {
        assert!("feed-holiday".parse::<Ailment>().is_err());
    }
}
