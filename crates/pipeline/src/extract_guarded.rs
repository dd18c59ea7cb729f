//! The extractor with a panic guard: a page on which it panics is dropped with a reason.

use tidings_clean::refine::Refinement;
use tidings_clean::{Options, Source, Unfit};
use tidings_model::{Document, Page};

use crate::guard::guarded;

/// Makes a document of a page as it was fetched.
pub fn read_page(page: &Page, options: &Options) -> Result<Document, Unfit> {
    finished(|| tidings_clean::read(page, options))
}

/// Extracts a document from a fetched page.
pub fn clean_page(page: &Page, options: &Options, refinement: &Refinement) -> Result<Document, Unfit> {
    finished(|| tidings_clean::clean(page, options, refinement))
}

/// Extracts a document from decoded HTML whose language may be known.
pub fn read_html(html: &str, url: &str, lang: Option<&str>, options: &Options) -> Result<Document, Unfit> {
    let url = Some(url).filter(|url| !url.is_empty());
    let source = Source { html, url, stop_list: lang.and_then(tidings_lang::stop_list), ..Source::default() };
    finished(|| tidings_clean::extract(&source, options))
}

/// Returns the metadata of a page that has no text.
pub fn describe(html: &str, url: &str) -> Document {
    let source = Source { html, url: Some(url).filter(|url| !url.is_empty()), ..Source::default() };
    finished(|| Ok(tidings_clean::describe(&source))).unwrap_or_default()
}

fn finished(extract: impl FnOnce() -> Result<Document, Unfit>) -> Result<Document, Unfit> {
    guarded(extract).unwrap_or(Err(Unfit::Error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_drop_reason() {
        assert_eq!(finished(|| panic!("a mistake")), Err(Unfit::Error));
        assert_eq!(finished(|| Err(Unfit::NoText)), Err(Unfit::NoText));
    }
}
