//! Writer of annotated text in TEI.

use std::collections::BTreeSet;

use tidings_model::{Annotated, Token, TokenSpan};

use super::{NAMESPACE, PHRASES, PREFIX, SEGMENT};
use crate::markup::{escape, escaped, one_line};

/// The start of a file of many documents.
pub const OPENING: &str = concat!(
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n",
    "<teiCorpus xmlns=\"http://www.tei-c.org/ns/1.0\" xmlns:layer=\"urn:tidings:layer\">\n<teiHeader>\n<fileDesc>\n",
    "<titleStmt><title>Annotated documents from web pages</title></titleStmt>\n",
    "<publicationStmt><publisher>unknown</publisher></publicationStmt>\n",
    "<sourceDesc><p>Each text names its own source.</p></sourceDesc>\n",
    "</fileDesc>\n</teiHeader>\n"
);
/// The end of such a file.
pub const CLOSING: &str = "</teiCorpus>\n";

/// Appends a document to `out`.
pub fn write(document: &Annotated, out: &mut String) {
    debug_assert!(OPENING.contains(NAMESPACE));
    out.push_str("<TEI>\n");
    write_header(document, out);
    out.push_str("<text>\n<body>\n");
    let mut writer = Writer::new(document);
    for paragraph in &document.paragraphs {
        out.push_str("<ab");
        attribute("type", &paragraph.kind, out);
        attribute("xml:lang", &paragraph.language, out);
        out.push_str(">\n");
        paragraph.sentences.iter().for_each(|sentence| writer.sentence(sentence, out));
        out.push_str("</ab>\n");
    }
    out.push_str("</body>\n</text>\n");
    writer.stand_off(out);
    out.push_str("</TEI>\n");
}

fn write_header(document: &Annotated, out: &mut String) {
    let about = &document.about;
    let title = if about.title.is_empty() { String::new() } else { one_line(&about.title) };
    out.push_str(&format!("<teiHeader>\n<fileDesc>\n<titleStmt><title>{title}</title></titleStmt>\n"));
    out.push_str("<publicationStmt>\n<publisher>unknown</publisher>\n");
    if !about.date.is_empty() {
        out.push_str(&format!("<date>{}</date>\n", one_line(&about.date)));
    }
    out.push_str(&format!("<idno type=\"tidings\">{:032x}</idno>\n</publicationStmt>\n<notesStmt>\n", about.id));
    let seen = Some(("seen", about.seen.as_str())).filter(|(_, seen)| !seen.is_empty());
    let fields = about.fields.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    for (name, value) in seen.into_iter().chain(fields) {
        out.push_str(&format!("<note type=\"field\" n=\"{name}\">{}</note>\n", escaped(value)));
    }
    for layer in document.columns.iter().map(|column| &column.layer) {
        let (name, kind, origin) = (&layer.name, layer.kind.name(), escaped(&layer.origin));
        out.push_str(&format!("<note type=\"layer\" n=\"{name}\" subtype=\"{kind}\">{origin}</note>\n"));
    }
    // The list of notes must not be empty.
    out.push_str("<note type=\"program\">Tidings</note>\n</notesStmt>\n<sourceDesc>");
    match about.url.is_empty() {
        true => out.push_str("<p/>"),
        false => out.push_str(&format!("<bibl><ref target=\"{}\"/></bibl>", escaped(&about.url))),
    }
    out.push_str("</sourceDesc>\n</fileDesc>\n</teiHeader>\n");
}

/// Writes tokens and the elements around them.
struct Writer<'d> {
    document: &'d Annotated,
    /// Spans that have not begun, in file order.
    rest: &'d [TokenSpan],
    /// Spans whose elements are open, the innermost last.
    open: Vec<&'d TokenSpan>,
    /// Spans that are not elements.
    apart: Vec<&'d TokenSpan>,
    /// Tokens that such spans refer to.
    referred: BTreeSet<u32>,
    /// The number of the next token.
    at: u32,
}

