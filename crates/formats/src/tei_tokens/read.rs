//! Reader of annotated text in TEI, of ours and of other programs.

use std::collections::HashMap;
use std::io::BufRead;
use std::path::Path;

use tidings_model::{Annotated, AnnotatedParagraph, LayerColumn, LayerDeclaration, LayerKind, Token, TokenSpan, feats};

use super::{PREFIX, SEGMENT};
use crate::error::Result;
use crate::vertical::{MAX_FIELDS, is_layer_name, is_name, is_span_name};
use crate::xml_read::{XmlEvent, XmlReader};

/// The maximum number of tokens of a document; the rest of it is another document.
const MAX_TOKENS: u32 = 1 << 20;
/// The maximum depth of elements.
const MAX_DEPTH: usize = 256;
/// The maximum number of further attributes of a document's tokens, and of attributes of a span.
const MAX_LAYERS: usize = 64;
const MAX_ATTRIBUTES: usize = 32;
/// Elements that divide a text into paragraphs.
const PARAGRAPHS: [&str; 7] = ["p", "ab", "head", "l", "item", "cell", "u"];
/// Elements around paragraphs, and parts of tokens: none of them is a span.
const STRUCTURE: [&str; 24] = [
    "TEI",
    "teiCorpus",
    "text",
    "group",
    "front",
    "body",
    "back",
    "div",
    "div1",
    "div2",
    "div3",
    "lg",
    "list",
    "table",
    "row",
    "c",
    "lb",
    "pb",
    "gap",
    "sp",
    "linkGrp",
    "link",
    "standOff",
    "TEI.2",
];

/// Reads documents.
pub struct Reader<R> {
    xml: XmlReader<R>,
    /// The open elements.
    open: Vec<Element>,
    partial: Partial,
}

/// Role of an open element.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Element {
    /// A document.
    Document,
    /// The header of the corpus or of a document.
    Header,
    /// An element of a header whose text is wanted.
    Field(HeaderField),
    Paragraph,
    Sentence,
    Token,
    /// A span: its number among those of the document.
    Span(usize),
    /// A group of stand-off spans with the name of its spans.
    SpanGroup(String),
    Other,
}

/// Text of a header.
#[derive(Debug, Clone, PartialEq, Eq)]
enum HeaderField {
    Title,
    Date,
    Id,
    /// A field of metadata.
    Note(String),
    /// The origin of a layer.
    Layer(String, LayerKind),
}

/// A document in progress.
#[derive(Default)]
struct Partial {
    document: Annotated,
    spans: Vec<TokenSpan>,
    tokens: u32,
    ids: HashMap<String, u32>,
    text: String,
    /// Whether the next token starts a paragraph or a sentence.
    starts_paragraph: Option<(String, String)>,
    starts_sentence: bool,
    /// Layers that the header declares.
    declared: Vec<LayerDeclaration>,
}

impl<R: BufRead> Reader<R> {
    /// Reads from `input`; `path` names it in errors.
    pub fn new(input: R, path: &Path) -> Reader<R> {
        Reader { xml: XmlReader::new(input, path), open: Vec::new(), partial: Partial::default() }
    }

    /// The next document with at least one token; `None` at the end.
    pub fn next_document(&mut self) -> Result<Option<Annotated>> {
        while let Some(event) = self.xml.next_event()? {
            match event {
                XmlEvent::Start { name, attributes, is_empty } => {
                    if self.open.len() >= MAX_DEPTH {
                        return Err(self.xml.fault(format!("more than {MAX_DEPTH} elements are open")));
                    }
                    let element = self.start(local(&name), &attributes);
                    self.open.push(element);
                    if is_empty && let Some(document) = self.end() {
                        return Ok(Some(document));
                    }
                }
                XmlEvent::End(_) => {
                    if let Some(document) = self.end() {
                        return Ok(Some(document));
                    }
                }
                XmlEvent::Text(text) => self.partial.text.push_str(&text),
            }
        }
        Ok(self.take_document())
    }

