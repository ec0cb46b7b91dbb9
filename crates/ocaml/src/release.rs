//! The release of OCaml that compiled a program: `Sys.ocaml_version`, a string in the program's data.
//!
//! The runtime's symbols distinguish versions that are known. A version that is newer than those looks like the newest
//! of them; this string tells that it is not. A program that is linked without `Stdlib.Sys` has none.

use std::fmt;

/// A release, such as 5.5.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub struct Release {
    pub major: u16,
    pub minor: u16,
    pub patch: u16,
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// Symbols around the data of `Stdlib.Sys`: since 5.1, and before.
pub const SYS_DATA: [(&str, &str); 2] = [
    ("camlStdlib__Sys.data_begin", "camlStdlib__Sys.data_end"),
    ("camlStdlib__Sys__data_begin", "camlStdlib__Sys__data_end"),
];
/// The largest data of `Stdlib.Sys` that is read, in bytes. It has about a thousand.
pub const MAX_DATA: u64 = 64 << 10;

const STRING_TAG: u64 = 252;
/// No release's name is longer, `5.6.0+dev0-2026-11-28` included.
const MAX_WORDS: u64 = 6;

impl Release {
    /// Finds the release in the data of `Stdlib.Sys`: its one string that begins like a version.
    pub fn find(data: &[u8]) -> Option<Self> {
        let mut starts = (0..data.len()).step_by(8);
        starts.find_map(|at| Self::parse(string(data.get(at..)?)?))
    }

    /// Reads text such as `5.5.2` or `5.6.0+dev0`.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let mut parts = text.split(|byte| *byte == b'.');
        let number = |part: &[u8]| -> Option<u16> {
            let digits = part.iter().take_while(|byte| byte.is_ascii_digit()).count();
            std::str::from_utf8(part.get(..digits)?).ok()?.parse().ok()
        };
        let whole = |part: &[u8]| part.iter().all(u8::is_ascii_digit).then(|| number(part))?;
        Some(Self {
            major: whole(parts.next()?)?,
            minor: whole(parts.next()?)?,
            patch: number(parts.next()?)?,
        })
    }
}

/// The contents of the OCaml string whose header begins `block`.
fn string(block: &[u8]) -> Option<&[u8]> {
    let (header, rest) = block.split_first_chunk::<8>()?;
    let header = u64::from_le_bytes(*header);
    let words = header >> 10;
    if header & 0xFF != STRING_TAG || !(1..=MAX_WORDS).contains(&words) {
        return None;
    }
    let bytes = rest.get(..words as usize * 8)?;
    let (padding, _) = bytes.split_last()?;
    bytes.get(..bytes.len().checked_sub(1 + usize::from(*padding))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(text: &str) -> Vec<u8> {
        let words = text.len() / 8 + 1;
        let mut bytes = ((words as u64) << 10 | 0x300 | STRING_TAG).to_le_bytes().to_vec();
        bytes.extend(text.as_bytes());
        bytes.resize(8 + words * 8, 0);
        *bytes.last_mut().unwrap() = (words * 8 - text.len() - 1) as u8;
        bytes
    }

    #[test]
    fn the_string_is_found_among_others() {
        let data = ["Unix", "5.6.0+dev0-2026-11-28", "Cygwin"].map(block).concat();
        assert_eq!(Release::find(&data), Some(Release { major: 5, minor: 6, patch: 0 }));
        assert_eq!(Release::find(&["Unix", "5.six", "."].map(block).concat()), None);
        assert_eq!(Release::parse(b"4.14.2").unwrap().to_string(), "4.14.2");
        for end in 0..data.len() {
            let _ = Release::find(&data[..end]);
        }
    }
}
