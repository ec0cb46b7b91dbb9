//! Messages on standard error.
//!
//! A message that cannot be written is dropped: a full device, a closed pipe or a limit on file sizes must not change how
//! memtrail ends, which is how the recorded program ended. `eprintln!` panics there, so this crate does not use it.

use std::borrow::Cow;
use std::io::{self, Write as _};

use crate::canvas;

/// Prints a message, as `eprintln!` does, and escapes control characters in it.
macro_rules! message {
    ($($text:tt)*) => { $crate::message::print(&format!($($text)*)) };
}

/// Prints a text on standard error. Names in it come from recordings, which may hold anything.
pub(crate) fn print(text: &str) {
    print_as_it_is(&(escaped(text) + "\n"));
}

/// Prints JSON or a question of ours.
pub(crate) fn print_as_it_is(text: &str) {
    let mut out = io::stderr().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// A text of several lines without control characters but line ends.
fn escaped(text: &str) -> String {
    text.split('\n').map(canvas::clean).collect::<Vec<Cow<'_, str>>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn lines_stay_and_control_characters_do_not() {
        assert_eq!(escaped("a\u{1b}[2Jb\nc\rd"), "a\u{FFFD}[2Jb\nc\u{FFFD}d");
    }
}
