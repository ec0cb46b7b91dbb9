//! Takes back all that a recording has changed in a program that runs on.

use crate::context::target::Target;
use crate::lifecycle::generation::generation_of;
use crate::recording::collection_hooks;
use crate::sampling::{self, handover, premature_dealloc, rate};
use crate::snapshot;

/// Gives back code of the runtime that was changed before anything is sampled.
///
/// # Safety
/// No domain runs, and none is in the midst of a collection.
pub(super) unsafe fn give_back_code() {
    // SAFETY: as the caller promises.
    unsafe {
        sampling::start::give_back();
        premature_dealloc::give_back();
    }
    sampling::state::forget();
}

/// Stops the sampler, and gives code and hooks back. False if a thread is in the midst of a callback: then nothing was done.
///
/// # Safety
/// The runtime is whole: all domains, which have these states, are stopped, and this thread acts for the main one. Threads of
/// ours that look for requests have ended.
pub(super) unsafe fn leave(target: &Target, domains: &[u64]) -> bool {
    let generation = generation_of(target.runtime.version);
    // SAFETY: as the caller promises.
    unsafe {
        if generation.calls_back(target, domains) {
            return false;
        }
        handover::watch_no_more();
        // The sampler of a program that samples by itself by now is left alone.
        if let Some(&ours) = sampling::start::OUR_PROFILE.get()
            && handover::is_ours()
        {
            generation.leave(target, ours, domains);
        }
        collection_hooks::watch_no_more();
        snapshot::lifecycle::give_back();
        give_back_code();
    }
    rate::forget();
    true
}
