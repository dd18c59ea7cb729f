//! Records of the journal of a crawl, one line each.

use std::fmt::Write as _;

use url::Url;

use crate::policy::PageWorth;
use crate::queue::WaitingUrl;
use crate::shape;
use crate::url_line::UrlLine;

/// A URL that needs no further request, with what its page was worth.
#[derive(Debug, Clone, PartialEq)]
pub struct Done {
    /// The URL as it waited.
    pub url: String,
    /// The status of the response or the failure.
    pub status: String,
    /// The worth of the page; nothing for a failure.
    pub worth: PageWorth,
    /// Whether a request was sent.
    pub requested: bool,
    /// Why its page was not kept; `None` if it was, or if there is no page.
    pub refused: Option<String>,
}

/// A link of a page.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// Its target.
    pub url: WaitingUrl,
    /// The registered domain of the page; empty for seeds.
    pub source: Box<str>,
}

/// A line of the journal.
#[derive(Debug, Clone, PartialEq)]
pub enum Record {
    /// A link that may be new.
    Link(Link),
    /// Another URL of a known page.
    Alias(String),
    /// A finished URL.
    Done(Done),
}

impl Record {
    /// Appends the line of the record.
    pub fn write(&self, text: &mut String) {
        match self {
            Record::Link(Link { url, source }) => {
                let _ = write!(text, "l\t{source}\t{}\t", url.url);
                UrlLine::of(url).write_fields(text);
            }
            Record::Alias(url) => {
                let _ = write!(text, "a\t{url}");
            }
            Record::Done(done) => {
                let PageWorth { bytes, clean_bytes, tokens, new_share, exact_duplicate } = done.worth;
                let _ = write!(
                    text,
                    "d\t{}\t{}\t{bytes}\t{clean_bytes}\t{tokens}\t{new_share}\t{}\t{}",
                    done.url,
                    done.status,
                    u8::from(exact_duplicate),
                    u8::from(done.requested),
                );
                if let Some(reason) = &done.refused {
                    let _ = write!(text, "\t{reason}");
                }
            }
        }
        text.push('\n');
    }

    /// Reads a line.
    pub fn parse(line: &str) -> Option<Record> {
        let (kind, rest) = line.split_once('\t')?;
        Some(match kind {
            "l" => {
                let (source, rest) = rest.split_once('\t')?;
                let (url, fields) = rest.split_once('\t')?;
                Record::Link(Link { url: waiting(UrlLine::parse(url.into(), fields)?)?, source: source.into() })
            }
            "a" => Record::Alias(rest.to_owned()),
            "d" => {
                let mut fields = rest.split('\t');
                let (url, status) = (fields.next()?.to_owned(), fields.next()?.to_owned());
                let worth = PageWorth {
                    bytes: fields.next()?.parse().ok()?,
                    clean_bytes: fields.next()?.parse().ok()?,
                    tokens: fields.next()?.parse().ok()?,
                    new_share: fields.next()?.parse().ok()?,
                    exact_duplicate: fields.next()? == "1",
                };
                let requested = fields.next()? == "1";
                Record::Done(Done { url, status, worth, requested, refused: fields.next().map(str::to_owned) })
            }
            _ => return None,
        })
    }
}

/// A waiting URL with domain and section of its address.
pub(crate) fn waiting(line: UrlLine) -> Option<WaitingUrl> {
    let (domain, section) = place(&line.url)?;
    Some(line.waiting(&domain, &section))
}

/// Domain and section of a URL.
pub(crate) fn place(url: &str) -> Option<(String, String)> {
    let parsed = Url::parse(url).ok()?;
    Some((shape::domain(&parsed).to_owned(), shape::section(&parsed)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_round_trip() {
        let url = WaitingUrl { day: Some(19_000), depth: 2, ..crate::testing::waiting("http://a.example/news/x") };
        let link = Link { url, source: "b.example".into() };
        let worth = PageWorth { bytes: 9000, clean_bytes: 800, tokens: 120, new_share: 0.5, exact_duplicate: true };
        let done = Done { url: link.url.url.clone(), status: "ok".into(), worth, requested: true, refused: None };
        let refused = Done { refused: Some("off-topic".into()), ..done.clone() };
        let done = [done, refused].map(Record::Done);
        for record in [Record::Link(link), Record::Alias("http://a.example/y".into())].into_iter().chain(done) {
            let mut line = String::new();
            record.write(&mut line);
            assert_eq!(Record::parse(line.trim_end_matches('\n')), Some(record), "{line}");
        }
        assert_eq!(Record::parse("x\ty"), None);
    }
}
