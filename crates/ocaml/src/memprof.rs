//! What the sampler is given and what it gives (`runtime/memprof.c`, `stdlib/gc.ml`).

use crate::block::{self, Value, as_integer, tag_of, wosize};
use crate::memory::{Address, Memory};

/// The five callbacks of a tracker, in the order of its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Callback {
    AllocMinor,
    AllocMajor,
    Promote,
    DeallocMinor,
    DeallocMajor,
}

/// Fields of a tracker.
pub const TRACKER_WOSIZE: u64 = 5;

impl Callback {
    /// All, in the order of a tracker's fields.
    pub const ALL: [Self; TRACKER_WOSIZE as usize] =
        [Self::AllocMinor, Self::AllocMajor, Self::Promote, Self::DeallocMinor, Self::DeallocMajor];
}

/// Why a sampled block was allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// By OCaml or C code.
    Normal,
    /// By unmarshalling.
    Marshal,
    /// Memory outside the heap that a custom block stands for (bigarrays, channels).
    Custom,
    /// A file mapped into a bigarray, or whatever later runtimes add.
    Other,
}

/// `CAML_MEMPROF_SRC_CUSTOM`: how the runtime's C code calls [`Source::Custom`].
pub const SOURCE_CUSTOM: i32 = 2;

/// The argument of an allocation callback: `{n_samples; size; source; callstack}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// How many samples fell into the block, at least one.
    pub n_samples: u64,
    /// The block's size in words, without its header.
    pub size: u64,
    /// Why it was allocated. 4.11 knows only `unmarshalled`, which is `Marshal` here.
    pub source: Source,
    /// The call stack: a block of slots (see [`Sample::slots`]).
    pub callstack: Value,
}

/// Fields of a [`Sample`]'s block.
pub const SAMPLE_WOSIZE: u64 = 4;
/// Its field with the call stack.
pub const CALLSTACK: u64 = 3;

impl Sample {
    /// Reads the argument of an allocation callback.
    pub fn read(memory: &impl Memory, argument: Value) -> Option<Self> {
        let header = memory.u64(argument.checked_sub(8)?)?;
        if tag_of(header) != 0 || wosize(header) != SAMPLE_WOSIZE {
            return None;
        }
        let integer = |field: u64| as_integer(memory.field(argument, field * 8)?)?.try_into().ok();
        Some(Self {
            n_samples: integer(0)?,
            size: integer(1)?,
            source: match integer(2)? {
                0 => Source::Normal,
                1 => Source::Marshal,
                2 => Source::Custom,
                _ => Source::Other,
            },
            callstack: memory.field(argument, 24)?,
        })
    }

    /// Where the slots stand and how many there are, if the call stack can be believed.
    ///
    /// In 5.3.0 the call stack may be a stale pointer into the minor heap: `run_alloc_callback_res` reads it after the
    /// allocation of the argument, which may have moved it (fixed by ocaml/ocaml#14287). So the block is only believed
    /// when it is a block of slots, of at most `max_frames`. Each slot must be checked as well: see [`Slot::read`].
    pub fn slots(&self, memory: &impl Memory, max_frames: u64) -> Option<(Address, u64)> {
        let at = self.callstack;
        if !at.is_multiple_of(8) {
            return None;
        }
        let header = memory.u64(at.checked_sub(8)?)?;
        let length = wosize(header);
        (tag_of(header) == 0 && length >= 1 && length <= max_frames).then_some((at, length))
    }
}

/// One entry of a call stack (`runtime/caml/backtrace_prim.h`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Slot {
    /// A frame descriptor.
    Descriptor(Address),
    /// Debug information of one of the allocations that a frame makes at once: only ever the innermost frame.
    Debuginfo(Address),
}

impl Slot {
    /// Reads a slot of a callstack's block, tagged as an integer.
    ///
    /// Debug information is 4-aligned, a descriptor 8-aligned; anything else is no slot.
    pub const fn read(value: Value) -> Option<Self> {
        if value & 1 == 0 {
            return None;
        }
        let raw = value & !1;
        if raw & 2 != 0 {
            Some(Self::Debuginfo(raw - 2))
        } else if raw != 0 && raw.is_multiple_of(8) {
            Some(Self::Descriptor(raw))
        } else {
            None
        }
    }
}

/// Fields of the block that 5.3's `caml_memprof_start` returns (`Gc.Memprof.t`), in words.
pub mod profile {
    /// Size of the block.
    pub const WOSIZE: u64 = 9;
    /// Integer: 0 sampling, 1 stopped, 2 discarded.
    pub const STATUS: u64 = 0;
    /// The status of a profile that samples.
    pub const SAMPLING: i64 = 0;
    /// The status of a profile that does not sample, but whose tracked blocks are still known.
    pub const STOPPED: i64 = 1;
    /// The status of a profile whose tracked blocks the runtime forgets.
    pub const DISCARDED: i64 = 2;
    /// Boxed float: samples a word.
    pub const RATE: u64 = 1;
    /// Boxed float, `1 / log1p(-rate)`: allocated by `caml_memprof_start`, in the minor heap.
    pub const LOGARITHM: u64 = 2;
    /// Integer: how many frames are captured; read anew for every sample.
    pub const FRAMES: u64 = 3;
    /// The first of the five callbacks, in the order of [`super::Callback::ALL`].
    pub const CALLBACKS: u64 = 4;
}

