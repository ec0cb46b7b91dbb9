//! Reads the text files of a recording: a heading, then a line each. They grow while they are read,
//! and may end within a line.

/// Why a file could not be read to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LineError {
    /// The first line is another one.
    #[error("it does not begin with `{heading}`")]
    Heading {
        /// What it should be.
        heading: &'static str,
    },
    /// A line that makes no sense.
    #[error("line {line} makes no sense")]
    Line {
        /// Its number, from 1.
        line: usize,
    },
}

/// Calls `read` with each whole line after the heading, until one makes no sense.
pub(crate) fn read(
    bytes: &[u8],
    heading: &'static str,
    mut read: impl FnMut(&str) -> Option<()>,
) -> Result<(), LineError> {
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let text = String::from_utf8_lossy(&bytes[..whole]);
    let mut lines = text.split_terminator('\n');
    match lines.next() {
        None => return Ok(()),
        Some(first) if first == heading => {}
        Some(_) => return Err(LineError::Heading { heading }),
    }
    for (index, line) in lines.enumerate() {
        read(line).ok_or(LineError::Line { line: index + 2 })?;
    }
    Ok(())
}