    /// The role of an element that begins.
    fn start(&mut self, name: &str, attributes: &[(String, String)]) -> Element {
        let value = |wanted: &str| {
            let found = attributes.iter().find(|(name, _)| name == wanted);
            found.map(|(_, value)| value.clone()).unwrap_or_default()
        };
        if self.open.contains(&Element::Header) {
            return self.partial.header_element(name, value);
        }
        let group = self.open.iter().rev().find_map(|element| match element {
            Element::SpanGroup(name) => Some(name.clone()),
            _ => None,
        });
        match name {
            "TEI" | "TEI.2" => {
                self.partial = Partial::default();
                Element::Document
            }
            "teiHeader" => Element::Header,
            "spanGrp" => Element::SpanGroup(value("type")),
            "span" if group.is_some() => {
                self.partial.stand_off(&group.unwrap_or_default(), attributes);
                Element::Other
            }
            "s" => {
                self.partial.starts_sentence = true;
                Element::Sentence
            }
            "w" | "pc" => {
                self.partial.text.clear();
                self.partial.start_token(attributes);
                Element::Token
            }
            _ if PARAGRAPHS.contains(&name) => {
                self.partial.starts_paragraph = Some((value("type"), value("xml:lang")));
                self.partial.starts_sentence = true;
                Element::Paragraph
            }
            _ if STRUCTURE.contains(&name) => Element::Other,
            _ => self.partial.start_span(name, attributes),
        }
    }

    /// Ends the innermost element; returns the document that ends.
    fn end(&mut self) -> Option<Annotated> {
        let partial = &mut self.partial;
        match self.open.pop()? {
            Element::Document => return self.take_document(),
            Element::Field(field) => partial.end_field(field),
            Element::Token => {
                partial.end_token();
                if partial.tokens >= MAX_TOKENS {
                    return self.take_document();
                }
            }
            Element::Span(number) => {
                let tokens = partial.tokens;
                if let Some(span) = partial.spans.get_mut(number) {
                    span.end = tokens;
                }
            }
            Element::Paragraph => (partial.starts_paragraph, partial.starts_sentence) = (None, true),
            Element::Sentence => partial.starts_sentence = true,
            Element::Header | Element::SpanGroup(_) | Element::Other => {}
        }
        None
    }

    fn take_document(&mut self) -> Option<Annotated> {
        let partial = std::mem::take(&mut self.partial);
        // Elements that are still open belong to the rest of a document that was too long.
        self.open
            .iter_mut()
            .filter(|element| matches!(element, Element::Span(_)))
            .for_each(|span| *span = Element::Other);
        (partial.tokens > 0).then(|| partial.finish())
    }
}

/// The name of an element without its prefix.
fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

impl Partial {
    fn header_element(&mut self, name: &str, value: impl Fn(&str) -> String) -> Element {
        self.text.clear();
        let about = &mut self.document.about;
        match name {
            "title" if about.title.is_empty() => Element::Field(HeaderField::Title),
            "date" if about.date.is_empty() => Element::Field(HeaderField::Date),
            "idno" => Element::Field(HeaderField::Id),
            "ref" if about.url.is_empty() => {
                about.url = value("target");
                Element::Other
            }
            "note" if value("type") == "field" => Element::Field(HeaderField::Note(value("n"))),
            "note" if value("type") == "layer" => match LayerKind::parse(&value("subtype")) {
                Some(kind) => Element::Field(HeaderField::Layer(value("n"), kind)),
                None => Element::Other,
            },
            _ => Element::Other,
        }
    }

    fn end_field(&mut self, field: HeaderField) {
        let text = std::mem::take(&mut self.text);
        let about = &mut self.document.about;
        match field {
            HeaderField::Title => about.title = text.trim().to_owned(),
            HeaderField::Date => about.date = text.trim().to_owned(),
            HeaderField::Id => {
                let id = text.trim();
                about.id = match u128::from_str_radix(id, 16) {
                    Ok(number) if id.len() == 32 => number,
                    _ => xxhash_rust::xxh3::xxh3_128(id.as_bytes()),
                };
            }
            HeaderField::Note(name) if name == "seen" => about.seen = text,
            HeaderField::Note(name) => {
                if is_name(&name) && about.field(&name).is_none() && about.fields.len() < MAX_FIELDS {
                    about.fields.push((name, text));
                }
            }
            HeaderField::Layer(name, kind) => {
                let is_known = self.declared.iter().any(|known| known.name == name);
                if is_layer_name(&name) && !is_known && self.declared.len() < MAX_LAYERS {
                    self.declared.push(LayerDeclaration { name, kind, origin: text });
                }
            }
        }
    }

