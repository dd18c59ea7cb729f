//! Annotated text in TEI: sentences `<s>` of tokens `<w>` and `<pc>`.
//!
//! Lemma, tag and features are the attributes `lemma`, `pos` and `msd`; `join="right"` means that no white space
//! follows. Further token attributes have the prefix `layer:` of a namespace of their own. A span within a sentence is
//! an element around its tokens: of its own name if that is one of TEI (`<name type="…">`, `<q who="…">`), else a
//! `<seg>` with its name as `type`. A span that crosses sentences or other spans is a `<span>` in a `<spanGrp>` after
//! the text, with the ids of its first and last token. Metadata without a place in TEI are notes of the header.

mod read;
mod write;

pub use read::Reader;
pub use write::{CLOSING, OPENING, write};

/// Elements that enclose tokens and whose names spans keep.
const PHRASES: [&str; 14] = [
    "name",
    "persName",
    "placeName",
    "orgName",
    "rs",
    "q",
    "quote",
    "said",
    "foreign",
    "term",
    "date",
    "num",
    "emph",
    "ref",
];
/// The element of spans with other names.
const SEGMENT: &str = "seg";
/// The prefix of attributes that TEI does not have.
const PREFIX: &str = "layer:";
/// The namespace of that prefix.
const NAMESPACE: &str = "urn:tidings:layer";
