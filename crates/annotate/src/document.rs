//! Converts documents to annotated documents: paragraphs of sentences of tokens, with attributes.

use std::ops::Range;

use tidings_model::{Annotated, AnnotatedParagraph, Attributes, Document, Paragraph, Token};

use crate::annotator::Annotators;
use crate::external::ToolError;
use crate::imported_layers::LayerCollector;
use crate::segment::{Segmenter, Sentence};

/// Labels of a document's feed: name and value, as in `topic=sport`.
pub type Labels = [(String, String)];

/// Segments the `selected` sentences of a document; the filter gets the paragraph number and the
/// byte range of the sentence in it. Paragraphs in another language use the rules of that language.
pub fn annotate(mut document: Document, labels: &Labels, selected: impl Fn(usize, Range<usize>) -> bool) -> Annotated {
    let code = document.language_code();
    let own = Segmenter::for_language(&code);
    let paragraphs = std::mem::take(&mut document.paragraphs);
    let mut layers = LayerCollector::default();
    let paragraphs = paragraphs.into_iter().enumerate().map(|(index, mut paragraph)| {
        let selected = |span: Range<usize>| selected(index, span);
        // Imported annotation is kept: it is usually better than ours.
        let spans = paragraph.aligned_sentences();
        let is_kept = spans.map(|spans| spans.into_iter().map(|(span, _)| selected(span)).collect::<Vec<bool>>());
        if let Some(is_kept) = is_kept {
            let sentences = keep_sentences(&mut paragraph, &is_kept, &mut layers);
            let language = if paragraph.language == code { "" } else { &paragraph.language };
            return AnnotatedParagraph {
                kind: paragraph.kind.name().to_owned(),
                language: language.to_owned(),
                sentences,
            };
        }
        let annotated = match paragraph.language.is_empty() || paragraph.language == code {
            true => segment_paragraph(&own, &paragraph, "", selected),
            false => segment_paragraph(
                &Segmenter::for_language(&paragraph.language),
                &paragraph,
                &paragraph.language,
                selected,
            ),
        };
        layers.skip(annotated.sentences.iter().map(Vec::len).sum());
        annotated
    });
    let paragraphs = paragraphs.filter(|paragraph| !paragraph.sentences.is_empty()).collect();
    let mut annotated = Annotated { about: attributes(&document, labels), paragraphs, ..Annotated::default() };
    layers.finish(&mut annotated);
    annotated
}

/// Takes the imported sentences of a paragraph that are kept, and their layers.
fn keep_sentences(paragraph: &mut Paragraph, is_kept: &[bool], layers: &mut LayerCollector) -> Vec<Vec<Token>> {
    let sentences = std::mem::take(&mut paragraph.sentences).into_iter().filter(|tokens| !tokens.is_empty());
    let sentences: Vec<(Vec<Token>, bool)> = sentences.zip(is_kept.iter().copied()).collect();
    let of_tokens: Vec<bool> =
        sentences.iter().flat_map(|(tokens, is_kept)| std::iter::repeat_n(*is_kept, tokens.len())).collect();
    layers.add(paragraph, &of_tokens);
    sentences.into_iter().filter(|(_, is_kept)| *is_kept).map(|(tokens, _)| tokens).collect()
}

/// Segments and annotates texts of one language; returns the sentences of each text.
pub fn annotate_texts(
    texts: &[&str],
    language: &str,
    annotators: &Annotators,
) -> Result<Vec<Vec<Vec<Token>>>, ToolError> {
    let segmenter = Segmenter::for_language(language);
    let sentence = |text: &str, sentence: Sentence| {
        let token = |token: &Range<usize>| Token {
            word: text[token.clone()].into(),
            space_after: text[token.end..].chars().next().is_none_or(char::is_whitespace),
            ..Token::default()
        };
        sentence.tokens.iter().map(token).collect()
    };
    let sentences = |text: &&str| {
        let found = segmenter.segment(text).into_iter().filter(|found| !found.tokens.is_empty());
        found.map(|found| sentence(text, found)).collect()
    };
    let mut annotated: Vec<Vec<Vec<Token>>> = texts.iter().map(sentences).collect();
    if let Some(annotator) = annotators.of(language) {
        let mut all: Vec<&mut [Token]> = annotated.iter_mut().flatten().map(Vec::as_mut_slice).collect();
        annotator.annotate(&mut all)?;
    }
    Ok(annotated)
}

fn segment_paragraph(
    segmenter: &Segmenter<'_>,
    paragraph: &Paragraph,
    language: &str,
    selected: impl Fn(Range<usize>) -> bool,
) -> AnnotatedParagraph {
    let text = &paragraph.text;
    let sentences = segmenter.segment(text).into_iter();
    let sentences = sentences.filter(|sentence| !sentence.tokens.is_empty() && selected(sentence.span()));
    let tokens = |sentence: Sentence| {
        let tokens = sentence.spaced(text).map(|(word, space)| Token {
            word: word.into(),
            space_after: !space.is_empty(),
            ..Token::default()
        });
        tokens.collect()
    };
    AnnotatedParagraph {
        kind: paragraph.kind.name().to_owned(),
        language: language.to_owned(),
        sentences: sentences.map(tokens).collect(),
    }
}

/// Maximum number of custom metadata fields of a document.
const MAX_METADATA_FIELDS: usize = 32;

