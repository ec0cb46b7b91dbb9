//! Checking at the start that the runtime is laid out as [`Layout`] says; what does not add up is refused.
//!
//! Give these functions a memory that survives wrong addresses ([`crate::memory::Probed`]): they follow pointers to
//! see whether they are pointers.

use crate::layout::{GenerationState, Layout, MulticoreState, SingleState, Stack};
use crate::memory::{Address, Memory};

/// What did not add up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Mismatch {
    /// Memory of the runtime is not there.
    #[error("the runtime's {0} cannot be read")]
    Unreadable(&'static str),
    /// A field holds what it cannot hold.
    #[error("the runtime's {field} is {found:#x}, which is impossible here")]
    Impossible {
        /// The field.
        field: &'static str,
        /// What stands there.
        found: u64,
    },
    /// A structure of the runtime was not found.
    #[error("the runtime's {0} was not found")]
    Missing(&'static str),
}

/// When the runtime is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// After its heap was made and before anything was allocated, as when it reads `/proc/self/exe`.
    Start,
    /// Later, while OCaml's registers are saved.
    Running,
}

/// Offset of `owner` in 5.x's `struct caml_heap_state` (`runtime/shared_heap.c`): 4 × 32 lists of pools, two lists of
/// large blocks, one counter.
const SHARED_HEAP_OWNER: u64 = 4 * 32 * 8 + 3 * 8;
/// How far behind the state's known fields `memprof` is looked for, in bytes.
const STATE_BYTES: u64 = 640;
/// The largest minor heap: 2^28 words (`Minor_heap_max`, `runtime/caml/config.h`).
const MINOR_HEAP_MAX: u64 = 1 << 28;

/// Checks the layout against the state at `state`; gives it back with what had to be looked for.
///
/// `minor_heaps` is OCaml 5's reserved range, the contents of [`crate::symbols::state::MINOR_HEAPS`].
pub fn calibrate(
    memory: &impl Memory,
    layout: &Layout,
    state: Address,
    minor_heaps: Option<(Address, Address)>,
    moment: Phase,
) -> Result<Layout, Mismatch> {
    if state == 0 || !state.is_multiple_of(8) {
        return Err(Mismatch::Impossible { field: "state", found: state });
    }
    let reader = Reader { memory, state };
    minor_heap(&reader, layout)?;
    match &layout.state.generation {
        GenerationState::Single(fields) => {
            single(&reader, layout, fields, moment)?;
            Ok(*layout)
        }
        GenerationState::Multicore(fields) => {
            let memprof = multicore(&reader, layout, fields, minor_heaps)?;
            let mut calibrated = *layout;
            calibrated.state.generation =
                GenerationState::Multicore(MulticoreState { memprof, ..*fields });
            Ok(calibrated)
        }
    }
}

struct Reader<'a, M> {
    memory: &'a M,
    state: Address,
}

impl<M: Memory> Reader<'_, M> {
    fn field(&self, offset: u64, name: &'static str) -> Result<u64, Mismatch> {
        self.memory.field(self.state, offset).ok_or(Mismatch::Unreadable(name))
    }

    fn follow(&self, offset: u64, inner: u64) -> Option<u64> {
        self.memory.field(self.memory.field(self.state, offset)?, inner)
    }
}

fn expect(holds: bool, field: &'static str, found: u64) -> Result<(), Mismatch> {
    if holds { Ok(()) } else { Err(Mismatch::Impossible { field, found }) }
}

/// The minor heap's bounds, its size and where allocation stands agree with each other.
fn minor_heap(reader: &Reader<'_, impl Memory>, layout: &Layout) -> Result<(), Mismatch> {
    let fields = &layout.state;
    let start = reader.field(fields.young_start, "young_start")?;
    let end = reader.field(fields.young_end, "young_end")?;
    let pointer = reader.field(fields.young_ptr, "young_ptr")?;
    let words = reader.field(fields.minor_heap_wsz, "minor_heap_wsz")?;
    expect(start != 0 && start % 8 == 0, "young_start", start)?;
    expect(words <= MINOR_HEAP_MAX, "minor_heap_wsz", words)?;
    expect(start.checked_add(words * 8) == Some(end), "young_end", end)?;
    expect(pointer % 8 == 0 && start <= pointer && pointer <= end, "young_ptr", pointer)
}

