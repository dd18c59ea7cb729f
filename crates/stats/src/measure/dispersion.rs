//! Dispersion: a word that fills one article should not outrank one that is everywhere.

/// Average reduced frequency (ARF; Savický and Hlaváčová 2002): the frequency corrected for clumping. `positions` ascend.
///
/// The corpus, taken as a ring, is cut into as many equal segments as there are hits; ARF is the number of
/// segments with a hit, averaged over all offsets of the cut.
pub fn arf(positions: &[u64], tokens: u64) -> f64 {
    if positions.is_empty() {
        return 0.0;
    }
    let stretch = tokens as f64 / positions.len() as f64;
    distances(positions, tokens).map(|distance| distance.min(stretch)).sum::<f64>() / stretch
}

/// Average logarithmic distance frequency (ALDF): the exponential of the entropy of the distances.
pub fn aldf(positions: &[u64], tokens: u64) -> f64 {
    let entropy: f64 = distances(positions, tokens)
        .map(|distance| distance / tokens as f64)
        .map(|share| if share > 0.0 { -share * share.log2() } else { 0.0 })
        .sum();
    if positions.is_empty() { 0.0 } else { entropy.exp2() }
}

/// The same two measures of positions that come one by one, so that they need not be in memory. Their number is known before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dispersion {
    /// The average reduced frequency.
    pub arf: f64,
    /// The average logarithmic distance frequency.
    pub aldf: f64,
    hits: u64,
    tokens: u64,
    first: Option<u64>,
    last: u64,
}

impl Dispersion {
    /// Before the first of `hits` positions among `tokens`.
    pub fn new(hits: u64, tokens: u64) -> Dispersion {
        Dispersion { arf: 0.0, aldf: 0.0, hits, tokens, first: None, last: 0 }
    }

    /// Adds a position; positions ascend.
    pub fn add(&mut self, position: u64) {
        if self.first.is_none() {
            self.first = Some(position);
        } else {
            self.add_distance((position - self.last) as f64);
        }
        self.last = position;
    }

    fn add_distance(&mut self, distance: f64) {
        let stretch = self.tokens as f64 / self.hits as f64;
        self.arf += distance.min(stretch) / stretch;
        let share = distance / self.tokens as f64;
        self.aldf += if share > 0.0 { -share * share.log2() } else { 0.0 };
    }

    /// The measures after the last position.
    pub fn complete(mut self) -> Dispersion {
        if let Some(first) = self.first {
            self.add_distance((self.tokens - self.last + first) as f64);
            self.aldf = self.aldf.exp2();
        }
        self
    }
}

/// The overdispersion of counts in successive periods, at least 1: the mean square of the differences between
/// neighbours, relative to that of independent hits. Differences, because a trend is no noise; the largest 5 % are left
/// out, because a burst is none either. `periods` are hits and tokens; periods without tokens have no rate.
pub fn overdispersion_of_neighbours(periods: &[(u64, u64)]) -> f64 {
    let collected: Vec<(f64, f64)> =
        periods.iter().filter(|(_, tokens)| *tokens > 0).map(|(hits, tokens)| (*hits as f64, *tokens as f64)).collect();
    let square = |pair: &[(f64, f64)]| {
        let [(hits, tokens), (next_hits, next_tokens)] = [pair[0], pair[1]];
        let rate = (hits + next_hits) / (tokens + next_tokens);
        let variance = rate * (1.0 / tokens + 1.0 / next_tokens);
        (variance > 0.0).then(|| (hits / tokens - next_hits / next_tokens).powi(2) / variance)
    };
    let mut squares: Vec<f64> = collected.windows(2).filter_map(square).collect();
    squares.sort_unstable_by(f64::total_cmp);
    squares.truncate(squares.len() - squares.len() / 20);
    (squares.iter().sum::<f64>() / squares.len().max(1) as f64).max(1.0)
}

/// The distance of each hit from the one before; of the first, around the ring, from the last.
fn distances(positions: &[u64], tokens: u64) -> impl Iterator<Item = f64> {
    let around = positions.last().map(|last| tokens as f64 - *last as f64 + positions[0] as f64);
    around.into_iter().chain(positions.windows(2).map(|pair| (pair[1] - pair[0]) as f64))
}

#[cfg(test)]
mod tests {
    use super::super::assert_near;
    use super::*;

    #[test]
    fn evenly_spread_hits_keep_their_frequency() {
        assert_near(arf(&[0, 25, 50, 75], 100), 4.0);
        assert_near(aldf(&[0, 25, 50, 75], 100), 4.0);
    }

    #[test]
    fn clumped_hits_count_little_more_than_one() {
        // Segments of 25; distances 97, 1, 1, 1: (25 + 3) / 25.
        assert_near(arf(&[10, 11, 12, 13], 100), 1.12);
        assert!(aldf(&[10, 11, 12, 13], 100) < 1.3);
    }

    #[test]
    fn positions_one_by_one_have_the_same_measures() {
        for positions in [&[0, 25, 50, 75][..], &[10, 11, 12, 13], &[7], &[], &[3, 90]] {
            let mut measures = Dispersion::new(positions.len() as u64, 100);
            positions.iter().for_each(|position| measures.add(*position));
            let Dispersion { arf: one, aldf: other, .. } = measures.complete();
            assert_near(one, arf(positions, 100));
            assert_near(other, aldf(positions, 100));
        }
    }

    #[test]
    fn noise_widens_and_a_trend_does_not() {
        let with = |hits: fn(u64) -> u64| -> Vec<(u64, u64)> { (0..60).map(|bin| (hits(bin), 1_000_000)).collect() };
        assert_near(overdispersion_of_neighbours(&with(|bin| 100 + bin)), 1.0);
        // The differences of 80 have a variance of 200 for independent hits.
        assert_near(overdispersion_of_neighbours(&with(|bin| 60 + 80 * (bin % 2))), 6400.0 / 200.0);
        assert_near(overdispersion_of_neighbours(&with(|bin| if bin == 30 { 5000 } else { 100 })), 1.0);
        assert_near(overdispersion_of_neighbours(&[(5, 10), (9, 0)]), 1.0);
    }

    #[test]
    fn no_hits_have_frequency_zero() {
        assert_near(arf(&[], 100), 0.0);
        assert_near(arf(&[], 0), 0.0);
        assert_near(aldf(&[], 100), 0.0);
        assert_near(arf(&[7], 100), 1.0);
    }
}
