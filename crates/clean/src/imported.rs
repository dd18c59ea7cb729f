//! Documents imported as text rather than extracted from a page.
//!
//! They are stored as raw pages whose body is the document in JSON, so everything derived from them
//! can be rebuilt by the same stages: Unicode normalisation, language identification unless known,
//! masking, quality gate.

use tidings_model::{DOCUMENT_TYPE, Document, Page, UNGATED};
use url::Url;

use crate::date::KnownDates;
use crate::extract::{DropReason, HtmlInput, describe};
use crate::postprocess::normalise_unicode;

/// The imported document stored as a page; `None` if the page is an ordinary one.
pub(crate) fn document(page: &Page, known_dates: &KnownDates) -> Option<Result<Document, DropReason>> {
    is_imported(page).then(|| read(page, known_dates))
}

/// Whether a page is a document of another home or program.
pub(crate) fn is_imported(page: &Page) -> bool {
    page.content_type.split(';').next() == Some(DOCUMENT_TYPE)
}

/// Returns whether the quality gate is off for a page.
pub(crate) fn is_ungated(page: &Page) -> bool {
    is_imported(page) && page.content_type.split(';').skip(1).any(|parameter| parameter.trim() == UNGATED)
}

/// The document id that imported tokens had in another home, of a document that was just read. It was computed from
/// the full text, of which they may be a part.
pub(crate) fn imported_id(document: &Document) -> Option<String> {
    let is_id = document.id.len() == 32 && document.id.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then(|| document.id.clone())
}

/// Returns whether a document consists of exactly the tokens it was imported with.
pub(crate) fn has_only_imported_tokens(document: &Document) -> bool {
    document.left_out.is_empty()
        && document.masked.is_empty()
        && document.paragraphs.iter().all(|paragraph| paragraph.aligned_sentences().is_some())
}

fn read(page: &Page, known_dates: &KnownDates) -> Result<Document, DropReason> {
    let mut document: Document = serde_json::from_slice(&page.body).map_err(|_| DropReason::NotHtml)?;
    normalise_unicode(&mut document);
    if document.paragraphs.is_empty() {
        return Err(DropReason::NoText);
    }
    if document.site.is_empty() {
        document.site = Url::parse(&page.url).ok().and_then(|url| Some(url.host_str()?.to_owned())).unwrap_or_default();
    }
    if document.dated.is_none() {
        // Date by its URL, or else the first-seen date.
        document.dated =
            describe(&HtmlInput { url: Some(&page.url), known_dates: *known_dates, ..HtmlInput::default() }).dated;
    }
    if document.extractor.is_empty() {
        document.extractor = "import".to_owned();
    } else {
        // Only the id of imported tokens is kept; that of a text is computed again.
        document.id.clear();
    }
    Ok(document)
}

#[cfg(test)]
mod tests {
    use tidings_model::{Paragraph, Token};

    use super::*;
    use crate::gate::Gate;
    use crate::postprocess::PostprocessOptions;
    use crate::{Options, clean};

    const TEXT: &str = "The river rose again during the night, and the fire brigade had to close two of the roads.";

    fn page(document: &Document, parameters: &str) -> Page {
        Page {
            url: "https://gazette.example/2026/02/27/river".into(),
            downloaded: "2026-03-01T10:00:00Z".into(),
            seen: "2026-03-01T10:00:00Z".into(),
            content_type: format!("{DOCUMENT_TYPE}{parameters}"),
            body: serde_json::to_vec(document).unwrap(),
            ..Page::default()
        }
    }

    fn paragraph(text: &str) -> Paragraph {
        Paragraph { text: text.to_owned(), ..Paragraph::default() }
    }

    fn postprocess_options() -> PostprocessOptions {
        PostprocessOptions {
            masks: tidings_lang::MaskRule::ALL.to_vec(),
            gate: Gate::default(),
            ..PostprocessOptions::default()
        }
    }

    #[test]
    fn a_text_beyond_the_limit_is_dropped_by_name_even_without_the_gate() {
        let long = vec![paragraph(&"a ".repeat(crate::MAX_TEXT_CHARS / 2)), paragraph(TEXT)];
        let imported = Document { paragraphs: long, ..Document::default() };
        let ungated = page(&imported, &format!("; {UNGATED}"));
        let dropped = clean(&ungated, &Options::default(), &postprocess_options()).unwrap_err();
        assert_eq!(dropped.name(), crate::TOO_LONG);
    }

    #[test]
    fn an_imported_text_is_postprocessed_like_a_page() {
        let token = Token { word: "Rain".into(), lemma: "rain".into(), ..Token::default() };
        let mut imported = Document {
            paragraphs: vec![paragraph(TEXT), paragraph(TEXT), paragraph("Write to a.b@example.org!")],
            ..Document::default()
        };
        imported.paragraphs.push(Paragraph { sentences: vec![vec![token]], ..paragraph("Rain") });
        imported.metadata.insert("genre".into(), "news".into());
        let document = clean(&page(&imported, ""), &Options::default(), &postprocess_options()).unwrap();
        assert_eq!((document.about.language.as_str(), document.site.as_str()), ("en", "gazette.example"));
        let dated = document.dated.clone().unwrap();
        assert_eq!((dated.day.as_str(), dated.source.as_str()), ("2026-02-27", "url"));
        assert_eq!(document.paragraphs[2].text, "Write to [EMAIL]!");
        assert_eq!((document.metadata["genre"].as_str(), document.extractor.as_str()), ("news", "import"));
        assert!(document.paragraphs[3].aligned_sentences().is_some());
        // Postprocessing is idempotent.
        assert_eq!(clean(&page(&document, ""), &Options::default(), &postprocess_options()).unwrap(), document);
    }

    #[test]
    fn the_gate_applies_to_imports_unless_switched_off() {
        let short = Document { paragraphs: vec![paragraph("Rain.")], ..Document::default() };
        let rejected = clean(&page(&short, ""), &Options::default(), &postprocess_options()).unwrap_err();
        assert_eq!(rejected.name(), "too-short");
        assert!(clean(&page(&short, "; gate=off"), &Options::default(), &postprocess_options()).is_ok());
        let empty = clean(&page(&Document::default(), "; gate=off"), &Options::default(), &postprocess_options());
        assert_eq!(empty, Err(DropReason::NoText));
        let nonsense = Page { body: b"{".to_vec(), ..page(&short, "") };
        assert_eq!(clean(&nonsense, &Options::default(), &postprocess_options()), Err(DropReason::NotHtml));
    }
}
