//! Conversion of texts of other corpora to documents.
//!
//! They become pages whose body is the document in JSON (see [`DOCUMENT_TYPE`]): their raw form, from which all data is
//! derived.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use tidings_formats::jsonl::TokensBlock;
use tidings_lang::normalise;
use tidings_model::{
    Annotated, AnnotatedParagraph, CONVERSION, DOCUMENT_TYPE, Dated, Document, DroppedParagraph, LayerColumn, Licence,
    Page, PageMetadata, Paragraph, ParagraphKind, Rights, SpanPart, TokenSpan, UNGATED,
};

use super::source::NAME;

/// The confidence of a date given by another corpus.
const GIVEN_DATE: f32 = 0.9;
/// A value of metadata is cut here.
const MAX_VALUE_BYTES: usize = 2048;
/// The maximum number of additional metadata values of a text.
const MAX_VALUES: usize = 64;

/// Defaults for texts without their own values.
#[derive(Debug, Clone, Default)]
pub struct TextDefaults {
    /// The download time.
    pub downloaded: String,
    /// The language.
    pub language: String,
    /// Whether they skip the quality gate.
    pub ungated: bool,
    /// The minimum length of a line of a text without markup, in characters.
    pub min_chars: usize,
}

/// A line of JSON with a text.
#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct TextLine {
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
    tokens: Option<TokensBlock>,
}

/// Converts a line of JSON to a page: an object with a `text` and optional fields, or a document of a home. `name`
/// identifies texts without a URL in their corpus.
pub fn of_json(line: &[u8], name: &str, defaults: &TextDefaults) -> Result<Page, &'static str> {
    if !line.trim_ascii_start().starts_with(b"{") {
        return Err("not-json");
    }
    // A document of a home has its own form.
    if let Ok(document) = serde_json::from_slice::<Document>(line)
        && !document.paragraphs.is_empty()
    {
        within_limit(&document)?;
        return Ok(page(document, Rights::default(), name, defaults));
    }
    let mut line: TextLine = serde_json::from_slice(line).map_err(|_| "not-json")?;
    let text = line.text.take().ok_or("no-text")?;
    let id = match &line.id {
        Value::String(id) => id.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    // A text without a URL keeps the name from its corpus.
    let name = if id.is_empty() { name.to_owned() } else { format!("{}#{id}", name.split('#').next().unwrap_or(name)) };
    let tokens = line.tokens.take();
    let (mut document, rights) = of_fields(line, &text);
    if let Some(tokens) = tokens {
        let Annotated { paragraphs, columns, spans, .. } = tokens.into_annotated();
        document.paragraphs = with_tokens(paragraphs, columns, spans);
        document.id = document_id(&id).unwrap_or_default();
    }
    if document.paragraphs.is_empty() {
        return Err("no-text");
    }
    within_limit(&document)?;
    Ok(page(document, rights, &name, defaults))
}

/// Rejects a text that `clean` would drop for its length, before it is stored.
fn within_limit(document: &Document) -> Result<(), &'static str> {
    tidings_clean::check_length(document).map_err(|rejection| rejection.rule)
}

