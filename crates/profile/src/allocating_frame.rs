//! The frame of a backtrace that allocated: the innermost one with a name that is the program's.
//!
//! Frames without a name are passed over, and so is the runtime's code that makes partial applications: what is
//! outside of them allocated.

use memtrail_trace::{FrameId, Locations, PARTIAL_APPLICATION, StackId, StackTree};

/// Whether a frame is not one that allocates.
pub fn is_passed_over(locations: &Locations, frame: FrameId) -> bool {
    locations
        .at(frame)
        .last()
        .is_none_or(|site| locations.functions().get(site.function) == PARTIAL_APPLICATION)
}

/// The backtrace without the innermost frames that are passed over: its innermost frame is the one that allocated.
/// If all are passed over, the backtrace itself.
pub fn allocating(locations: &Locations, stacks: &StackTree, stack: StackId) -> StackId {
    let mut at = stack;
    while at != StackId::ROOT {
        if !is_passed_over(locations, stacks.frame(at)) {
            return at;
        }
        at = stacks.parent(at);
    }
    stack
}
