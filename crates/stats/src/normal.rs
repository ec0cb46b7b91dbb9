//! Tails of the normal distribution and of Student's.

use statrs::function::erf::erfc;

/// The probability that a normal variable is more than so many standard deviations above its mean.
pub fn tail(deviations: f64) -> f64 {
    if deviations.is_infinite() {
        return if deviations > 0.0 { 0.0 } else { 1.0 };
    }
    0.5 * erfc(deviations / std::f64::consts::SQRT_2)
}

/// The deviations of a normal variable that are as probable as these of one with Student's distribution: D. L. Wallace,
/// *Bounds on normal approximations to Student's and the chi-square distributions*, 1959.
pub fn normal_of_student(deviations: f64, freedom: f64) -> f64 {
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
