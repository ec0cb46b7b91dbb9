//! What can be asked of the launcher, by whom, and its encoding in a slot.

/// What is to be done in the folder of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Hold the payload for the request that follows in the same slot.
    Hold,
    /// Make the recording's folder; the payload is the program's name. The answer is the number of
    /// the process's image in four bytes, then the folder's path.
    Begin {
        /// The process was forked from one that is recorded.
        forked: bool,
    },
    /// Replace the status of the process in the session by the payload.
    Report,
    /// Replace `recording.json` by the payload.
    Describe,
    /// Write the payload at this offset of the trace, which ends behind it.
    Trace(u64),
    /// The same for the list of threads, which is made when it is not there.
    Threads(u64),
    /// The same for the list of rates.
    Rates(u64),
    /// The same for the figures of resident memory.
    Memory(u64),
    /// The same for what the garbage collector did.
    Collections(u64),
    /// Write the payload at this offset of the list of the program's executable and libraries, which is made when it is not there.
    Modules(u64),
    /// Make the file of the snapshot with this number.
    BeginSnapshot(u64),
    /// Write the payload at this offset of its file.
    WriteSnapshot(u64, u64),
    /// Give it its name.
    FinishSnapshot(u64),
    /// Remove what there is of it.
    RemoveSnapshot(u64),
    /// Remove its file, which is whole, and what refers to blocks in it.
    DropSnapshot(u64),
    /// Make the file of the references in the snapshot with this number.
    BeginReferences(u64),
    /// Write the payload at this offset of its file.
    WriteReferences(u64, u64),
    /// Give it its name.
    FinishReferences(u64),
    /// Remove what there is of it.
    RemoveReferences(u64),
    /// Take away the file that asks for a snapshot; an error if nobody asks.
    TakeRequest,
}

impl Operation {
    pub(super) fn encode(self) -> (u32, u64, u64) {
        match self {
            Self::Hold => (1, 0, 0),
            Self::Begin { forked } => (2, u64::from(forked), 0),
            Self::Report => (3, 0, 0),
            Self::Describe => (4, 0, 0),
            Self::Trace(offset) => (5, 0, offset),
            Self::Threads(offset) => (6, 0, offset),
            Self::BeginSnapshot(number) => (7, number, 0),
            Self::WriteSnapshot(number, offset) => (8, number, offset),
            Self::FinishSnapshot(number) => (9, number, 0),
            Self::RemoveSnapshot(number) => (10, number, 0),
            Self::TakeRequest => (11, 0, 0),
            Self::Rates(offset) => (12, 0, offset),
            Self::Memory(offset) => (13, 0, offset),
            Self::Collections(offset) => (14, 0, offset),
            Self::DropSnapshot(number) => (15, number, 0),
            Self::BeginReferences(number) => (16, number, 0),
            Self::WriteReferences(number, offset) => (17, number, offset),
            Self::FinishReferences(number) => (18, number, 0),
            Self::RemoveReferences(number) => (19, number, 0),
            Self::Modules(offset) => (20, 0, offset),
        }
    }

    pub(super) fn decode(code: u32, number: u64, offset: u64) -> Option<Self> {
        Some(match code {
            1 => Self::Hold,
            2 => Self::Begin { forked: number != 0 },
            3 => Self::Report,
            4 => Self::Describe,
            5 => Self::Trace(offset),
            6 => Self::Threads(offset),
            7 => Self::BeginSnapshot(number),
            8 => Self::WriteSnapshot(number, offset),
            9 => Self::FinishSnapshot(number),
            10 => Self::RemoveSnapshot(number),
            11 => Self::TakeRequest,
            12 => Self::Rates(offset),
            13 => Self::Memory(offset),
            14 => Self::Collections(offset),
            15 => Self::DropSnapshot(number),
            16 => Self::BeginReferences(number),
            17 => Self::WriteReferences(number, offset),
            18 => Self::FinishReferences(number),
            19 => Self::RemoveReferences(number),
            20 => Self::Modules(offset),
            _ => return None,
        })
    }
}

/// Whose request it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sender {
    /// The recorded process.
    pub pid: u32,
    /// Counts the programs that it has been.
    pub image: u32,
    /// The process that asks: the same, or a forked copy of it that writes a snapshot.
    pub sender_pid: u32,
}

/// Why nothing was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The launcher has ended, or does not answer.
    Gone,
    /// The system's error number.
    Errno(i32),
}