    fn start_span(&mut self, name: &str, attributes: &[(String, String)]) -> Element {
        let kind = attributes.iter().find(|(name, _)| name == "type").map(|(_, value)| value.as_str());
        let kind = kind.filter(|kind| name == SEGMENT && is_span_name(kind));
        let name = kind.unwrap_or(name);
        if !is_span_name(name) {
            return Element::Other;
        }
        let mut span = TokenSpan::new(name, self.tokens, self.tokens);
        add_attributes(&mut span, attributes, kind.is_some());
        self.spans.push(span);
        Element::Span(self.spans.len() - 1)
    }

    /// Adds a span that names its first and last token.
    fn stand_off(&mut self, name: &str, attributes: &[(String, String)]) {
        let token = |wanted: &str| {
            let (_, id) = attributes.iter().find(|(name, _)| name == wanted)?;
            self.ids.get(id.strip_prefix('#').unwrap_or(id)).copied()
        };
        let (Some(first), last) = (token("from"), token("to")) else { return };
        let last = last.unwrap_or(first);
        if is_span_name(name) && first <= last {
            let mut span = TokenSpan::new(name, first, last + 1);
            let own: Vec<(String, String)> =
                attributes.iter().filter(|(name, _)| !["from", "to"].contains(&name.as_str())).cloned().collect();
            add_attributes(&mut span, &own, false);
            self.spans.push(span);
        }
    }

    fn start_token(&mut self, attributes: &[(String, String)]) {
        let mut token = Token { space_after: true, ..Token::default() };
        let mut cells: Vec<(&str, &str)> = Vec::new();
        for (name, value) in attributes {
            match name.as_str() {
                "lemma" => token.lemma = value.into(),
                "pos" => token.tag = value.into(),
                "msd" => token.feats = value.into(),
                "join" if matches!(value.as_str(), "left" | "both") => {
                    self.glue();
                    token.space_after = value == "left";
                }
                "join" => token.space_after = value != "right",
                "xml:id" => {
                    self.ids.insert(value.clone(), self.tokens);
                }
                _ => cells.extend(layer_name(name).map(|name| (name, value.as_str()))),
            }
        }
        normalise_feats(&mut token);
        self.push(token);
        for (name, value) in cells {
            self.set_value(name, value);
        }
    }

    /// Removes the white space before the next token.
    fn glue(&mut self) {
        let sentences = self.document.paragraphs.last_mut().map(|paragraph| &mut paragraph.sentences);
        if let Some(before) = sentences.and_then(|sentences| sentences.last_mut()?.last_mut()) {
            before.space_after = false;
        }
    }

    fn push(&mut self, token: Token) {
        let paragraphs = &mut self.document.paragraphs;
        if self.starts_paragraph.is_some() || paragraphs.is_empty() {
            let (kind, language) = self.starts_paragraph.take().unwrap_or_default();
            paragraphs.push(AnnotatedParagraph { kind, language, sentences: Vec::new() });
            self.starts_sentence = true;
        }
        let sentences = &mut paragraphs.last_mut().expect("pushed above").sentences;
        if std::mem::take(&mut self.starts_sentence) || sentences.is_empty() {
            sentences.push(Vec::new());
        }
        sentences.last_mut().expect("pushed above").push(token);
        self.tokens += 1;
    }

    fn set_value(&mut self, name: &str, value: &str) {
        let columns = &mut self.document.columns;
        let known = columns.iter().position(|column| column.layer.name == name);
        let index = match known {
            Some(index) => index,
            None if columns.len() == MAX_LAYERS || !is_layer_name(name) => return,
            None => {
                let declared = self.declared.iter().find(|layer| layer.name == name).cloned();
                let plain = || LayerDeclaration { name: name.to_owned(), kind: LayerKind::Text, origin: String::new() };
                columns.push(LayerColumn { layer: declared.unwrap_or_else(plain), values: Vec::new() });
                columns.len() - 1
            }
        };
        let values = &mut columns[index].values;
        values.resize(self.tokens as usize - 1, String::new());
        values.push(value.to_owned());
    }

    /// The text of the element is the form of the token that was pushed at its start.
    fn end_token(&mut self) {
        let word = self.text.split_whitespace().collect::<Vec<_>>().join(" ");
        self.text.clear();
        let sentences = self.document.paragraphs.last_mut().map(|paragraph| &mut paragraph.sentences);
        if let Some(token) = sentences.and_then(|sentences| sentences.last_mut()?.last_mut()) {
            token.word = word.into();
        }
    }

