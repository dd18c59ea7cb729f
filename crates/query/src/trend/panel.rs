//! Fixed panels of sites, and comparisons of periods.
//!
//! A corpus that gains a hundred sports sites gains sports words. A fixed panel has only sites that were
//! collected in every bin, so that changes come from the texts and not from the list of feeds.

use super::rise::Table;
use crate::cql::Attribute;
use crate::measure::keyness::Keyness;
use crate::question::Keywords;
use std::ops::Range;

/// The sites with at least `min_documents` documents in every bin in which anything was collected.
/// `documents` holds a row for each site.
pub fn alive_throughout(documents: &[u32], bins: usize, min_documents: u32) -> Vec<usize> {
    let rows = || documents.chunks_exact(bins.max(1));
    let collected: Vec<bool> = (0..bins).map(|bin| rows().any(|site| site[bin] > 0)).collect();
    let least = min_documents.max(1);
    let alive =
        |site: &[u32]| site.iter().zip(&collected).all(|(documents, collected)| !collected || *documents >= least);
    let any = collected.contains(&true);
    rows().enumerate().filter(|(_, site)| any && alive(site)).map(|(row, _)| row).collect()
}

/// The keywords of some bins against others. `name` returns the word of a row.
pub fn compare_periods(
    table: &Table<'_>,
    (focus, reference): (Range<usize>, Range<usize>),
    attribute: Attribute,
    order: Keyness,
    min_hits: u64,
    name: impl Fn(usize) -> String,
) -> Keywords {
    let tokens = |bins: &Range<usize>| table.tokens[bins.clone()].iter().sum::<f64>() as u64;
    let hits = |row: &[u32], bins: &Range<usize>| row[bins.clone()].iter().map(|hits| u64::from(*hits)).sum::<u64>();
    let counts = table.rows().enumerate().filter_map(|(i, row)| {
        let (here, there) = (hits(row, &focus), hits(row, &reference));
        (here >= min_hits.max(1)).then(|| (name(i), here, there))
    });
    Keywords::rank(attribute, (tokens(&focus), tokens(&reference)), order, min_hits, counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panel_has_the_sites_of_every_collected_bin() {
        #[rustfmt::skip]
        let documents = [
            5, 3, 0, 4, // in every collected bin: the third was not collected
            0, 9, 0, 9, // came later
            2, 2, 0, 1, // there, but thin
        ];
        assert_eq!(alive_throughout(&documents, 4, 2), [0]);
        assert_eq!(alive_throughout(&documents, 4, 0), [0, 2]);
        assert!(alive_throughout(&[0, 0], 2, 1).is_empty());
        assert!(alive_throughout(&[], 0, 1).is_empty());
    }

    #[test]
    fn periods_are_compared_by_their_rates() {
        let table = Table { counts: &[1, 1, 4, 4, 5, 5, 5, 5, 0, 0, 0, 0], tokens: &[1e6, 1e6, 1e6, 1e6] };
        let names = ["new", "old", "none"];
        let answer =
            compare_periods(&table, (2..4, 0..2), Attribute::Word, Keyness::LogRatio, 1, |row| names[row].to_owned());
        let rows: Vec<(&str, u64, u64, f64)> =
            answer.rows.iter().map(|row| (row.value.as_str(), row.focus, row.reference, row.score)).collect();
        assert_eq!(rows, [("new", 8, 2, 2.0), ("old", 10, 10, 0.0)]);
        assert_eq!(answer.focus_tokens, 2_000_000);
    }
}
