//! The verdict on owners of memory: one model, which half a page explains (docs/how-leaks-are-judged.md).
//!
//! | step | module |
//! |---|---|
//! | put owners together that hand memory to each other | [`mod@series`] |
//! | judge exact sizes over the work by their floor and ceiling | [`shape`] |
//! | judge birth dates of live samples where there are too few sizes | [`births`] |
//! | rule out what ended before the last snapshot's end, and stages of a task | [`judge`] |
//!
//! Time is work: bytes allocated. Waiting adds none, and a slow machine changes nothing. The judgement depends on the
//! [`Evidence`] alone, so that it can be stored and judged again in tests. All constants are in [`constants`].

mod births;
mod constants;
mod evidence;
mod judged;
mod series;
mod shape;

pub use constants::REPLACED;
pub use evidence::{Evidence, Life, MAX_DATES, MAX_RANKS, OwnerEvidence, subsampled};
pub use judged::{Class, Judged, Reason, Unclear, judge};
pub use series::{Series, series};
pub use shape::{BySizes, Shape, by_sizes};

pub(crate) use constants::{BLOCKS, DEEP, FIRST, LEAST, SAMPLED, SHARE};
