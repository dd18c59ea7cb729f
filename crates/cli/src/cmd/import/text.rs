//! Texts of other corpora as documents.
//!
//! They become pages whose body is the document in JSON (see [`DOCUMENT_TYPE`]): that is their raw form, from which
//! everything else is derived again whenever it must be.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use tidings_lang::normalise;
use tidings_model::{
    About, Annotated, DOCUMENT_TYPE, Dated, Document, Kind, LeftOut, Licence, Page, Paragraph, Rights, UNGATED,
};

use super::source::NAME;

/// How far a date can be trusted that another corpus gives.
const GIVEN_DATE: f32 = 0.9;
/// A value of metadata is cut here.
const MAX_VALUE_BYTES: usize = 2048;
/// Further values that a text may bring with it.
const MAX_VALUES: usize = 64;

/// What holds for all texts of an import.
#[derive(Debug, Clone, Default)]
pub struct Given {
    /// When they were obtained, where they do not say.
    pub downloaded: String,
    /// Their language, where they do not say.
    pub language: String,
    /// Whether the gate lets them pass, whatever they are like.
    pub ungated: bool,
    /// Characters that a line of a text without markup must have.
    pub min_chars: usize,
}

/// A line of JSON with a text.
#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Line {
    id: Value,
    text: Option<String>,
    url: String,
    source: String,
    title: String,
    created: String,
    date: String,
    added: String,
    downloaded: String,
    language: String,
    lang: String,
    metadata: BTreeMap<String, Value>,
}

/// Makes a page of a line of JSON: one with a `text` and perhaps more, or a document of a home. The name is that of the
/// text in its corpus, for where it has no address.
pub fn of_json(line: &[u8], name: &str, given: &Given) -> Result<Page, &'static str> {
    if !line.trim_ascii_start().starts_with(b"{") {
        return Err("not-json");
    }
    // A document of a home has its own form.
    if let Ok(document) = serde_json::from_slice::<Document>(line)
        && !document.paragraphs.is_empty()
    {
        return Ok(page(document, Rights::default(), name, given));
    }
    let line: Line = serde_json::from_slice(line).map_err(|_| "not-json")?;
    let text = line.text.ok_or("no-text")?;
    let mut more = line.metadata;
    let mut take = |name: &str| match more.remove(name) {
        Some(Value::String(text)) => text,
        Some(Value::Number(number)) => number.to_string(),
        Some(other) => {
            more.insert(name.to_owned(), other);
            String::new()
        }
        None => String::new(),
    };
    let url = first([
        line.url,
        take("url"),
        take("warc_url"),
        Some(&line.source).filter(|s| s.contains("://")).cloned().unwrap_or_default(),
    ]);
    let day = first([line.created, line.date, take("created"), take("date"), take("published")]);
    let (source, confidence) = (take("date_source"), take("date_confidence").parse().unwrap_or(GIVEN_DATE));
    let mut document = Document {
        url,
        feed: take("feed"),
        dated: dated(&day, if source.is_empty() { "given" } else { &source }, confidence),
        downloaded: first([line.downloaded, line.added, take("downloaded")]),
        about: About {
            title: first([line.title, take("title")]),
            language: first([line.language, line.lang, take("language"), take("lang")]),
            language_score: take("language_score").parse().ok(),
            declared_language: take("declared_language"),
            site_name: take("site_name"),
            description: take("description"),
            modified: take("modified"),
            ..About::default()
        },
        extractor: take("extractor"),
        site: Some(line.source).filter(|source| is_host(source)).unwrap_or_default(),
        paragraphs: text.lines().map(str::trim_end).filter(|line| !line.is_empty()).map(plain).collect(),
        ..Document::default()
    };
    let list = |value: Option<Value>| match value {
        Some(Value::Array(values)) => {
            values.into_iter().filter_map(|value| value.as_str().map(str::to_owned)).collect()
        }
        Some(Value::String(one)) => vec![one],
        _ => Vec::new(),
    };
    let about = &mut document.about;
    (about.authors, about.categories, about.tags) =
        (list(more.remove("authors")), list(more.remove("categories")), list(more.remove("tags")));
    about.licence = match more.remove("licence").or_else(|| more.remove("license")) {
        Some(Value::String(name)) => Some(Licence { name, evidence: "given".to_owned(), ..Licence::default() }),
        Some(value) => serde_json::from_value(value).ok(),
        None => None,
    };
    let rights = more.remove("rights").and_then(|value| serde_json::from_value(value).ok()).unwrap_or_default();
    if let Some(Value::Object(fields)) = more.remove("fields") {
        more.extend(fields);
    }
    let id = match line.id {
        Value::String(id) => id,
        Value::Null => String::new(),
        other => other.to_string(),
    };
    // A text without an address keeps the name that its corpus has for it.
    let name = if id.is_empty() { name.to_owned() } else { format!("{}#{id}", name.split('#').next().unwrap_or(name)) };
    document.metadata = scalars(more);
    if document.paragraphs.is_empty() {
        return Err("no-text");
    }
    Ok(page(document, rights, &name, given))
}