    fn finish(self) -> Annotated {
        let Partial { mut document, mut spans, tokens, declared, .. } = self;
        for layer in &declared {
            if !document.columns.iter().any(|column| column.layer.name == layer.name) {
                document.columns.push(LayerColumn { layer: layer.clone(), values: Vec::new() });
            }
        }
        // Columns are in the order of their declarations, and not of their first values.
        let rank = |column: &LayerColumn| declared.iter().position(|layer| layer.name == column.layer.name);
        document.columns.sort_by_key(|column| rank(column).unwrap_or(MAX_LAYERS));
        document.columns.iter_mut().for_each(|column| column.values.resize(tokens as usize, String::new()));
        spans.iter_mut().for_each(|span| span.end = if span.end <= span.start { span.start } else { span.end });
        spans.retain(|span| span.start < span.end && span.end <= tokens);
        spans.sort_by(TokenSpan::file_order);
        Annotated { spans, ..document }
    }
}

/// Adds the attributes of an element to a span; `is_typed` if `type` is its name.
fn add_attributes(span: &mut TokenSpan, attributes: &[(String, String)], is_typed: bool) {
    for (name, value) in attributes {
        let name = match layer_name(name) {
            Some(name) => name,
            None if name == "type" && is_typed => continue,
            None => name,
        };
        if is_name(name) && span.attribute(name).is_none() && span.attributes.len() < MAX_ATTRIBUTES {
            span.attributes.push((name.to_owned(), value.clone()));
        }
    }
}

/// The name in an attribute of the namespace of layers.
fn layer_name(name: &str) -> Option<&str> {
    let name = name.strip_prefix(PREFIX)?;
    Some(name.strip_prefix("n.").unwrap_or(name))
}

/// Takes the tag out of features as in ParlaMint, `UPosTag=NOUN|Number=Sing`, and normalises the rest.
fn normalise_feats(token: &mut Token) {
    if token.feats.is_empty() {
        return;
    }
    let tag = token.feats.split('|').find_map(|feature| feature.strip_prefix("UPosTag=")).map(str::to_owned);
    if let Some(tag) = tag {
        let rest: Vec<&str> = token.feats.split('|').filter(|feature| !feature.starts_with("UPosTag=")).collect();
        token.feats = rest.join("|").into();
        token.tag = tag.into();
    }
    token.feats = feats::canonical(&token.feats).unwrap_or_default().into();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<Annotated> {
        let mut reader = Reader::new(text.as_bytes(), Path::new("a.xml"));
        std::iter::from_fn(|| reader.next_document().unwrap()).collect()
    }

    #[test]
    fn text_of_other_programs_is_read() {
        let text = "<TEI xmlns='http://www.tei-c.org/ns/1.0'><teiHeader><title>Debate</title></teiHeader><text><body><div>\
            <u who='#ann'><seg><s><w msd='UPosTag=PROPN|Number=Sing' lemma='Ann'>Ann</w><name type='PER'><w>Lee</w></name>\
            <pc join='left'>.</pc></s></seg></u></div></body></text></TEI>";
        let documents = read(text);
        let document = &documents[0];
        assert_eq!((documents.len(), document.about.title.as_str()), (1, "Debate"));
        let tokens: Vec<(&str, &str, &str, bool)> =
            document.tokens().map(|token| (&*token.word, &*token.tag, &*token.feats, token.space_after)).collect();
        assert_eq!(tokens, [("Ann", "PROPN", "Number=Sing", true), ("Lee", "", "", false), (".", "", "", true)]);
        assert_eq!(document.spans, [TokenSpan::new("seg", 0, 3), TokenSpan::new("name", 1, 2).with("type", "PER")]);
    }

    #[test]
    fn a_text_without_tokens_is_no_document() {
        assert!(read("<TEI><text><body><p>Rain.</p></body></text></TEI>").is_empty());
        assert!(read("").is_empty());
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_rejected(text in "(<TEI>|</TEI>|<s>|</s>|<w layer:a='1'>|</w>|<seg type='ne'>|</seg>|<p>|</p>|<spanGrp type='x'>|<span from='#a'/>|<w xml:id='a'>|x){0,20}") {
            let mut reader = Reader::new(text.as_bytes(), Path::new("a.xml"));
            while let Ok(Some(_)) = reader.next_document() {}
        }
    }
}
