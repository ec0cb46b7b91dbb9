//! Sizes.

use crate::number::{Number, Wrong, unit};

/// What sizes look like, for messages.
pub const SIZES: &str = "sizes are like 512, 4K, 1.5M, 2GiB";

/// Bytes, as they were typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(pub u64);

/// The largest size: every reader of JSON can hold it.
pub const LARGEST: Size = Size(1 << 53);

impl Size {
    /// A size at the start of what follows `at`, and where it ends.
    pub fn read(text: &str, at: usize) -> Result<(Self, usize), Wrong> {
        let (number, end) = Number::read(text, at, "a size", SIZES)?;
        let (factor, end) = unit(text, end, factor).unwrap_or((1, end));
        match number.times(factor) {
            Some(size) if size <= LARGEST.0 => Ok((Self(size), end)),
            _ => Err(Wrong { at, message: "a size beyond 8192T".to_owned(), hint: None }),
        }
    }
}

fn factor(unit: &str) -> Option<u64> {
    let shift = match unit.to_ascii_lowercase().as_str() {
        "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return None,
    };
    Some(1 << shift)
}
