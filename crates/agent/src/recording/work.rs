//! The work that the program did: words that it allocated in OCaml's heap, estimated from samples.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::context::target::Target;

/// Samples at the base rate.
static SAMPLES: AtomicU64 = AtomicU64::new(0);

/// A block with so many samples was allocated.
#[inline]
pub(crate) fn add(samples: u64) {
    SAMPLES.fetch_add(samples, Relaxed);
}

/// Words allocated.
pub(crate) fn words(target: &Target) -> u64 {
    (SAMPLES.load(Relaxed) as f64 / target.options.rate.max(f64::MIN_POSITIVE)) as u64
}
