//! Statistics of sampled memory: standard errors, ranges for few samples, significance.
//!
//! memtrail samples words of memory independently, with a small probability λ. The number of samples in
//! a set of blocks is then Poisson-distributed, and a figure is a weighted sum of such numbers:
//!
//! | figure | formula |
//! |---|---|
//! | value | Σ *w*, over samples of weight *w* |
//! | variance | Σ *w*² (1 − λ) |
//! | samples it is worth | *n* = value² / variance |
//! | weight of such a sample | variance / value |
//! | 95 % range | exact range of a Poisson mean, given *n*, times that weight |
//!
//! Every crate uses [`Estimate`] for all of these. No crate has a formula of its own.
#![forbid(unsafe_code)]

mod estimate;
mod normal;
mod poisson;

pub use estimate::{Estimate, FEW_SAMPLES, Range, unseen};
pub use normal::{normal_of_student, tail};
pub use poisson::{Bounds, poisson};
