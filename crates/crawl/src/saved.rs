//! The scheduler in the tables and sets of a checkpoint.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_64;

use crate::error::Result;
use crate::row_text;
use crate::state::{CrawlState, TablePart};
use crate::steward::{CrawlRow, Restoring, Row, SavedTexts, Settings, Steward};
use crate::tables::{COUNT_TABLE, CRAWL_TABLE, DOMAIN_TABLE, PageCounts};

/// Sets of hashes of texts: sampled windows, whole texts, front pages of parked domains.
const SAMPLE_SET: &str = "samples";
const TEXT_SET: &str = "texts";
const PARKED_SET: &str = "parked";

/// Totals of a crawl at its last checkpoint.
pub fn totals(state: &CrawlState) -> Result<CrawlRow> {
    let mut totals = CrawlRow::default();
    for_each_row(state, CRAWL_TABLE, |row| {
        if let Row::Crawl(row) = row {
            totals = row;
        }
    })?;
    Ok(totals)
}

/// The scheduler of the last checkpoint. All domains may be asked at once.
pub fn restore(state: &CrawlState, settings: Settings) -> Result<Steward> {
    let mut restoring = Restoring::new(settings, 0);
    for table in [CRAWL_TABLE, DOMAIN_TABLE] {
        for_each_row(state, table, |row| restoring.add(row))?;
    }
    let mut steward = restoring.finish();
    steward.restore_texts(SavedTexts {
        samples: state.read_set(SAMPLE_SET)?,
        exact: state.read_set(TEXT_SET)?,
        parked: state.read_set(PARKED_SET)?,
    });
    Ok(steward)
}

/// Reads the rows of a table of the last checkpoint, one at a time.
fn for_each_row(state: &CrawlState, table: &str, mut see: impl FnMut(Row)) -> Result<()> {
    state.read_table(table, |_, text| row_text::for_each(text, &mut see))
}

/// Writes checkpoints of a crawl with its scheduler.
#[derive(Debug, Default)]
pub struct Checkpoints {
    /// Hashes of the parts of tables that were written last, by shard.
    written: HashMap<(&'static str, u8), u64>,
}

impl Checkpoints {
    /// Writes everything new. All links must have been sifted.
    pub fn write(&mut self, state: &mut CrawlState, steward: &mut Steward, counts: &PageCounts) -> Result<()> {
        let sets = steward.saved_texts().map(|SavedTexts { samples, exact, parked }| {
            vec![(SAMPLE_SET, samples), (TEXT_SET, exact), (PARKED_SET, parked)]
        });
        let steward = &*steward;
        let counts = serde_json::to_string(counts).expect("counts serialise into memory");
        let whole = [
            self.changed_text((COUNT_TABLE, 0), counts),
            self.changed_part((CRAWL_TABLE, 0), std::iter::once(steward.crawl_row())),
        ];
        let shards = steward.domains_by_shard();
        let domains = shards.iter().enumerate().filter_map(|(shard, ids)| {
            let rows = ids.iter().flat_map(|id| steward.domain_rows(*id));
            self.changed_part((DOMAIN_TABLE, shard as u8), rows)
        });
        state.checkpoint(whole.into_iter().flatten().chain(domains), sets.unwrap_or_default())
    }

    /// A part of a table, if it differs from the one that was written last.
    fn changed_part(
        &mut self,
        (table, shard): (&'static str, u8),
        rows: impl Iterator<Item = Row>,
    ) -> Option<TablePart> {
        let mut text = String::new();
        rows.for_each(|row| row_text::write(&row, &mut text));
        self.changed_text((table, shard), text)
    }

    fn changed_text(&mut self, (table, shard): (&'static str, u8), text: String) -> Option<TablePart> {
        let hash = xxh3_64(text.as_bytes());
        let is_changed = !text.is_empty() && self.written.insert((table, shard), hash) != Some(hash);
        is_changed.then_some(TablePart { table, shard, text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{DomainHints, PageWorth};
    use crate::steward::{Discovered, Gate, Next, Outcome};
    use crate::text::TextFingerprint;

    fn met(steward: &mut Steward, count: u32) {
        for number in 0..count {
            let domain = format!("site{number}.example");
            let section = format!("{domain}/news/*");
            let hints = DomainHints::default();
            steward.discovered(&Discovered { domain: &domain, section: &section, source: None, hints });
        }
    }

    fn fetch(steward: &mut Steward, text: &TextFingerprint) -> f32 {
        let Next::Request(request) = steward.next(1, &mut |_| Gate::Open) else { panic!("a request") };
        let worth = PageWorth { bytes: 9000, clean_bytes: 900, tokens: 150, new_share: 1.0, ..PageWorth::default() };
        steward.done(&request, Outcome::Page { worth, text: Some(text), front: false }, 2).worth.new_share
    }

    #[test]
    fn domains_evidence_and_texts_are_restored() {
        let folder = tempfile::tempdir().unwrap();
        let mut state = CrawlState::open(folder.path()).unwrap();
        let (mut steward, mut checkpoints) = (Steward::new(Settings::default()), Checkpoints::default());
        met(&mut steward, 300);
        let text = TextFingerprint::of(&(0..900).map(|n| format!("word{n} ")).collect::<String>(), "");
        assert!((fetch(&mut steward, &text) - 1.0).abs() < f32::EPSILON);
        checkpoints.write(&mut state, &mut steward, &PageCounts::default()).unwrap();
        let state = CrawlState::open(folder.path()).unwrap();
        assert_eq!(totals(&state).unwrap().pages, 1);
        let mut restored = restore(&state, Settings::default()).unwrap();
        assert_eq!(restored.domain_count(), 300);
        assert_eq!(restored.totals().bytes, 9000);
        assert!(fetch(&mut restored, &text).abs() < f32::EPSILON, "the text is known");
    }

    #[test]
    fn parts_that_did_not_change_are_not_written_again() {
        let mut checkpoints = Checkpoints::default();
        let mut steward = Steward::new(Settings::default());
        met(&mut steward, 1);
        let mut part =
            |steward: &Steward| checkpoints.changed_part((DOMAIN_TABLE, 0), steward.domain_rows(0).into_iter());
        assert!(part(&steward).is_some() && part(&steward).is_none());
        met(&mut steward, 1);
        assert!(part(&steward).is_some(), "another URL waits");
    }
}
