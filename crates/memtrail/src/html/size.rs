//! Sizes as they are typed: `20M`.

use std::str::FromStr;

/// Bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size(pub(super) u64);

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is no size; sizes are written 500K, 20M or 1.5G");
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let factor: u64 = match text[digits.len()..].to_ascii_uppercase().as_str() {
            "" | "B" => 1,
            "K" | "KB" | "KIB" => 1 << 10,
            "M" | "MB" | "MIB" => 1 << 20,
            "G" | "GB" | "GIB" => 1 << 30,
            _ => return Err(wrong()),
        };
        let number: f64 = digits.parse().map_err(|_| wrong())?;
        if !(number > 0.0 && number.is_finite()) {
            return Err(wrong());
        }
        Ok(Self((number * factor as f64) as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        for (text, bytes) in [
            ("512", 512),
            ("20M", 20 << 20),
            ("1.5g", 3 << 29),
            ("3KiB", 3 << 10),
            ("7MB", 7 << 20),
        ] {
            assert_eq!(text.parse(), Ok(Size(bytes)), "{text}");
        }
        for text in ["", "M", "-1M", "0", "20X", "1e999", "nan", "é"] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
    }
}
