//! The text of `Sys.runtime_parameters ()`, without calling the runtime, which would allocate it on OCaml's heap.
//!
//! Sources: `caml_runtime_parameters` in `runtime/gc_ctrl.c`, `runtime/caml/startup_aux.h`.

use std::io::Write as _;

use crate::layout::Layout;
use crate::memory::{Address, Memory};
use crate::symbols::parameters as p;
use crate::version::Generation;

/// Where a parameter's value stands.
#[derive(Clone, Copy)]
enum Place {
    /// A variable of 64 bits.
    Word(&'static str),
    /// A variable of type `int`.
    Int(&'static str),
    /// A field of the state, of 64 bits.
    State(u64),
    /// A field of the state, of type `int`.
    StateInt(u64),
    /// A field of OCaml 5's `*caml_params`.
    Startup(u64),
    /// Always zero in native code.
    Zero,
}

/// Fields of `struct caml_params`, from [`Layout::startup_parameters`].
const STARTUP_TRACE_LEVEL: u64 = 40;
const STARTUP_EVENTS_LOG_WSIZE: u64 = 48;
const STARTUP_VERIFY_HEAP: u64 = 56;
const STARTUP_CLEANUP_ON_EXIT: u64 = 144;

const fn single(layout: &Layout) -> [(char, Place); 13] {
    [
        ('a', Place::Int(p::ALLOCATION_POLICY)),
        ('b', Place::State(layout.state.backtrace_active)),
        ('H', Place::Word(p::USE_HUGE_PAGES)),
        ('i', Place::Word(p::MAJOR_HEAP_INCREMENT)),
        ('l', Place::Zero),
        ('o', Place::Word(p::PERCENT_FREE)),
        ('O', Place::Word(p::PERCENT_MAX)),
        ('p', Place::Int(p::PARSER_TRACE)),
        ('s', Place::State(layout.state.minor_heap_wsz)),
        ('t', Place::Word(p::TRACE_LEVEL)),
        ('v', Place::Word(p::VERB_GC)),
        ('w', Place::Int(p::MAJOR_WINDOW)),
        ('W', Place::Word(p::RUNTIME_WARNINGS)),
    ]
}

const fn multicore(layout: &Layout, parser_trace: u64) -> [(char, Place); 14] {
    let from = layout.startup_parameters();
    [
        ('b', Place::State(layout.state.backtrace_active)),
        ('c', Place::Startup(from + STARTUP_CLEANUP_ON_EXIT)),
        ('e', Place::Startup(from + STARTUP_EVENTS_LOG_WSIZE)),
        ('l', Place::Word(p::MAX_STACK_WSIZE)),
        ('M', Place::Word(p::CUSTOM_MAJOR_RATIO)),
        ('m', Place::Word(p::CUSTOM_MINOR_RATIO)),
        ('n', Place::Word(p::CUSTOM_MINOR_MAX_BYTES)),
        ('o', Place::Word(p::PERCENT_FREE)),
        ('p', Place::StateInt(parser_trace)),
        ('s', Place::State(layout.state.minor_heap_wsz)),
        ('t', Place::Startup(from + STARTUP_TRACE_LEVEL)),
        ('v', Place::Word(p::VERB_GC)),
        ('V', Place::Startup(from + STARTUP_VERIFY_HEAP)),
        ('W', Place::Word(p::RUNTIME_WARNINGS)),
    ]
}

/// Writes the parameters into `out`, in the runtime's order, and gives the text: `b=0,c=0,e=16,…`.
///
/// `resolve` finds a symbol's address. A parameter whose variable is missing is left out, as is what does not fit.
pub fn write<'a>(
    memory: &impl Memory,
    layout: &Layout,
    state: Address,
    mut resolve: impl FnMut(&str) -> Option<Address>,
    out: &'a mut [u8],
) -> &'a [u8] {
    let mut length = 0;
    let mut put = |letter: char, place: Place| {
        let Some(value) = value(memory, state, &mut resolve, place) else { return };
        let comma = if length == 0 { "" } else { "," };
        let Some(room) = out.get_mut(length..) else { return };
        let before = room.len();
        let mut rest = room;
        if write!(rest, "{comma}{letter}={value}").is_ok() {
            length += before - rest.len();
        }
    };
    match layout.version.generation() {
        Generation::Single => {
            for (letter, place) in single(layout) {
                put(letter, place);
            }
        }
        Generation::Multicore => {
            let parser_trace = layout.multicore().map_or(0, |fields| fields.parser_trace);
            for (letter, place) in multicore(layout, parser_trace) {
                put(letter, place);
            }
        }
    }
    out.get(..length).unwrap_or_default()
}

fn value(
    memory: &impl Memory,
    state: Address,
    resolve: &mut impl FnMut(&str) -> Option<Address>,
    place: Place,
) -> Option<i64> {
    match place {
        Place::Word(name) => Some(memory.u64(resolve(name)?)? as i64),
        Place::Int(name) => Some(i64::from(memory.u32(resolve(name)?)? as i32)),
        Place::State(offset) => Some(memory.field(state, offset)? as i64),
        Place::StateInt(offset) => Some(i64::from(memory.u32(state.checked_add(offset)?)? as i32)),
        Place::Startup(offset) => {
            Some(memory.field(memory.u64(resolve(p::PARAMS)?)?, offset)? as i64)
        }
        Place::Zero => Some(0),
    }
}
