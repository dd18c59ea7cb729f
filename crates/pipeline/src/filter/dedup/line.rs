//! A document as a line of JSON from which paragraphs can be removed.
//!
//! The rest of the line is written back unchanged, byte for byte, including the order of keys, spacing and number
//! formats.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use jiff::civil::Date;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use tidings_dedup::{MatchKind, Origin, Rule, Scope, Text, UnitVerdict, Verdict};

use crate::lines::Fault;

/// The maximum number of paragraphs of a document.
const MAX_PARAGRAPHS: usize = 1_000_000;

/// A parsed line.
pub struct DocumentLine {
    line: Vec<u8>,
    /// The byte range of the list of paragraphs in the line, and that of each paragraph.
    list: Range<usize>,
    paragraphs: Vec<Range<usize>>,
    /// The words of the document.
    pub text: Text,
    name: String,
    site: String,
    month: String,
    day: i64,
    page: Option<u64>,
}

/// The fields of a line that deduplication reads.
#[derive(Default)]
struct Fields<'a> {
    id: Option<&'a RawValue>,
    paragraphs: Option<&'a RawValue>,
    date: Option<&'a RawValue>,
    dated: Option<&'a RawValue>,
    month: Option<&'a RawValue>,
    site: Option<&'a RawValue>,
    page: Option<&'a RawValue>,
}

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Fields<'de>, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Fields<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object with `paragraphs`")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Fields<'de>, M::Error> {
                let mut fields = Fields::default();
                while let Some(key) = map.next_key::<Cow<'_, str>>()? {
                    let field = match &*key {
                        "id" => &mut fields.id,
                        "paragraphs" => &mut fields.paragraphs,
                        "date" => &mut fields.date,
                        "dated" => &mut fields.dated,
                        "month" => &mut fields.month,
                        "site" => &mut fields.site,
                        "page_checksum" => &mut fields.page,
                        _ => {
                            map.next_value::<IgnoredAny>()?;
                            continue;
                        }
                    };
                    *field = Some(map.next_value()?);
                }
                Ok(fields)
            }
        }
        deserializer.deserialize_map(Object)
    }
}

/// A paragraph in the form of a home's documents.
#[derive(Deserialize)]
struct Paragraph<'a> {
    #[serde(borrow)]
    text: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Plain<'a>(#[serde(borrow)] Cow<'a, str>);

#[derive(Deserialize)]
struct Dated<'a> {
    #[serde(borrow)]
    day: Cow<'a, str>,
}

/// The text of a paragraph: a string, or the `text` of an object.
fn text_of(raw: &str) -> Result<Cow<'_, str>, serde_json::Error> {
    match raw.as_bytes() {
        [b'"', inner @ .., b'"'] if !inner.contains(&b'\\') => Ok(Cow::Borrowed(&raw[1..raw.len() - 1])),
        [b'{', ..] => serde_json::from_str::<Paragraph<'_>>(raw).map(|paragraph| paragraph.text),
        _ => serde_json::from_str::<Plain<'_>>(raw).map(|plain| plain.0),
    }
}

/// A value as text; the JSON source if it is not a string.
fn shown(raw: Option<&RawValue>) -> String {
    let Some(raw) = raw.map(RawValue::get).filter(|raw| *raw != "null") else { return String::new() };
    serde_json::from_str::<Plain<'_>>(raw).map_or_else(|_| raw.to_owned(), |plain| plain.0.into_owned())
}

impl DocumentLine {
    /// Parses a line.
    pub fn parse(line: Vec<u8>, rule: &Rule, scope: Scope) -> Result<DocumentLine, Fault> {
        let text = str::from_utf8(&line).map_err(|_| fault(None, "the line is not UTF-8"))?;
        if !text.trim_ascii_start().starts_with('{') {
            return Err(fault(None, "not a JSON object"));
        }
        let fields: Fields<'_> =
            serde_json::from_str(text).map_err(|error| fault(None, &format!("invalid document: {error}")))?;
        let id = fields.id;
        let Some(list) = fields.paragraphs else { return Err(fault(id, "`paragraphs` is missing")) };
        let wrong = |error: serde_json::Error| fault(id, &format!("`paragraphs` is not a list of texts: {error}"));
        let raw: Vec<&RawValue> = serde_json::from_str(list.get()).map_err(wrong)?;
        if raw.len() > MAX_PARAGRAPHS {
            return Err(fault(id, &format!("more than {MAX_PARAGRAPHS} paragraphs")));
        }
        let texts = raw.iter().map(|raw| text_of(raw.get()).map_err(wrong)).collect::<Result<Vec<_>, Fault>>()?;
        let prepared = Text::new(texts.iter().map(|text| &**text), rule);
        let date = match fields.dated.map(|dated| serde_json::from_str::<Dated<'_>>(dated.get())) {
            Some(Ok(dated)) if fields.date.is_none() => dated.day.into_owned(),
            _ => shown(fields.date),
        };
        let month = match fields.month {
            Some(month) => shown(Some(month)),
            None => date.get(..7).unwrap_or_default().to_owned(),
        };
        let day: Option<Date> = date.get(..10).and_then(|day| day.parse().ok());
        let site = shown(fields.site);
        match scope {
            Scope::Days(_) if day.is_none() => return Err(fault(id, "the scope requires `date`, such as 2026-03-01")),
            Scope::Month if month.is_empty() => return Err(fault(id, "the scope requires `month` or `date`")),
            Scope::Site if site.is_empty() => return Err(fault(id, "the scope requires `site`")),
            _ => {}
        }
        let page = fields.page.map(|page| xxhash_rust::xxh3::xxh3_64(page.get().as_bytes()));
        let place = |part: &str| {
            let start = part.as_ptr() as usize - text.as_ptr() as usize;
            start..start + part.len()
        };
        let (list, paragraphs) = (place(list.get()), raw.iter().map(|raw| place(raw.get())).collect());
        let day = day.map_or(0, crate::day_number);
        let name = shown(id);
        Ok(DocumentLine { list, paragraphs, text: prepared, name, site, month, day, page, line })
    }