/// The document of a text with the fields of its line, and its rights.
fn of_fields(line: TextLine, text: &str) -> (Document, Rights) {
    let mut more = MoreFields(line.metadata);
    let url = first([
        line.url,
        more.text("url"),
        more.text("warc_url"),
        Some(&line.source).filter(|s| s.contains("://")).cloned().unwrap_or_default(),
    ]);
    let day = first([line.created, line.date, more.text("created"), more.text("date"), more.text("published")]);
    let (source, confidence) = (more.text("date_source"), more.text("date_confidence").parse().unwrap_or(GIVEN_DATE));
    let mut document = Document {
        url,
        feed: more.text("feed"),
        dated: dated(&day, if source.is_empty() { "given" } else { &source }, confidence),
        downloaded: first([line.downloaded, line.added, more.text("downloaded")]),
        about: PageMetadata {
            title: first([line.title, more.text("title")]),
            language: first([line.language, line.lang, more.text("language"), more.text("lang")]),
            language_score: more.text("language_score").parse().ok(),
            declared_language: more.text("declared_language"),
            site_name: more.text("site_name"),
            description: more.text("description"),
            modified: more.text("modified"),
            authors: more.list("authors"),
            categories: more.list("categories"),
            tags: more.list("tags"),
            licence: more.licence(),
            ..PageMetadata::default()
        },
        extractor: more.text("extractor"),
        site: Some(line.source).filter(|source| is_host(source)).unwrap_or_default(),
        paragraphs: text.lines().map(str::trim_end).filter(|line| !line.is_empty()).map(plain).collect(),
        ..Document::default()
    };
    let MoreFields(mut more) = more;
    let rights = more.remove("rights").and_then(|value| serde_json::from_value(value).ok()).unwrap_or_default();
    if let Some(Value::Object(fields)) = more.remove("fields") {
        more.extend(fields);
    }
    document.metadata = scalars(more);
    (document, rights)
}

/// The `metadata` of a line. Fields that a document has are removed from it.
struct MoreFields(BTreeMap<String, Value>);

impl MoreFields {
    /// Removes a string or number; a value of another type stays.
    fn text(&mut self, name: &str) -> String {
        match self.0.get(name) {
            Some(Value::String(_) | Value::Number(_)) => {}
            _ => return String::new(),
        }
        match self.0.remove(name) {
            Some(Value::String(text)) => text,
            Some(number) => number.to_string(),
            None => String::new(),
        }
    }

    /// Removes a list of strings, or a single one.
    fn list(&mut self, name: &str) -> Vec<String> {
        match self.0.remove(name) {
            Some(Value::Array(values)) => {
                values.into_iter().filter_map(|value| value.as_str().map(str::to_owned)).collect()
            }
            Some(Value::String(one)) => vec![one],
            _ => Vec::new(),
        }
    }

    /// Removes the licence: its name, or an object.
    fn licence(&mut self) -> Option<Licence> {
        match self.0.remove("licence").or_else(|| self.0.remove("license"))? {
            Value::String(name) => Some(Licence { name, evidence: "given".to_owned(), ..Licence::default() }),
            value => serde_json::from_value(value).ok(),
        }
    }
}

fn first<const N: usize>(texts: [String; N]) -> String {
    texts.into_iter().find(|text| !text.is_empty()).unwrap_or_default()
}

fn is_host(text: &str) -> bool {
    text.contains('.') && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'))
}

/// The values that filters support: strings, numbers and booleans.
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

/// Converts the text of a web page with one paragraph per line, as in WET files. Short lines are mostly menus and
/// captions; they are stored separately.
pub fn of_lines(
    url: &str,
    text: &[u8],
    language: &str,
    downloaded: &str,
    defaults: &TextDefaults,
) -> Result<Page, &'static str> {
    let mut document = Document { url: url.to_owned(), downloaded: downloaded.to_owned(), ..Document::default() };
    document.about.language = language.to_owned();
    for line in text.split(|byte| *byte == b'\n') {
        let (text, reason) = match std::str::from_utf8(line) {
            Ok(text) if text.trim().is_empty() => continue,
            Ok(text) if text.trim().chars().count() < defaults.min_chars => (text.into(), Some("short-line")),
            Ok(text) => (text.into(), None),
            Err(_) => (String::from_utf8_lossy(line), Some("invalid-utf8")),
        };
        let paragraph = plain(text.trim());
        match reason {
            None => document.paragraphs.push(paragraph),
            Some(reason) => {
                let after = document.paragraphs.len();
                document.left_out.push(DroppedParagraph { after, reason: reason.to_owned(), paragraph });
            }
        }
    }
    if document.paragraphs.is_empty() {
        return Err("short-lines");
    }
    let page = page(document, Rights::default(), url, defaults);
    Ok(Page { content_type: format!("{}; {CONVERSION}", page.content_type), ..page })
}

