//! The rules of return addresses, remembered.
//!
//! All threads share them, without a lock: of two words that belong together, one is stored combined with the
//! other, so that half of one entry and half of another are no entry.

use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

use crate::callstack::eh_frame;
use crate::callstack::rule::Packed;

/// Entries; a power of two.
const ENTRIES: usize = 1 << 13;

#[derive(Debug)]
struct Entry {
    /// The address and the generation, combined with the rule.
    key: AtomicU64,
    /// 0 where there is nothing.
    rule: AtomicU64,
}

static ENTRY: [Entry; ENTRIES] =
    [const { Entry { key: AtomicU64::new(0), rule: AtomicU64::new(0) } }; ENTRIES];

/// How often all were forgotten.
static GENERATION: AtomicU64 = AtomicU64::new(0);
/// Addresses have fewer bits than this.
const ADDRESS_BITS: u32 = 48;

/// Forgets all rules: code was unloaded, and other code may come to its addresses.
pub fn forget() {
    GENERATION.fetch_add(1, Release);
}

/// The rule at a return address; `None` where there is no table.
#[inline]
pub(super) fn at(address: usize) -> Option<Packed> {
    let key = address as u64 ^ GENERATION.load(Acquire) << ADDRESS_BITS;
    let hash = (address as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - ENTRIES.ilog2());
    let entry = &ENTRY[hash as usize];
    let rule = entry.rule.load(Relaxed);
    if rule != 0 && entry.key.load(Relaxed) ^ rule == key {
        return Some(Packed(rule));
    }
    learn(entry, address, key)
}

#[cold]
#[inline(never)]
fn learn(entry: &Entry, address: usize, key: u64) -> Option<Packed> {
    // Where there is no table, there may be one later.
    let rule = eh_frame::rule_at(address)?.pack();
    entry.rule.store(rule.0, Relaxed);
    entry.key.store(key ^ rule.0, Relaxed);
    Some(rule)
}