fn single(
    reader: &Reader<'_, impl Memory>,
    layout: &Layout,
    fields: &SingleState,
    moment: Phase,
) -> Result<(), Mismatch> {
    let state = &layout.state;
    let (start, end) = (
        reader.field(state.young_start, "young_start")?,
        reader.field(state.young_end, "young_end")?,
    );
    let alloc_start = reader.field(fields.young_alloc_start, "young_alloc_start")?;
    let alloc_end = reader.field(fields.young_alloc_end, "young_alloc_end")?;
    expect(alloc_start == start, "young_alloc_start", alloc_start)?;
    expect(alloc_end == end, "young_alloc_end", alloc_end)?;
    let limit = reader.field(state.young_limit, "young_limit")?;
    expect(limit % 8 == 0 && start <= limit && limit <= end, "young_limit", limit)?;
    let collecting = reader.field(fields.in_minor_collection, "in_minor_collection")?;
    expect(collecting == 0, "in_minor_collection", collecting)?;
    if moment == Phase::Start {
        // Versions differ in which of the two comes first; only the pointer stands at the end now.
        let pointer = reader.field(state.young_ptr, "young_ptr")?;
        expect(pointer == end, "young_ptr", pointer)?;
        expect(limit != end, "young_limit", limit)?;
    }
    Ok(())
}

