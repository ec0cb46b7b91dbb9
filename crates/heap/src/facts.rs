//! What a snapshot says of the process and the moment it was taken at.

/// Why a snapshot was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Reason {
    /// A major collection ended.
    Major = 0,
    /// The program ended.
    Exit = 1,
    /// A signal asked for it.
    Signal = 2,
    /// `memtrail snapshot` asked for it.
    Request = 3,
    /// Live memory passed a threshold.
    Threshold = 4,
    /// Memory ran out.
    Memory = 5,
    /// The program itself asked for it.
    Program = 6,
    /// Not said.
    #[default]
    Unknown = 255,
}

impl Reason {
    /// The one with this number in files.
    pub const fn from_code(code: u64) -> Self {
        match code {
            0 => Self::Major,
            1 => Self::Exit,
            2 => Self::Signal,
            3 => Self::Request,
            4 => Self::Threshold,
            5 => Self::Memory,
            6 => Self::Program,
            _ => Self::Unknown,
        }
    }

    /// Its name, as it is printed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Major => "end of a major collection",
            Self::Exit => "exit",
            Self::Signal => "signal",
            Self::Request => "request",
            Self::Threshold => "threshold",
            Self::Memory => "out of memory",
            Self::Program => "program",
            Self::Unknown => "unknown",
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
    /// How long the target stood still.
    pub pause: u64,
    /// The snapshot's number within its recording.
    pub number: u64,
    /// Why it was taken.
    pub reason: Reason,
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
