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

/// Where a value stands that is alive in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Live {
    /// So many bytes above the stack pointer.
    Stack(u64),
    /// The register of this number, among those that the runtime saved (`gc_regs`).
    Register(u64),
}

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

    /// Where this frame keeps values that are alive across the call.
    pub fn live<'a, M: Memory>(&self, memory: &'a M) -> impl Iterator<Item = Live> + use<'a, M> {
        let (first, count) = (self.at.saturating_add(LIVE_OFS), u64::from(self.num_live));
        (0..count).map_while(move |index| {
            let offset = memory.u16(first.checked_add(2 * index)?)?;
            let place = u64::from(offset);
            Some(if offset & 1 == 1 { Live::Register(place >> 1) } else { Live::Stack(place) })
        })
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
const LARGEST_MASK: u64 = i32::MAX as u64;

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

    /// The table, from the structure that `caml_get_frame_descrs()` returned by value. Before 5.3.
    pub fn given(descriptors: Address, mask: i32) -> Option<Self> {
        Self::checked(descriptors, u64::try_from(mask).ok()?)
    }

    const fn checked(descriptors: Address, mask: u64) -> Option<Self> {
        // A table is a power of two long, and counted by an `int`; `-1` is the mask of the empty one.
        if descriptors == 0 || mask > LARGEST_MASK || !(mask + 1).is_power_of_two() {
            return None;
        }
        Some(Self { descriptors, mask })
    }

    /// The table's memory: where it begins and how many pointers it holds.
    pub const fn extent(&self) -> (Address, u64) {
        (self.descriptors, self.mask + 1)
    }

    /// Calls `each` with all descriptors: where each is, and the return address that it is of.
    pub fn each(&self, memory: &impl Memory, mut each: impl FnMut(Address, Address)) {
        for index in 0..=self.mask {
            let Some(at) = memory.field(self.descriptors, 8 * index) else { return };
            if let Some(return_address) = memory.u64(at).filter(|_| at != 0) {
                each(at, return_address);
            }
        }
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::memory::Image;

    const BASE: Address = 0x40_0000;

    /// A descriptor as the compiler would have it.
    #[derive(Clone, Debug)]
    struct Model {
        return_address: u64,
        to_c: bool,
        size: u16,
        live: Vec<u16>,
        /// Sizes in words of what is allocated here.
        allocations: Option<Vec<u16>>,
        /// For each allocation, or for the one frame, how far away its debug information stands; zero is none.
        debug: Option<Vec<u32>>,
    }

    impl Model {
        fn emit(&self, out: &mut Vec<u8>) {
            out.extend(self.return_address.to_le_bytes());
            if self.to_c {
                out.extend(RETURN_TO_C.to_le_bytes());
                out.extend([0, 0]);
            } else {
                let flags =
                    u16::from(self.debug.is_some()) | u16::from(self.allocations.is_some()) << 1;
                out.extend(((self.size * 8) | flags).to_le_bytes());
                out.extend((self.live.len() as u16).to_le_bytes());
                out.extend(self.live.iter().flat_map(|live| live.to_le_bytes()));
                if let Some(allocations) = &self.allocations {
                    out.push(allocations.len() as u8);
                    out.extend(allocations.iter().map(|words| (words - 1) as u8));
                }
                if let Some(debug) = &self.debug {
                    out.resize(out.len().next_multiple_of(4), 0);
                    out.extend(debug.iter().flat_map(|offset| offset.to_le_bytes()));
                }
            }
            out.resize(out.len().next_multiple_of(8), 0);
        }
    }

    fn models() -> impl Strategy<Value = Vec<Model>> {
        let allocations = prop::option::of(prop::collection::vec(1..=256u16, 1..6));
        let offset = prop_oneof![Just(0u32), (1..1000u32).prop_map(|words| words * 4)];
        let model = (
            prop::collection::vec(0..999u16, 0..5),
            allocations,
            prop::option::of(prop::collection::vec(offset, 6)),
            prop::bool::weighted(0.1),
            0..0x1FFFu16,
        );
        prop::collection::vec(model, 0..40).prop_map(|parts| {
            let mut models = Vec::new();
            for (index, (live, allocations, debug, to_c, size)) in parts.into_iter().enumerate() {
                let count = allocations.as_ref().map_or(1, Vec::len);
                let debug = debug.map(|mut debug| {
                    debug.truncate(count);
                    debug
                });
                // Close together, so that they collide in the hash table.
                let return_address = 0x1000 + index as u64 * 3;
                models.push(Model { return_address, to_c, size, live, allocations, debug });
            }
            models
        })
    }

    fn table(models: &[Model]) -> Vec<u8> {
        let mut bytes = (models.len() as u64).to_le_bytes().to_vec();
        for model in models {
            model.emit(&mut bytes);
        }
        bytes
    }

    proptest! {
        #[test]
        fn what_the_compiler_emits_is_read(models in models()) {
            let bytes = table(&models);
            let memory = Image { base: BASE, bytes: &bytes };
            let read: Vec<_> = UnitTable::read(&memory, BASE).into_iter().flatten().collect();
            prop_assert_eq!(read.len(), models.len());
            for (descriptor, model) in read.iter().zip(&models) {
                prop_assert_eq!(descriptor.return_address, model.return_address);
                prop_assert_eq!(descriptor.returns_to_c(), model.to_c);
                if model.to_c {
                    prop_assert_eq!(descriptor.frame_size(), None);
                    prop_assert_eq!(descriptor.debuginfo(&memory), None);
                    continue;
                }
                prop_assert_eq!(descriptor.frame_size(), Some(u64::from(model.size) * 8));
                let sizes: Option<Vec<_>> = descriptor.allocations(&memory).map(|count| {
                    (0..count).filter_map(|i| descriptor.allocation_wosize(&memory, i)).collect()
                });
                let expected = model.allocations.as_ref();
                prop_assert_eq!(sizes, expected.map(|all| all.iter().map(|&w| u64::from(w)).collect()));
                for (index, &offset) in model.debug.iter().flatten().enumerate() {
                    let found = descriptor.debuginfo_of_allocation(&memory, index as u8);
                    prop_assert_eq!(found.is_some(), offset != 0);
                    prop_assert!(found.is_none_or(|at| descriptor.owns_debuginfo(&memory, at)));
                }
                let any = model.debug.iter().flatten().any(|&offset| offset != 0);
                prop_assert_eq!(descriptor.debuginfo(&memory).is_some(), any);
            }
        }

        /// The oracle is a look at every descriptor.
        #[test]
        fn the_hash_table_finds_what_a_search_finds(models in models()) {
            let mut bytes = table(&models);
            let units: Vec<_> = {
                let memory = Image { base: BASE, bytes: &bytes };
                UnitTable::read(&memory, BASE).into_iter().flatten().collect()
            };
            let capacity = (2 * models.len()).next_power_of_two().max(4);
            let mut slots = vec![0u64; capacity];
            for descriptor in &units {
                let mut at = (descriptor.return_address >> 3) as usize % capacity;
                while slots[at] != 0 {
                    at = (at + 1) % capacity;
                }
                slots[at] = descriptor.at;
            }
            let descriptors = BASE + bytes.len() as u64;
            bytes.extend(slots.iter().flat_map(|slot| slot.to_le_bytes()));
            let structure = BASE + bytes.len() as u64;
            bytes.extend((models.len() as u32).to_le_bytes());
            bytes.extend((capacity as u32 - 1).to_le_bytes());
            bytes.extend(descriptors.to_le_bytes());
            bytes.extend((capacity as u64 - 1).to_le_bytes());
            let memory = Image { base: BASE, bytes: &bytes };
            let multicore = FrameTable::multicore(&memory, structure);
            prop_assert_eq!(multicore, FrameTable::single(&memory, structure + 8, structure + 16));
            let found = multicore.expect("a table");
            prop_assert_eq!(found.extent(), (descriptors, capacity as u64));
            let mut all = Vec::new();
            found.each(&memory, |at, return_address| all.push((at, return_address)));
            all.sort_unstable();
            let expected: Vec<_> = units.iter().map(|d| (d.at, d.return_address)).collect();
            prop_assert_eq!(all, expected);
            for return_address in 0xFF0..0x1100 {
                let expected = units.iter().find(|d| d.return_address == return_address).copied();
                prop_assert_eq!(found.find(&memory, return_address), expected);
            }
        }

        #[test]
        fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..400), at in 0..420u64) {
            let memory = Image { base: BASE, bytes: &bytes };
            crate::fuzz::frames(&memory, BASE + at);
        }
    }

    #[test]
    fn a_full_table_of_garbage_ends() {
        let bytes: Vec<u8> = std::iter::repeat_n(BASE.to_le_bytes(), 8).flatten().collect();
        let memory = Image { base: BASE, bytes: &bytes };
        let table = FrameTable { descriptors: BASE, mask: 7 };
        assert_eq!(table.find(&memory, 1), None);
    }

    #[test]
    fn tables_that_are_none_are_refused() {
        assert_eq!(FrameTable::checked(0, 7), None);
        assert_eq!(FrameTable::checked(8, 6), None);
        // An empty table's mask is -1.
        assert_eq!(FrameTable::checked(8, u64::MAX), None);
    }
}
