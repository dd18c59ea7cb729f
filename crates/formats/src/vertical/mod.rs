//! The vertical format of corpus managers: one token per line, structures as tags.
//!
//! ```text
//! <doc id="…" date="2026-03-01" site="gazette.example">
//! <p>
//! <s>
//! <quote speaker="Ann Lee">
//! Rain<TAB>rain<TAB>NOUN<TAB>Number=Sing
//! </quote>
//! <g/>
//! .<TAB>.<TAB>PUNCT
//! </s>
//! </p>
//! </doc>
//! ```
//!
//! Lemma, tag and features are optional. Further columns are declared after the line of the document, in their order,
//! by lines `<layer name="syllables" kind="number" origin="…"/>`. Tags of other structures are spans. They may cross
//! sentences and spans of other names; a span that crosses one of its own name is written as an empty element with its
//! length in tokens, `<ne type="PER" tokens="3"/>`, before its first token.
//!
//! `<g/>` means that there is no white space between its neighbours. In tokens
//! and values `&`, `<`, `>` and `"` are escaped as in XML, so that a line that starts with `<` is always a tag. Reading
//! is a single pass over bytes without allocation per token, because it limits the speed of indexing.

use std::borrow::Cow;

mod open_spans;
mod read;
mod write;

pub use open_spans::{OpenSpans, SpanTag};
pub use read::{Event, Reader};
pub use write::write;

/// The maximum number of fields of a document besides those with their own column.
pub(crate) const MAX_FIELDS: usize = 64;

/// The tag that declares a further column.
const LAYER_TAG: &str = "layer";
/// The attribute of an empty element with the length of its span in tokens; always the last.
const LENGTH: &str = "tokens";
/// Tags with a meaning of their own, which no span may have.
const RESERVED: [&str; 5] = ["doc", "p", "s", "g", LAYER_TAG];

/// Returns true if a span may have this name.
pub fn is_span_name(name: &str) -> bool {
    is_name(name) && !RESERVED.contains(&name)
}

/// Returns true if a further token attribute may have this name.
pub fn is_layer_name(name: &str) -> bool {
    is_name(name) && !["word", "lemma", "tag", "feats"].contains(&name)
}

/// True if a string is a valid name of a field, a layer, a span or an attribute.
pub(crate) fn is_name(name: &str) -> bool {
    (1..=32).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Replaces entities by their characters. Unknown entities are kept.
pub fn unescape(text: &str) -> Cow<'_, str> {
    if memchr::memchr(b'&', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let entity = [("&amp;", '&'), ("&lt;", '<'), ("&gt;", '>'), ("&quot;", '"')]
            .into_iter()
            .find(|(entity, _)| rest.starts_with(entity));
        let (len, char) = entity.map_or((1, '&'), |(entity, char)| (entity.len(), char));
        plain.push(char);
        rest = &rest[len..];
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use super::write::escape;
    use super::*;
    use proptest::prelude::*;
    use std::path::Path;
    use tidings_model::{
        Annotated, AnnotatedParagraph, Attributes, LayerColumn, LayerDeclaration, LayerKind, Token, TokenSpan,
    };

    fn read_back(text: &str) -> Vec<Annotated> {
        let mut reader = Reader::new(text.as_bytes(), Path::new("test.vert"));
        std::iter::from_fn(|| reader.next_document().expect("well-formed")).collect()
    }

    prop_compose! {
        fn token()(word in "[a-z<>&\"é]{1,4}", lemma in "[a-z&]{0,3}", tag in "[A-Z]{0,2}", feats in "(Case=Gen)?", space_after: bool) -> Token {
            Token { feats: feats.into(), space_after, ..Token::new(&word, &lemma, &tag) }
        }
    }

    prop_compose! {
        fn span(tokens: u32)(name in "(ne|quote)", start in 0..tokens, length in 1..8u32, value in "[a-z<\"&]{0,3}") -> TokenSpan {
            TokenSpan::new(&name, start, (start + length).min(tokens)).with("tokens", &value).with("type", &value)
        }
    }

    proptest! {
        #[test]
        fn further_columns_and_overlapping_spans_are_read_back(
            sentences in proptest::collection::vec(proptest::collection::vec(token(), 1..6), 1..4),
            mut spans in proptest::collection::vec(span(3), 0..9),
            values in proptest::collection::vec("[a-z&\"]{0,3}", 18),
        ) {
            let mut sentences = sentences;
            for sentence in &mut sentences {
                sentence.last_mut().expect("not empty").space_after = true;
            }
            let tokens = sentences.iter().map(Vec::len).sum::<usize>();
            spans.retain(|span| (span.end as usize) <= tokens);
            spans.sort_by(TokenSpan::file_order);
            let column = |name: &str, skip| LayerColumn {
                layer: LayerDeclaration { name: name.into(), kind: LayerKind::Number, origin: "toy 1".into() },
                values: values[skip..].iter().cycle().take(tokens).cloned().collect(),
            };
            let paragraphs = vec![AnnotatedParagraph { sentences, ..AnnotatedParagraph::default() }];
            let document = Annotated { paragraphs, columns: vec![column("a", 0), column("b", 7)], spans, ..Annotated::default() };
            let mut text = String::new();
            write(&document, &mut text);
            prop_assert_eq!(read_back(&text), vec![document]);
        }

        #[test]
        fn written_documents_are_read_back(
            sentences in proptest::collection::vec(proptest::collection::vec(token(), 1..4), 1..3),
            id: u128, title in "[a-z<>&\"' ]{0,8}", site in "[a-z<>&\"']{0,8}",
        ) {
            let mut sentences = sentences;
            for sentence in &mut sentences {
                sentence.last_mut().expect("not empty").space_after = true;
            }
            let about = Attributes {
                id, title, url: "http://e.org/?a=1&b=2".into(), date: "2026-03-01".into(), seen: String::new(),
                fields: vec![("site".into(), site)],
            };
            let paragraphs = vec![AnnotatedParagraph { sentences, ..AnnotatedParagraph::default() }];
            let document = Annotated { about, paragraphs, ..Annotated::default() };
            let mut text = String::new();
            write(&document, &mut text);
            prop_assert_eq!(read_back(&text), vec![document]);
        }

        #[test]
        fn any_text_is_read_or_rejected(text in "(<doc [a-z=\"' >]{0,12}\n|</?ne[a-z=\"' >]{0,9}\n|<layer [a-z=\"' >]{0,9}\n|<g/>\n|<[sp/]{1,2}>\n|[a-z\t&;<]{0,5}\n){0,9}") {
            let mut reader = Reader::new(text.as_bytes(), Path::new("test.vert"));
            while let Ok(Some(_)) = reader.next_document() {}
        }
    }

    #[test]
    fn every_character_is_escaped_within_its_line() {
        for char in '\0'..=char::MAX {
            let mut text = String::new();
            escape(char.encode_utf8(&mut [0; 4]), &mut text);
            assert!(!text.contains(|c: char| c.is_control() || "<>\"".contains(c)), "{char:?}");
            assert_eq!(unescape(&text), if char.is_control() { ' ' } else { char }.to_string());
        }
    }

    #[test]
    fn an_error_contains_its_line() {
        let mut reader = Reader::new("<p>\n<doc site=x>\n".as_bytes(), Path::new("a.vert"));
        assert!(matches!(reader.next_event(), Ok(Some(Event::Paragraph))));
        let fault = reader.next_event().unwrap_err().to_string();
        assert_eq!(fault, "a.vert, line 2: the value of site has no quotation marks");
    }
}