/// Attributes for filtering and counting, in a fixed order. Labels of the feed, which users set by
/// hand, take precedence over extracted values.
pub fn attributes(document: &Document, labels: &Labels) -> Attributes {
    let mut fields: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, value: &str| {
        if !value.is_empty() && !fields.iter().any(|(known, _)| known == name) {
            fields.push((name.to_owned(), value.to_owned()));
        }
    };
    add("site", &document.site);
    add("feed", &document.feed);
    // The detected language takes precedence over the `lang` label of the feed.
    add("lang", &document.about.language);
    labels.iter().filter(|(name, _)| is_field_name(name)).for_each(|(name, value)| add(name, value));
    // Declared metadata takes precedence over the top-level domain.
    add("country", document.metadata.get("country").map_or(country(&document.site), String::as_str));
    if let Some(licence) = &document.about.licence {
        add("licence", &licence.name);
    }
    if let Some(category) = document.about.categories.first() {
        add("section", category);
    }
    if let Some(author) = document.about.authors.first() {
        add("author", author);
    }
    if let Some(dated) = &document.dated {
        add("dated_by", &dated.source);
    }
    let more = document.metadata.iter().filter(|(name, _)| is_field_name(name)).take(MAX_METADATA_FIELDS);
    more.for_each(|(name, value)| add(name, value));
    let rank = |name: &str| ["site", "feed", "lang"].iter().position(|first| *first == name).unwrap_or(usize::MAX);
    fields.sort_by(|(a, _), (b, _)| (rank(a), a).cmp(&(rank(b), b)));
    Attributes {
        id: u128::from_str_radix(&document.id, 16).unwrap_or_default(),
        url: document.url.clone(),
        title: document.about.title.clone(),
        date: document.dated.as_ref().map(|dated| dated.day.clone()).unwrap_or_default(),
        seen: document.downloaded.get(..10).unwrap_or_default().to_owned(),
        fields,
    }
}

/// Returns true for names that cannot clash with built-in attributes in the vertical format.
fn is_field_name(name: &str) -> bool {
    let own = ["id", "url", "title", "date", "seen", "site", "feed", "lang"];
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
    !name.is_empty() && name.len() <= 32 && name.bytes().all(is_plain) && !own.contains(&name)
}

/// Country of a site by its country-code top-level domain; empty for other domains.
fn country(site: &str) -> &str {
    let label = site.rsplit('.').next().unwrap_or_default();
    if label.len() == 2 && label.bytes().all(|byte| byte.is_ascii_lowercase()) { label } else { "" }
}

#[cfg(test)]
mod tests {
    use tidings_model::Dated;

    use super::*;

    fn paragraph(text: &str, language: &str) -> Paragraph {
        Paragraph { text: text.to_owned(), language: language.to_owned(), ..Paragraph::default() }
    }

    fn document() -> Document {
        let mut document = Document {
            id: format!("{:032x}", 7),
            url: "http://zeitung.at/a".into(),
            site: "zeitung.at".into(),
            downloaded: "2026-03-02T01:00:00Z".into(),
            dated: Some(Dated { day: "2026-03-01".into(), source: "meta".into(), confidence: 0.9, doubts: vec![] }),
            paragraphs: vec![
                paragraph("Es regnet. Dr. Weiß bleibt!", ""),
                paragraph("L'eau est là.", "fr"),
                paragraph(" ", ""),
            ],
            ..Document::default()
        };
        document.about.language = "de-AT".into();
        document
    }

    #[test]
    fn text_can_be_rebuilt_from_tokens_and_spaces() {
        let annotated = annotate(document(), &[], |_, _| true);
        assert_eq!(annotated.paragraphs.len(), 2, "a paragraph without words is dropped");
        let rebuilt: Vec<String> = annotated
            .paragraphs
            .iter()
            .map(|paragraph| {
                let sentences = paragraph.sentences.iter().map(|sentence| {
                    let words =
                        sentence.iter().map(|token| token.word.clone() + if token.space_after { " " } else { "" });
                    words.collect::<String>()
                });
                sentences.collect::<Vec<String>>().join(" ")
            })
            .collect();
        assert_eq!(rebuilt, ["Es regnet. Dr. Weiß bleibt!", "L'eau est là."]);
        assert_eq!(annotated.paragraphs[0].sentences.len(), 2);
        let french: Vec<&str> = annotated.paragraphs[1].sentences[0].iter().map(|token| token.word.as_str()).collect();
        assert_eq!(french, ["L'", "eau", "est", "là", "."], "a foreign paragraph has the tokens of its language");
        assert_eq!(annotate(document(), &[], |paragraph, _| paragraph == 1).paragraphs.len(), 1);
        let second = annotate(document(), &[], |paragraph, span| paragraph == 0 && span.start > 0);
        assert_eq!(second.paragraphs[0].sentences[0][0].word, "Dr.", "single sentences can be selected");
    }

    #[test]
    fn a_document_is_described_by_its_page_and_by_the_labels_of_its_feed() {
        let labels = [("topic", "sport"), ("country", "de"), ("lang", "en"), ("url", "x"), ("Odd name", "y")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let about = annotate(document(), &labels, |_, _| true).about;
        assert_eq!((about.id, about.date.as_str(), about.seen.as_str()), (7, "2026-03-01", "2026-03-02"));
        let fields: Vec<(&str, &str)> = about.fields.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        let expected =
            [("site", "zeitung.at"), ("lang", "de-AT"), ("country", "de"), ("dated_by", "meta"), ("topic", "sport")];
        assert_eq!(fields, expected);
    }
}
