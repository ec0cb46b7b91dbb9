//! Where the runtime keeps what: offsets in bytes, by version and machine.
//!
//! Sources: `runtime/caml/domain_state.tbl` (all fields are 8-aligned, so amd64 and arm64 agree), `runtime/caml/fiber.h`,
//! `runtime/caml/stack.h`, `runtime/amd64.S` and `runtime/arm64.S` of the tags 4.11.2, 4.12.1, 4.13.1, 4.14.2, 5.0.0,
//! 5.1.1, 5.2.0, 5.3.0, 5.4.1, 5.5.2.

use crate::version::{Generation, Version};

/// Offset of a field in bytes.
pub type Offset = u64;

/// The machines whose layouts are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Machine {
    /// x86-64.
    Amd64,
    /// aarch64.
    Arm64,
}

impl Machine {
    /// The machine this code was compiled for.
    #[cfg(target_arch = "x86_64")]
    pub const HERE: Self = Self::Amd64;
    /// The machine this code was compiled for.
    #[cfg(target_arch = "aarch64")]
    pub const HERE: Self = Self::Arm64;
}

/// Fields of `Caml_state` that every version has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct State {
    pub young_limit: Offset,
    pub young_ptr: Offset,
    pub young_start: Offset,
    pub young_end: Offset,
    /// `exception_pointer` in 4.x, `exn_handler` in 5.x.
    pub exception_pointer: Offset,
    pub gc_regs: Offset,
    pub local_roots: Offset,
    pub backtrace_active: Offset,
    pub minor_heap_wsz: Offset,
    pub generation: GenerationState,
}

/// Fields of `Caml_state` that one generation has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GenerationState {
    /// OCaml 4.
    Single(SingleState),
    /// OCaml 5.
    Multicore(MulticoreState),
}

/// Fields of OCaml 4's `Caml_state`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct SingleState {
    pub young_alloc_start: Offset,
    pub young_alloc_end: Offset,
    pub young_trigger: Offset,
    pub in_minor_collection: Offset,
    pub top_of_stack: Offset,
    /// Stack pointer of the OCaml code that last called C or the collector.
    pub bottom_of_stack: Offset,
    /// Where that code goes on.
    pub last_return_address: Offset,
}

/// Fields of OCaml 5's `Caml_state`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct MulticoreState {
    pub current_stack: Offset,
    pub c_stack: Offset,
    pub action_pending: Offset,
    pub parser_trace: Offset,
    pub shared_heap: Offset,
    pub id: Offset,
    pub ephe_info: Offset,
    pub final_info: Offset,
    pub dls_root: Offset,
    pub requested_external_interrupt: Offset,
    /// From 5.2.
    pub memprof: Option<Offset>,
}

/// `struct caml_context`: what OCaml 4 leaves on the stack where C called OCaml (`runtime/caml/stack.h`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Context {
    /// From the stack pointer at the return to C.
    pub link: Offset,
    pub bottom_of_stack: Offset,
    pub last_return_address: Offset,
    pub gc_regs: Offset,
}

/// `struct stack_info` and `struct stack_handler`: OCaml 5's fibers (`runtime/caml/fiber.h`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Fiber {
    pub sp: Offset,
    pub exception_pointer: Offset,
    pub handler: Offset,
    /// A number that is not reused, unlike the fiber's address. Behind `size` and `magic`.
    pub id: Offset,
    pub handler_value: Offset,
    pub handler_exception: Offset,
    pub handler_effect: Offset,
    pub handler_parent: Offset,
    /// `Stack_header_size`: what stands between two chunks of frames.
    pub chunk_header: Offset,
    /// `Saved_gc_regs`, from the stack pointer at the return to C.
    pub chunk_gc_regs: Offset,
    /// `First_frame`: from a chunk's stack pointer to its first frame. One word more with `--enable-frame-pointers`.
    pub first_frame: Offset,
    /// The same on amd64 with `--enable-frame-pointers`.
    pub first_frame_with_frame_pointers: Offset,
}

/// How stacks are chained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stack {
    /// OCaml 4: one system stack, chunks linked by contexts.
    Single(Context),
    /// OCaml 5: fibers.
    Multicore(Fiber),
}

/// Everything that differs between versions and machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Layout {
    pub version: Version,
    pub machine: Machine,
    pub state: State,
    pub stack: Stack,
    /// From a frame's end to the return address it was called with.
    pub saved_return_address: i64,
    pub packing: crate::debuginfo::Packing,
}

