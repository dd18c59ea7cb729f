//! What became of an entry, in one word that a person can read in the plan.

use std::fmt;
use std::str::FromStr;

/// The fate of a plan entry so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// Found in a feed, not asked for yet.
    New,
    /// Downloaded and stored.
    Ok,
    /// The server answered with this status instead of a page.
    Http(u16),
    /// A failure with a name of its own, listed in [`FAILURES`].
    Failed(&'static str),
    /// A word that some other program wrote into the plan.
    Foreign(String),
}

/// Every failure that is not an HTTP status: its word, whether trying again is pointless, and
/// what it means.
pub const FAILURES: &[(&str, bool, &str)] = &[
    ("timeout", false, "no answer in time"),
    ("slow", false, "the answer dripped below the minimum speed"),
    ("dns", false, "the host name did not resolve"),
    ("connect", false, "no connection could be made"),
    ("tls", false, "the secure connection could not be set up"),
    ("cut", false, "the connection ended before the answer was complete"),
    ("protocol", false, "the answer was not valid HTTP"),
    ("headers", false, "the answer's headers were larger than allowed"),
    ("encoding", false, "the compressed body was damaged or of an unknown kind"),
    ("empty", false, "the answer had no body"),
    ("redirects", false, "too many redirects, or a loop of them"),
    ("robots-unreachable", false, "robots.txt could not be read, so nothing may be asked"),
    ("robots", true, "robots.txt forbids it"),
    ("too-large", true, "the page is larger than allowed, as sent or unpacked"),
    ("not-text", true, "the content type cannot be text"),
    ("private", true, "the address, or one it leads to, is not on the public Internet"),
    ("scheme", true, "a redirect left http and https"),
    ("bad-url", true, "the address cannot be parsed"),
    ("removed", true, "it was taken out of the corpus and must not come back"),
];

impl Status {
    /// The failure of that name.
    ///
    /// # Panics
    /// If the name is not in [`FAILURES`]: names are literals in this code base.
    pub fn failed(name: &str) -> Status {
        Status::lookup(name).expect("failure names are rows of FAILURES")
    }

    fn lookup(name: &str) -> Option<Status> {
        FAILURES.iter().find(|row| row.0 == name).map(|row| Status::Failed(row.0))
    }

    /// Whether asking again could not change anything.
    pub fn is_final(&self) -> bool {
        match self {
            Status::Ok => true,
            Status::New | Status::Foreign(_) => false,
            Status::Http(code) => matches!(code, 404 | 405 | 406 | 410 | 414 | 451),
            Status::Failed(name) => FAILURES.iter().any(|row| row.0 == *name && row.1),
        }
    }

    /// Whether the entry should be asked for, given how often that was tried and may be tried.
    pub fn is_pending(&self, retries: u32, limit: u32) -> bool {
        *self == Status::New || (!self.is_final() && retries < limit)
    }

    /// Whether the network, rather than the server's opinion, kept the page away.
    pub fn is_network_trouble(&self) -> bool {
        matches!(self, Status::Failed("timeout" | "slow" | "dns" | "connect" | "tls" | "cut"))
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Status::New => f.write_str("new"),
            Status::Ok => f.write_str("ok"),
            Status::Http(code) => write!(f, "{code}"),
            Status::Failed(name) => f.write_str(name),
            Status::Foreign(text) => f.write_str(text),
        }
    }
}

impl FromStr for Status {
    type Err = std::convert::Infallible;

    /// Reads any word: FeedFetcher writes whole status lines such as `404 Not Found`.
    fn from_str(text: &str) -> Result<Status, Self::Err> {
        let code = |text: &str| text.split(' ').next().filter(|c| c.len() == 3).and_then(|c| c.parse::<u16>().ok());
        Ok(match text {
            "new" => Status::New,
            "ok" => Status::Ok,
            _ => Status::lookup(text)
                .or_else(|| code(text).map(Status::Http))
                .unwrap_or_else(|| Status::Foreign(text.to_owned())),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_read_as_they_are_written() {
        for text in ["new", "ok", "404", "timeout", "robots", "too-large", "res"] {
            assert_eq!(text.parse::<Status>().unwrap().to_string(), text);
        }
        assert_eq!("404 Not Found".parse::<Status>().unwrap(), Status::Http(404));
    }

    #[test]
    fn only_what_may_pass_is_tried_again() {
        let pending = |text: &str, retries| text.parse::<Status>().unwrap().is_pending(retries, 3);
        assert!(pending("new", 0) && pending("timeout", 2) && pending("500", 1) && pending("res", 0));
        assert!(!pending("ok", 1) && !pending("404", 1) && !pending("robots", 0) && !pending("timeout", 3));
    }
}
