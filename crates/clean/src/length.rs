//! The maximum length of a document.
//!
//! One text of 60 million tokens in a file of JSON lines is valid input, but everything that holds a whole document in
//! memory, from tagging to the context of a hit, then takes gigabytes. A book fits into the limit.

use tidings_model::Document;

use crate::gate::Rejection;

/// The characters of a document, at most: about 1.7 million English words. The Bible has 4.3 million.
pub const MAX_TEXT_CHARS: usize = 10_000_000;

/// The rule that drops longer documents, in records and reports.
pub const TOO_LONG: &str = "too-long";

/// Rejects a document whose text is longer than [`MAX_TEXT_CHARS`].
pub fn check_length(document: &Document) -> Result<(), Rejection> {
    let texts = || document.paragraphs.iter().map(|paragraph| paragraph.text.as_str());
    // A text has no more characters than bytes, so nearly all documents need no counting.
    if texts().map(str::len).sum::<usize>() <= MAX_TEXT_CHARS {
        return Ok(());
    }
    match texts().map(|text| text.chars().count()).sum::<usize>() {
        chars if chars <= MAX_TEXT_CHARS => Ok(()),
        chars => Err(Rejection { rule: TOO_LONG, measured: chars as f64, limit: MAX_TEXT_CHARS as f64 }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidings_model::Paragraph;

    fn document(text: String) -> Document {
        Document { paragraphs: vec![Paragraph { text, ..Paragraph::default() }], ..Document::default() }
    }

    #[test]
    fn characters_are_limited_and_not_bytes() {
        assert!(check_length(&document("क".repeat(MAX_TEXT_CHARS))).is_ok());
        let refused = check_length(&document("a ".repeat(MAX_TEXT_CHARS / 2 + 1))).unwrap_err();
        assert_eq!((refused.rule, refused.measured), (TOO_LONG, MAX_TEXT_CHARS as f64 + 2.0));
    }
}
