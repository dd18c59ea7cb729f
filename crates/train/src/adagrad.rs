//! AdaGrad with L1 regularisation, the optimiser of all models in this crate.
//!
//! AdaGrad (Duchi, Hazan and Singer 2011) gives every weight its own learning rate, the smaller the
//! larger its gradients were. The L1 penalty is applied by soft thresholding after each update, to
//! active weights only; unlike the cumulative penalty of Tsuruoka, Tsujii and Ananiadou (2009) it
//! needs no per-weight history.

/// Settings of AdaGrad.
#[derive(Debug, Clone, Copy)]
pub struct AdaGrad {
    /// Passes over the examples.
    pub epochs: usize,
    /// Base learning rate.
    pub step: f32,
    /// Initial sum of squared gradients of every weight; larger values damp the first steps.
    pub initial_squares: f32,
    /// Strength of the L1 penalty.
    pub l1: f32,
}

impl AdaGrad {
    /// One AdaGrad step with L1 soft thresholding. `squares` are the sums of squared gradients;
    /// gradients are multiplied by `factor`, the weight of the example.
    #[inline]
    pub(crate) fn update<const COUNT: usize>(
        &self,
        weights: &mut [f32; COUNT],
        squares: &mut [f32; COUNT],
        gradients: &[f32; COUNT],
        factor: f32,
    ) {
        for index in 0..COUNT {
            let gradient = gradients[index] * factor;
            squares[index] += gradient * gradient;
            let step = self.step / squares[index].sqrt();
            let weight = weights[index] - step * gradient;
            weights[index] = (weight.abs() - step * self.l1).max(0.0).copysign(weight);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_shrink_with_the_gradient_sum_and_l1_drives_weights_to_zero() {
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
