//! What can be wrong with a file.

use thiserror::Error;

use crate::format::VERSION;

/// Where and why a snapshot cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("at byte {offset}: {cause}")]
pub struct Error {
    /// Offset in the file: of the section, where it is one's content that is wrong.
    pub offset: u64,
    /// What is wrong there.
    pub cause: Cause,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Cause {
    /// The first bytes are not those of a snapshot.
    #[error("not a heap snapshot")]
    Magic,
    /// A version that this reader does not know.
    #[error("heap snapshot of version {0}, and this reader knows up to version {VERSION}")]
    Version(u16),
    /// The file ends within a section, or before the last one.
    #[error("the file ends here, before the snapshot does")]
    Truncated,
    /// The checksum is not that of the bytes.
    #[error("section's checksum does not match its bytes")]
    Checksum,
    /// A codec that this reader does not know, or bytes that are not what the codec writes.
    #[error("section cannot be decompressed")]
    Codec,
    /// Numbers that do not fit together.
    #[error("damaged table of {0}")]
    Table(&'static str),
    /// A section without which the rest means nothing is not there.
    #[error("no table of {0}")]
    Missing(&'static str),
}

impl Cause {
    pub(crate) const fn at(self, offset: u64) -> Error {
        Error { offset, cause: self }
    }
}
