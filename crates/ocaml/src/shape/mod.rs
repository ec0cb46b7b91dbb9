//! The runtime of a program without symbols, told by the shape of its data.
//!
//! Everything is looked for in the writable parts of the executable. A candidate must lead to what the runtime's structure
//! leads to: lists must end, and tables must fit each other. Of several candidates the one that leads to most is taken.
//! Variables that lead to nothing are not found, and not needed.

mod linked;
mod state;
mod variables;
mod words;

use crate::frames::FrameTable;
use crate::heap::ephemerons;
use crate::layout::{Layout, Machine};
use crate::memory::{Address, Memory};
use crate::symbols::{heap as names, state as state_names};
use crate::version::Version;
use words::Words;

pub use linked::Unit;
pub use words::Parts;

/// A runtime that was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// Its version.
    pub version: Version,
    /// Symbols and addresses of its variables.
    pub variables: Vec<(&'static str, Address)>,
    /// OCaml 5: symbol of the pointer to a thread's state, and its offset in the thread-local storage.
    pub thread_local: Option<(&'static str, u64)>,
    /// The table of frame descriptors.
    pub frame_table: FrameTable,
    /// The units, in the order in which they were linked.
    pub units: Vec<Unit>,
}

/// True if a program has the tables that OCaml's compiler makes.
pub fn is_ocaml(memory: &impl Memory, parts: &Parts) -> bool {
    linked::find(memory, &Words::read(memory, &parts.data), parts).is_some()
}

/// Looks for the runtime of a program. `None` if there is none of a version that is known.
pub fn find(memory: &impl Memory, parts: &Parts) -> Option<Found> {
    let words = Words::read(memory, &parts.data);
    let linked = linked::find(memory, &words, parts)?;
    let words = words.without(&linked.data_of_units());
    let mut found = Vec::new();
    let (version, states, thread_local) = if let Some(it) = state::single(memory, &words) {
        found.extend([(state_names::SINGLE, it.variable), (names::CHUNKS, it.chunks)]);
        (it.version, vec![it.state], None)
    } else {
        let it = state::multicore(memory, parts)?;
        (it.version, it.states, Some((state_names::MULTICORE, it.variable)))
    };
    let layout = Layout::of(version, Machine::Amd64);
    let frame_table = variables::frame_table(memory, &layout, &words, &linked)?;
    found.extend([
        (names::GLOBALS, linked.globals),
        (names::DATA_SEGMENTS, linked.data),
        (names::CODE_SEGMENTS, linked.code),
        (crate::symbols::callstack::FRAME_TABLES, linked.frames),
    ]);
    found.extend(names::SYSTEM_CODE.into_iter().zip([linked.assembly.start, linked.assembly.end]));
    found.extend(variables::global_roots(memory, &words, parts));
    found.extend(variables::named_values(memory, &words));
    found.extend(variables::atoms(memory, &words));
    let mut weak = Vec::new();
    if let Some(fields) = layout.single() {
        let sp = memory.field(*states.first()?, fields.bottom_of_stack)?;
        found.extend(variables::finalisers(memory, &words));
        found.extend(variables::threads_single(memory, &words, sp));
        found.extend(variables::tracked(memory, &words));
        if let Some(list) = variables::ephemerons(memory, &words) {
            ephemerons::each(memory, list.1, |at| weak.push(at));
            found.push(list);
        }
    } else if let Some(fields) = layout.multicore() {
        let domains = states.iter().filter_map(|state| memory.field(*state, fields.id));
        let domains: Vec<u64> = domains.collect();
        found.extend(variables::threads_multicore(memory, &words, &domains));
        for &state in &states {
            for head in ephemerons::heads_of(memory, fields, state).into_iter().flatten() {
                ephemerons::each(memory, head, |at| weak.push(at));
            }
        }
    }
    found.extend(variables::ephe_none(memory, &words, &weak));
    let units = linked.units(memory, layout.packing);
    Some(Found { version, variables: found, thread_local, frame_table, units })
}
