//! The status of a plan entry, a readable word in the plan.

use std::fmt;
use std::str::FromStr;

/// The outcome of a plan entry so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// Found in a feed, not requested yet.
    New,
    /// Downloaded and stored.
    Ok,
    /// The server returned this HTTP status.
    Http(u16),
    /// No page, for a reason other than an HTTP status.
    Failed(FailureKind),
    /// A status written by another program.
    Foreign(String),
}

/// Declares the kinds of failure in one table.
macro_rules! failures {
    ($($variant:ident, $word:literal, final: $is_final:literal, network: $is_network:literal, $meaning:literal;)+) => {
        /// A reason other than an HTTP status for which there is no page.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum FailureKind {
            $(#[doc = $meaning] $variant),+
        }

        impl FailureKind {
            /// All kinds, in the order of the table.
            pub const ALL: &[FailureKind] = &[$(FailureKind::$variant),+];

            /// The name in the plan and in run logs.
            pub const fn word(self) -> &'static str {
                match self { $(FailureKind::$variant => $word),+ }
            }

            /// Returns true if retrying is pointless.
            pub const fn is_final(self) -> bool {
                match self { $(FailureKind::$variant => $is_final),+ }
            }

            /// Returns true for network errors, as opposed to unusable responses.
            pub const fn is_network_trouble(self) -> bool {
                match self { $(FailureKind::$variant => $is_network),+ }
            }

            /// The explanation for users.
            pub const fn meaning(self) -> &'static str {
                match self { $(FailureKind::$variant => $meaning),+ }
            }
        }
    };
}

failures! {
    Timeout, "timeout", final: false, network: true, "no response in time";
    Slow, "slow", final: false, network: true, "the response was below the minimum speed";
    Dns, "dns", final: false, network: true, "the host name did not resolve";
    Connect, "connect", final: false, network: true, "no connection could be made";
    Tls, "tls", final: false, network: true, "the secure connection could not be set up";
    Cut, "cut", final: false, network: true, "the connection ended before the response was complete";
    Protocol, "protocol", final: false, network: false, "the response was not valid HTTP";
    Headers, "headers", final: false, network: false, "the response headers were larger than allowed";
    Encoding, "encoding", final: false, network: false, "the compressed body was damaged or its encoding is unknown";
    Empty, "empty", final: false, network: false, "the response had no body";
    Redirects, "redirects", final: false, network: false, "too many redirects, or a loop of them";
    RobotsUnreachable, "robots-unreachable", final: false, network: false,
        "robots.txt could not be read, so no request is allowed";
    Robots, "robots", final: true, network: false, "robots.txt forbids it";
    TooLarge, "too-large", final: true, network: false, "the page is larger than allowed, as sent or unpacked";
    NotText, "not-text", final: true, network: false, "the content type cannot be text";
    Private, "private", final: true, network: false,
        "the address, or one it redirects to, is not on the public Internet";
    Scheme, "scheme", final: true, network: false, "a redirect left http and https";
    BadUrl, "bad-url", final: true, network: false, "the address cannot be parsed";
    Postponed, "postponed", final: false, network: false, "its host rests after failures, so it was not requested";
    MovedShard, "moved-shard", final: true, network: false, "its site, or the one it redirects to, belongs to another shard";
    Removed, "removed", final: true, network: false, "it was removed from the corpus and is blocked";
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// An unknown name of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownFailure;

impl fmt::Display for UnknownFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown kind of failure")
    }
}

impl std::error::Error for UnknownFailure {}

impl FromStr for FailureKind {
    type Err = UnknownFailure;

    fn from_str(word: &str) -> Result<FailureKind, UnknownFailure> {
        FailureKind::ALL.iter().find(|kind| kind.word() == word).copied().ok_or(UnknownFailure)
    }
}

impl From<FailureKind> for Status {
    fn from(kind: FailureKind) -> Status {
        Status::Failed(kind)
    }
}

impl Status {
    /// Creates a failure from its name, for literals in code.
    ///
    /// # Panics
    /// If no [`FailureKind`] has the name.
    pub fn failed(word: &str) -> Status {
        Status::Failed(word.parse().expect("the name is in the table of failures"))
    }

    /// Returns true if a retry cannot succeed.
    pub fn is_final(&self) -> bool {
        match self {
            Status::Ok => true,
            Status::New | Status::Foreign(_) => false,
            Status::Http(code) => matches!(code, 404 | 405 | 406 | 410 | 414 | 451),
            Status::Failed(kind) => kind.is_final(),
        }
    }

    /// Returns true for final verdicts that depend on the network at that time: a captive portal resolves every name
    /// to a private address, and a robots.txt changes. They are checked again while a feed lists the page.
    pub fn is_checked_again(&self) -> bool {
        matches!(self, Status::Failed(FailureKind::Robots | FailureKind::Private))
    }

    /// Returns true if the host failed or asked for patience. That says nothing about the page, so it is no attempt.
    pub fn is_host_trouble(&self) -> bool {
        use FailureKind::{Connect, Dns, RobotsUnreachable, Timeout, Tls};
        match self {
            Status::Http(code) => matches!(code, 429 | 503),
            Status::Failed(kind) => matches!(kind, Timeout | Dns | Connect | Tls | RobotsUnreachable),
            Status::New | Status::Ok | Status::Foreign(_) => false,
        }
    }

    /// Returns true if the network failed, rather than the server refusing.
    pub fn is_network_trouble(&self) -> bool {
        matches!(self, Status::Failed(kind) if kind.is_network_trouble())
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Status::New => f.write_str("new"),
            Status::Ok => f.write_str("ok"),
            Status::Http(code) => write!(f, "{code}"),
            Status::Failed(kind) => f.write_str(kind.word()),
            Status::Foreign(text) => f.write_str(text),
        }
    }
}

impl FromStr for Status {
    type Err = std::convert::Infallible;

    /// Accepts any text: FeedFetcher writes whole status lines such as `404 Not Found`.
    fn from_str(text: &str) -> Result<Status, Self::Err> {
        let code = |text: &str| text.split(' ').next().filter(|c| c.len() == 3).and_then(|c| c.parse::<u16>().ok());
        Ok(match text {
            "new" => Status::New,
            "ok" => Status::Ok,
            _ => (text.parse().ok().map(Status::Failed))
                .or_else(|| code(text).map(Status::Http))
                .unwrap_or_else(|| Status::Foreign(text.to_owned())),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_round_trip() {
        for text in ["new", "ok", "404", "timeout", "robots", "too-large", "res"] {
            assert_eq!(text.parse::<Status>().unwrap().to_string(), text);
        }
        assert_eq!("404 Not Found".parse::<Status>().unwrap(), Status::Http(404));
    }

    #[test]
    fn failures_round_trip() {
        for kind in FailureKind::ALL {
            assert_eq!(kind.to_string().parse(), Ok(*kind));
            assert!(!(kind.is_final() && kind.is_network_trouble()), "{kind}: the network may recover");
        }
        assert_eq!("ok".parse::<FailureKind>(), Err(UnknownFailure));
        assert_eq!(Status::failed("dns"), FailureKind::Dns.into());
    }

    #[test]
    fn failures_of_a_host_are_not_final_and_verdicts_that_are_checked_again_are() {
        for kind in FailureKind::ALL {
            let status = Status::Failed(*kind);
            assert!(!(status.is_host_trouble() && status.is_final()), "{kind}");
            assert!(!status.is_checked_again() || status.is_final(), "{kind}");
        }
        assert!(Status::Http(503).is_host_trouble() && !Status::Http(500).is_host_trouble());
    }
}
