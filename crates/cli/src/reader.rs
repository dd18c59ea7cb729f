//! Reads pages with the extractor, whatever it makes of them.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tidings_clean::{Options, Source, Unfit};
use tidings_model::{Document, Page, address};

/// Makes a document of a page as it was fetched.
pub fn read_page(page: &Page, options: &Options) -> Result<Document, Unfit> {
    finished(|| tidings_clean::clean(page, options))
}

/// Makes a document of a page whose characters are known.
pub fn read_html(html: &str, url: &str, options: &Options) -> Result<Document, Unfit> {
    let source = Source { html, url: Some(url).filter(|url| !url.is_empty()) };
    finished(|| {
        let mut document = tidings_clean::extract(&source, options)?;
        if document.site.is_empty() {
            document.site = address::host(url).unwrap_or_default().to_owned();
        }
        Ok(document)
    })
}

/// A document with its name and the extractor's. A panic is a mistake of ours that costs one page,
/// not the run.
fn finished(extract: impl FnOnce() -> Result<Document, Unfit>) -> Result<Document, Unfit> {
    let mut document = catch_unwind(AssertUnwindSafe(extract)).unwrap_or(Err(Unfit::Error))?;
    if document.extractor.is_empty() {
        document.extractor = tidings_clean::version().to_owned();
    }
    document.identify();
    Ok(document)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_reason_like_others() {
        assert_eq!(finished(|| panic!("a mistake")), Err(Unfit::Error));
        assert_eq!(finished(|| Err(Unfit::TooShort)), Err(Unfit::TooShort));
        let document = finished(|| Ok(Document::default())).unwrap();
        assert_eq!(document.id.len(), 32);
        assert!(document.extractor.starts_with("tidings-clean"));
    }
}
