//! A generation of runtimes: what differs between them, as far as snapshots are concerned.

use memtrail_recording::session::SnapshotOptions;

use crate::context::target::Target;

/// Brings a program to moments at which its whole heap holds still.
pub(crate) trait HoldStill: Sync {
    /// Puts hooks in place, before the program's own code runs. The main domain's thread calls.
    fn prepare(&self, options: &SnapshotOptions);

    /// Gives the hooks back, while the heap holds still and no thread of ours looks for requests.
    fn give_back(&self);

    /// Takes a snapshot for the program, which calls from its own code. False if too many are being
    /// written and it does not insist.
    fn now(&self, label: &str, insist: bool) -> bool;

    /// Takes a snapshot before `Out_of_memory` is raised.
    fn out_of_memory(&self);

    /// Takes a snapshot at the program's end.
    fn at_exit(&self);

    /// Bytes of the heap, for the threshold.
    fn used(&self) -> u64;

    /// Makes a program that runs come to such a moment.
    fn nudge(&self);

    /// Takes the snapshot that is wanted; the thread for snapshots calls it.
    fn take_wanted(&self);

    /// The same, as far as the program waits: it is not given time to come to such a moment by itself.
    fn take_while_idle(&self);

    /// What a second thread of ours is to do, if there is to be one.
    fn second_thread(&self) -> Option<extern "C" fn()>;
}

/// A generation of runtimes whose heaps can be held still.
pub(crate) trait SnapshotGeneration: Sync {
    /// Finds what it takes to hold the heap still. The name of what is missing is the error.
    fn find(&self, target: &'static Target) -> Result<&'static dyn HoldStill, &'static str>;
}
