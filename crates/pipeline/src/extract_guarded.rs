//! The extractor with a panic guard: a page on which it panics is dropped with a reason.

use tidings_clean::postprocess::{PostprocessOptions, identify_language};
use tidings_clean::{DropReason, HtmlInput, Options};
use tidings_model::{Document, Page, PageLinks};

use crate::guard::guarded;

/// Makes a document of a page as it was fetched, in the language of its text.
pub fn read_page(page: &Page, options: &Options) -> Result<Document, DropReason> {
    finished(|| tidings_clean::read(page, options).map(with_language))
}

/// Extracts a document from a fetched page.
pub fn clean_page(
    page: &Page,
    options: &Options,
    postprocess_options: &PostprocessOptions,
) -> Result<Document, DropReason> {
    finished(|| tidings_clean::clean(page, options, postprocess_options))
}

/// Extracts a document from a fetched page, with the links of the page.
pub fn clean_page_with_links(
    page: &Page,
    options: &Options,
    postprocess_options: &PostprocessOptions,
) -> (Result<Document, DropReason>, PageLinks) {
    guarded(|| tidings_clean::clean_with_links(page, options, postprocess_options))
        .unwrap_or_else(|_| (Err(DropReason::Error), PageLinks::default()))
}

/// Extracts a document from decoded HTML whose language may be known.
pub fn read_html(html: &str, url: &str, lang: Option<&str>, options: &Options) -> Result<Document, DropReason> {
    let url = Some(url).filter(|url| !url.is_empty());
    let source = HtmlInput { html, url, stop_list: lang.and_then(tidings_lang::stop_list), ..HtmlInput::default() };
    finished(|| tidings_clean::extract(&source, options).map(with_language))
}

/// Identifies the language of a document from its text.
fn with_language(mut document: Document) -> Document {
    identify_language(&mut document);
    document
}

/// Returns the metadata of a page that has no text.
pub fn describe(html: &str, url: &str) -> Document {
    let source = HtmlInput { html, url: Some(url).filter(|url| !url.is_empty()), ..HtmlInput::default() };
    finished(|| Ok(tidings_clean::describe(&source))).unwrap_or_default()
}

fn finished(extract: impl FnOnce() -> Result<Document, DropReason>) -> Result<Document, DropReason> {
    guarded(extract).unwrap_or(Err(DropReason::Error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_is_that_of_the_text_not_of_the_markup() {
        let html = "<html lang=en><article><p>Der Fluss ist in der Nacht über die Ufer getreten, und die Feuerwehr hat \
            zwei Straßen gesperrt.</p><p>Am Morgen standen die Keller der Altstadt noch unter Wasser.</p></article>";
        let document = read_html(html, "", None, &Options::default()).unwrap();
        assert_eq!((document.about.language.as_str(), document.about.declared_language.as_str()), ("de", "en"));
        let page = Page { body: html.as_bytes().to_vec(), ..Page::default() };
        assert_eq!(read_page(&page, &Options::default()).unwrap().about.language, "de");
        let unsure = read_html("<html lang=de><p>2026-03-01 12:30 14:50", "", None, &Options::default()).unwrap();
        assert_eq!(unsure.about.language, "und");
    }

    #[test]
    fn a_panic_is_a_drop_reason() {
        assert_eq!(finished(|| panic!("a mistake")), Err(DropReason::Error));
        assert_eq!(finished(|| Err(DropReason::NoText)), Err(DropReason::NoText));
    }
}