impl<'d> Writer<'d> {
    fn new(document: &'d Annotated) -> Writer<'d> {
        let mut writer = Writer {
            document,
            rest: &document.spans,
            open: Vec::new(),
            apart: Vec::new(),
            referred: BTreeSet::new(),
            at: 0,
        };
        writer.set_apart();
        writer
    }

    /// Finds the spans that cannot be elements, whose tokens need ids.
    fn set_apart(&mut self) {
        let mut end = 0;
        let sentences = self.document.paragraphs.iter().flat_map(|paragraph| &paragraph.sentences);
        let ends: Vec<u32> = sentences
            .map(|sentence| {
                end += sentence.len() as u32;
                end
            })
            .collect();
        let mut open: Vec<u32> = Vec::new();
        for span in &self.document.spans {
            open.retain(|end| *end > span.start);
            let of_sentence = ends.get(ends.partition_point(|end| *end <= span.start)).copied().unwrap_or(u32::MAX);
            if span.end <= of_sentence && open.last().is_none_or(|around| span.end <= *around) {
                open.push(span.end);
            } else {
                self.apart.push(span);
                self.referred.extend([span.start, span.end - 1]);
            }
        }
    }

    fn sentence(&mut self, sentence: &[Token], out: &mut String) {
        out.push_str("<s>\n");
        for token in sentence {
            self.start_elements(out);
            self.token(token, out);
            self.at += 1;
            while let Some(span) = self.open.pop_if(|span| span.end <= self.at) {
                out.push_str(&format!("</{}>\n", element_of(span)));
            }
        }
        out.push_str("</s>\n");
    }

    fn start_elements(&mut self, out: &mut String) {
        while let Some((span, rest)) = self.rest.split_first().filter(|(span, _)| span.start <= self.at) {
            self.rest = rest;
            if self.apart.iter().any(|apart| std::ptr::eq(*apart, span)) {
                continue;
            }
            let element = element_of(span);
            out.push_str(&format!("<{element}"));
            if element == SEGMENT {
                attribute("type", &span.name, out);
            }
            write_attributes(span, element != SEGMENT, out);
            out.push_str(">\n");
            self.open.push(span);
        }
    }

    fn token(&self, token: &Token, out: &mut String) {
        let element = if token.tag == "PUNCT" { "pc" } else { "w" };
        out.push_str(&format!("<{element}"));
        if self.referred.contains(&self.at) {
            attribute("xml:id", &self.id(self.at), out);
        }
        attribute("lemma", &token.lemma, out);
        attribute("pos", &token.tag, out);
        attribute("msd", &token.feats, out);
        if !token.space_after {
            attribute("join", "right", out);
        }
        for column in &self.document.columns {
            let value = column.values.get(self.at as usize).map_or("", String::as_str);
            layer_attribute(&column.layer.name, value, out);
        }
        out.push('>');
        escape(&token.word, out);
        out.push_str(&format!("</{element}>\n"));
    }

    /// The id of a token in the file.
    fn id(&self, at: u32) -> String {
        format!("w{:032x}.{at}", self.document.about.id)
    }

    /// The spans that are not elements.
    fn stand_off(&self, out: &mut String) {
        if self.apart.is_empty() {
            return;
        }
        out.push_str("<standOff>\n");
        for group in self.apart.chunk_by(|one, next| one.name == next.name) {
            out.push_str("<spanGrp");
            attribute("type", &group[0].name, out);
            out.push_str(">\n");
            for span in group {
                out.push_str(&format!("<span from=\"#{}\" to=\"#{}\"", self.id(span.start), self.id(span.end - 1)));
                write_attributes(span, false, out);
                out.push_str("/>\n");
            }
            out.push_str("</spanGrp>\n");
        }
        out.push_str("</standOff>\n");
    }
}

/// The element of a span. Attributes whose names XML does not allow need a prefix, which only `seg` may have.
fn element_of(span: &TokenSpan) -> &str {
    let is_plain = |name: &str| !name.starts_with(|c: char| c.is_ascii_digit());
    let is_own = PHRASES.contains(&span.name.as_str()) && span.attributes.iter().all(|(name, _)| is_plain(name));
    if is_own { &span.name } else { SEGMENT }
}

fn write_attributes(span: &TokenSpan, is_own: bool, out: &mut String) {
    for (name, value) in &span.attributes {
        match is_own {
            true => attribute(name, value, out),
            false => layer_attribute(name, value, out),
        }
    }
}

/// An attribute in the namespace of layers. A name that begins with a digit follows `n.`, as XML requires a letter.
fn layer_attribute(name: &str, value: &str, out: &mut String) {
    let mark = if name.starts_with(|c: char| c.is_ascii_digit()) { "n." } else { "" };
    attribute(&format!("{PREFIX}{mark}{name}"), value, out);
}

fn attribute(name: &str, value: &str, out: &mut String) {
    if !value.is_empty() {
        out.push_str(&format!(" {name}=\""));
        escape(value, out);
        out.push('"');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidings_model::AnnotatedParagraph;

    #[test]
    fn nested_spans_are_elements_and_others_are_stand_off() {
        let sentence = |words: &[&str]| words.iter().map(|word| Token::new(word, "", "")).collect::<Vec<_>>();
        let sentences = vec![sentence(&["a", "b", "c"]), sentence(&["d"])];
        let spans = vec![
            TokenSpan::new("q", 0, 3).with("who", "Ann <Lee>"),
            TokenSpan::new("ne", 0, 2).with("type", "PER"),
            TokenSpan::new("ne", 1, 3),
            TokenSpan::new("quote", 2, 4).with("n", "1"),
        ];
        let paragraphs = vec![AnnotatedParagraph { sentences, ..AnnotatedParagraph::default() }];
        let mut out = String::new();
        write(&Annotated { paragraphs, spans, ..Annotated::default() }, &mut out);
        let id = format!("w{:032x}", 0);
        let body = format!(
            "<s>\n<q who=\"Ann &lt;Lee&gt;\">\n<seg type=\"ne\" layer:type=\"PER\">\n<w>a</w>\n<w xml:id=\"{id}.1\">b</w>\n</seg>\n\
             <w xml:id=\"{id}.2\">c</w>\n</q>\n</s>\n<s>\n<w xml:id=\"{id}.3\">d</w>\n</s>\n"
        );
        assert!(out.contains(&body), "{out}");
        let stand_off = format!(
            "<standOff>\n<spanGrp type=\"ne\">\n<span from=\"#{id}.1\" to=\"#{id}.2\"/>\n</spanGrp>\n\
             <spanGrp type=\"quote\">\n<span from=\"#{id}.2\" to=\"#{id}.3\" layer:n=\"1\"/>\n</spanGrp>\n</standOff>\n"
        );
        assert!(out.contains(&stand_off), "{out}");
    }
}
