//! Forward-backward algorithm for a linear-chain CRF, scaled at each position (Rabiner 1989).

use tidings_annotate::tagger::crf::MAX_TAGS;

/// Scores or probabilities by tag.
pub(crate) type Scores = [f32; MAX_TAGS];

/// Exponentiated scores of all tags of a sentence; zero for numbers beyond the last tag.
pub(crate) struct Lattice {
    /// Number of tags.
    pub tags: usize,
    /// Emission scores by position.
    pub emissions: Vec<Scores>,
    /// Scores of the first tag.
    pub initial: Scores,
    /// Transition scores by the tag before, then by tag.
    pub transitions: [Scores; MAX_TAGS],
}

/// Gradients of the negative log-likelihood of a tag sequence: expected minus observed counts.
pub(crate) struct Gradients {
    /// Gradients by position; those of the first position are also those of the initial scores.
    pub emissions: Vec<Scores>,
    /// Gradients by the tag before, then by tag.
    pub transitions: [Scores; MAX_TAGS],
}

impl Lattice {
    /// Computes the gradients for the gold tags of the sentence, which must not be empty.
    pub fn gradients(&self, gold: &[u8]) -> Gradients {
        let forward = self.forward();
        let mut gradients =
            Gradients { emissions: vec![[0.0; MAX_TAGS]; gold.len()], transitions: [[0.0; MAX_TAGS]; MAX_TAGS] };
        let mut backward = [1.0; MAX_TAGS];
        for index in (0..gold.len()).rev() {
            let tag = usize::from(gold[index]);
            let mut marginals = product(&forward[index], &backward);
            scale(&mut marginals);
            marginals[tag] -= 1.0;
            gradients.emissions[index] = marginals;
            if index > 0 {
                let ahead = product(&backward, &self.emissions[index]);
                backward = self.backward_step(&ahead, &forward[index - 1], &mut gradients.transitions);
                gradients.transitions[usize::from(gold[index - 1])][tag] -= 1.0;
            }
        }
        gradients
    }

    /// Forward pass: scaled probabilities of the tags at each position given the words up to it.
    fn forward(&self) -> Vec<Scores> {
        let mut forward: Vec<Scores> = Vec::with_capacity(self.emissions.len());
        for emissions in &self.emissions {
            let before = match forward.last() {
                None => self.initial,
                Some(last) => {
                    let mut sum = [0.0; MAX_TAGS];
                    for (weight, transitions) in last.iter().zip(&self.transitions).take(self.tags) {
                        for tag in 0..MAX_TAGS {
                            sum[tag] += weight * transitions[tag];
                        }
                    }
                    sum
                }
            };
            let mut scores = product(&before, emissions);
            scale(&mut scores);
            forward.push(scores);
        }
        forward
    }

    /// One step of the backward pass: adds the pairwise marginals to `expected` and returns the
    /// scaled backward scores of the position before. `ahead` are the backward scores of this
    /// position times its emissions, `forward` the forward scores of the position before.
    fn backward_step(&self, ahead: &Scores, forward: &Scores, expected: &mut [Scores; MAX_TAGS]) -> Scores {
        let mut backward = [0.0; MAX_TAGS];
        let mut total = 0.0;
        for before in 0..self.tags {
            let mut sum = 0.0;
            for (transition, ahead) in self.transitions[before].iter().zip(ahead) {
                sum += transition * ahead;
            }
            backward[before] = sum;
            total += sum * forward[before];
        }
        let total = total.max(1e-30);
        for before in 0..self.tags {
            let weight = forward[before] / total;
            let pairs = self.transitions[before].iter().zip(ahead);
            for (expected, (transition, ahead)) in expected[before].iter_mut().zip(pairs) {
                *expected += weight * transition * ahead;
            }
        }
        scale(&mut backward);
        backward
    }
}

fn product(one: &Scores, other: &Scores) -> Scores {
    std::array::from_fn(|tag| one[tag] * other[tag])
}

/// Scales scores to a sum of one.
fn scale(scores: &mut Scores) {
    let sum: f32 = scores.iter().sum();
    let factor = 1.0 / sum.max(1e-30);
    scores.iter_mut().for_each(|score| *score *= factor);
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAGS: usize = 3;

    fn lattice() -> Lattice {
        let row = |seed: usize| -> Scores {
            std::array::from_fn(|tag| if tag < TAGS { ((seed * 7 + tag * 5) % 11 + 1) as f32 / 4.0 } else { 0.0 })
        };
        let transitions = std::array::from_fn(|tag| if tag < TAGS { row(tag + 3) } else { [0.0; MAX_TAGS] });
        Lattice { tags: TAGS, emissions: (0..3).map(row).collect(), initial: row(9), transitions }
    }

    #[test]
    fn gradients_equal_those_of_an_enumeration_of_all_paths() {
        let lattice = lattice();
        let gold = [2, 0, 1];
        let (mut emissions, mut transitions, mut total) = ([[0.0; TAGS]; 3], [[0.0; TAGS]; TAGS], 0.0);
        for path in 0..27 {
            let [a, b, c] = [path % 3, path / 3 % 3, path / 9];
            let score = lattice.initial[a]
                * lattice.emissions[0][a]
                * lattice.transitions[a][b]
                * lattice.emissions[1][b]
                * lattice.transitions[b][c]
                * lattice.emissions[2][c];
            total += score;
            [a, b, c].iter().enumerate().for_each(|(index, tag)| emissions[index][*tag] += score);
            transitions[a][b] += score;
            transitions[b][c] += score;
        }
        let found = lattice.gradients(&gold);
        for tag in 0..TAGS {
            for (index, gold) in gold.iter().enumerate() {
                let observed = f32::from(u8::from(usize::from(*gold) == tag));
                let expected = emissions[index][tag] / total - observed;
                assert!((found.emissions[index][tag] - expected).abs() < 1e-5, "emission {index} {tag}");
            }
            for (before, row) in transitions.iter().enumerate() {
                let pairs = gold.windows(2).filter(|pair| **pair == [before as u8, tag as u8]).count();
                let expected = row[tag] / total - pairs as f32;
                assert!((found.transitions[before][tag] - expected).abs() < 1e-5, "transition {before} {tag}");
            }
        }
    }
}
