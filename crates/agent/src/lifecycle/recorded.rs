//! What the recording of this process can do, that of an OCaml program's or of a native one's.

use std::sync::OnceLock;

use crate::os::ffi_guard;
use crate::os::program::remember_name;

/// The recording.
pub(crate) struct Recorded {
    /// Whether one was begun in this process or before it forked.
    pub(crate) has_begun: fn() -> bool,
    /// Whether the user asked for the children of recorded processes.
    pub(crate) follows_children: fn() -> bool,
    /// True if the user asked for snapshots of this process, or they are part of its recording.
    pub(crate) takes_snapshots: fn() -> bool,
    /// The process cannot take snapshots any more: one that nobody asked for is left out.
    pub(crate) give_up_last: fn(),
    /// The process is about to become another program.
    pub(crate) before_exec: fn(),
    /// It did not.
    pub(crate) after_failed_exec: fn(),
    /// Nothing more is recorded, for the reason in this note; no thread of ours is left.
    pub(crate) end_with_note: fn(&str),
}

static RECORDED: OnceLock<&'static Recorded> = OnceLock::new();

/// This is what the recording does, should there be one.
fn prepare(recorded: &'static Recorded) {
    RECORDED.get_or_init(|| recorded);
}

/// Gets the library ready: this is what the recording does, should there be one, and where memory is exhausted.
pub(crate) fn install(recorded: &'static Recorded, for_want_of_memory: fn()) {
    ffi_guard::install(for_want_of_memory);
    // SAFETY: the library is being loaded. In a program that runs, the variable is there as well.
    unsafe { remember_name() };
    prepare(recorded);
}

/// The recording, if one was begun in this process or before it forked.
pub(crate) fn recorded() -> Option<&'static Recorded> {
    RECORDED.get().copied().filter(|recorded| (recorded.has_begun)())
}

pub(crate) fn is_recorded() -> bool {
    recorded().is_some()
}

pub(crate) fn follows_children() -> bool {
    RECORDED.get().is_some_and(|recorded| (recorded.follows_children)())
}
