//! Random numbers, and draws from distributions.

pub(crate) mod binomial;
pub(crate) mod splitmix;
