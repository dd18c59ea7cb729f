//! The walker over `urlset` and `sitemapindex`.
//!
//! Elements are recognised by their local names, because namespaces are often wrong or missing. Elements of images and
//! videos have titles and locations of their own and are skipped whole.

use tidings_model::Repair;
use url::Url;

use super::{MAX_URLS, NotASitemap, Sitemap, SitemapEntry, SitemapRef};
use crate::date;
use crate::entity::{self, Declared};
use crate::markup::{Attributes, Token, Tokens};
use crate::repairs::Repairs;

/// The longest text of an element that is read, in bytes.
const MAX_TEXT_BYTES: usize = 16 << 10;
/// The most alternates or keywords of an entry.
const MAX_LIST: usize = 100;

/// The element whose text is being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Loc,
    LastMod,
    PublicationDate,
    Title,
    Language,
    Keywords,
}

impl Field {
    fn named(name: &str) -> Option<Field> {
        const NAMES: [(&str, Field); 6] = [
            ("loc", Field::Loc),
            ("lastmod", Field::LastMod),
            ("publication_date", Field::PublicationDate),
            ("title", Field::Title),
            ("language", Field::Language),
            ("keywords", Field::Keywords),
        ];
        NAMES.iter().find(|row| row.0.eq_ignore_ascii_case(name)).map(|row| row.1)
    }
}

/// Reads the XML of a sitemap.
pub(super) fn read(text: &str, url: &str, repairs: &mut Repairs) -> Result<Sitemap, NotASitemap> {
    let mut walker = Walker::new(url, *repairs);
    let mut tokens = Tokens::new(text);
    let mut root: Option<&str> = None;
    // The element to the end of which everything is skipped.
    let mut skipped: Option<&str> = None;
    while let Some(token) = tokens.next("") {
        match token {
            Token::Doctype(text) if is_html(text) => return Err(NotASitemap::Html),
            Token::Start { name, attributes, empty } => {
                let local = local(name);
                if root.is_none() {
                    root = Some(local);
                    check_root(local)?;
                }
                if skipped.is_none() {
                    match is_media(name) {
                        true if !empty => skipped = Some(local),
                        true => {}
                        false => walker.start(local, attributes, empty),
                    }
                }
            }
            Token::End { name } if skipped.is_some() => {
                // The end of the entry also ends an image that is not closed.
                let is_end = skipped.is_some_and(|open| open.eq_ignore_ascii_case(local(name)));
                if is_end || local(name).eq_ignore_ascii_case("url") {
                    skipped = None;
                    walker.end(local(name));
                }
            }
            Token::End { name } => walker.end(local(name)),
            Token::Text(text) if skipped.is_none() => walker.read_text(text, true),
            Token::Cdata(text) if skipped.is_none() => walker.read_text(text, false),
            _ => {}
        }
        if walker.is_full {
            walker.repairs.add(Repair::TooManyEntries);
            break;
        }
    }
    walker.repairs.extend(tokens.repairs);
    *repairs = walker.repairs;
    let is_empty = walker.map.entries.is_empty() && walker.map.maps.is_empty() && walker.open.is_none();
    match root {
        None => return Err(NotASitemap::PlainText),
        Some(root) if is_empty && !is_sitemap_root(root) => {
            return Err(NotASitemap::OtherXml { root: root.chars().take(60).collect() });
        }
        Some(_) => {}
    }
    if !walker.is_full {
        walker.finish_at_end(repairs);
    }
    Ok(walker.map)
}

fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

fn is_html(doctype: &str) -> bool {
    doctype.to_ascii_lowercase().split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == "html")
}

fn is_sitemap_root(name: &str) -> bool {
    ["urlset", "sitemapindex", "url", "sitemap"].iter().any(|root| root.eq_ignore_ascii_case(name))
}

fn check_root(name: &str) -> Result<(), NotASitemap> {
    let is = |known: &str| known.eq_ignore_ascii_case(name);
    if ["html", "head", "body", "div", "p", "script", "meta"].into_iter().any(is) {
        return Err(NotASitemap::Html);
    }
    if ["rss", "feed", "rdf"].into_iter().any(is) {
        return Err(NotASitemap::OtherXml { root: name.to_owned() });
    }
    Ok(())
}

fn is_media(name: &str) -> bool {
    let prefix = name.split_once(':').map_or("", |(prefix, _)| prefix);
    ["image", "video"].iter().any(|media| media.eq_ignore_ascii_case(prefix) || media.eq_ignore_ascii_case(local(name)))
}

/// An entry or a reference that is being read.
#[derive(Debug, Default)]
struct Open {
    is_map: bool,
    entry: SitemapEntry,
}

struct Walker {
    map: Sitemap,
    base: Option<Url>,
    open: Option<Open>,
    field: Option<Field>,
    text: String,
    repairs: Repairs,
    is_full: bool,
}

