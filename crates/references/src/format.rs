//! The numbers of the file's format.

/// First bytes of the file.
pub(crate) const MAGIC: [u8; 8] = *b"mtrefs\0\0";
/// The version of the format that is written. Version 1 had no positions of variables, version 2 no OCaml heap, version 3 no
/// system calls.
pub(crate) const VERSION: u64 = 4;
/// The oldest version that can be read.
pub(crate) const OLDEST: u64 = 1;

/// Kinds of roots.
pub(crate) mod kind {
    pub(crate) const DATA: u64 = 0;
    pub(crate) const NAMED_DATA: u64 = 1;
    pub(crate) const STACK: u64 = 2;
    pub(crate) const THREAD_LOCAL: u64 = 3;
    pub(crate) const ELSEWHERE: u64 = 4;
    /// Since version 2.
    pub(crate) const POSITIONED_DATA: u64 = 5;
    /// Since version 3.
    pub(crate) const HEAP: u64 = 6;
    /// Since version 4.
    pub(crate) const SYSTEM_CALL: u64 = 7;
}
