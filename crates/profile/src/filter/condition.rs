//! What a condition says: one condition on blocks, several values of which any will do.

use memtrail_trace::{Bytes, DomainId};

use crate::time::Elapsed;

/// A clause, or its opposite.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Condition {
    /// Whether the condition must not hold.
    pub not: bool,
    /// What must hold.
    pub clause: Clause,
}

/// A condition that holds if it does for any of its values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Clause {
    /// Allocated then; with the major heap alone, promoted then.
    Allocated(Vec<Between<Moment>>),
    /// Allocated at or before the upper end and collected after the lower one.
    Live(Vec<Between<Moment>>),
    /// Collected then. What never was counts as collected at the trace's end.
    Collected(Vec<Collected>),
    /// From allocation to collection, or to the trace's end.
    Lifetime(Vec<Between<Elapsed>>),
    /// Size of the block, header included.
    Size(Vec<Between<Bytes>>),
    /// In these parts of memory, and only while there.
    Heap(Vec<Heap>),
    /// Where it was when it was collected.
    Died(Vec<Died>),
    /// Allocated by these domains.
    Domain(Vec<DomainId>),
    /// Allocated by these threads.
    Thread(Vec<Name>),
    /// Allocated by these processes, of a trace of several.
    Process(Vec<Name>),
    /// With such frames in the backtrace.
    Frame(FrameScope, FrameName, Vec<Name>),
    /// No condition: functions to be left out of paths.
    Hide(Vec<Name>),
    /// No condition: modules whose functions, where they follow each other on paths, are one node.
    Collapse(Vec<Name>),
}

/// A closed range, open to a side that is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Between<T> {
    /// Not before this.
    pub from: Option<T>,
    /// Not after this.
    pub to: Option<T>,
}

/// A moment of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Moment {
    /// The recording's start.
    Start,
    /// When most was live, of all blocks.
    Peak,
    /// The time of its last event.
    End,
    /// Time since its start.
    At(Elapsed),
    /// A part of its duration.
    Part(Millionths),
}

/// Millionths of a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Millionths(pub u32);

/// When a block was collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Collected {
    /// Not within the trace.
    Never,
    /// In this range.
    Within(Between<Moment>),
}

/// A part of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Heap {
    /// The minor heap.
    Minor,
    /// The major heap.
    Major,
    /// Outside the OCaml heap.
    External,
}

/// Where a block was when it was collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Died {
    /// There.
    In(Heap),
    /// It was not collected.
    Never,
}

/// Which frames of a backtrace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FrameScope {
    /// Any of them, those of inlined calls too.
    Any,
    /// The innermost one, that which allocates.
    Innermost,
}

/// What of a frame is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FrameName {
    /// Its function.
    Function,
    /// Its module.
    Module,
    /// Its source file.
    File,
}

/// Which names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Name {
    /// This one.
    Equals(String),
    /// Those that this is a part of.
    Contains(String),
    /// Those that this regular expression, of the syntax of the crate `regex`, finds something in.
    Matches(String),
}

impl<T> Between<T> {
    /// From here to there.
    pub const fn both(from: T, to: T) -> Self {
        Self { from: Some(from), to: Some(to) }
    }
}

impl<T: Copy> Between<T> {
    /// This alone.
    pub const fn only(value: T) -> Self {
        Self::both(value, value)
    }
}

impl<T: Copy + PartialOrd> Between<T> {
    /// Whether a value is in the range.
    pub fn holds(self, value: T) -> bool {
        self.from.is_none_or(|from| from <= value) && self.to.is_none_or(|to| value <= to)
    }
}

impl Clause {
    /// Whether it changes call paths instead of choosing blocks: it has no opposite.
    pub fn transforms_paths(&self) -> bool {
        matches!(self, Self::Hide(_) | Self::Collapse(_))
    }

    /// How the clause is called in text.
    pub fn key(&self) -> &'static str {
        match self {
            Self::Allocated(_) => "allocated",
            Self::Live(_) => "live",
            Self::Collected(_) => "collected",
            Self::Lifetime(_) => "lifetime",
            Self::Size(_) => "size",
            Self::Heap(_) => "heap",
            Self::Died(_) => "died",
            Self::Domain(_) => "domain",
            Self::Thread(_) => "thread",
            Self::Process(_) => "process",
            Self::Frame(FrameScope::Any, FrameName::Function, _) => "in",
            Self::Frame(FrameScope::Any, FrameName::Module, _) => "module",
            Self::Frame(FrameScope::Any, FrameName::File, _) => "file",
            Self::Frame(FrameScope::Innermost, FrameName::Function, _) => "by",
            Self::Frame(FrameScope::Innermost, FrameName::Module, _) => "byModule",
            Self::Frame(FrameScope::Innermost, FrameName::File, _) => "byFile",
            Self::Hide(_) => "hide",
            Self::Collapse(_) => "collapse",
        }
    }
}

impl Heap {
    /// Its name in text.
    pub fn name(self) -> &'static str {
        match self {
            Self::Minor => "minor",
            Self::Major => "major",
            Self::External => "external",
        }
    }
}

impl Died {
    /// Its name in text.
    pub fn name(self) -> &'static str {
        match self {
            Self::In(heap) => heap.name(),
            Self::Never => "never",
        }
    }
}
