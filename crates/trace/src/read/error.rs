//! Reasons why nothing at all can be read.

/// Why nothing at all can be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There are no bytes.
    #[error("empty file")]
    Empty,
    /// There is not one packet.
    #[error("not a memtrace trace: it begins with {0:02x?}")]
    NotATrace(Vec<u8>),
    /// A version that this reader does not know.
    #[error("trace format version {0}, but only versions 1 to 3 are known")]
    Version(u16),
    /// There are packets, but none says what the trace is.
    #[error("no trace information: the first packet is missing or damaged")]
    NoInfo,
}
