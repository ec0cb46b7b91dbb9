//! Frame descriptors: what the compiler wrote down for every return address (`runtime/caml/stack.h`,
//! `runtime/caml/frame_descriptors.h`), and the runtime's table to find them.

use crate::memory::{Address, Memory};

/// `FRAME_RETURN_TO_C`: no frame, the end of a chunk of OCaml frames.
const RETURN_TO_C: u16 = 0xFFFF;
const HAS_DEBUG: u16 = 1;
const HAS_ALLOCS: u16 = 2;
const FLAGS: u16 = 3;

/// Return address, frame data and number of live values; the live values' offsets follow.
const LIVE_OFS: u64 = 12;

/// One frame descriptor; its variable parts are read when asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// Where it stands.
    pub at: Address,
    /// The return address it describes.
    pub return_address: Address,
    data: u16,
    num_live: u16,
}

impl Descriptor {
    /// Reads the descriptor at `at`.
    #[inline]
    pub fn read(memory: &impl Memory, at: Address) -> Option<Self> {
        let bytes: [u8; 12] = memory.bytes(at)?;
        let [r0, r1, r2, r3, r4, r5, r6, r7, d0, d1, l0, l1] = bytes;
        Some(Self {
            at,
            return_address: u64::from_le_bytes([r0, r1, r2, r3, r4, r5, r6, r7]),
            data: u16::from_le_bytes([d0, d1]),
            num_live: u16::from_le_bytes([l0, l1]),
        })
    }

    /// The frame's size in bytes; `None` where C was returned to, which has no frame.
    #[inline]
    pub const fn frame_size(&self) -> Option<u64> {
        if self.data == RETURN_TO_C { None } else { Some((self.data & !FLAGS) as u64) }
    }

    /// Whether OCaml returns to C here.
    #[inline]
    pub const fn returns_to_c(&self) -> bool {
        self.data == RETURN_TO_C
    }

    const fn has(&self, flag: u16) -> bool {
        self.data != RETURN_TO_C && self.data & flag != 0
    }

    /// Just behind the live offsets.
    fn tail(&self) -> Option<Address> {
        self.at.checked_add(LIVE_OFS + 2 * u64::from(self.num_live))
    }

    /// How many blocks are allocated at once at this return address, if it is one of a call of the collector.
    pub fn allocations(&self, memory: &impl Memory) -> Option<u8> {
        if self.has(HAS_ALLOCS) { memory.u8(self.tail()?) } else { None }
    }

    /// Size in words, without header, of the block allocated at `index`.
    pub fn allocation_wosize(&self, memory: &impl Memory, index: u8) -> Option<u64> {
        if index >= self.allocations(memory)? {
            return None;
        }
        let encoded = memory.u8(self.tail()?.checked_add(1 + u64::from(index))?)?;
        Some(u64::from(encoded) + 1)
    }

    /// Where the offsets to debug information begin, and how many there are.
    fn debug_offsets(&self, memory: &impl Memory) -> Option<(Address, u8)> {
        if !self.has(HAS_DEBUG) {
            return None;
        }
        let mut at = self.tail()?;
        let mut count = 1;
        if let Some(allocations) = self.allocations(memory) {
            at = at.checked_add(1 + u64::from(allocations))?;
            count = allocations;
        }
        Some((at.checked_next_multiple_of(4)?, count))
    }

    /// The debug information at an offset's place; an offset of zero stands for none.
    fn debuginfo_at(memory: &impl Memory, at: Address) -> Option<Address> {
        match memory.u32(at)? {
            0 => None,
            offset => at.checked_add(u64::from(offset)),
        }
    }

    /// The debug information of this frame: of the first allocation that has any, where it makes several.
    pub fn debuginfo(&self, memory: &impl Memory) -> Option<Address> {
        self.debuginfos(memory).next()
    }

    /// The debug information of the allocation at `index`.
    pub fn debuginfo_of_allocation(&self, memory: &impl Memory, index: u8) -> Option<Address> {
        let (at, count) = self.debug_offsets(memory)?;
        if index >= count {
            return None;
        }
        Self::debuginfo_at(memory, at.checked_add(4 * u64::from(index))?)
    }

