//! The sampled blocks, for who looks for references to them in a frozen copy of the process.

use crate::context::target::Target;
use crate::malloc::start;
use crate::malloc::tracked::List;

/// Whether calls of `malloc` are recorded.
pub(crate) fn are_recorded(target: &Target) -> bool {
    start::tracked(target).is_some()
}

/// Runs something, which copies the process, while no thread can note a sampled block or free one. It is not run if a
/// thread does not let go of them.
pub(crate) fn holding<R>(target: &Target, run: impl FnOnce() -> R) -> Result<R, Refused> {
    let (mut run, mut result) = (Some(run), None);
    if let Some(tracked) = start::tracked(target) {
        (tracked.hold)(&mut || result = run.take().map(|run| run()));
    }
    result.ok_or(Refused)
}

/// The sampled blocks are not to be had.
pub(crate) struct Refused;

/// The sampled blocks of a recording, by its epoch.
///
/// # Safety
/// This is a frozen copy of the process, made in [`holding`].
pub(crate) unsafe fn of_copy(target: &Target, epoch: u8) -> List {
    match start::tracked(target) {
        // SAFETY: as the caller promises.
        Some(tracked) => unsafe { (tracked.list)(epoch) },
        None => List { blocks: Vec::new(), ours: Vec::new() },
    }
}
