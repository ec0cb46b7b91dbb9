//! JSON objects that commands print.

use std::io::{self, Write};

use serde::Serialize;

use crate::error::Failure;

/// Version of the JSON of all commands. It is raised when a field goes or changes its meaning; new fields may come without
/// that.
const FORMAT: u32 = 1;

/// An answer as a JSON object with its version.
#[derive(Serialize)]
pub(crate) struct Versioned<'a, T> {
    format: u32,
    /// The damage of a snapshot, if the answer is about a part of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    partial: Option<&'a str>,
    /// A struct: JSON of other values has no room for a version.
    #[serde(flatten)]
    answer: &'a T,
}

impl<'a, T> Versioned<'a, T> {
    pub(crate) const fn new(answer: &'a T, partial: Option<&'a str>) -> Self {
        Self { format: FORMAT, partial, answer }
    }
}

/// Prints a value on standard output, in one line.
pub(crate) fn print(value: &impl Serialize) -> Result<(), Failure> {
    let mut text = serde_json::to_string(&Versioned::new(value, None)).map_err(io::Error::from)?;
    text.push('\n');
    io::stdout().lock().write_all(text.as_bytes())?;
    Ok(())
}

/// Writes a value, indented.
pub(crate) fn write(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &Versioned::new(value, None))?;
    writeln!(out)
}

/// Prints a value on standard error, where the program's own output is not in the way.
pub(crate) fn report(value: &impl Serialize) {
    if let Ok(text) = serde_json::to_string(&Versioned::new(value, None)) {
        crate::message::print_as_it_is(&(text + "\n"));
    }
}
