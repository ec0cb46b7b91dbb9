//! Where functions of closures are in the source, as far as it is known.

use std::fmt;

/// Lines between which a function begins: those of functions before and behind it in the program's code, which has
/// the order of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Between {
    /// The first line where it may begin, from 1.
    pub first: u32,
    /// The last one; `None` if that is unknown.
    pub last: Option<u32>,
}

impl fmt::Display for Between {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.last {
            Some(last) if last == self.first => write!(f, "{last}"),
            Some(last) => write!(f, "{}-{last}", self.first),
            None => write!(f, "{}-end", self.first),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_a_range() {
        let text = |first, last| Between { first, last }.to_string();
        assert_eq!(text(29, Some(35)), "29-35");
        assert_eq!(text(29, Some(29)), "29");
        assert_eq!(text(29, None), "29-end");
    }
}
