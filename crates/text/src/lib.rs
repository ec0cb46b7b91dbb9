//! Sizes, durations, counts and names as text: one grammar of what users type, for every option and
//! every filter, and one way of writing each, [exact] or [rounded].
//!
//! ```text
//! size     := number [spaces] ["B" | "K" | "M" | "G" | "T" | "KB" | "KiB" | "MB" | "MiB" | …]
//! duration := number | part {[spaces] part}
//! part     := number [spaces] ("d" | "h" | "m" | "min" | "s" | "ms" | "us" | "µs")
//! number   := digits ["." digits]
//! ```
//!
//! `K`, `KB` and `KiB` all are 1,024 bytes, in capitals or not. A size without a unit is in bytes, a
//! duration without one in seconds. Values are exact: what is finer than a byte or a microsecond is
//! cut off. `crates/profile/tests/conditions.json` has
//! examples.
#![forbid(unsafe_code)]

mod duration;
pub mod exact;
pub mod markup;
pub mod names;
mod number;
mod renamed;
pub mod rounded;
mod size;

use std::time::Duration;

pub use duration::{DURATIONS, MAX_DURATION, TIMES};
pub use number::{Number, Wrong};
pub use renamed::Renamed;
pub use size::{LARGEST, SIZES, Size};

/// The text is a size, and nothing else.
pub fn size(text: &str) -> Result<Size, String> {
    whole(text, "a size", Size::read)
}

/// The text is a size of one byte or more.
pub fn some_size(text: &str) -> Result<Size, String> {
    match size(text)? {
        Size(0) => Err("a size of at least one byte is needed".to_owned()),
        size => Ok(size),
    }
}

/// The text is a duration, and nothing else.
pub fn duration(text: &str) -> Result<Duration, String> {
    whole(text, "a duration", duration::read)
}

/// A duration at the start of what follows `at`, and where it ends.
pub fn read_duration(text: &str, at: usize) -> Result<(Duration, usize), Wrong> {
    duration::read(text, at)
}

/// A value that is all of a text but the spaces around it.
fn whole<T>(
    text: &str,
    what: &str,
    read: impl Fn(&str, usize) -> Result<(T, usize), Wrong>,
) -> Result<T, String> {
    let text = text.trim();
    let examples = if what == "a size" { SIZES } else { DURATIONS };
    let reason = match read(text, 0) {
        Ok((value, end)) if end == text.len() => return Ok(value),
        Ok((_, end)) if number::begins_unit(&text[end..]) => {
            format!("{:?} is not a unit", &text[end..])
        }
        Ok(_) => format!("{text:?} is not {what}"),
        Err(wrong) => wrong.message,
    };
    Err(format!("{reason}; {examples}"))
}

#[cfg(test)]
mod tests;
