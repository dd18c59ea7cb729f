//! Special functions for tests and intervals, to about twelve digits.

/// ln Γ(x) for x > 0, by Stirling's series after a shift of the argument.
pub fn ln_gamma(x: f64) -> f64 {
    // Γ(x) = Γ(x + n) / (x (x+1) … (x+n−1))
    let mut shifted = x;
    let mut product = 1.0;
    while shifted < 12.0 {
        product *= shifted;
        shifted += 1.0;
    }
    let inverse = 1.0 / shifted;
    let square = inverse * inverse;
    let series = inverse
        * (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square * (1.0 / 1680.0 - square / 1188.0))));
    (shifted - 0.5) * shifted.ln() - shifted + 0.5 * (2.0 * std::f64::consts::PI).ln() + series - product.ln()
}

/// The digamma function, the derivative of ln Γ, for x > 0.
pub fn digamma(x: f64) -> f64 {
    let (mut shifted, mut sum) = (x, 0.0);
    while shifted < 12.0 {
        sum -= 1.0 / shifted;
        shifted += 1.0;
    }
    let square = 1.0 / (shifted * shifted);
    let series = square * (1.0 / 12.0 - square * (1.0 / 120.0 - square * (1.0 / 252.0 - square / 240.0)));
    sum + shifted.ln() - 0.5 / shifted - series
}

/// The trigamma function, the derivative of digamma, for x > 0.
pub fn trigamma(x: f64) -> f64 {
    let (mut shifted, mut sum) = (x, 0.0);
    while shifted < 12.0 {
        sum += 1.0 / (shifted * shifted);
        shifted += 1.0;
    }
    let inverse = 1.0 / shifted;
    let square = inverse * inverse;
    let series = 1.0 / 6.0 - square * (1.0 / 30.0 - square * (1.0 / 42.0 - square / 30.0));
    sum + inverse + square / 2.0 + square * inverse * series
}

/// The regularised incomplete gamma functions (P, Q) with P + Q = 1, each exact where it is small.
pub fn gamma_p_q(shape: f64, x: f64) -> (f64, f64) {
    if x <= 0.0 {
        return (0.0, 1.0);
    }
    let factor = (shape * x.ln() - x - ln_gamma(shape)).exp();
    if x < shape + 1.0 {
        let mut term = 1.0 / shape;
        let mut sum = term;
        let mut n = shape;
        while term > sum * 1e-16 {
            n += 1.0;
            term *= x / n;
            sum += term;
        }
        let p = sum * factor;
        (p, 1.0 - p)
    } else {
        // Lentz's algorithm for the continued fraction.
        let mut b = x + 1.0 - shape;
        let mut c = 1e300;
        let mut d = 1.0 / b;
        let mut fraction = d;
        for i in 1..1000 {
            let a = -f64::from(i) * (f64::from(i) - shape);
            b += 2.0;
            d = 1.0 / (a * d + b);
            c = b + a / c;
            let change = c * d;
            fraction *= change;
            if (change - 1.0).abs() < 1e-15 {
                break;
            }
        }
        let q = factor * fraction;
        (1.0 - q, q)
    }
}

/// The two-sided tail probability of the standard normal distribution.
pub fn normal_two_sided(z: f64) -> f64 {
    gamma_p_q(0.5, z * z / 2.0).1
}

/// The cumulative distribution function of the standard normal distribution.
pub fn normal_below(z: f64) -> f64 {
    let tail = normal_two_sided(z) / 2.0;
    if z > 0.0 { 1.0 - tail } else { tail }
}

/// The survival function of the chi-square distribution.
pub fn chi_square_survival(value: f64, degrees: f64) -> f64 {
    gamma_p_q(degrees / 2.0, value / 2.0).1
}

/// The probability of a larger value of the F distribution, by Paulson's normal approximation of its cube root (1942).
pub fn f_survival(value: f64, degrees: f64, of_rest: f64) -> f64 {
    if value <= 0.0 || of_rest < 3.0 {
        return 1.0;
    }
    let root = value.cbrt();
    let (above, below) = (2.0 / (9.0 * degrees), 2.0 / (9.0 * of_rest));
    normal_below(-((1.0 - below) * root - (1.0 - above)) / (below * root * root + above).sqrt())
}

/// The quantile function of the gamma distribution with scale 1.
pub fn gamma_quantile(shape: f64, p: f64) -> f64 {
    // Bisection; 200 steps exceed the resolution of doubles.
    let below = |x: f64| {
        let (lower, upper) = gamma_p_q(shape, x);
        if p < 0.5 { lower < p } else { upper > 1.0 - p }
    };
    let (mut low, mut high) = (0.0, shape.max(1.0));
    while below(high) {
        high *= 2.0;
    }
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if below(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-11, "{found} instead of {expected}");
    }

    #[test]
    fn tails_of_f_are_those_of_tables() {
        for (value, degrees, of_rest, p) in
            [(2.711, 5.0, 20.0, 0.05), (2.979, 10.0, 30.0, 0.01), (3.708, 3.0, 10.0, 0.05)]
        {
            assert!((f_survival(value, degrees, of_rest) / p - 1.0).abs() < 0.05, "{value} {degrees} {of_rest}");
        }
        assert_eq!((f_survival(0.0, 3.0, 10.0), f_survival(9.0, 3.0, 2.0)), (1.0, 1.0));
    }

    #[test]
    fn gamma_equals_the_factorial() {
        near(ln_gamma(11.0), 3_628_800f64.ln());
        near(ln_gamma(0.5), std::f64::consts::PI.sqrt().ln());
        near(ln_gamma(171.0), 706.573_062_245_787_4);
    }

    #[test]
    fn digamma_and_trigamma_have_their_known_values() {
        near(digamma(1.0), -0.577_215_664_901_532_9);
        near(digamma(0.5), -0.577_215_664_901_532_9 - 2.0 * std::f64::consts::LN_2);
        near(trigamma(1.0), std::f64::consts::PI.powi(2) / 6.0);
        near(trigamma(0.5), std::f64::consts::PI.powi(2) / 2.0);
    }

    #[test]
    fn tails_of_the_normal_distribution_keep_their_digits() {
        near(normal_two_sided(1.0), 0.317_310_507_862_914_15);
        near(normal_two_sided(1.959_963_984_540_054), 0.05);
        near(normal_two_sided(10.0), 1.523_970_604_832_094e-23);
        assert_eq!(normal_two_sided(0.0), 1.0);
        near(normal_below(-1.0), 0.158_655_253_931_457_07);
        near(normal_below(1.0), 0.841_344_746_068_542_9);
    }

    #[test]
    fn chi_square_has_the_published_critical_values() {
        near(chi_square_survival(3.841_458_820_694_124, 1.0), 0.05);
        near(chi_square_survival(18.307_038_053_275_146, 10.0), 0.05);
    }

    #[test]
    fn quantiles_are_the_inverse() {
        for shape in [0.5, 1.0, 7.0, 300.0, 1e6] {
            for p in [0.001, 0.025, 0.5, 0.975, 0.999] {
                let found = gamma_p_q(shape, gamma_quantile(shape, p)).0;
                assert!((found - p).abs() < 1e-9, "shape {shape}: {found} instead of {p}");
            }
        }
    }
}
