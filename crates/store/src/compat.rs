//! Old paths and names of items that moved to `tidings-formats` or were renamed.
//!
//! Temporary: callers move to the new names, then this file goes.
#![allow(missing_docs)]

pub mod archive {
    pub use crate::input_files::{files_under, html_files, lines};
    pub use tidings_formats::compressed::open;
    pub use tidings_formats::saved_page::{is_saved_page, mirrored, read_html};
    pub use tidings_formats::warc::{ArchivedPage as Archived, PageReader as WarcReader};
}

pub mod doors {
    pub use crate::by_language;
    pub use tidings_formats::{conllu, zip};

    pub mod ledger {
        pub use crate::import_log::{PageImporter as Intake, *};
    }

    pub mod records {
        pub use tidings_formats::warc::{
            Headers as Head, HttpResponse as Answered, Position as Place, Record, RecordEvent as Met,
            RecordReader as Records,
        };
    }
}

pub mod format {
    pub use tidings_formats::csv::quoted as csv_field;
    pub use tidings_formats::{Format, cdxj, conllu, csv, jsonl as lines, parquet, registry, tmx, vertical};
}

pub mod outlet {
    pub use crate::output::{AtomicOutput as Outlet, *};
}

pub use tidings_formats::{self as formats, warc};
