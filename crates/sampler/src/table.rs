//! The tracked blocks, by address.
//!
//! Open addressing in shards, each with a lock and memory of its own from the kernel: the table is used
//! in the middle of allocations and deallocations, so it cannot allocate. A [filter](crate::filter) in
//! front of it keeps almost all deallocations away.

#[cfg(feature = "preloaded")]
use std::any::Any;
use std::mem::MaybeUninit;
#[cfg(feature = "preloaded")]
use std::ops::Range;

use crate::filter::Filter;
use crate::hash::Hash;
use crate::mapping::{Mapping, Zeroed};
use crate::spin_lock::SpinLock;
use crate::units::Address;
use crate::value::Value;

/// What a tracker knows of a block, and the profile that the tracker is of.
pub(crate) struct Tracked {
    pub(crate) data: Value,
    pub(crate) generation: u64,
}

/// An address and what is known of it; address 0 where there is nothing.
struct Slot {
    address: usize,
    tracked: MaybeUninit<Tracked>,
}

// SAFETY: address 0 is a valid number, and `MaybeUninit` may be anything.
unsafe impl Zeroed for Slot {}

const SHARDS: usize = 64;
const FIRST_SLOTS: usize = 256;

/// The blocks of some addresses.
struct Shard {
    slots: Mapping<Slot>,
    len: usize,
}

/// All tracked blocks.
pub(crate) struct Table {
    filter: Filter,
    shards: [SpinLock<Shard>; SHARDS],
}

/// The table of the process.
pub(crate) static TABLE: Table = Table::new();

impl Table {
    const fn new() -> Self {
        Self {
            filter: Filter::new(),
            shards: [const { SpinLock::new(Shard { slots: Mapping::empty(), len: 0 }) }; SHARDS],
        }
    }

    /// Whether a block may be in the table. Who frees a block has its address from its allocation, so this sees
    /// what was entered then.
    #[inline]
    pub(crate) fn may_contain(&self, address: Address) -> bool {
        self.filter.may_contain(Hash::of(address))
    }

    /// Enters a block. Gives what was known of another one of that address: it was freed, and nothing told of it. The
    /// error is the block, where there is no memory for it, or a signal handler has interrupted such a change.
    pub(crate) fn insert(
        &self,
        address: Address,
        tracked: Tracked,
    ) -> Result<Option<Tracked>, Tracked> {
        let hash = Hash::of(address);
        let Some(mut shard) = self.shard(hash).lock() else { return Err(tracked) };
        if !shard.reserve() {
            return Err(tracked);
        }
        let other = shard.insert(hash, address.0, MaybeUninit::new(tracked));
        if other.is_none() {
            // Under the shard's lock, as all changes of the filter's entries of this shard.
            self.filter.add(hash);
        }
        Ok(other)
    }

    /// Takes a block out. Where a signal handler has interrupted a change of the table, its block may stay there.
    pub(crate) fn remove(&self, address: Address) -> Option<Tracked> {
        // Programs free the null pointer; where there is nothing, slots have this address.
        if address.0 == 0 {
            return None;
        }
        let hash = Hash::of(address);
        let mut shard = self.shard(hash).lock()?;
        let removed = shard.remove(hash, address.0)?;
        self.filter.subtract(hash);
        Some(removed)
    }

    /// Takes all blocks out, and gives the memory back. They are dropped after the locks are released.
    pub(crate) fn clear(&self) {
        for shard in &self.shards {
            let old = {
                let Some(mut shard) = shard.lock() else { continue };
                for slot in shard.slots.slots().iter().filter(|slot| slot.address != 0) {
                    self.filter.subtract(Hash::of(Address(slot.address)));
                }
                std::mem::replace(&mut *shard, Shard { slots: Mapping::empty(), len: 0 })
            };
            drop(old);
        }
    }

    /// Locks all shards, for a fork.
    pub(crate) fn acquire_all(&self) {
        self.shards.iter().for_each(SpinLock::acquire);
    }