/// Takes back a document that another home exported to a WARC file. `page` has the metadata of its record.
pub fn of_stored(body: Vec<u8>, content_type: String, page: Page) -> Result<Page, &'static str> {
    let document: Document = serde_json::from_slice(&body).map_err(|_| "not-json")?;
    if document.paragraphs.is_empty() {
        return Err("no-text");
    }
    // The URI of the record is an encoded form of the name of a text without a URL.
    let url = if document.url.is_empty() { page.url } else { document.url };
    Ok(Page { final_url: url.clone(), url, content_type, body, ..page })
}

/// Converts an annotated document and keeps its tokens.
pub fn of_tokens(annotated: Annotated, name: &str, defaults: &TextDefaults) -> Result<Page, &'static str> {
    let Annotated { about: attributes, paragraphs, columns, spans } = annotated;
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
        // The language of an annotated text is known and not guessed.
        document.about.language_score = Some(1.0);
    }
    document.about.authors.extend(Some(take("author")).filter(|name| !name.is_empty()));
    document.about.categories.extend(Some(take("section")).filter(|name| !name.is_empty()));
    let licence = take("licence");
    if !licence.is_empty() {
        document.about.licence = Some(Licence { name: licence, evidence: "given".to_owned(), ..Licence::default() });
    }
    let own_name = take(NAME);
    document.id = document_id(&own_name).unwrap_or_default();
    let name = if own_name.is_empty() {
        name.to_owned()
    } else {
        format!("{}#{own_name}", name.split('#').next().unwrap_or(name))
    };
    document.metadata = fields.into_iter().take(MAX_VALUES).collect();
    document.paragraphs = with_tokens(paragraphs, columns, spans);
    if document.paragraphs.is_empty() {
        return Err("no-text");
    }
    Ok(page(document, Rights::default(), &name, defaults))
}

/// The document id of a home, which is kept with its tokens.
fn document_id(name: &str) -> Option<String> {
    (name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| name.to_ascii_lowercase())
}

/// Paragraphs with their tokens and layers; those without text are left out.
fn with_tokens(
    paragraphs: Vec<AnnotatedParagraph>,
    columns: Vec<LayerColumn>,
    spans: Vec<TokenSpan>,
) -> Vec<Paragraph> {
    let layers = layers_by_paragraph(&paragraphs, columns, spans);
    let paragraphs = paragraphs.into_iter().zip(layers);
    paragraphs.filter_map(|(paragraph, layers)| annotated_paragraph(paragraph, layers)).collect()
}

/// Further layers of the tokens of a paragraph.
#[derive(Default)]
struct ParagraphLayers {
    columns: Vec<LayerColumn>,
    spans: Vec<SpanPart>,
}

/// Divides the further layers of a document among its paragraphs.
fn layers_by_paragraph(
    paragraphs: &[AnnotatedParagraph],
    columns: Vec<LayerColumn>,
    spans: Vec<TokenSpan>,
) -> Vec<ParagraphLayers> {
    let mut layers: Vec<ParagraphLayers> = Vec::with_capacity(paragraphs.len());
    let (mut starts, mut end) = (Vec::with_capacity(paragraphs.len()), 0);
    for paragraph in paragraphs {
        starts.push(end);
        end += paragraph.sentences.iter().map(|sentence| sentence.len() as u32).sum::<u32>();
        layers.push(ParagraphLayers::default());
    }
    starts.push(end);
    for LayerColumn { layer, values } in columns {
        let mut values = values.into_iter().map(|value| match normalise(&value) {
            Cow::Owned(normal) => normal,
            Cow::Borrowed(_) => value,
        });
        for (paragraph, range) in layers.iter_mut().zip(starts.windows(2)) {
            let own: Vec<String> = values.by_ref().take((range[1] - range[0]) as usize).collect();
            if own.iter().any(|value| !value.is_empty()) {
                paragraph.columns.push(LayerColumn { layer: layer.clone(), values: own });
            }
        }
    }
    let mut parted = 0;
    for mut span in spans {
        for (_, value) in &mut span.attributes {
            if let Cow::Owned(normal) = normalise(value) {
                *value = normal;
            }
        }
        let first = starts.partition_point(|start| *start <= span.start).saturating_sub(1);
        let last = starts.partition_point(|start| *start < span.end).min(layers.len());
        let is_parted = last - first > 1;
        parted += u32::from(is_parted);
        for (at, paragraph) in layers.iter_mut().enumerate().take(last).skip(first) {
            let (start, end) = (span.start.max(starts[at]) - starts[at], span.end.min(starts[at + 1]) - starts[at]);
            if start < end {
                let span = TokenSpan { start, end, ..span.clone() };
                paragraph.spans.push(SpanPart { span, part_of: if is_parted { parted } else { 0 } });
            }
        }
    }
    layers
}

