//! How many of so many words are sampled when each is with the same probability: a binomial draw whose
//! cost does not grow with the number of words.
//!
//! Few expected samples are counted by the gaps between them; many are drawn by transformed rejection
//! (W. Hörmann, "The generation of binomial random variates", 1993, algorithm BTRS), which is exact up
//! to the rounding of its logarithms. These are written so that they keep their precision for numbers
//! of words far beyond 2^53.

/// From so many expected samples on they are drawn at once; the method needs ten.
const MANY: f64 = 16.0;
/// One try in seven is rejected: nobody gets this far.
const MAX_TRIES: u32 = 1_000;

/// Draws from the binomial distribution of `trials` and `probability`, which is above 0 and at most 1.
/// `next` gives random numbers of 64 bits.
pub(crate) fn draw(trials: u64, probability: f64, next: &mut impl FnMut() -> u64) -> u64 {
    if probability >= 1.0 {
        return trials;
    }
    if probability > 0.5 {
        return trials - draw(trials, 1.0 - probability, next);
    }
    if trials as f64 * probability < MANY {
        by_gaps(trials, probability, next)
    } else {
        by_rejection(trials, probability, next)
    }
}

/// Trials up to and with the next success.
pub(crate) fn gap(probability: f64, next: &mut impl FnMut() -> u64) -> u64 {
    // Conversion saturates: for ever, at probabilities that small.
    ((uniform(next).ln() / (-probability).ln_1p()) as u64).saturating_add(1)
}

/// Above 0, at most 1.
fn uniform(next: &mut impl FnMut() -> u64) -> f64 {
    ((next() >> 11) + 1) as f64 / (1_u64 << 53) as f64
}

fn by_gaps(trials: u64, probability: f64, next: &mut impl FnMut() -> u64) -> u64 {
    let (mut left, mut successes) = (trials, 0);
    loop {
        match left.checked_sub(gap(probability, next)) {
            Some(rest) => left = rest,
            None => return successes,
        }
        successes += 1;
    }
}

fn by_rejection(trials: u64, p: f64, next: &mut impl FnMut() -> u64) -> u64 {
    let n = trials as f64;
    let q = 1.0 - p;
    let deviation = (n * p * q).sqrt();
    let b = 1.15 + 2.53 * deviation;
    let a = -0.0873 + 0.0248 * b + 0.01 * p;
    let centre = n * p + 0.5;
    let squeeze = 0.92 - 4.2 / b;
    let alpha = (2.83 + 5.1 / b) * deviation;
    let mode = ((n + 1.0) * p).floor();
    for _ in 0..MAX_TRIES {
        let u = uniform(next) - 0.5;
        let v = uniform(next);
        let distance = 0.5 - u.abs();
        let k = ((2.0 * a / distance + b) * u + centre).floor();
        if distance >= 0.07 && v <= squeeze {
            return k as u64;
        }
        if !(0.0..=n).contains(&k) {
            continue;
        }
        let height = (v * alpha / (a / (distance * distance) + b)).ln();
        if height <= log_ratio(n, p / q, mode, k) {
            return k as u64;
        }
    }
    mode as u64
}

/// The logarithm of the probability of `k` over that of the mode; `odds` are those of a success.
fn log_ratio(n: f64, odds: f64, mode: f64, k: f64) -> f64 {
    let below = mode - k;
    (n + 1.0) * (-below / (n - k + 1.0)).ln_1p()
        + (k + 0.5) * ((below / (k + 1.0)).ln_1p() + (below / (n - mode + 1.0)).ln_1p())
        + below * ((mode + 1.0) / (odds * (n - mode + 1.0))).ln()
        + stirling_rest(mode)
        + stirling_rest(n - mode)
        - stirling_rest(k)
        - stirling_rest(n - k)
}

/// What Stirling's formula for the logarithm of `k!` leaves out.
fn stirling_rest(k: f64) -> f64 {
    const FIRST: [f64; 10] = [
        0.081_061_466_795_327_26,
        0.041_340_695_955_409_29,
        0.027_677_925_684_998_34,
        0.020_790_672_103_765_09,
        0.016_644_691_189_821_19,
        0.013_876_128_823_070_75,
        0.011_896_709_945_891_77,
        0.010_411_265_261_972_09,
        0.009_255_462_182_712_733,
        0.008_330_563_433_362_87,
    ];
    if let Some(known) = FIRST.get(k as usize) {
        return *known;
    }
    let next = k + 1.0;
    let square = next * next;
    (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / 1260.0 / square) / square) / next
}

#[cfg(test)]
mod tests;