    /// Locks all shards, or none if one is held for long.
    #[cfg(feature = "preloaded")]
    pub(crate) fn try_acquire_all(&self) -> bool {
        let refused = self.shards.iter().position(|shard| !shard.try_acquire());
        for shard in self.shards.iter().take(refused.unwrap_or(0)) {
            // SAFETY: locked above.
            unsafe { shard.release() };
        }
        refused.is_none()
    }

    /// Releases all shards.
    ///
    /// # Safety
    /// They were locked by [`acquire_all`](Self::acquire_all) in this thread, or in that of which it is
    /// the forked copy.
    pub(crate) unsafe fn release_all(&self) {
        for shard in &self.shards {
            // SAFETY: as the caller promises.
            unsafe { shard.release() };
        }
    }

    /// Gives a function each block, and what is known of it, without locking.
    ///
    /// # Safety
    /// Nothing changes the table meanwhile: this is a copy of a process, with one thread, that was made while another had
    /// all shards locked, or with this thread the only one.
    #[cfg(feature = "preloaded")]
    pub(crate) unsafe fn each_unlocked(&self, mut see: impl FnMut(Address, &(dyn Any + Send))) {
        for shard in &self.shards {
            // SAFETY: as the caller promises.
            let shard = unsafe { shard.unlocked() };
            for slot in shard.slots.slots().iter().filter(|slot| slot.address != 0) {
                // SAFETY: a slot with an address has a value.
                let tracked = unsafe { slot.tracked.assume_init_ref() };
                see(Address(slot.address), tracked.data.any());
            }
        }
    }

    /// Where the slots are in memory: addresses there are no references of the program's.
    ///
    /// # Safety
    /// As [`each_unlocked`](Self::each_unlocked).
    #[cfg(feature = "preloaded")]
    pub(crate) unsafe fn memory_unlocked(&self) -> impl Iterator<Item = Range<usize>> {
        self.shards.iter().map(|shard| {
            // SAFETY: as the caller promises.
            let slots = unsafe { shard.unlocked() }.slots.slots().as_ptr_range();
            slots.start.addr()..slots.end.addr()
        })
    }

    fn shard(&self, hash: Hash) -> &SpinLock<Shard> {
        &self.shards[hash.shard(SHARDS)]
    }
}

impl Shard {
    /// Whether there is room for one more.
    fn reserve(&mut self) -> bool {
        let capacity = self.slots.slots().len();
        if (self.len + 1) * 2 <= capacity {
            return true;
        }
        let Some(slots) = Mapping::new((capacity * 2).max(FIRST_SLOTS)) else { return false };
        let mut old = std::mem::replace(self, Self { slots, len: 0 });
        for slot in old.slots.slots_mut() {
            if slot.address != 0 {
                let tracked = std::mem::replace(&mut slot.tracked, MaybeUninit::uninit());
                self.insert(Hash::of(Address(slot.address)), slot.address, tracked);
                slot.address = 0;
            }
        }
        true
    }

    /// Enters a block, for which there is room. Gives what was there of that address.
    fn insert(
        &mut self,
        hash: Hash,
        address: usize,
        tracked: MaybeUninit<Tracked>,
    ) -> Option<Tracked> {
        let slots = self.slots.slots_mut();
        let mask = slots.len() - 1;
        let mut at = hash.slot(mask);
        while slots[at].address != 0 {
            if slots[at].address == address {
                let other = std::mem::replace(&mut slots[at].tracked, tracked);
                // SAFETY: the slot had an address, so its value was written, and it has been moved out once.
                return Some(unsafe { other.assume_init() });
            }
            at = (at + 1) & mask;
        }
        slots[at] = Slot { address, tracked };
        self.len += 1;
        None
    }

