//! Which blocks: conditions that must all hold, as people write them and as passes over rows need
//! them.
//!
//! A filter is a list of [chips](Chip). Each is one condition with several values, any of which
//! will do. The conditions and their meaning are those of memtrace's viewer, and more:
//!
//! | chip | keeps blocks |
//! |---|---|
//! | `allocated:10s..20s` | allocated then; with the major heap alone, promoted then |
//! | `live:10s..20s`, `live:peak` | allocated at or before the upper end, collected after the lower |
//! | `live:end`, `collected:never` | never collected |
//! | `collected:10s..20s` | collected then; the others count as collected at the end |
//! | `lifetime:..50ms` | by time from allocation to collection, or to the end |
//! | `size:4K..` | by size, header not counted |
//! | `heap:major` | there, and while they are: see below |
//! | `died:minor`, `died:never` | by where they were when collected |
//! | `domain:0,2`, `thread:main` | by who allocated them |
//! | `in:List.map`, `in:~map`, `in:/^List/` | with such a function in the backtrace |
//! | `module:…`, `file:…` | likewise, by the module or file of any frame |
//! | `by:…`, `byModule:…`, `byFile:…` | likewise, of the innermost frame alone |
//! | `hide:…` | all; such functions are left out of paths |
//!
//! `-` before a chip means that the condition must not hold. Peak is the peak of all blocks,
//! whatever the filter.
//!
//! **Heaps.** What `heap:` chips name and `-heap:` chips do not, is watched. A block counts as
//! long as it is there: one allocated in the minor heap counts as collected when it is promoted
//! if the major heap is not watched, and as allocated when it is promoted if only that is; if it
//! never is promoted, it is left out.

mod chip;
mod json;
pub mod names;
mod parse;
mod resolve;
pub(crate) mod rows;
pub(crate) mod sentence;
mod text;
mod verdicts;

pub use chip::{
    Between, Chip, Clause, Collected, Died, Heap, Millionths, Moment, Name, What, Which,
};
pub use names::HiddenFunctions;
pub use parse::ChipError;
pub use resolve::Resolved;
pub use rows::Kept;

/// Conditions that must all hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Filter {
    chips: Vec<Chip>,
}

/// Why a filter cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FilterError {
    /// Which chip, counted from 0.
    pub chip: usize,
    /// At which byte of its text, if it is the text that is wrong.
    pub at: Option<usize>,
    /// What is wrong.
    pub message: String,
    /// What could be done about it.
    pub hint: Option<String>,
}

impl Filter {
    /// The most chips that there can be.
    pub const MOST: usize = 64;

    /// Reads chips from their text form.
    ///
    /// # Errors
    /// On the first chip that is not one.
    ///
    /// ```
    /// use memtrail_profile::filter::Filter;
    /// let filter = Filter::parse(&["live:end", "-in:~test"])?;
    /// assert_eq!(filter.chips()[0].sentence(), "live at the end");
    /// assert_eq!(Filter::parse(&["size:4X"]).map_err(|error| error.at), Err(Some(6)));
    /// # Ok::<(), memtrail_profile::filter::FilterError>(())
    /// ```
    pub fn parse<T: AsRef<str>>(texts: &[T]) -> Result<Self, FilterError> {
        let chip = |(chip, text): (usize, &T)| {
            text.as_ref().parse().map_err(|ChipError { at, message, hint }| FilterError {
                chip,
                at: Some(at),
                message,
                hint,
            })
        };
        // One too many at most, so that a long list is not read to its end.
        let chips = texts.iter().take(Self::MOST + 1).enumerate().map(chip);
        Self::new(chips.collect::<Result<_, _>>()?)
    }

    /// All of these.
    ///
    /// # Errors
    /// If there are more than [`Filter::MOST`].
    pub fn new(chips: Vec<Chip>) -> Result<Self, FilterError> {
        if chips.len() > Self::MOST {
            return Err(FilterError {
                chip: Self::MOST,
                at: None,
                message: format!("more than {} conditions", Self::MOST),
                hint: Some("one condition can have several values: in:a,b".to_owned()),
            });
        }
        Ok(Self { chips })
    }

    /// The conditions.
    pub fn chips(&self) -> &[Chip] {
        &self.chips
    }
}
