//! Documents that were text when they came: imported from another corpus, not extracted from a page.
//!
//! On the shelf of raw pages they lie as pages whose body is the document in JSON, as it came in. So whatever is derived
//! from it can be thrown away and made again, by the same stages as everything else: the spelling is made one, the
//! language is told unless it was told before, what is private is masked, and the gate judges.

use tidings_model::{DOCUMENT_TYPE, Document, Page, UNGATED};
use url::Url;

use crate::date::KnownDates;
use crate::extract::{DropReason, Source, describe};
use crate::postprocess::normalise_unicode;

/// The document that a page is; nothing if the page is a page.
pub(crate) fn document(page: &Page, known_dates: &KnownDates) -> Option<Result<Document, DropReason>> {
    is_given(page).then(|| read(page, known_dates))
}

fn is_given(page: &Page) -> bool {
    page.content_type.split(';').next() == Some(DOCUMENT_TYPE)
}

/// Whether the gate has nothing to say about a page.
pub(crate) fn is_ungated(page: &Page) -> bool {
    is_given(page) && page.content_type.split(';').skip(1).any(|parameter| parameter.trim() == UNGATED)
}

/// The id that tokens had in another home, which was told by a text of which they may be only a part.
pub(crate) fn own_id(page: &Page) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Own {
        id: String,
        extractor: String,
    }
    if !is_given(page) {
        return None;
    }
    let own: Own = serde_json::from_slice(&page.body).ok()?;
    let is_id = own.id.len() == 32 && own.id.bytes().all(|byte| byte.is_ascii_hexdigit());
    Some(own.id).filter(|_| is_id && own.extractor.is_empty())
}

/// Whether all of a document are the tokens that came with it.
pub(crate) fn is_as_it_came(document: &Document) -> bool {
    document.left_out.is_empty() && document.paragraphs.iter().all(|paragraph| paragraph.told_sentences().is_some())
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
        // Its address may tell, or our own calendar.
        document.dated =
            describe(&Source { url: Some(&page.url), known_dates: *known_dates, ..Source::default() }).dated;
    }
    if document.extractor.is_empty() {
        document.extractor = "import".to_owned();
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
    fn a_text_that_was_imported_becomes_a_document_like_others() {
        let token = Token { word: "Rain".into(), lemma: "rain".into(), ..Token::default() };
        let mut given = Document {
            paragraphs: vec![paragraph(TEXT), paragraph(TEXT), paragraph("Write to a.b@example.org!")],
            ..Document::default()
        };
        given.paragraphs.push(Paragraph { sentences: vec![vec![token]], ..paragraph("Rain") });
        given.metadata.insert("genre".into(), "news".into());
        let document = clean(&page(&given, ""), &Options::default(), &postprocess_options()).unwrap();
        assert_eq!((document.about.language.as_str(), document.site.as_str()), ("en", "gazette.example"));
        let dated = document.dated.clone().unwrap();
        assert_eq!((dated.day.as_str(), dated.source.as_str()), ("2026-02-27", "url"));
        assert_eq!(document.paragraphs[2].text, "Write to [EMAIL]!");
        assert_eq!((document.metadata["genre"].as_str(), document.extractor.as_str()), ("news", "import"));
        assert!(document.paragraphs[3].told_sentences().is_some());
        // What went through once goes through again as it is.
        assert_eq!(clean(&page(&document, ""), &Options::default(), &postprocess_options()).unwrap(), document);
    }

    #[test]
    fn the_gate_judges_unless_it_is_told_not_to() {
        let short = Document { paragraphs: vec![paragraph("Rain.")], ..Document::default() };
        let refused = clean(&page(&short, ""), &Options::default(), &postprocess_options()).unwrap_err();
        assert_eq!(refused.name(), "too-short");
        assert!(clean(&page(&short, "; gate=off"), &Options::default(), &postprocess_options()).is_ok());
        let empty = clean(&page(&Document::default(), "; gate=off"), &Options::default(), &postprocess_options());
        assert_eq!(empty, Err(DropReason::NoText));
        let nonsense = Page { body: b"{".to_vec(), ..page(&short, "") };
        assert_eq!(clean(&nonsense, &Options::default(), &postprocess_options()), Err(DropReason::NotHtml));
    }
}