    fn remove(&mut self, hash: Hash, address: usize) -> Option<Tracked> {
        let slots = self.slots.slots_mut();
        let mask = slots.len().checked_sub(1)?;
        let mut at = hash.slot(mask);
        while slots[at].address != address {
            if slots[at].address == 0 {
                return None;
            }
            at = (at + 1) & mask;
        }
        let tracked = std::mem::replace(&mut slots[at].tracked, MaybeUninit::uninit());
        slots[at].address = 0;
        self.len -= 1;
        // Those behind move up, where the gap is on their way.
        let mut next = (at + 1) & mask;
        while slots[next].address != 0 {
            let home = Hash::of(Address(slots[next].address)).slot(mask);
            if (next.wrapping_sub(home) & mask) >= (next.wrapping_sub(at) & mask) {
                slots.swap(at, next);
                at = next;
            }
            next = (next + 1) & mask;
        }
        // SAFETY: the slot had an address, so its value was written, and it has been moved out once.
        Some(unsafe { tracked.assume_init() })
    }
}

impl Drop for Shard {
    fn drop(&mut self) {
        for slot in self.slots.slots_mut() {
            if std::mem::take(&mut slot.address) != 0 {
                // SAFETY: the slot had an address, so its value was written; it has none any more.
                unsafe { slot.tracked.assume_init_drop() };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use rand::rngs::Xoshiro256PlusPlus;
    use rand::{RngExt as _, SeedableRng as _};

    use super::*;

    fn value(tracked: &Tracked) -> u64 {
        *tracked.data.any().downcast_ref().expect("a number")
    }

    /// Against a map of the standard library, with few addresses, so that they collide.
    #[test]
    fn it_is_a_map() {
        let table = Table::new();
        let mut oracle = HashMap::new();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for step in 0..200_000_u64 {
            let address = Address(random.random_range(1..5000_usize) * 16);
            if let Some(expected) = oracle.remove(&address) {
                let removed = table.remove(address).expect("it was entered");
                assert_eq!(value(&removed), expected);
                assert!(table.remove(address).is_none());
            } else {
                assert!(table.remove(address).is_none());
                let tracked = Tracked { data: Value::new(step), generation: 0 };
                assert!(table.insert(address, tracked).is_ok());
                assert!(table.may_contain(address));
                oracle.insert(address, step);
            }
        }
        table.clear();
        assert!(oracle.keys().all(|&address| table.remove(address).is_none()));
    }

    /// What the slot held before was dropped a second time.
    #[test]
    fn the_null_pointer_is_in_no_slot() {
        let table = Table::new();
        let null = Address(0);
        // So many that some are of the null pointer's shard, and of its entry of the filter.
        let addresses = || (1..1_000_000_usize).map(|n| Address(n << 4));
        let near = || addresses().filter(|&a| Hash::of(a).filter_entry() == 0);
        assert!(near().count() > 0);
        for address in near() {
            let tracked = Tracked { data: Value::new(address.0 as u64), generation: 0 };
            assert!(table.insert(address, tracked).is_ok());
        }
        assert!(table.may_contain(null));
        for address in near() {
            assert!(table.remove(null).is_none());
            assert_eq!(value(&table.remove(address).expect("it was entered")), address.0 as u64);
        }
        assert!(table.remove(null).is_none());
    }

    /// Each such block was a further entry, which all later ones of its address had to pass.
    #[test]
    fn a_block_whose_free_was_not_seen_is_replaced() {
        let table = Table::new();
        let tracked = |step: u64| Tracked { data: Value::new(step), generation: 0 };
        let address = Address(4096);
        for step in 0..10_000 {
            let other = table.insert(address, tracked(step)).map_err(|_| "refused").unwrap();
            assert_eq!(other.map(|other| value(&other)), step.checked_sub(1));
        }
        assert_eq!(value(&table.remove(address).unwrap()), 9_999);
        assert!(table.remove(address).is_none() && !table.may_contain(address));
    }

    #[test]
    fn what_is_left_is_dropped() {
        let counted = std::sync::Arc::new(());
        let table = Table::new();
        for n in 1..=1000 {
            let tracked = Tracked { data: Value::new(counted.clone()), generation: 0 };
            assert!(table.insert(Address(n << 4), tracked).is_ok());
        }
        assert_eq!(std::sync::Arc::strong_count(&counted), 1001);
        drop(table.remove(Address(16)));
        assert_eq!(std::sync::Arc::strong_count(&counted), 1000);
        table.clear();
        assert_eq!(std::sync::Arc::strong_count(&counted), 1);
    }
}