fn first<const N: usize>(texts: [String; N]) -> String {
    texts.into_iter().find(|text| !text.is_empty()).unwrap_or_default()
}

fn is_host(text: &str) -> bool {
    text.contains('.') && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'))
}

/// What can be filtered or counted by later: values that are texts, numbers or truths.
fn scalars(values: BTreeMap<String, Value>) -> BTreeMap<String, String> {
    let plain = |value: Value| match value {
        Value::String(text) => Some(text[..text.floor_char_boundary(MAX_VALUE_BYTES)].to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        _ => None,
    };
    values.into_iter().filter_map(|(name, value)| Some((name, plain(value)?))).take(MAX_VALUES).collect()
}

fn plain(text: &str) -> Paragraph {
    Paragraph { text: text.to_owned(), ..Paragraph::default() }
}

fn dated(text: &str, source: &str, confidence: f32) -> Option<Dated> {
    let day = text.get(..10)?;
    day.parse::<jiff::civil::Date>().ok()?;
    Some(Dated { day: day.to_owned(), source: source.to_owned(), confidence, doubts: Vec::new() })
}

/// Makes a page of the text of a page, a paragraph a line, as WET files hold it. Lines that are short are menus and
/// captions more often than text; they are kept beside it.
pub fn of_lines(url: &str, text: &[u8], language: &str, downloaded: &str, given: &Given) -> Result<Page, &'static str> {
    let mut document = Document { url: url.to_owned(), downloaded: downloaded.to_owned(), ..Document::default() };
    document.about.language = language.to_owned();
    for line in text.split(|byte| *byte == b'\n') {
        let (text, reason) = match std::str::from_utf8(line) {
            Ok(text) if text.trim().is_empty() => continue,
            Ok(text) if text.trim().chars().count() < given.min_chars => (text.into(), Some("short-line")),
            Ok(text) => (text.into(), None),
            Err(_) => (String::from_utf8_lossy(line), Some("invalid-utf8")),
        };
        let paragraph = plain(text.trim());
        match reason {
            None => document.paragraphs.push(paragraph),
            Some(reason) => {
                let after = document.paragraphs.len();
                document.left_out.push(LeftOut { after, reason: reason.to_owned(), paragraph });
            }
        }
    }
    if document.paragraphs.is_empty() {
        return Err("short-lines");
    }
    Ok(page(document, Rights::default(), url, given))
}

/// Makes a page of an annotated document: its tokens are kept as long as they tell its text.
pub fn of_tokens(annotated: Annotated, name: &str, given: &Given) -> Result<Page, &'static str> {
    let Annotated { about: attributes, paragraphs } = annotated;
    let mut fields: BTreeMap<String, String> = attributes.fields.into_iter().collect();
    let mut take = |name: &str| fields.remove(name).unwrap_or_default();
    let source = take("dated_by");
    let mut document = Document {
        url: attributes.url,
        site: take("site"),
        feed: take("feed"),
        dated: dated(&attributes.date, if source.is_empty() { "given" } else { &source }, GIVEN_DATE),
        downloaded: Some(attributes.seen)
            .filter(|day| !day.is_empty())
            .map(|day| day + "T00:00:00.000Z")
            .unwrap_or_default(),
        ..Document::default()
    };
    document.about.title = attributes.title;
    document.about.language = take("lang");
    if tidings_lang::canonical(&document.about.language).is_some() {
        // Whoever has annotated a text knows its language.
        document.about.language_score = Some(1.0);
    }
    document.about.authors.extend(Some(take("author")).filter(|name| !name.is_empty()));
    document.about.categories.extend(Some(take("section")).filter(|name| !name.is_empty()));
    let licence = take("licence");
    if !licence.is_empty() {
        document.about.licence = Some(Licence { name: licence, evidence: "given".to_owned(), ..Licence::default() });
    }
    let own_name = take(NAME);
    // An id of a home is kept with the tokens that it was given to.
    if own_name.len() == 32 && own_name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        document.id = own_name.to_ascii_lowercase();
    }
    let name = if own_name.is_empty() {
        name.to_owned()
    } else {
        format!("{}#{own_name}", name.split('#').next().unwrap_or(name))
    };
    document.metadata = fields.into_iter().take(MAX_VALUES).collect();
    for mut paragraph in paragraphs {
        // Texts are spelled in one way before they are read, and tokens must tell what is read then.
        for token in paragraph.sentences.iter_mut().flatten() {
            token.word = normalise(&token.word).into_owned();
        }
        paragraph.sentences.iter_mut().for_each(|sentence| sentence.retain(|token| !token.word.is_empty()));
        paragraph.sentences.retain(|sentence| !sentence.is_empty());
        let text = paragraph.text();
        if !text.is_empty() {
            document.paragraphs.push(Paragraph {
                kind: Kind::of_word(&paragraph.kind),
                language: paragraph.language,
                sentences: paragraph.sentences,
                ..plain(&text)
            });
        }
    }
    if document.paragraphs.is_empty() {
        return Err("no-text");
    }
    Ok(page(document, Rights::default(), &name, given))
}

