//! What fuzzing checks of the parser of chips. Here rather than with the fuzz target, so that
//! tests can replay its corpus.

use crate::filter::{Chip, Filter};

/// Reads any text as chips, one a line: no panic, errors within the text, and what was read is
/// written so that it reads the same.
///
/// # Panics
/// If the parser is wrong.
pub fn chips(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let lines: Vec<&str> = text.lines().collect();
    match Filter::parse(&lines) {
        Ok(filter) => {
            let again: Vec<String> = filter.chips().iter().map(Chip::to_string).collect();
            assert_eq!(Filter::parse(&again), Ok(filter));
        }
        Err(error) => {
            if let Some(at) = error.at {
                assert!(lines[error.chip].is_char_boundary(at), "{error:?}");
            }
        }
    }
}