    /// The origin of the document.
    pub fn origin(&self) -> Origin<'_> {
        Origin { name: &self.name, site: &self.site, month: &self.month, day: self.day, page: self.page }
    }

    /// The keys by which it can be compared with other documents.
    pub fn keys(&self, rule: &Rule, scope: Scope) -> Vec<u64> {
        tidings_dedup::keys(&self.text, &self.origin(), rule, scope)
    }

    fn part(&self, place: &Range<usize>) -> &str {
        str::from_utf8(&self.line[place.clone()]).expect("slices of a UTF-8 line at value boundaries are UTF-8")
    }

    /// Writes the line without its duplicates.
    pub fn write_kept(&self, verdict: &Verdict, out: &mut Vec<u8>) {
        if verdict.paragraphs.iter().chain(&verdict.sentences).all(|finding| finding.duplicate.is_none()) {
            out.extend_from_slice(&self.line);
            out.push(b'\n');
            return;
        }
        out.extend_from_slice(&self.line[..self.list.start]);
        out.push(b'[');
        let mut separator: &[u8] = b"";
        for (at, place) in self.paragraphs.iter().enumerate() {
            let rest = self.without_sentences(at, verdict);
            if verdict.paragraphs[at].duplicate.is_some() || rest.as_deref() == Some("") {
                continue;
            }
            out.extend_from_slice(separator);
            separator = b",";
            match rest {
                Some(rest) => serde_json::to_writer(&mut *out, &rest).expect("texts serialise"),
                None => out.extend_from_slice(&self.line[place.clone()]),
            }
        }
        out.push(b']');
        out.extend_from_slice(&self.line[self.list.end..]);
        out.push(b'\n');
    }

    /// The rest of a paragraph after removing sentences; `None` if all of them stay.
    fn without_sentences(&self, at: usize, verdict: &Verdict) -> Option<String> {
        let mut numbers = self.text.sentences_of(at);
        if numbers.clone().all(|number| verdict.sentences[number].duplicate.is_none()) {
            return None;
        }
        let text = text_of(self.part(&self.paragraphs[at])).ok()?;
        let stays = numbers.by_ref().filter(|number| verdict.sentences[*number].duplicate.is_none());
        Some(stays.map(|number| &text[self.text.sentence(number).1]).collect::<String>().trim_end().to_owned())
    }

    /// Writes the whole line with the verdict of each unit.
    pub fn write_marked(&self, verdict: &Verdict, out: &mut Vec<u8>) {
        let end = self.line.iter().rposition(|byte| *byte == b'}').unwrap_or(self.line.len());
        out.extend_from_slice(&self.line[..end]);
        let marks = |findings: &[UnitVerdict]| {
            let marks: Vec<Mark<'_>> = findings.iter().map(|finding| Mark::new(finding, verdict)).collect();
            serde_json::to_vec(&marks).expect("marks serialise")
        };
        out.extend_from_slice(b",\"marks\":");
        out.extend(marks(&verdict.paragraphs));
        if !verdict.sentences.is_empty() {
            out.extend_from_slice(b",\"sentence_marks\":");
            out.extend(marks(&verdict.sentences));
        }
        out.extend_from_slice(&self.line[end..]);
        out.push(b'\n');
    }
}

/// The verdict on a unit, as the filter writes it.
#[derive(Debug, Serialize)]
pub struct Mark<'a> {
    /// Whether the unit is new.
    pub kept: bool,
    /// The kind of match of a duplicate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<MatchKind>,
    /// The share of its words that was seen before.
    #[serde(skip_serializing_if = "is_nothing")]
    pub share: f32,
    /// The document where most of that was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<&'a str>,
}

fn is_nothing(share: &f32) -> bool {
    *share == 0.0
}

impl<'a> Mark<'a> {
    /// The mark of a finding.
    pub fn new(finding: &UnitVerdict, verdict: &'a Verdict) -> Mark<'a> {
        Mark {
            kept: finding.duplicate.is_none(),
            why: finding.duplicate,
            // More than three digits are not meaningful.
            share: (finding.share * 1000.0).round() / 1000.0,
            of: finding.of.map(|of| verdict.sources[of as usize].as_str()),
        }
    }
}

fn fault(id: Option<&RawValue>, error: &str) -> Fault {
    let id = id.and_then(|id| serde_json::from_str::<Value>(id.get()).ok()).unwrap_or_default();
    Fault { id, error: error.to_owned() }
}
