//! How well each bin was collected: a hole in a chart is silence, or nobody listened.
//!
//! Two things go wrong with collections: nothing is collected for days, and some of the sites are missing. Both can be seen in
//! what is there. The health of a bin is the smaller of two shares: days with documents among its days, and its sites among
//! those of a usual bin nearby. Collections grow, so that "usual" is the median of the neighbours and not of all.

/// Bins on either side that tell what is usual.
const NEIGHBOURS: usize = 6;

/// What was collected in a bin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Collected {
    /// Days of the bin.
    pub days: u32,
    /// Days with documents.
    pub days_with_documents: u32,
    /// Sites that gave documents.
    pub sites: u64,
}

/// The health of each bin: 0 if nothing was collected, 1 if nothing seems to be missing.
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
    fn an_outage_and_missing_sites_are_seen_and_growth_is_no_illness() {
        let bins = [bin(30, 10), bin(15, 10), bin(30, 4), bin(0, 0), bin(30, 11), bin(30, 12)];
        assert_eq!(health(&bins), [1.0, 0.5, 0.4, 0.0, 1.0, 1.0]);
        let growing: Vec<Collected> = (0..40).map(|month| bin(30, 100 + 2 * month)).collect();
        assert!(health(&growing).iter().all(|health| *health > 0.85));
    }

    #[test]
    fn nothing_is_not_healthy() {
        assert_eq!(health(&[bin(0, 0)]), [0.0]);
        assert!(health(&[]).is_empty());
    }
}
