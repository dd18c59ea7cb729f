//! Reproducible random numbers.
//!
//! A failing test must fail again, so no randomness of the operating system is used: every stream of numbers is
//! identified by a few integers (the seed, a site, an article) and is the same on every machine and in any order of
//! requests.

/// A SplitMix64 generator: fast, seedable by a tuple, good enough for prose.
#[derive(Clone, Debug)]
pub struct Rng {
    state: u64,
}

impl Rng {
    /// The stream of these integers, in this order.
    pub fn named(names: &[u64]) -> Self {
        let mut state = 0x51AB_0C0D_E5EE_D000;
        for name in names {
            state = mix(state ^ mix(name.wrapping_add(0x9E37_79B9_7F4A_7C15)));
        }
        Rng { state }
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.state)
    }

    /// A number below `limit`; zero when the limit is zero.
    pub fn below(&mut self, limit: u64) -> u64 {
        // The high half of a product has no modulo bias.
        ((u128::from(self.bits()) * u128::from(limit)) >> 64) as u64
    }

    /// A number from 0 up to but not including 1.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True in about `percent` of a hundred cases.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// A random element of the choices, which must not be empty.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }
}

/// Mixes every input bit into the whole word.
pub fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_integers_give_the_same_numbers() {
        let draw = |names: &[u64]| {
            let mut rng = Rng::named(names);
            (rng.bits(), rng.below(1000), rng.unit())
        };
        assert_eq!(draw(&[1, 2]), draw(&[1, 2]));
        assert_ne!(draw(&[1, 2]), draw(&[2, 1]));
    }

    #[test]
    fn numbers_stay_below_their_limit() {
        let mut rng = Rng::named(&[7]);
        assert!((0..10_000).all(|_| rng.below(13) < 13 && rng.unit() < 1.0));
        assert_eq!(rng.below(0), 0);
    }
}
