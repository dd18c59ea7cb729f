//! The recall of a backfill, estimated by the articles that feeds brought, with a binomial interval (Wilson's score
//! interval).

use serde::Serialize;

/// The quantile of the normal distribution for an interval of 95 %.
const Z: f64 = 1.959_964;

/// The share of known articles that a backfill found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Recall {
    /// Articles of the site that its feeds brought.
    pub known: u64,
    /// Of these, articles that the backfill found too.
    pub found_too: u64,
    /// The share; `None` without known articles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// The lower end of the 95 % interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// The upper end of the 95 % interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

impl Recall {
    /// The estimate from counts.
    pub fn of(found_too: u64, known: u64) -> Recall {
        if known == 0 {
            return Recall::default();
        }
        let (n, p) = (known as f64, found_too as f64 / known as f64);
        let centre = (p + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
        let half = Z / (1.0 + Z * Z / n) * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
        Recall {
            known,
            found_too,
            share: Some(p),
            low: Some((centre - half).max(0.0)),
            high: Some((centre + half).min(1.0)),
        }
    }
}

impl std::fmt::Display for Recall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.share, self.low, self.high) {
            (Some(share), Some(low), Some(high)) => {
                write!(f, "{:.0} % ({:.0}–{:.0} %, {} known)", share * 100.0, low * 100.0, high * 100.0, self.known)
            }
            _ => f.write_str("unknown (no articles of a feed to compare with)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_wilsons() {
        let near = |left: Option<f64>, right: f64| (left.unwrap() - right).abs() < 0.0005;
        // Values of the literature for 95 %: 8 of 10, and 0 of 10.
        let eight = Recall::of(8, 10);
        assert!(near(eight.low, 0.4902) && near(eight.high, 0.9433), "{eight:?}");
        let none = Recall::of(0, 10);
        assert!(near(none.low, 0.0) && near(none.high, 0.2775), "{none:?}");
        assert_eq!(Recall::of(0, 0).share, None);
        assert!(Recall::of(100, 100).high == Some(1.0));
    }
}