/// A paragraph with its tokens and their layers; `None` if it has no text.
fn annotated_paragraph(mut paragraph: AnnotatedParagraph, layers: ParagraphLayers) -> Option<Paragraph> {
    // Text is normalised before it is processed, and tokens must match the normalised text.
    for token in paragraph.sentences.iter_mut().flatten() {
        if let Cow::Owned(word) = normalise(&token.word) {
            token.word = word.into();
        }
    }
    let is_kept: Vec<bool> = paragraph.sentences.iter().flatten().map(|token| !token.word.is_empty()).collect();
    paragraph.sentences.iter_mut().for_each(|sentence| sentence.retain(|token| !token.word.is_empty()));
    paragraph.sentences.retain(|sentence| !sentence.is_empty());
    let text = paragraph.text();
    (!text.is_empty()).then(|| {
        let mut paragraph = Paragraph {
            kind: ParagraphKind::from_name(&paragraph.kind),
            language: paragraph.language,
            sentences: paragraph.sentences,
            columns: layers.columns,
            token_spans: layers.spans,
            ..plain(&text)
        };
        paragraph.retain_layers(&is_kept);
        paragraph
    })
}

/// The start of the day of publication, unless that is after the import.
fn publication_day(document: &Document) -> Option<String> {
    let day = &document.dated.as_ref()?.day;
    (day.as_str() <= document.downloaded.get(..10)?).then(|| format!("{day}T00:00:00.000Z"))
}

