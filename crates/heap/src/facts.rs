//! What a snapshot says of the process and the moment it was taken at.

/// What asked for a snapshot: a number in its file, a name in `recording.json`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case")
)]
#[repr(u8)]
pub enum SnapshotReason {
    /// The end of a major collection.
    EveryMajor = 0,
    /// The end of the program.
    Exit = 1,
    /// A signal.
    Signal = 2,
    /// `memtrail snapshot`.
    Request = 3,
    /// The heap's size.
    Above = 4,
    /// Memory is about to run out, or has: the runtime is about to raise `Out_of_memory`.
    OutOfMemory = 5,
    /// The program itself.
    Program = 6,
    /// Time, of native programs.
    Interval = 7,
    /// Nobody: the work that the program did, or its resident memory.
    Auto = 8,
}

impl SnapshotReason {
    /// The one with this number in files; 255 is none.
    pub const fn from_code(code: u64) -> Option<Self> {
        Some(match code {
            0 => Self::EveryMajor,
            1 => Self::Exit,
            2 => Self::Signal,
            3 => Self::Request,
            4 => Self::Above,
            5 => Self::OutOfMemory,
            6 => Self::Program,
            7 => Self::Interval,
            8 => Self::Auto,
            _ => return None,
        })
    }

    /// Its number in files.
    pub fn code(reason: Option<Self>) -> u64 {
        reason.map_or(255, |reason| reason as u64)
    }

    /// Its name, as it is printed.
    pub fn name(reason: Option<Self>) -> &'static str {
        match reason {
            Some(Self::EveryMajor) => "end of a major collection",
            Some(Self::Exit) => "exit",
            Some(Self::Signal) => "signal",
            Some(Self::Request) => "request",
            Some(Self::Above) => "threshold",
            Some(Self::OutOfMemory) => "out of memory",
            Some(Self::Program) => "program",
            Some(Self::Interval) => "interval",
            Some(Self::Auto) => "auto",
            None => "unknown",
        }
    }
}

/// What is known besides the heap. Times are in nanoseconds; 0 is unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// When it was taken: since 1970.
    pub taken_at: u64,
    /// The same moment on the monotonic clock of the allocation trace.
    pub clock: u64,
    /// How long the target was paused.
    pub pause: u64,
    /// The snapshot's number within its recording.
    pub number: u64,
    /// What asked for it, if that is said.
    pub reason: Option<SnapshotReason>,
    /// The name that the program gave it; mostly empty.
    pub label: Vec<u8>,
    /// The target's process id.
    pub pid: u64,
    /// The program's name.
    pub program: Vec<u8>,
    /// The OCaml runtime's version, `4.13.1`.
    pub runtime: Vec<u8>,
    /// Counters of the collector, by name.
    pub counters: Vec<(Vec<u8>, u64)>,
}

#[cfg(test)]
mod tests {
    use super::SnapshotReason;

    #[test]
    fn numbers_of_reasons_read_back() {
        for code in 0..=255 {
            let reason = SnapshotReason::from_code(code);
            assert_eq!(reason.is_some(), code < 9);
            assert_eq!(SnapshotReason::code(reason), if code < 9 { code } else { 255 });
        }
    }
}
