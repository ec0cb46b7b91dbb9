//! What fuzzing checks of the parser of conditions. Here rather than with the fuzz target, so that
//! tests can replay its corpus.

use crate::filter::{Condition, Filter};

/// Reads any text as conditions, one a line: no panic, errors within the text, and what was read is
/// written so that it reads the same.
///
/// # Panics
/// If the parser is wrong.
pub fn conditions(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let lines: Vec<&str> = text.lines().collect();
    match Filter::parse(&lines) {
        Ok(filter) => {
            let again: Vec<String> = filter.conditions().iter().map(Condition::to_string).collect();
            assert_eq!(Filter::parse(&again), Ok(filter));
        }
        Err(error) => {
            if let Some(at) = error.at {
                assert!(lines[error.condition].is_char_boundary(at), "{error:?}");
            }
        }
    }
}
