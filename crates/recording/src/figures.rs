//! Lines of figures: a letter, when they were measured, and `NAME=NUMBER` for each figure that could be had.

use std::fmt::Write as _;
use std::time::Duration;

use crate::lines::{self, LineError};

/// Declares `Figure`: what is measured, with the names that it has in the file.
macro_rules! figures {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// What is measured.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Figure {
            $($(#[$doc])* $variant,)*
        }

        impl Figure {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The name in the file.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}
pub(crate) use figures;

/// A line, with its newline.
pub(crate) fn line(
    letter: char,
    elapsed: Duration,
    figures: impl Iterator<Item = (&'static str, u64)>,
) -> String {
    let mut line = format!("{letter} {}", elapsed.as_micros());
    for (name, number) in figures {
        // Writing to a string cannot fail.
        let _ = write!(line, " {name}={number}");
    }
    line.push('\n');
    line
}

/// Reads a line: when, and `found` is called with each name and number. `None` if it makes no sense.
pub(crate) fn parse_line(
    line: &str,
    letter: char,
    mut found: impl FnMut(&str, u64),
) -> Option<Duration> {
    let mut words = line.strip_prefix(letter)?.strip_prefix(' ')?.split(' ');
    let elapsed = Duration::from_micros(words.next()?.parse().ok()?);
    for word in words {
        let (name, number) = word.split_once('=')?;
        found(name, number.parse().ok()?);
    }
    Some(elapsed)
}

/// Reads a file of such lines, in the order of time. What is before an unreadable line is given with the error.
pub(crate) fn parse<T>(
    bytes: &[u8],
    heading: &'static str,
    parse_line: impl Fn(&str) -> Option<T>,
    elapsed: impl Fn(&T) -> Duration,
) -> (Vec<T>, Option<LineError>) {
    let mut found: Vec<T> = Vec::new();
    let error = lines::read(bytes, heading, |line| {
        let figures = parse_line(line)?;
        if found.last().is_some_and(|last| elapsed(last) > elapsed(&figures)) {
            return None;
        }
        found.push(figures);
        Some(())
    });
    (found, error.err())
}