fn page(mut document: Document, rights: Rights, name: &str, defaults: &TextDefaults) -> Page {
    if document.url.is_empty() {
        document.url = format!("import:{name}");
    }
    let mut published = String::new();
    if document.downloaded.parse::<jiff::Timestamp>().is_err() {
        document.downloaded.clone_from(&defaults.downloaded);
        published = publication_day(&document).unwrap_or_default();
    }
    if document.about.language.is_empty() {
        document.about.language.clone_from(&defaults.language);
    }
    let mut content_type = DOCUMENT_TYPE.to_owned();
    if defaults.ungated {
        content_type.push_str("; ");
        content_type.push_str(UNGATED);
    }
    Page {
        url: document.url.clone(),
        final_url: document.url.clone(),
        feed: document.feed.clone(),
        title: document.about.title.clone(),
        published,
        seen: document.downloaded.clone(),
        downloaded: document.downloaded.clone(),
        content_type,
        rights,
        body: serde_json::to_vec(&document).expect("documents serialise"),
        ..Page::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidings_model::{LayerDeclaration, LayerKind};

    fn defaults() -> TextDefaults {
        TextDefaults { downloaded: "2026-03-01T00:00:00.000Z".into(), min_chars: 10, ..TextDefaults::default() }
    }

    fn document(page: &Page) -> Document {
        serde_json::from_slice(&page.body).unwrap()
    }

    #[test]
    fn the_fields_of_a_json_line_are_used() {
        let line = br#"{"id":"d7","text":"One.\nTwo.","source":"gazette.example","created":"2026-02-01T00:00:00.000Z",
            "added":"2026-02-03T04:05:06Z","metadata":{"url":"https://gazette.example/a","title":"T","authors":["A"],
            "language":"en","language_score":0.5,"date_source":"meta","date_confidence":0.75,"fields":{"topic":"weather"},
            "score":3,"deep":{"x":1},"licence":{"name":"CC-BY-4.0","evidence":"link"}}}"#;
        let page = of_json(line, "a.jsonl#1", &defaults()).unwrap();
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
    fn a_text_that_is_too_long_is_rejected_by_name() {
        let line = |text: &str| serde_json::to_vec(&serde_json::json!({ "text": text })).unwrap();
        let book = "a ".repeat(tidings_clean::MAX_TEXT_CHARS / 2);
        assert_eq!(of_json(&line(&format!("{book}bc")), "x", &defaults()), Err("too-long"));
        assert!(of_json(&line(&book), "x", &defaults()).is_ok());
    }

    #[test]
    fn a_text_without_a_url_gets_a_name() {
        let page = of_json(br#"{"id":7,"text":"One."}"#, "a.jsonl#1", &defaults()).unwrap();
        assert_eq!((page.url.as_str(), page.downloaded.as_str()), ("import:a.jsonl#7", "2026-03-01T00:00:00.000Z"));
        assert_eq!(of_json(br#"{"text":"One."}"#, "a.jsonl#1", &defaults()).unwrap().url, "import:a.jsonl#1");
        assert_eq!(of_json(b"{}", "x", &defaults()), Err("no-text"));
        assert_eq!(of_json(b"[]", "x", &defaults()), Err("not-json"));
        assert_eq!(of_json(b"{\"text\":3}", "x", &defaults()), Err("not-json"));
    }

    #[test]
    fn short_lines_and_invalid_characters_are_stored_separately() {
        let page = of_lines(
            "https://a.example/",
            b"Home\nA line that is long enough.\nbad \xff letters here\n",
            "eng",
            "2026-01-01T00:00:00Z",
            &defaults(),
        );
        let document = document(&page.unwrap());
        assert_eq!(document.text(), "A line that is long enough.");
        let reasons: Vec<_> = document.left_out.iter().map(|out| (out.reason.as_str(), out.after)).collect();
        assert_eq!(reasons, [("short-line", 0), ("invalid-utf8", 1)]);
        // Characters are counted, not bytes.
        assert_eq!(of_lines("u", "ääääääää".as_bytes(), "", "", &defaults()), Err("short-lines"));
    }

    #[test]
    fn values_of_another_type_stay_in_the_metadata() {
        let line =
            br#"{"text":"One.","metadata":{"title":["x"],"score":1.5,"good":true,"license":"CC0","tags":"one"}}"#;
        let document = document(&of_json(line, "a.jsonl#1", &defaults()).unwrap());
        assert_eq!((document.about.title.as_str(), &document.about.tags[..]), ("", &["one".to_owned()][..]));
        assert_eq!(document.about.licence.unwrap().name, "CC0");
        let metadata: Vec<(&str, &str)> = document.metadata.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        assert_eq!(metadata, [("good", "true"), ("score", "1.5")]);
    }

    #[test]
    fn defaults_of_the_import_replace_missing_values() {
        let defaults = TextDefaults { language: "cs".to_owned(), ungated: true, ..defaults() };
        let page = of_json(br#"{"text":"One.","downloaded":"soon"}"#, "a.jsonl#1", &defaults).unwrap();
        assert_eq!(page.downloaded, defaults.downloaded);
        assert!(page.content_type.ends_with(UNGATED), "{}", page.content_type);
        assert_eq!(document(&page).about.language, "cs");
        let own = of_json(br#"{"text":"One.","lang":"de"}"#, "a.jsonl#1", &defaults).unwrap();
        assert_eq!(document(&own).about.language, "de");
    }

    #[test]
    fn a_document_of_a_home_is_imported_unchanged() {
        let original =
            Document { url: "https://a.example/1".into(), paragraphs: vec![plain("One.")], ..Document::default() };
        let line = serde_json::to_vec(&original).unwrap();
        let page = of_json(&line, "a.jsonl#1", &defaults()).unwrap();
        assert_eq!((page.url.as_str(), document(&page).text().as_str()), ("https://a.example/1", "One."));
    }

    #[test]
    fn dates_must_be_valid() {
        assert_eq!(dated("2026-02-28T10:00:00Z", "given", 0.9).unwrap().day, "2026-02-28");
        assert!(dated("2026-02-30", "given", 0.9).is_none() && dated("2026", "given", 0.9).is_none());
    }

    #[test]
    fn empty_tokens_are_dropped_and_a_paragraph_of_them_with_them() {
        let token = |word: &str| tidings_model::Token { word: word.into(), space_after: true, ..Default::default() };
        let paragraph = |words: &[&str]| AnnotatedParagraph {
            sentences: vec![words.iter().map(|word| token(word)).collect()],
            ..Default::default()
        };
        assert!(annotated_paragraph(paragraph(&["", ""]), ParagraphLayers::default()).is_none());
        let kept = annotated_paragraph(paragraph(&["Rain", "", "falls"]), ParagraphLayers::default()).unwrap();
        assert_eq!((kept.text.as_str(), kept.sentences[0].len()), ("Rain falls", 2));
    }

    #[test]
    fn layers_are_divided_among_paragraphs() {
        let token = |word: &str| tidings_model::Token { word: word.into(), space_after: true, ..Default::default() };
        let paragraph = |words: &[&str]| AnnotatedParagraph {
            sentences: vec![words.iter().map(|word| token(word)).collect()],
            ..Default::default()
        };
        let paragraphs = vec![paragraph(&["A", "", "b"]), paragraph(&["c"]), paragraph(&["d", "e"])];
        let layer = LayerDeclaration { name: "n".into(), kind: LayerKind::Number, origin: String::new() };
        let values = ["1", "2", "3", "", "5", "6"].map(String::from).to_vec();
        let columns = vec![LayerColumn { layer: layer.clone(), values }];
        let spans = vec![TokenSpan::new("q", 1, 5), TokenSpan::new("ne", 2, 3), TokenSpan::new("ne", 3, 6)];
        let annotated = Annotated { paragraphs, columns, spans, ..Annotated::default() };
        let document = document(&of_tokens(annotated, "x", &defaults()).unwrap());
        let part = |name: &str, start, end, part_of| SpanPart { span: TokenSpan::new(name, start, end), part_of };
        let spans: Vec<Vec<SpanPart>> = document.paragraphs.iter().map(|p| p.token_spans.clone()).collect();
        assert_eq!(spans[0], [part("q", 1, 2, 1), part("ne", 1, 2, 0)]);
        assert_eq!(spans[1], [part("q", 0, 1, 1), part("ne", 0, 1, 2)]);
        assert_eq!(spans[2], [part("q", 0, 1, 1), part("ne", 0, 2, 2)]);
        let values: Vec<usize> = document.paragraphs.iter().map(|p| p.columns.len()).collect();
        assert_eq!(
            (values, &*document.paragraphs[0].columns[0].values),
            (vec![1, 0, 1], &["1", "3"].map(String::from)[..])
        );
        let annotated = tidings_annotate::annotate(document, &[], |_, _| true);
        assert_eq!(
            annotated.spans,
            [TokenSpan::new("q", 1, 4), TokenSpan::new("ne", 1, 2), TokenSpan::new("ne", 2, 5)]
        );
        assert_eq!(
            annotated.columns,
            [LayerColumn { layer, values: ["1", "3", "", "5", "6"].map(String::from).to_vec() }]
        );
    }

    #[test]
    fn hosts_are_distinguished_from_other_sources() {
        assert!(is_host("gazette.example") && !is_host("The Gazette") && !is_host("gazette"));
    }
}