fn multicore(
    reader: &Reader<'_, impl Memory>,
    layout: &Layout,
    fields: &MulticoreState,
    minor_heaps: Option<(Address, Address)>,
) -> Result<Option<u64>, Mismatch> {
    if let Some((from, to)) = minor_heaps {
        let start = reader.field(layout.state.young_start, "young_start")?;
        let end = reader.field(layout.state.young_end, "young_end")?;
        expect(from <= start, "young_start", start)?;
        expect(end <= to, "young_end", end)?;
    }
    let Stack::Multicore(fiber) = &layout.stack else {
        return Err(Mismatch::Missing("fiber"));
    };
    let stack = reader.field(fields.current_stack, "current_stack")?;
    let handler = reader
        .follow(fields.current_stack, fiber.handler)
        .ok_or(Mismatch::Unreadable("current_stack"))?;
    expect(stack % 8 == 0 && stack < handler, "current_stack", stack)?;
    let sp = reader.follow(fields.current_stack, fiber.sp).ok_or(Mismatch::Unreadable("stack"))?;
    expect(stack < sp && sp <= handler, "stack pointer", sp)?;
    if reader.follow(fields.shared_heap, SHARED_HEAP_OWNER) != Some(reader.state) {
        return Err(Mismatch::Missing("shared heap"));
    }
    if !layout.version.can_sample() {
        return Ok(fields.memprof);
    }
    // memprof's state begins with a pointer back to the domain's (`memprof_domain_s`, `runtime/memprof.c`).
    let points_back = |&offset: &u64| reader.follow(offset, 0) == Some(reader.state);
    let known = fields.memprof.into_iter();
    let memprof = known.chain((0..STATE_BYTES).step_by(8)).find(points_back);
    memprof.map(Some).ok_or(Mismatch::Missing("sampler"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Machine;
    use crate::memory::Image;
    use crate::version::{Generation, Version};

    const STATE: Address = 0x10_0000;
    const BYTES: usize = 0x4000;
    /// Inside the model's memory, behind the state.
    const HEAP: Address = STATE + 0x2000;
    const HEAP_WORDS: u64 = 256;

    struct Model(Vec<u8>);

    impl Model {
        fn set(&mut self, at: Address, value: u64) {
            let from = (at - STATE) as usize;
            self.0[from..from + 8].copy_from_slice(&value.to_le_bytes());
        }

        fn calibrate(&self, layout: &Layout, moment: Phase) -> Result<Layout, Mismatch> {
            let memory = Image { base: STATE, bytes: &self.0 };
            calibrate(&memory, layout, STATE, Some((HEAP, HEAP + 8 * HEAP_WORDS)), moment)
        }
    }

    /// A runtime of this layout, as it is at the start.
    fn runtime(layout: &Layout) -> Model {
        let mut model = Model(vec![0; BYTES]);
        let (state, end) = (&layout.state, HEAP + 8 * HEAP_WORDS);
        for (field, value) in [
            (state.young_start, HEAP),
            (state.young_end, end),
            (state.young_ptr, end),
            (state.young_limit, HEAP + 64),
            (state.minor_heap_wsz, HEAP_WORDS),
        ] {
            model.set(STATE + field, value);
        }
        match &state.generation {
            GenerationState::Single(single) => {
                model.set(STATE + single.young_alloc_start, HEAP);
                model.set(STATE + single.young_alloc_end, end);
            }
            GenerationState::Multicore(multicore) => {
                let (stack, handler, shared, sampler) =
                    (STATE + 0x400, STATE + 0x800, STATE + 0x900, STATE + 0x1800);
                model.set(STATE + multicore.current_stack, stack);
                model.set(stack, handler - 32);
                model.set(stack + 16, handler);
                model.set(STATE + multicore.shared_heap, shared);
                model.set(shared + SHARED_HEAP_OWNER, STATE);
                if let Some(memprof) = multicore.memprof {
                    model.set(STATE + memprof, sampler);
                    model.set(sampler, STATE);
                }
            }
        }
        model
    }

    fn layouts() -> impl Iterator<Item = Layout> {
        Version::ALL.into_iter().map(|version| Layout::of(version, Machine::Amd64))
    }

    #[test]
    fn what_is_laid_out_so_passes() {
        for layout in layouts() {
            let model = runtime(&layout);
            for moment in [Phase::Start, Phase::Running] {
                assert_eq!(model.calibrate(&layout, moment), Ok(layout), "{}", layout.version);
            }
        }
    }

    #[test]
    fn the_order_of_pointer_and_limit_is_seen() {
        let layout = |version| Layout::of(version, Machine::Amd64);
        for (real, other) in [(Version::V4_12, Version::V4_13), (Version::V4_14, Version::V4_11)] {
            let verdict = runtime(&layout(real)).calibrate(&layout(other), Phase::Start);
            assert!(verdict.is_err(), "{real} passes for {other}");
        }
    }

    #[test]
    fn a_sampler_that_moved_is_found() {
        let layout = Layout::of(Version::V5_4, Machine::Amd64);
        let known = layout.multicore().and_then(|fields| fields.memprof).expect("an offset");
        let mut model = runtime(&layout);
        model.set(STATE + known, 7);
        let missing = Err(Mismatch::Missing("sampler"));
        assert_eq!(model.calibrate(&layout, Phase::Start), missing);
        model.set(STATE + 520, STATE + 0x1800);
        let found = model.calibrate(&layout, Phase::Start).expect("found");
        assert_eq!(found.multicore().and_then(|fields| fields.memprof), Some(520));
    }

    #[test]
    fn each_impossible_field_is_refused() {
        for layout in layouts() {
            let state = &layout.state;
            let mut fields =
                vec![state.young_start, state.young_end, state.young_ptr, state.minor_heap_wsz];
            match &state.generation {
                GenerationState::Single(single) => fields.extend([
                    state.young_limit,
                    single.young_alloc_start,
                    single.young_alloc_end,
                    single.in_minor_collection,
                ]),
                GenerationState::Multicore(multicore) => {
                    fields.extend([multicore.current_stack, multicore.shared_heap]);
                }
            }
            for field in fields {
                let mut model = runtime(&layout);
                model.set(STATE + field, 0xDEAD_BEEF_0001);
                let verdict = model.calibrate(&layout, Phase::Start);
                assert!(verdict.is_err(), "{}: {field}", layout.version);
            }
            assert_eq!(
                layout.single().is_some(),
                layout.version.generation() == Generation::Single
            );
        }
    }
}