/// Fields of 5.3's `memprof_domain_s`, which `Caml_state` points to, in bytes.
pub mod domain {
    /// Pointer back to the domain's state.
    pub const STATE: u64 = 0;
    /// The domain's profile, or [`crate::block::UNIT`]: `entries.config`.
    pub const PROFILE: u64 = 64;
    /// The sampler's structure of the domain's first thread ([`super::thread`]), and of the one that runs.
    pub const THREADS: u64 = 88;
    /// See [`THREADS`].
    pub const CURRENT: u64 = 96;
    /// The generator of random numbers, xoshiro128+ 64 times over: any state but all zeros will do.
    pub const GENERATOR: u64 = 120;
    /// Its length in words.
    pub const GENERATOR_WORDS: u64 = 4 * 64 * 4 / 8;
    /// Distances from sample to sample that have been drawn: [`super::DISTANCES`] words.
    pub const DRAWN: u64 = 1144;
    /// 32 bits: how many of them are used up.
    pub const USED: u64 = 1656;
    /// Words that are not sampled before the next one that is, in blocks that C code allocates.
    pub const AHEAD: u64 = 1664;
}

/// How many distances the sampler draws at once (`RAND_BLOCK_SIZE`).
pub const DISTANCES: u32 = 64;

/// What the sampler makes its distances of: `1 / log1p(-rate)`, as `caml_memprof_start` computes it.
pub fn reciprocal_logarithm(rate: f64) -> f64 {
    if rate >= 1.0 { 0.0 } else { 1.0 / (-rate).ln_1p() }
}

/// Fields of 5.3's `memprof_thread_s`, in bytes.
pub mod thread {
    /// A byte: set while the sampler does nothing on the thread, as in callbacks.
    pub const SUSPENDED: u64 = 0;
    /// The table whose block a callback runs for, or null.
    pub const RUNNING_TABLE: u64 = 16;
    /// The thread's profile: `entries.config`.
    pub const PROFILE: u64 = 80;
    /// Pointer back to the [`super::domain`].
    pub const DOMAIN: u64 = 88;
    /// The domain's next thread, or null.
    pub const NEXT: u64 = 96;
}

/// Fields of 5.3's `entries_s`, in bytes before its field `config`: [`domain::PROFILE`] and [`thread::PROFILE`] are such.
pub mod entries {
    /// The table is never made smaller than this. One that has just so many entries is not made smaller at all.
    pub const MIN_CAPACITY: u64 = 48;
    /// Entries for which there is room.
    pub const CAPACITY: u64 = 40;
    /// Entries.
    pub const SIZE: u64 = 32;
    /// The first entry of a block that may be in the minor heap.
    pub const YOUNG: u64 = 24;
    /// The first entry that may be dropped.
    pub const EVICT: u64 = 16;
    /// The first entry that may have a callback to run.
    pub const ACTIVE: u64 = 8;
}

/// Whether a 5.3 profile is the one whose `AllocMinor` closure stands at `closure`.
pub fn is_profile_of(memory: &impl Memory, value: Value, closure: Address) -> bool {
    value.is_multiple_of(8)
        && value != block::UNIT
        && memory.field(value, profile::CALLBACKS * 8) == Some(closure)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::block::{COLOUR_STATIC, header, integer};
    use crate::memory::Image;

    const BASE: Address = 0x40_0000;

    fn words(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn samples_are_read() {
        for (number, source) in
            [(0, Source::Normal), (1, Source::Marshal), (2, Source::Custom), (3, Source::Other)]
        {
            let (sample, callstack) = (BASE + 8, BASE + 48);
            let bytes = words(&[
                header(4, 0, COLOUR_STATIC),
                integer(3),
                integer(1000),
                integer(number),
                callstack,
                header(2, 0, COLOUR_STATIC),
                0x1001,
                0x1009,
            ]);
            let memory = Image { base: BASE, bytes: &bytes };
            let read = Sample::read(&memory, sample).expect("a sample");
            assert_eq!(read, Sample { n_samples: 3, size: 1000, source, callstack });
            assert_eq!(read.slots(&memory, 2), Some((callstack, 2)));
            assert_eq!(read.slots(&memory, 1), None, "more frames than were asked for");
            assert_eq!(Sample::read(&memory, callstack), None, "of another size");
            let stale = Sample { callstack: callstack + 8, ..read };
            assert_eq!(stale.slots(&memory, 2), None, "no header of a block of slots");
        }
    }

    #[test]
    fn slots_are_told_by_their_lowest_bits() {
        assert_eq!(Slot::read(0x1001), Some(Slot::Descriptor(0x1000)));
        assert_eq!(Slot::read(0x1007), Some(Slot::Debuginfo(0x1004)));
        assert_eq!(Slot::read(0x1003), Some(Slot::Debuginfo(0x1000)));
        for no_slot in [0, 1, 0x1000, 0x1005] {
            assert_eq!(Slot::read(no_slot), None, "{no_slot:#x}");
        }
    }

    #[test]
    fn our_profile_is_known_by_its_closure() {
        let mut fields = vec![header(profile::WOSIZE, 0, 0); 10];
        fields[1 + profile::CALLBACKS as usize] = 0x5000;
        let bytes = words(&fields);
        let memory = Image { base: BASE, bytes: &bytes };
        assert!(is_profile_of(&memory, BASE + 8, 0x5000));
        assert!(!is_profile_of(&memory, BASE + 8, 0x5008));
        assert!(!is_profile_of(&memory, block::UNIT, 0x5000));
    }

    proptest! {
        #[test]
        fn any_memory_is_survived(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
            crate::fuzz::memory(&bytes);
        }
    }
}
