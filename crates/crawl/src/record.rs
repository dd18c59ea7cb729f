//! Records of the journal of a crawl, one line each.

use std::fmt::Write as _;

use url::Url;

use crate::policy::PageWorth;
use crate::queue::WaitingUrl;
use crate::shape;
use crate::text::TextFingerprint;
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
    /// The fingerprint of its text, if it has any.
    pub text: Option<TextFingerprint>,
}

impl Done {
    /// Whether it is the front page of a host.
    pub fn is_front(&self) -> bool {
        Url::parse(&self.url).is_ok_and(|url| url.path() == "/" && url.query().is_none())
    }
}

/// A link of a page.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// Its target.
    pub url: WaitingUrl,
    /// The registered domain of the page; empty for seeds.
    pub source: Box<str>,
    /// Whether it promises text in a wanted language, see [`crate::link_language`]. False between pages of a domain.
    pub wanted_language: bool,
}

impl Link {
    /// A link of a page of a registered domain, or a seed without one, that says nothing about its language.
    pub fn new(url: WaitingUrl, source: &str) -> Link {
        Link { url, source: source.into(), wanted_language: false }
    }
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
    /// A link to a site of another shard, which is counted from 1.
    Sent(u32, Link),
    /// A domain that now belongs to another shard.
    HandedOver(u32, String),
    /// A domain of another shard that now belongs to this one.
    Adopted(String),
    /// A file of another shard that was read.
    Received(String),
}

impl Record {
    /// Appends the line of the record.
    pub fn write(&self, text: &mut String) {
        match self {
            Record::Link(link) => {
                text.push_str("l\t");
                write_link(link, text);
            }
            Record::Sent(shard, link) => {
                let _ = write!(text, "o\t{shard}\t");
                write_link(link, text);
            }
            Record::HandedOver(shard, domain) => {
                let _ = write!(text, "h\t{shard}\t{domain}");
            }
            Record::Adopted(domain) => {
                let _ = write!(text, "k\t{domain}");
            }
            Record::Received(file) => {
                let _ = write!(text, "i\t{file}");
            }
            Record::Alias(url) => {
                let _ = write!(text, "a\t{url}");
            }
            Record::Done(done) => {
                let PageWorth { bytes, clean_bytes, tokens, new_share, exact_duplicate, foreign } = done.worth;
                let _ = write!(
                    text,
                    "d\t{}\t{}\t{bytes}\t{clean_bytes}\t{tokens}\t{new_share}\t{}\t{}",
                    done.url,
                    done.status,
                    u8::from(exact_duplicate) | u8::from(foreign) << 1,
                    u8::from(done.requested),
                );
                if done.refused.is_some() || done.text.is_some() {
                    let _ = write!(text, "\t{}", done.refused.as_deref().unwrap_or_default());
                }
                if let Some(TextFingerprint { exact, samples, .. }) = &done.text {
                    let _ = write!(text, "\t{exact:x}");
                    samples.iter().for_each(|sample| _ = write!(text, "\t{sample:x}"));
                }
            }
        }
        text.push('\n');
    }

    /// Reads a line.
    pub fn parse(line: &str) -> Option<Record> {
        let (kind, rest) = line.split_once('\t')?;
        Some(match kind {
            "l" => Record::Link(parse_link(rest)?),
            "o" => {
                let (shard, rest) = rest.split_once('\t')?;
                Record::Sent(shard.parse().ok()?, parse_link(rest)?)
            }
            "h" => {
                let (shard, domain) = rest.split_once('\t')?;
                Record::HandedOver(shard.parse().ok()?, domain.to_owned())
            }
            "k" => Record::Adopted(rest.to_owned()),
            "i" => Record::Received(rest.to_owned()),
            "a" => Record::Alias(rest.to_owned()),
            "d" => {
                let mut fields = rest.split('\t');
                let (url, status) = (fields.next()?.to_owned(), fields.next()?.to_owned());
                let mut worth = PageWorth {
                    bytes: fields.next()?.parse().ok()?,
                    clean_bytes: fields.next()?.parse().ok()?,
                    tokens: fields.next()?.parse().ok()?,
                    new_share: fields.next()?.parse().ok()?,
                    ..PageWorth::default()
                };
                let flags: u8 = fields.next()?.parse().ok()?;
                (worth.exact_duplicate, worth.foreign) = (flags & 1 != 0, flags & 2 != 0);
                let requested = fields.next()? == "1";
                let refused = fields.next().filter(|reason| !reason.is_empty()).map(str::to_owned);
                let mut hashes = fields.map(|hash| u64::from_str_radix(hash, 16).ok());
                let text = match hashes.next() {
                    Some(exact) => {
                        let samples = hashes.collect::<Option<_>>()?;
                        Some(TextFingerprint { exact: exact?, samples, ..TextFingerprint::default() })
                    }
                    None => None,
                };
                Record::Done(Done { url, status, worth, requested, refused, text })
            }
            _ => return None,
        })
    }
}

/// The last field of a link that promises text in a wanted language.
const WANTED_LANGUAGE: &str = "\tw";

fn write_link(Link { url, source, wanted_language }: &Link, text: &mut String) {
    let _ = write!(text, "{source}\t{}\t", url.url);
    UrlLine::of(url).write_fields(text);
    if *wanted_language {
        text.push_str(WANTED_LANGUAGE);
    }
}

fn parse_link(text: &str) -> Option<Link> {
    let (source, rest) = text.split_once('\t')?;
    let (url, fields) = rest.split_once('\t')?;
    let (fields, wanted_language) = match fields.strip_suffix(WANTED_LANGUAGE) {
        Some(fields) => (fields, true),
        None => (fields, false),
    };
    Some(Link { url: waiting(UrlLine::parse(url.into(), fields)?)?, source: source.into(), wanted_language })
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
        let link = Link::new(url, "b.example");
        let wanted = Link { wanted_language: true, ..link.clone() };
        let undated = Link { url: WaitingUrl { day: None, ..link.url.clone() }, ..wanted.clone() };
        let worth = PageWorth {
            bytes: 9000,
            clean_bytes: 800,
            tokens: 120,
            new_share: 0.5,
            exact_duplicate: true,
            foreign: false,
        };
        let foreign = PageWorth { foreign: true, ..PageWorth::default() };
        let url = link.url.url.clone();
        let done = Done { url, status: "ok".into(), worth, requested: true, refused: None, text: None };
        let text = Some(TextFingerprint { exact: 7, samples: vec![64, u64::MAX], ..TextFingerprint::default() });
        let refused = Some("off-topic".to_owned());
        let records = [
            Record::Sent(3, link.clone()),
            Record::Sent(3, wanted.clone()),
            Record::Link(wanted),
            Record::Link(undated),
            Record::Link(link),
            Record::Alias("http://a.example/y".into()),
            Record::Done(Done { text: text.clone(), ..done.clone() }),
            Record::Done(Done { worth: foreign, ..done.clone() }),
            Record::Done(Done { refused: refused.clone(), ..done.clone() }),
            Record::Done(Done { refused, text, ..done.clone() }),
            Record::Done(done),
            Record::HandedOver(2, "a.example".into()),
            Record::Adopted("a.example".into()),
            Record::Received("1-of-2.7-ff.tsv.zst".into()),
        ];
        for record in records {
            let mut line = String::new();
            record.write(&mut line);
            assert_eq!(Record::parse(line.trim_end_matches('\n')), Some(record), "{line}");
        }
        assert_eq!(Record::parse("x\ty"), None);
    }
}