fn page(mut document: Document, rights: Rights, name: &str, given: &Given) -> Page {
    if document.url.is_empty() {
        document.url = format!("import:{name}");
    }
    if document.downloaded.parse::<jiff::Timestamp>().is_err() {
        document.downloaded.clone_from(&given.downloaded);
    }
    if document.about.language.is_empty() {
        document.about.language.clone_from(&given.language);
    }
    let mut content_type = DOCUMENT_TYPE.to_owned();
    if given.ungated {
        content_type.push_str("; ");
        content_type.push_str(UNGATED);
    }
    Page {
        url: document.url.clone(),
        final_url: document.url.clone(),
        feed: document.feed.clone(),
        title: document.about.title.clone(),
        seen: document.downloaded.clone(),
        downloaded: document.downloaded.clone(),
        status: 200,
        content_type,
        rights,
        body: serde_json::to_vec(&document).expect("documents serialise"),
        ..Page::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given() -> Given {
        Given { downloaded: "2026-03-01T00:00:00.000Z".into(), min_chars: 10, ..Given::default() }
    }

    fn document(page: &Page) -> Document {
        serde_json::from_slice(&page.body).unwrap()
    }

    #[test]
    fn a_line_of_json_says_what_it_wants_to_say() {
        let line = br#"{"id":"d7","text":"One.\nTwo.","source":"gazette.example","created":"2026-02-01T00:00:00.000Z",
            "added":"2026-02-03T04:05:06Z","metadata":{"url":"https://gazette.example/a","title":"T","authors":["A"],
            "language":"en","language_score":0.5,"date_source":"meta","date_confidence":0.75,"fields":{"topic":"weather"},
            "score":3,"deep":{"x":1},"licence":{"name":"CC-BY-4.0","evidence":"link"}}}"#;
        let page = of_json(line, "a.jsonl#1", &given()).unwrap();
        let document = document(&page);
        assert_eq!(
            (page.url.as_str(), page.downloaded.as_str()),
            ("https://gazette.example/a", "2026-02-03T04:05:06Z")
        );
        assert_eq!(document.text(), "One.\nTwo.");
        let dated = document.dated.unwrap();
        assert_eq!((dated.day.as_str(), dated.source.as_str(), dated.confidence), ("2026-02-01", "meta", 0.75));
        assert_eq!((document.site.as_str(), document.about.language_score), ("gazette.example", Some(0.5)));
        assert_eq!(document.metadata, [("score", "3"), ("topic", "weather")].map(|(n, v)| (n.into(), v.into())).into());
        assert_eq!(document.about.licence.unwrap().name, "CC-BY-4.0");
    }

    #[test]
    fn a_text_without_an_address_has_a_name() {
        let page = of_json(br#"{"id":7,"text":"One."}"#, "a.jsonl#1", &given()).unwrap();
        assert_eq!((page.url.as_str(), page.downloaded.as_str()), ("import:a.jsonl#7", "2026-03-01T00:00:00.000Z"));
        assert_eq!(of_json(br#"{"text":"One."}"#, "a.jsonl#1", &given()).unwrap().url, "import:a.jsonl#1");
        assert_eq!(of_json(b"{}", "x", &given()), Err("no-text"));
        assert_eq!(of_json(b"[]", "x", &given()), Err("not-json"));
        assert_eq!(of_json(b"{\"text\":3}", "x", &given()), Err("not-json"));
    }

    #[test]
    fn short_lines_and_bad_letters_are_kept_beside_the_text() {
        let page = of_lines(
            "https://a.example/",
            b"Home\nA line that is long enough.\nbad \xff letters here\n",
            "eng",
            "2026-01-01T00:00:00Z",
            &given(),
        );
        let document = document(&page.unwrap());
        assert_eq!(document.text(), "A line that is long enough.");
        let reasons: Vec<_> = document.left_out.iter().map(|out| (out.reason.as_str(), out.after)).collect();
        assert_eq!(reasons, [("short-line", 0), ("invalid-utf8", 1)]);
        // Characters are counted, not bytes.
        assert_eq!(of_lines("u", "ääääääää".as_bytes(), "", "", &given()), Err("short-lines"));
    }
}
