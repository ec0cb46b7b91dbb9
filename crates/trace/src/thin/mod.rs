//! Makes the history of a trace that still grows smaller, the older the more.
//!
//! # The history
//!
//! A recorder restarts its streams now and then ([`StreamWriter::restart`](crate::write::StreamWriter::restart)). What a
//! domain said before its last restart is its *history*. It may be written anew, as no later packet refers to it.
//! All later packets are copied byte for byte, so that the recorder can go on behind them.
//!
//! # The samples
//!
//! A block of the history that died there is *thinned*: each of its samples is kept with probability 2^-d,
//! independently of all others, and counts 2^d times as much. A binomial number of a binomial number is binomial again.
//! So the block is as if it had been sampled at the rate halved d times more. All estimates stay unbiased, at every
//! moment of the past, with the errors that [`Note::halvings`](crate::header::Note) tells. The number d depends on what
//! is known of the block but not on chance: its age *a* and its rate. The rate is halved ⌈log₂(a / a₀)⌉ times in all, so
//! the history of a time twice as long needs but one octave more. The age a₀, up to which history stays whole, is the
//! longest with which the trace fits.
//!
//! Other blocks of the history stay as they are:
//!
//! - blocks that are alive, or die later than the history ends;
//! - blocks that were alive when a heap snapshot was taken ([`Thinning::moments`]), as it names them.
//!
//! # The ids
//!
//! Packets have contiguous ids, and a header of 68 bytes where there is a gap. So blocks that died are given the lowest
//! ids that are free, which come before their own. Blocks that are not thinned keep theirs: the recorder or a snapshot
//! knows them by these. No block moves over the beginning of a thread's stretch ([`Thinning::stretches`]). So lists of threads stay true,
//! for this trace and for the one before it. In a trace of several domains no block moves to another chunk of ids.
//!
//! The history is of version 3, whatever it was before: version 2 has no gaps. `memtrail trace subsample` writes a copy
//! in version 2.

mod dead;
mod history;
mod plan;
mod survey;
mod write;

#[cfg(test)]
mod tests;

use std::io::{self, Write};

pub use plan::{Plan, Unthinned};
pub use survey::Thinning;

/// Decides how far the history of a trace is thinned.
///
/// # Errors
/// The trace cannot be thinned, or not as far.
pub fn plan(trace: &[u8], thinning: &Thinning<'_>) -> Result<Plan, Unthinned> {
    let history = history::History::of(trace).ok_or(Unthinned::Damaged)?;
    let survey = survey::Survey::of(&history, thinning);
    plan::Plan::new(&history, survey, thinning.bytes)
}

/// Writes the thinned trace to `out`, which is given back.
///
/// # Errors
/// If `out` has one.
pub fn write<W: Write>(
    trace: &[u8],
    thinning: &Thinning<'_>,
    plan: &Plan,
    out: W,
) -> io::Result<W> {
    let history = history::History::of(trace).ok_or(io::ErrorKind::InvalidData)?;
    write::write(&history, thinning, plan, out)
}
