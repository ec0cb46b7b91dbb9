//! Reasons why a file is no core file that can be read, or has no heap that can be read.

use memtrail_ocaml::{Address, Unsupported, Version};

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

/// Why there is no heap to be read in a core file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unreadable {
    /// The executable's file is no executable.
    #[error("the executable is no ELF file for x86-64")]
    NoExecutable,
    /// The executable has no symbols: neither its own nor those for the dynamic linker. Its memory has no runtime, either.
    #[error("the executable has no symbols, and its memory has no tables of an OCaml runtime")]
    NoSymbols,
    /// No runtime, or one that is not supported.
    #[error("the program {0}")]
    Runtime(#[from] Unsupported),
    /// A runtime whose private tables are not known.
    #[error("the program has the runtime of OCaml {0}, whose heap cannot be read from outside")]
    Version(Version),
    /// The memory that says where the heap is was not written, or is cut off.
    #[error("its memory does not contain the state of the OCaml runtime")]
    NoState,
    /// The table of frame descriptors was not found.
    #[error("the frame table of the OCaml runtime was not found")]
    NoFrameTable,
}

impl Unreadable {
    /// True if the program has no symbols of a runtime. It may have a runtime all the same.
    pub fn is_without_symbols(self) -> bool {
        matches!(self, Self::NoSymbols | Self::Runtime(Unsupported::NoRuntime))
    }
}
