//! OCaml 5: how much memory the heaps of all domains have taken.
//!
//! Only the domain itself can say: its state goes when it ends, at any moment. So each tells in every
//! minor collection, in which all domains are involved; one that has not reported in the last two has ended.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use memtrail_ocaml::heap::{counters, pools};
use memtrail_ocaml::layout::MulticoreState;
use memtrail_ocaml::memory::{Memory as _, ThisProcess};

/// More domains cannot run at once (`Max_domains_max`, `runtime/caml/config.h`).
const MAX_DOMAINS: usize = 4096;

struct Reported {
    words: AtomicU64,
    /// How many minor collections there had been, and one more; 0 for never.
    collection: AtomicU64,
}

static REPORTED: [Reported; MAX_DOMAINS] =
    [const { Reported { words: AtomicU64::new(0), collection: AtomicU64::new(0) } }; MAX_DOMAINS];

/// What a domain has taken now, in words. Only while it cannot end.
fn words(memory: ThisProcess, fields: &MulticoreState, state: u64) -> Option<u64> {
    counters::heap_words_of_domain(&memory, pools::heap_of(&memory, fields, state)?)
}

/// The domain with this state tells.
pub(super) fn report(memory: ThisProcess, fields: &MulticoreState, state: u64, collections: u64) {
    let id = memory.field(state, fields.id).unwrap_or(u64::MAX) as usize;
    if let (Some(reported), Some(words)) = (REPORTED.get(id), words(memory, fields, state)) {
        reported.words.store(words, Relaxed);
        reported.collection.store(collections.saturating_add(1), Relaxed);
    }
}

/// Words that all domains have taken; the main one, which never ends, as of now.
pub(super) fn all(
    memory: ThisProcess,
    fields: &MulticoreState,
    main: u64,
    collections: u64,
) -> u64 {
    let others = REPORTED
        .iter()
        .skip(1)
        .filter(|reported| reported.collection.load(Relaxed) >= collections.max(1));
    let others: u64 = others.map(|reported| reported.words.load(Relaxed)).sum();
    words(memory, fields, main).unwrap_or(0).saturating_add(others)
}
