//! Fixed panels of sites.
//!
//! A corpus that gains a hundred sports sites gains sports words. A fixed panel has only sites that were
//! collected in every bin, so that changes come from the texts and not from the list of feeds.

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
}
