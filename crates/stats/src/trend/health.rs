//! Coverage of bins, to distinguish "the word was not used" from "nothing was collected".
//!
//! Two things go wrong in collections: outages of days, and missing sites. The coverage of a bin is the smaller of two
//! shares: days with documents among its days, and its sites among those of neighbouring bins. Collections grow, so the
//! expected number of sites is the median of the neighbours, not of all bins.

/// The number of neighbours on either side.
const NEIGHBOURS: usize = 6;

/// The volume of a bin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Collected {
    /// Days of the bin.
    pub days: u32,
    /// Days with documents.
    pub days_with_documents: u32,
    /// Sites with documents.
    pub sites: u64,
}

/// The coverage of each bin: 0 if nothing was collected, 1 if nothing seems to be missing.
pub fn health(bins: &[Collected]) -> Vec<f64> {
    let share = |part: f64, whole: f64| if whole > 0.0 { (part / whole).min(1.0) } else { 0.0 };
    let of_bin = |(at, bin): (usize, &Collected)| {
        let near = &bins[at.saturating_sub(NEIGHBOURS)..(at + NEIGHBOURS + 1).min(bins.len())];
        let mut sites: Vec<u64> = near.iter().map(|bin| bin.sites).filter(|sites| *sites > 0).collect();
        sites.sort_unstable();
        let usual = sites.get(sites.len() / 2).copied().unwrap_or(0);
        let by_days = share(f64::from(bin.days_with_documents), f64::from(bin.days));
        by_days.min(share(bin.sites as f64, usual as f64))
    };
    bins.iter().enumerate().map(of_bin).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bin(days_with_documents: u32, sites: u64) -> Collected {
        Collected { days: 30, days_with_documents, sites }
    }

    #[test]
    fn outages_and_missing_sites_lower_the_coverage_and_growth_does_not() {
        let bins = [bin(30, 10), bin(15, 10), bin(30, 4), bin(0, 0), bin(30, 11), bin(30, 12)];
        assert_eq!(health(&bins), [1.0, 0.5, 0.4, 0.0, 1.0, 1.0]);
        let growing: Vec<Collected> = (0..40).map(|month| bin(30, 100 + 2 * month)).collect();
        assert!(health(&growing).iter().all(|health| *health > 0.85));
    }

    #[test]
    fn an_empty_bin_has_no_coverage() {
        assert_eq!(health(&[bin(0, 0)]), [0.0]);
        assert!(health(&[]).is_empty());
    }
}