/// `Saved_return_address` on both machines.
const SAVED_RETURN_ADDRESS: i64 = -8;

const CONTEXT: Context =
    Context { link: 16, bottom_of_stack: 0, last_return_address: 8, gc_regs: 16 };

impl Layout {
    /// The layout of a version on a machine.
    pub const fn of(version: Version, machine: Machine) -> Self {
        let stack = match version.generation() {
            Generation::Single => Stack::Single(CONTEXT),
            Generation::Multicore => Stack::Multicore(fiber(machine)),
        };
        Self {
            version,
            machine,
            state: state(version),
            stack,
            saved_return_address: SAVED_RETURN_ADDRESS,
            packing: crate::debuginfo::Packing::of(version),
        }
    }

    /// Offset of `exe_name` in OCaml 5's `struct caml_params`: 5.5 has the interpreter's name before it.
    pub const fn startup_parameters(&self) -> Offset {
        if matches!(self.version, Version::V5_5) { 8 } else { 0 }
    }

    /// OCaml 4's fields, if it is OCaml 4.
    pub const fn single(&self) -> Option<&SingleState> {
        match &self.state.generation {
            GenerationState::Single(single) => Some(single),
            GenerationState::Multicore(_) => None,
        }
    }

    /// OCaml 5's fields, if it is OCaml 5.
    pub const fn multicore(&self) -> Option<&MulticoreState> {
        match &self.state.generation {
            GenerationState::Single(_) => None,
            GenerationState::Multicore(multicore) => Some(multicore),
        }
    }
}

const fn fiber(machine: Machine) -> Fiber {
    Fiber {
        sp: 0,
        exception_pointer: 8,
        handler: 16,
        id: 48,
        handler_value: 0,
        handler_exception: 8,
        handler_effect: 16,
        handler_parent: 24,
        chunk_header: 32,
        chunk_gc_regs: 24,
        first_frame: match machine {
            Machine::Amd64 => 8,
            Machine::Arm64 => 16,
        },
        first_frame_with_frame_pointers: 16,
    }
}

const fn state(version: Version) -> State {
    match version {
        Version::V4_11 => single(8, 0, 0),
        Version::V4_12 => single(8, 0, 8),
        Version::V4_13 | Version::V4_14 => single(0, 8, 8),
        Version::V5_0 => State {
            young_limit: 0,
            young_ptr: 8,
            young_start: 16,
            young_end: 24,
            exception_pointer: 40,
            gc_regs: 80,
            local_roots: 160,
            backtrace_active: 192,
            minor_heap_wsz: 264,
            generation: GenerationState::Multicore(MulticoreState {
                current_stack: 32,
                c_stack: 56,
                action_pending: 48,
                parser_trace: 256,
                shared_heap: 272,
                id: 280,
                ephe_info: 168,
                final_info: 176,
                dls_root: 320,
                requested_external_interrupt: 248,
                memprof: None,
            }),
        },
        Version::V5_1 => multicore(0, None),
        Version::V5_2 => multicore(0, Some(456)),
        Version::V5_3 => multicore(8, Some(464)),
        Version::V5_4 => multicore(40, Some(496)),
        Version::V5_5 => multicore(40, Some(504)),
    }
}

/// `mark_stack`, inserted in 4.12, moves all that follows by `shift`.
const fn single(young_limit: Offset, young_ptr: Offset, shift: Offset) -> State {
    State {
        young_limit,
        young_ptr,
        young_start: 32,
        young_end: 40,
        exception_pointer: 16,
        gc_regs: 216 + shift,
        local_roots: 280 + shift,
        backtrace_active: 224 + shift,
        minor_heap_wsz: 80,
        generation: GenerationState::Single(SingleState {
            young_alloc_start: 48,
            young_alloc_end: 56,
            young_trigger: 72,
            in_minor_collection: 88,
            top_of_stack: 192 + shift,
            bottom_of_stack: 200 + shift,
            last_return_address: 208 + shift,
        }),
    }
}

