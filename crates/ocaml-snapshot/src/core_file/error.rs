//! Reasons why a file is no core file that can be read.

use memtrail_ocaml::Address;

/// Why a core file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CoreError {
    /// The file does not begin as ELF files do.
    #[error("it is no ELF file: its first bytes are {first:02x?}")]
    NotElf {
        /// At most four bytes.
        first: Vec<u8>,
    },
    /// A file of a 32-bit program.
    #[error("it is of a 32-bit program")]
    Bits32,
    /// An executable, a library or an object file.
    #[error("it is {what}, not a core file")]
    NotCore {
        /// The kind of file, with its article.
        what: &'static str,
    },
    /// A process of another machine.
    #[error("it is of another machine than x86-64 (ELF machine {machine})")]
    OtherMachine {
        /// `e_machine`.
        machine: u16,
    },
    /// Headers or notes that contradict themselves.
    #[error("damaged at offset {offset:#x}: {cause}")]
    Damaged {
        /// Byte in the file.
        offset: u64,
        /// The fault, as a fragment.
        cause: &'static str,
    },
    /// A file that ends before the list of its threads.
    #[error("truncated at offset {length:#x}: {what} at offset {offset:#x} are missing")]
    Truncated {
        /// Bytes that the file has.
        length: u64,
        /// First byte that is missing.
        offset: u64,
        /// The part that is missing, in the plural.
        what: &'static str,
    },
    /// Memory that cannot be read as words.
    #[error("damaged at offset {offset:#x}: the memory at {address:#x} is not aligned to words")]
    Unaligned {
        /// Byte in the file.
        offset: u64,
        /// Address in the process.
        address: Address,
    },
}
