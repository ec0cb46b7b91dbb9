//! JSON objects that commands print, one a line.

use std::io::{self, Write as _};

use serde::Serialize;

use crate::error::Failure;

/// Prints a value on standard output.
pub(crate) fn print(value: &impl Serialize) -> Result<(), Failure> {
    let mut text = serde_json::to_string(value).map_err(io::Error::from)?;
    text.push('\n');
    io::stdout().lock().write_all(text.as_bytes())?;
    Ok(())
}

/// Prints a value on standard error, where the program's own output is not in the way.
pub(crate) fn report(value: &impl Serialize) {
    if let Ok(text) = serde_json::to_string(value) {
        crate::message::print_as_it_is(&(text + "\n"));
    }
}