impl Walker {
    fn new(url: &str, repairs: Repairs) -> Walker {
        Walker {
            map: Sitemap::default(),
            base: Url::parse(url).ok(),
            open: None,
            field: None,
            text: String::new(),
            repairs,
            is_full: false,
        }
    }

    fn start(&mut self, name: &str, attributes: &str, empty: bool) {
        // A missing end tag ends the text of an element.
        self.end_field();
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        if is("url") || is("sitemap") {
            self.finish();
            self.open = (!empty).then(|| Open { is_map: is("sitemap"), ..Open::default() });
        } else if is("link") {
            self.alternate(attributes);
        } else if !empty {
            self.field = Field::named(name);
            self.text.clear();
        }
    }

    fn read_text(&mut self, text: &str, escaped: bool) {
        if self.field.is_none() || self.text.len() > MAX_TEXT_BYTES {
            return;
        }
        match escaped {
            true => self.text.push_str(&entity::unescape(text, &Declared::default(), &mut self.repairs)),
            false => self.text.push_str(text),
        }
    }

    fn end(&mut self, name: &str) {
        self.end_field();
        if name.eq_ignore_ascii_case("url") || name.eq_ignore_ascii_case("sitemap") {
            self.finish();
        }
    }

    fn end_field(&mut self) {
        let Some(field) = self.field.take() else { return };
        let text = std::mem::take(&mut self.text);
        let text = text.trim();
        if text.is_empty() || text.len() > MAX_TEXT_BYTES {
            return;
        }
        if field == Field::Loc && self.open.as_ref().is_none_or(|open| !open.entry.url.is_empty()) {
            // A location without its element, or after a missing end of it.
            self.finish();
            self.repairs.add(Repair::MissingEndTag);
        }
        let url = (field == Field::Loc).then(|| self.resolve(text));
        let entry = &mut self.open.get_or_insert_default().entry;
        match field {
            Field::Loc => entry.url = url.flatten().unwrap_or_default(),
            Field::LastMod | Field::PublicationDate => {
                let parsed = date::parse(text).or_else(|| year_and_month(text));
                if parsed.is_none() {
                    entry.unread_date = Some(text.chars().take(60).collect());
                }
                let place = if field == Field::LastMod { &mut entry.modified } else { &mut entry.published };
                *place = place.or(parsed);
            }
            Field::Title if entry.title.is_empty() => {
                entry.title = text.split_whitespace().collect::<Vec<_>>().join(" ");
            }
            Field::Language if entry.language.is_none() => entry.language = Some(text.to_owned()),
            Field::Keywords => {
                let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
                entry.keywords.extend(words.take(MAX_LIST).map(str::to_owned));
            }
            Field::Title | Field::Language => {}
        }
    }

    fn resolve(&self, text: &str) -> Option<String> {
        let url = match &self.base {
            Some(base) => base.join(text).ok()?,
            None => Url::parse(text).ok()?,
        };
        (matches!(url.scheme(), "http" | "https") && url.has_host()).then(|| url.into())
    }

    fn alternate(&mut self, attributes: &str) {
        let value = |name: &str| {
            let text = Attributes::get(attributes, name)?;
            Some(entity::unescape(text.trim(), &Declared::default(), &mut Repairs::default()).into_owned())
        };
        let (Some(language), Some(href)) = (value("hreflang"), value("href")) else { return };
        let Some(url) = self.resolve(&href) else { return };
        if let Some(open) = self.open.as_mut().filter(|open| open.entry.alternates.len() < MAX_LIST) {
            open.entry.alternates.push((language, url));
        }
    }

    /// Adds what is open to the sitemap.
    fn finish(&mut self) {
        let Some(Open { is_map, entry }) = self.open.take().filter(|open| !open.entry.url.is_empty()) else { return };
        if self.map.entries.len() + self.map.maps.len() >= MAX_URLS {
            self.is_full = true;
        } else if is_map {
            self.map.maps.push(SitemapRef { url: entry.url, modified: entry.modified });
        } else {
            self.map.entries.push(entry);
        }
    }

    /// Ends a document that is cut off. The text of an open element may be incomplete and is not used.
    fn finish_at_end(&mut self, repairs: &mut Repairs) {
        if self.open.is_some() || self.field.is_some() {
            repairs.add(Repair::Truncated);
        }
        self.field = None;
        self.finish();
    }
}

/// `2026-03`, the shortest date of the protocol that places an entry in a month. A year alone does not.
fn year_and_month(text: &str) -> Option<jiff::Timestamp> {
    let (year, month) = text.split_once('-').filter(|(year, month)| year.len() == 4 && month.len() == 2)?;
    let date = jiff::civil::Date::new(year.parse().ok()?, month.parse().ok()?, 1).ok()?;
    Some(date.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp())
}
