//! Reasons why a file cannot be read.

use thiserror::Error;

use crate::format::VERSION;

/// Place and reason for which a file cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("at byte {offset}: {cause}")]
pub struct Error {
    /// Offset in the file.
    pub offset: u64,
    /// The fault there.
    pub cause: Cause,
}

/// Fault of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Cause {
    /// The first bytes are not those of the format.
    #[error("not a file of types")]
    Magic,
    /// A version that this reader does not know.
    #[error("file of types of version {0}, and this reader knows up to version {VERSION}")]
    Version(u8),
    /// The checksum is not that of the bytes.
    #[error("the file's checksum does not match its bytes")]
    Checksum,
    /// The file ends within a section.
    #[error("the file ends here, before its last section does")]
    Truncated,
    /// A section that does not add up.
    #[error("damaged {0}")]
    Section(&'static str),
}

impl Cause {
    pub(crate) const fn at(self, offset: usize) -> Error {
        Error { offset: offset as u64, cause: self }
    }
}