    /// All the debug information of this frame: one place for each allocation that has any, or just one.
    pub fn debuginfos<'a, M: Memory>(
        &self,
        memory: &'a M,
    ) -> impl Iterator<Item = Address> + use<'a, M> {
        let (at, count) = self.debug_offsets(memory).unwrap_or((0, 0));
        (0..u64::from(count))
            .filter_map(move |index| Self::debuginfo_at(memory, at.checked_add(4 * index)?))
    }

    /// Whether a slot's debug information belongs to this frame.
    pub fn owns_debuginfo(&self, memory: &impl Memory, debuginfo: Address) -> bool {
        self.debuginfos(memory).any(|own| own == debuginfo)
    }

    /// Where the next descriptor of the same unit's table stands.
    pub fn end(&self, memory: &impl Memory) -> Option<Address> {
        if self.returns_to_c() {
            return self.at.checked_add(LIVE_OFS)?.checked_next_multiple_of(8);
        }
        let mut at = self.tail()?;
        if let Some(allocations) = self.allocations(memory) {
            at = at.checked_add(1 + u64::from(allocations))?;
        }
        if let Some((offsets, count)) = self.debug_offsets(memory) {
            at = offsets.checked_add(4 * u64::from(count))?;
        }
        at.checked_next_multiple_of(8)
    }
}

/// A unit's frame table: a count, then that many descriptors.
#[derive(Clone, Copy, Debug)]
pub struct UnitTable<'a, M> {
    memory: &'a M,
    next: Address,
    left: u64,
}

impl<'a, M: Memory> UnitTable<'a, M> {
    /// The table at `at`.
    pub fn read(memory: &'a M, at: Address) -> Option<Self> {
        Some(Self { memory, next: at.checked_add(8)?, left: memory.u64(at)? })
    }
}

impl<M: Memory> Iterator for UnitTable<'_, M> {
    type Item = Descriptor;

    fn next(&mut self) -> Option<Descriptor> {
        self.left = self.left.checked_sub(1)?;
        let descriptor = Descriptor::read(self.memory, self.next)?;
        self.next = descriptor.end(self.memory)?;
        Some(descriptor)
    }
}

/// The runtime's hash table of all descriptors: open addressing, linear probing.
///
/// Valid until code is loaded or unloaded; reading it again costs two or three loads, so read it for every stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameTable {
    descriptors: Address,
    mask: u64,
}

/// Offsets inside 5.1's `struct caml_frame_descrs { int num_descr; int mask; frame_descr **descriptors; ...}`.
const TABLE_MASK: u64 = 4;
const TABLE_DESCRIPTORS: u64 = 8;

impl FrameTable {
    /// The table, from its variables' addresses.
    ///
    /// OCaml 4: `table` = address of `caml_frame_descriptors`, `mask` = address of `caml_frame_descriptors_mask`.
    pub fn single(memory: &impl Memory, table: Address, mask: Address) -> Option<Self> {
        Self::checked(memory.u64(table)?, memory.u64(mask)?)
    }

    /// The table, from what `caml_get_frame_descrs()` returned: a pointer, always the same. 5.3 and later.
    pub fn multicore(memory: &impl Memory, table: Address) -> Option<Self> {
        let mask = memory.u32(table.checked_add(TABLE_MASK)?)?;
        Self::checked(memory.field(table, TABLE_DESCRIPTORS)?, u64::from(mask))
    }

    const fn checked(descriptors: Address, mask: u64) -> Option<Self> {
        // A table is a power of two long; `-1` is the mask of the empty one.
        if descriptors == 0 || !mask.wrapping_add(1).is_power_of_two() {
            return None;
        }
        Some(Self { descriptors, mask })
    }

    /// The table's memory: where it begins and how many pointers it holds.
    pub const fn extent(&self) -> (Address, u64) {
        (self.descriptors, self.mask + 1)
    }

    /// The descriptor of a return address.
    #[inline]
    pub fn find(&self, memory: &impl Memory, return_address: Address) -> Option<Descriptor> {
        let mut index = return_address >> 3 & self.mask;
        // Half of the table is empty, so this ends; the bound is for memory that is no table.
        for _ in 0..=self.mask {
            let at = memory.field(self.descriptors, 8 * index)?;
            if at == 0 {
                return None;
            }
            let descriptor = Descriptor::read(memory, at)?;
            if descriptor.return_address == return_address {
                return Some(descriptor);
            }
            index = (index + 1) & self.mask;
        }
        None
    }
}