/// Fields inserted behind `allocated_words` since 5.1 move all that follows by `shift`.
const fn multicore(shift: Offset, memprof: Option<Offset>) -> State {
    State {
        young_limit: 0,
        young_ptr: 8,
        young_start: 16,
        young_end: 24,
        exception_pointer: 48,
        gc_regs: 88,
        local_roots: 152 + shift,
        backtrace_active: 184 + shift,
        minor_heap_wsz: 264 + shift,
        generation: GenerationState::Multicore(MulticoreState {
            current_stack: 40,
            c_stack: 64,
            action_pending: 56,
            parser_trace: 256 + shift,
            shared_heap: 272 + shift,
            id: 280 + shift,
            ephe_info: 160 + shift,
            final_info: 168 + shift,
            dls_root: 296 + shift,
            requested_external_interrupt: 248 + shift,
            memprof,
        }),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Fields of `domain_state.tbl` in order, as far as the layout goes; the n-th stands at 8n.
    pub(crate) const TABLES: [(Version, &str); 10] = [
        (Version::V4_11, include_str!("../tests/fixtures/domain_state/4.11.2")),
        (Version::V4_12, include_str!("../tests/fixtures/domain_state/4.12.1")),
        (Version::V4_13, include_str!("../tests/fixtures/domain_state/4.13.1")),
        (Version::V4_14, include_str!("../tests/fixtures/domain_state/4.14.2")),
        (Version::V5_0, include_str!("../tests/fixtures/domain_state/5.0.0")),
        (Version::V5_1, include_str!("../tests/fixtures/domain_state/5.1.1")),
        (Version::V5_2, include_str!("../tests/fixtures/domain_state/5.2.0")),
        (Version::V5_3, include_str!("../tests/fixtures/domain_state/5.3.0")),
        (Version::V5_4, include_str!("../tests/fixtures/domain_state/5.4.1")),
        (Version::V5_5, include_str!("../tests/fixtures/domain_state/5.5.2")),
    ];

    /// Offset of a field of a table.
    pub(crate) fn offset(table: &str, field: &str) -> Option<Offset> {
        table.lines().position(|line| line == field).map(|index| index as u64 * 8)
    }

    fn fields(state: &State) -> Vec<(&'static str, Offset)> {
        let mut fields = vec![
            ("young_limit", state.young_limit),
            ("young_ptr", state.young_ptr),
            ("young_start", state.young_start),
            ("young_end", state.young_end),
            ("gc_regs", state.gc_regs),
            ("local_roots", state.local_roots),
            ("backtrace_active", state.backtrace_active),
            ("minor_heap_wsz", state.minor_heap_wsz),
        ];
        match &state.generation {
            GenerationState::Single(single) => fields.extend([
                ("exception_pointer", state.exception_pointer),
                ("young_alloc_start", single.young_alloc_start),
                ("young_alloc_end", single.young_alloc_end),
                ("young_trigger", single.young_trigger),
                ("in_minor_collection", single.in_minor_collection),
                ("top_of_stack", single.top_of_stack),
                ("bottom_of_stack", single.bottom_of_stack),
                ("last_return_address", single.last_return_address),
            ]),
            GenerationState::Multicore(multicore) => {
                fields.extend([
                    ("exn_handler", state.exception_pointer),
                    ("current_stack", multicore.current_stack),
                    ("c_stack", multicore.c_stack),
                    ("action_pending", multicore.action_pending),
                    ("parser_trace", multicore.parser_trace),
                    ("shared_heap", multicore.shared_heap),
                    ("id", multicore.id),
                    ("ephe_info", multicore.ephe_info),
                    ("final_info", multicore.final_info),
                    ("dls_root", multicore.dls_root),
                    ("requested_external_interrupt", multicore.requested_external_interrupt),
                ]);
                fields.extend(multicore.memprof.map(|offset| ("memprof", offset)));
            }
        }
        fields
    }

    #[test]
    fn offsets_are_those_of_the_runtimes_own_tables() {
        for (version, table) in TABLES {
            for machine in [Machine::Amd64, Machine::Arm64] {
                for (field, at) in fields(&Layout::of(version, machine).state) {
                    assert_eq!(offset(table, field), Some(at), "{field} of {version}");
                }
            }
            let sampler = offset(table, "memprof");
            let known = Layout::of(version, Machine::HERE).multicore().and_then(|m| m.memprof);
            assert_eq!(sampler, known, "memprof of {version}");
        }
    }

    #[test]
    fn the_machines_differ_in_where_a_chunk_begins() {
        let first = |machine| match Layout::of(Version::V5_3, machine).stack {
            Stack::Multicore(fiber) => fiber.first_frame,
            Stack::Single(_) => 0,
        };
        assert_eq!((first(Machine::Amd64), first(Machine::Arm64)), (8, 16));
    }
}
