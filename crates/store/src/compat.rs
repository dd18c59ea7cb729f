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

pub mod disk {
    pub use tidings_storage::AtomicFile as Draft;
    pub use tidings_storage::file::{make_folder, remove, rename, sync_folder};
    pub use tidings_storage::write_atomic as write_whole;
}

pub mod census {
    pub use crate::day_stats::{Annotated, DayStats as DayFates, DayStatsCache as Census, Judged};
}

pub mod corpora {
    pub use crate::virtual_corpora::{VirtualCorpus as Named, read, write};
}

pub mod docs_names {
    pub use crate::FileDigest as Ingredient;
    pub use crate::docs::{document_days as made, page_days as days, page_days_since as days_since};

    pub fn ingredient(home: &crate::Home, path: &std::path::Path) -> crate::Result<Ingredient> {
        Ingredient::of(home, &home.key(path))
    }
}

pub mod journal_names {
    pub use crate::journal::JournalBatch as Step;
}

pub mod pages_names {
    pub use crate::pages::PageWriter as Shelf;
}

pub mod find {
    pub use crate::scan::*;
}

pub mod fold {
    pub use crate::apply_journal::{Applied as Folded, apply_journal as fold, *};
}

pub mod seen {
    pub use crate::dedup_state::{DedupParams as Manner, JudgedDays as Ledger, *};
}

pub use crate::frames::FrameEncoder as Packer;
pub use tidings_formats::{self as formats, warc};
pub use tidings_storage::write_atomic as write_whole;

impl crate::FrameEncoder {
    pub fn pack(&mut self, text: &[u8]) -> Vec<u8> {
        self.encode(text)
    }
}

impl crate::docs::Recipe {
    pub fn shelves(&self) -> impl Iterator<Item = &crate::FileDigest> {
        self.document_files()
    }
}
