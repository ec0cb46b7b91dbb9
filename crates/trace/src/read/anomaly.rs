//! What is wrong with a trace, and where.

use std::collections::BTreeMap;
use std::fmt;

/// A defect of the trace. Reading goes on after it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Anomaly {
    /// Byte of the file, counted from 0.
    pub offset: u64,
    /// What it is.
    pub cause: Cause,
}

impl fmt::Display for Anomaly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: {}", self.offset, self.cause)
    }
}

/// Kinds of anomalies, and what a reader makes of each.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum Cause {
    /// Zeros up to the end of the file, as a recorder leaves them that reserves room and dies.
    #[error("{0} zero bytes at the end")]
    Padding(u64),
    /// A packet that memtrace's own reader could not take.
    #[error("packet of {0} bytes, more than memtrace's reader takes")]
    LargePacket(u64),
    /// A packet of another process, as a fork leaves them. It is skipped.
    #[error("packet of process {0}, not of the one traced; skipped")]
    ForeignPid(u64),
    /// The file ends inside a packet header.
    #[error("the file ends {0} bytes into a packet header")]
    TruncatedHeader(u64),
    /// The file ends inside a packet. What is there of it is read.
    #[error("the file ends inside a packet of {size} bytes, after {have}")]
    TruncatedPacket {
        /// Bytes that the packet should have.
        size: u64,
        /// Bytes that it has.
        have: u64,
    },
    /// Bytes that are no packet, skipped up to the next packet or the end.
    #[error("{0} bytes that are no packet; skipped")]
    Garbage(u64),
    /// A packet does not end where it says; another begins inside.
    #[error("packet says {said} bytes but another begins after {found}")]
    PacketSize {
        /// Bytes that the header gives.
        said: u64,
        /// Bytes up to the next header.
        found: u64,
    },
    /// A packet before the one that says what the trace is. It is skipped.
    #[error("packet before the trace information; skipped")]
    BeforeInfo,
    /// The trace information comes a second time. It is skipped.
    #[error("trace information for a second time; skipped")]
    RepeatedInfo,
    /// A packet's last time is before its first, or half a minute after it.
    #[error("packet from {begin} to {end} µs")]
    PacketTimes {
        /// Its first time, µs since the Unix epoch.
        begin: u64,
        /// Its last time.
        end: u64,
    },
    /// The clock went back. Times of the domain are moved on so that none is before its
    /// predecessor.
    #[error("the clock went back by {0} µs")]
    ClockBackwards(u64),
    /// An event outside of its packet's times. If the rest of the packet is sound, the clock was
    /// set; if not, the rest of the packet is given up.
    #[error("event at {time} µs in a packet that ends at {end} µs")]
    EventTime {
        /// When the event says it was.
        time: u64,
        /// The packet's last time.
        end: u64,
    },
    /// A packet's first block is not the one after the last packet's last: packets are missing.
    #[error("packet begins with block {found}, expected {expected}")]
    IdGap {
        /// The id after the last one.
        expected: u64,
        /// The id that the packet begins with.
        found: u64,
    },
    /// A packet holds more or fewer allocations than its header says.
    #[error("packet ends before block {found}, its header says {expected}")]
    IdSync {
        /// The end that the header gives.
        expected: u64,
        /// The id after the last allocation.
        found: u64,
    },
    /// The recorder's cache and ours differ, so backtraces may be wrong.
    #[error("bucket {0} of the backtrace cache is not what the recorder had")]
    Verifier(u16),
    /// An event id that does not exist. The rest of the packet is given up.
    #[error("unknown event {0}")]
    UnknownEvent(u32),
    /// The packet ends inside an event.
    #[error("the packet ends inside an event")]
    CutEvent,
    /// A block's source that does not exist. The rest of the packet is given up.
    #[error("unknown source {0} of a block")]
    Source(u8),
    /// A negative length, number of samples or prefix. The rest of the packet is given up.
    #[error("negative number {0} in an allocation")]
    Negative(i64),
    /// A stack deeper than any. The rest of the packet is given up.
    #[error("stack of more than {0} frames")]
    Depth(u64),
    /// An index of an empty slot of the file or function table. The rest of the packet is given
    /// up.
    #[error("index {0} of an empty slot of the name tables")]
    Index(u8),
    /// Columns too large for their bits have damaged a table index, as memtrace up to 0.2.3
    /// writes them; the only reading that makes sense of the packet was taken.
    #[error("{0} file indices damaged by columns too large for their bits; repaired")]
    Columns(u64),
    /// A code is defined in two ways. The first one stays.
    #[error("code {0:#x} is defined in two ways")]
    Redefined(u64),
}

impl Cause {
    /// A short name for counters and machine-readable output.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Padding(_) => "padding",
            Self::LargePacket(_) => "large-packet",
            Self::ForeignPid(_) => "foreign-pid",
            Self::TruncatedHeader(_) => "truncated-header",
            Self::TruncatedPacket { .. } => "truncated-packet",
            Self::Garbage(_) => "garbage",
            Self::PacketSize { .. } => "packet-size",
            Self::BeforeInfo => "before-info",
            Self::RepeatedInfo => "repeated-info",
            Self::PacketTimes { .. } => "packet-times",
            Self::ClockBackwards(_) => "clock-backwards",
            Self::EventTime { .. } => "event-time",
            Self::IdGap { .. } => "id-gap",
            Self::IdSync { .. } => "id-sync",
            Self::Verifier(_) => "verifier",
            Self::UnknownEvent(_) => "unknown-event",
            Self::CutEvent => "cut-event",
            Self::Source(_) => "source",
            Self::Negative(_) => "negative",
            Self::Depth(_) => "depth",
            Self::Index(_) => "index",
            Self::Columns(_) => "columns",
            Self::Redefined(_) => "redefined",
        }
    }

    /// Whether nothing is lost by it.
    pub const fn is_harmless(&self) -> bool {
        matches!(self, Self::Padding(_) | Self::LargePacket(_) | Self::ForeignPid(_))
    }
}

/// How many anomalies are kept; beyond, they are only counted.
const KEPT: usize = 1000;

/// The anomalies met so far.
#[derive(Clone, Debug, Default)]
pub struct Anomalies {
    list: Vec<Anomaly>,
    counts: BTreeMap<&'static str, u64>,
    serious: u64,
}

impl Anomalies {
    /// The first thousand of them, in the order of the file.
    pub fn list(&self) -> &[Anomaly] {
        &self.list
    }

    /// How many there are of each kind, by [`Cause::name`].
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        self.counts.iter().map(|(&name, &count)| (name, count))
    }

    /// How many there are of one kind.
    pub fn count(&self, name: &str) -> u64 {
        self.counts.get(name).copied().unwrap_or(0)
    }

    /// How many there are.
    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }

    /// How many there are by which something is lost.
    pub fn serious(&self) -> u64 {
        self.serious
    }

    /// How many there are because the file ends too early.
    pub fn cut_tail(&self) -> u64 {
        self.count("truncated-header") + self.count("truncated-packet")
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    pub(crate) fn report(&mut self, offset: u64, cause: Cause) {
        *self.counts.entry(cause.name()).or_default() += 1;
        self.serious += u64::from(!cause.is_harmless());
        if self.list.len() < KEPT {
            self.list.push(Anomaly { offset, cause });
        }
    }
}
