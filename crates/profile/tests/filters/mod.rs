//! Filters: how they are written, what they keep, and what is said of it; also while a trace grows.

mod conditions;
mod growing;
mod kept;
mod oracle;
#[cfg(feature = "parallel")]
mod parallel;
mod presets;
