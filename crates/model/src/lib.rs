//! Data types shared by all crates: feeds, entries, pages, documents, statuses. They do no I/O, except for the
//! [clock], so tests build them by hand.
//!
//! ```
//! use tidings_model::{Fingerprint, address};
//!
//! let from_rss = address::normalise("http://Example.org/a?utm_source=rss#top", None).unwrap();
//! let from_atom = address::normalise("/a", Some("http://example.org/atom.xml")).unwrap();
//! assert_eq!(from_rss, from_atom);
//! assert_eq!(Fingerprint::of(&from_rss), Fingerprint::of(&from_atom));
//! ```

pub mod address;
mod annotated;
mod cause;
pub mod clock;
mod day;
mod document;
mod entry;
pub mod feats;
mod feed;
mod fingerprint;
mod layer;
mod layer_record;
mod link;
mod page;
pub mod period;
pub mod purpose;
mod registered_domain;
mod retry;
mod span_part;
mod status;

pub use annotated::{Annotated, AnnotatedParagraph, Attributes, Token, TokenText};
pub use cause::{Cause, Context, FileError, in_full};
pub use day::Day;
pub use document::{
    CommentStart, Dated, Document, DroppedParagraph, Licence, Mark, PageMetadata, Paragraph, ParagraphKind, Span,
};
pub use entry::{ARCHIVE, BadRow, CRAWL, Entry, Row, is_archive, is_crawl};
pub use feed::{Feed, FeedEntry, FeedFormat, Person, Repair, UpdateHints, UpdatePeriod, Weekday};
pub use fingerprint::{Fingerprint, FingerprintMap, FingerprintSet};
pub use layer::{DECLARED_SPAN_ATTRIBUTES, LayerColumn, LayerDeclaration, LayerKind, TokenSpan};
pub use layer_record::{LayerNames, LayerRecord, TextLayers};
pub use link::{AGENT, LinkRegion, PageLink, PageLinks, RobotsDirectives, is_nofollow};
pub use page::{CONVERSION, DOCUMENT_TYPE, Page, PageOrigin, Rights, RobotsEvidence, TitleSource, UNGATED};
pub use registered_domain::registered_domain;
pub use retry::{FailureHistory, Prospect, RetryPolicy, backoff};
pub use span_part::{SpanPart, kept_before};
pub use status::{FailureKind, Status, UnknownFailure};
