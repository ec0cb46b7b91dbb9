//! The blocks that are tracked: those in minor heaps by domain, and all others.

use memtrail_ocaml::block::Value;
use memtrail_trace::DomainId;

use crate::os::lock::{Lock, LockGuard};

/// `Max_domains` of these versions (`runtime/caml/config.h`).
pub(super) const DOMAINS: usize = 128;

/// A sampled block that lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Address of its field 0.
    pub(crate) block: u64,
    pub(crate) samples: u64,
    /// What it is known by.
    pub(crate) key: Value,
}

/// All of them.
pub(super) struct Tracked {
    /// By number of the domain.
    pub(super) young: [Vec<Entry>; DOMAINS],
    pub(super) old: Vec<Entry>,
}

static TRACKED: Lock<Tracked> =
    Lock::new(Tracked { young: [const { Vec::new() }; DOMAINS], old: Vec::new() });

/// All of them, unless this thread has them already: then a signal handler interrupted it there.
pub(super) fn all() -> Option<LockGuard<'static, Tracked>> {
    TRACKED.lock_unless_ending()
}

/// Tracks one more block: in the minor heap of a domain, or elsewhere.
pub(super) fn add(domain: Option<DomainId>, entry: Entry) {
    if let Some(mut tracked) = all() {
        match domain {
            Some(domain) => tracked.young[usize::from(domain.0) % DOMAINS].push(entry),
            None => tracked.old.push(entry),
        }
    }
}

/// Gives each to `use_it`, in a frozen copy of the process. Nothing if they were being changed.
pub(crate) fn each(use_it: impl FnMut(&Entry)) {
    if let Some(tracked) = TRACKED.try_lock() {
        tracked.young.iter().flatten().chain(&tracked.old).for_each(use_it);
    }
}
