//! What programs that were written for memtrail can ask of us, through the OCaml library `memtrail`
//! (`ocaml/` in the repository).
//!
//! All of this is called from OCaml code, by C code that the runtime knows of: the state is saved,
//! the callstack can be walked, and the caller holds the runtime's lock. None of it allocates on the
//! OCaml heap or runs OCaml code.

mod external;
mod learn_labels;
mod roots;

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

pub use memtrail_ocaml::block::Value;

use crate::os::errno::keeping_errno;
use crate::recording::active::{active, target};
use crate::recording::{end, installed, notes};
use crate::sampling::{switch, write};
use crate::snapshot;

pub use crate::sampling::labels::{NO_LABEL, value_of as label};
pub use roots::Place;

/// Whether this process is recorded, or was forked from one that is.
pub fn is_recorded() -> bool {
    installed::is_recorded()
}

/// Takes a heap snapshot of that name, now. False if too many are being written: the caller waits and
/// asks again, or insists on a failure.
pub fn take_snapshot(label: &str, insist: bool) -> bool {
    let Some(target) = target() else { return true };
    keeping_errno(|| snapshot::lifecycle::now(target, label, insist))
}

/// Lets samples be recorded or not; what was sampled is brought to the file.
pub fn sample(on: bool) {
    static NOTED: AtomicBool = AtomicBool::new(false);
    switch::switch(on);
    if active().is_none() || on {
        return;
    }
    end::flush_now();
    if !NOTED.swap(true, Relaxed) {
        let words = "the program stopped sampling for a time: what it allocated then is not here";
        keeping_errno(|| notes::note(words.into()));
    }
}

/// Whether samples are recorded.
pub fn is_sampling() -> bool {
    switch::is_on() && active().is_some()
}

/// So many bytes outside the heap were allocated: a token if they were sampled.
pub fn external_alloc(bytes: u64) -> Option<Value> {
    external::alloc(bytes)
}

/// The memory with this token was freed.
pub fn external_free(token: Value) {
    write::collect_external(token);
}

/// The caller's caller keeps this value in its frame as it will keep labels. Whether it was found.
pub fn learn_label_frame(value: Value) -> bool {
    let Some(target) = target() else { return false };
    let why = match learn_labels::learn(target, value) {
        None => "the frame that keeps them is not as expected",
        Some(()) if !target.incremental.load(Relaxed) => "the runtime captures these itself",
        Some(()) => return true,
    };
    keeping_errno(|| notes::note(format!("labels are not in callstacks: {why}")));
    false
}

/// Gives the blocks of all modules: name, address, number of fields.
pub fn globals(each: impl FnMut(&[u8], Value, u64)) {
    if let Some(target) = target() {
        roots::globals(target, each);
    }
}

/// Gives the frames of the running stack, the innermost first, with the addresses of their values.
pub fn frames(each: impl FnMut(&Place<'_>, &[u64])) {
    if let Some(target) = target() {
        roots::frames(target, each);
    }
}
