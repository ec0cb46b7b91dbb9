//! How probable it is that chance makes an estimate differ so much.

/// Chance may fail a recording that keeps all limits so often, whatever the number of gates.
pub(super) const ALPHA: f64 = 1e-3;

/// The probability that a normal variable is more than so many standard deviations above its mean.
pub(super) fn tail(deviations: f64) -> f64 {
    if deviations.is_infinite() {
        return if deviations > 0.0 { 0.0 } else { 1.0 };
    }
    0.5 * erfc(deviations / std::f64::consts::SQRT_2)
}

/// The complement of the error function, to within 1.2e-7 of its value: the Chebyshev fit of W. H. Press et al.,
/// *Numerical Recipes*, section 6.2.
fn erfc(x: f64) -> f64 {
    const COEFFICIENTS: [f64; 10] = [
        -1.265_512_23,
        1.000_023_68,
        0.374_091_96,
        0.096_784_18,
        -0.186_288_06,
        0.278_868_07,
        -1.135_203_98,
        1.488_515_87,
        -0.822_152_23,
        0.170_872_77,
    ];
    let t = 1.0 / (1.0 + 0.5 * x.abs());
    let polynomial = COEFFICIENTS.iter().rev().fold(0.0, |sum, term| sum * t + term);
    let value = t * (-x * x + polynomial).exp();
    if x >= 0.0 { value } else { 2.0 - value }
}

/// The deviations of a normal variable that are as probable as these of one with Student's distribution: D. L. Wallace,
/// *Bounds on normal approximations to Student's and the chi-square distributions*, 1959.
pub(super) fn normal_of_student(deviations: f64, freedom: f64) -> f64 {
    if !deviations.is_finite() {
        return deviations;
    }
    let factor = (8.0 * freedom + 1.0) / (8.0 * freedom + 3.0);
    let size = factor * (freedom * (deviations * deviations / freedom).ln_1p()).sqrt();
    size.copysign(deviations)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_are_those_of_tables() {
        for (deviations, known) in [
            (0.0, 0.5),
            (1.0, 0.158_655_254),
            (-1.0, 0.841_344_746),
            (3.0, 1.349_898e-3),
            (6.0, 9.865_876e-10),
            (10.0, 7.619_853e-24),
        ] {
            let tail = tail(deviations);
            assert!((tail / known - 1.0).abs() < 1e-6, "{deviations}: {tail}");
        }
        assert!(tail(f64::INFINITY) == 0.0 && tail(100.0) < 1e-300);
    }

    #[test]
    fn students_tails_are_longer() {
        // Quantiles of Student's distribution from tables, with their tails.
        for (deviations, freedom, known) in
            [(4.144, 10.0, 1e-3), (2.228, 10.0, 0.025), (3.385, 30.0, 1e-3)]
        {
            let tail = tail(normal_of_student(deviations, freedom));
            assert!((tail / known - 1.0).abs() < 0.03, "{deviations}, {freedom}: {tail}");
        }
    }
}
