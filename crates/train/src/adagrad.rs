//! Stochastic gradient descent by AdaGrad with L1 shrinkage, as all models of this crate are learned.

/// Settings of AdaGrad.
#[derive(Debug, Clone, Copy)]
pub struct AdaGrad {
    /// Passes over the examples.
    pub epochs: usize,
    /// The learning rate: how far the first example moves a weight.
    pub step: f32,
    /// The initial sum of squared gradients of every weight: the larger, the smaller its first steps.
    pub initial_squares: f32,
    /// The strength of the L1 penalty, which draws weights to zero.
    pub l1: f32,
}

impl AdaGrad {
    /// Updates weights by their gradients times `share`; `squares` are their sums of squared gradients.
    #[inline]
    pub(crate) fn update<const COUNT: usize>(
        &self,
        weights: &mut [f32; COUNT],
        squares: &mut [f32; COUNT],
        gradients: &[f32; COUNT],
        share: f32,
    ) {
        for place in 0..COUNT {
            let gradient = gradients[place] * share;
            squares[place] += gradient * gradient;
            let step = self.step / squares[place].sqrt();
            let weight = weights[place] - step * gradient;
            weights[place] = (weight.abs() - step * self.l1).max(0.0).copysign(weight);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_move_against_their_gradients_ever_less_and_shrink_to_zero_without_one() {
        let adagrad = AdaGrad { epochs: 1, step: 0.5, initial_squares: 1.0, l1: 0.1 };
        let (mut weights, mut squares) = ([0.0, 0.01], [adagrad.initial_squares; 2]);
        adagrad.update(&mut weights, &mut squares, &[1.0, 0.0], 1.0);
        let first = weights[0];
        assert!(first < 0.0 && weights[1] == 0.0, "{weights:?}");
        adagrad.update(&mut weights, &mut squares, &[1.0, 0.0], 1.0);
        assert!(weights[0] < first && weights[0] > 2.0 * first, "{weights:?}");
        assert_eq!(squares, [3.0, 1.0]);
    }
}
