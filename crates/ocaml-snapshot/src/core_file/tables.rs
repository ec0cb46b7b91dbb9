//! Roots of a core file, by the runtime's private tables.

use memtrail_ocaml::heap::finalisers::{self, Kind};
use memtrail_ocaml::heap::{Extent, global_roots, globals, threads, tracked};
use memtrail_ocaml::symbols::{heap as names, memprof, private};
use memtrail_ocaml::{Address, Generation, Memory};

use super::process::{CoreProcess, StoppedCore};
use crate::frozen::{Bytecode, Slots, StoppedProcess, View};

impl Memory for StoppedCore<'_> {
    #[inline]
    fn bytes<const N: usize>(&self, at: Address) -> Option<[u8; N]> {
        self.0.memory.bytes(at)
    }
}

impl StoppedProcess for StoppedCore<'_> {
    fn words(&self, extent: Extent) -> Option<&[u64]> {
        self.0.memory.words(extent)
    }

    fn slice(&self, start: Address, length: u64) -> Option<&[u8]> {
        self.0.memory.slice(start, length)
    }

    fn file(&self, path: &[u8]) -> Option<&[u8]> {
        self.0.files.get(path).copied()
    }

    fn registered(view: &View<'_, Self>) -> Slots {
        let memory = &view.memory;
        let mut slots = Slots::new();
        for name in names::GLOBAL_ROOTS {
            let Some(list) = memory.0.executable.address(name) else { continue };
            global_roots::each(memory, list, |slot| slots.push(content(memory, slot)));
        }
        if view.layout.version.generation() == Generation::Multicore {
            slots.extend(loaded_globals(view));
        }
        slots
    }

    fn named_values(view: &View<'_, Self>) -> Slots {
        let memory = &view.memory;
        let count = |table| global_roots::count_names(memory, table);
        let mut slots = Slots::new();
        if let Some(table) = memory.0.most(private::NAMED_VALUES, count) {
            global_roots::each_named(memory, table, |value, name| slots.push((value, name)));
        }
        slots
    }

    fn running_thread(view: &View<'_, Self>, _: &Slots, state: Address) -> Address {
        view.memory.0.running_thread(state).unwrap_or(0)
    }

    fn hooked(_: &View<'_, Self>, _: Address) -> Slots {
        // Hooks are code, which cannot be called; systhreads' stacks are found by the ring of threads.
        Slots::new()
    }

    fn finalisers(view: &View<'_, Self>) -> Vec<(Kind, Address)> {
        let process = view.memory.0;
        let memory = &view.memory;
        let is_mapped = |address| process.mapped.contains(address);
        let is_table = |table| finalisers::is_table(memory, table, is_mapped);
        let mut entries = Vec::new();
        let mut tables = Vec::new();
        for (variable, kind) in
            [(private::FINALISERS_FIRST, Kind::First), (private::FINALISERS_LAST, Kind::Last)]
        {
            let Some(table) = process.private(variable, is_table) else { continue };
            tables.push(table);
            finalisers::each_of_table(memory, table, |at| entries.push((kind, at)));
        }
        // The code refers to the tables, too.
        let is_due = |at: Address| {
            tables.iter().all(|table| at.wrapping_sub(*table) >= 32)
                && memory.u64(at).is_some_and(|first| first != 0 && is_mapped(first))
                && finalisers::each_due(memory, memory.u64(at).unwrap_or(0), |_| {}).is_some()
        };
        if let Some(due) = process.private(private::FINALISERS_DUE, is_due) {
            let first = memory.u64(due).unwrap_or(0);
            finalisers::each_due(memory, first, |at| entries.push((Kind::Due, at)));
        }
        entries
    }

    fn tracked(view: &View<'_, Self>, state: Address) -> Slots {
        let process = view.memory.0;
        let memory = &view.memory;
        let mut slots = Slots::new();
        let mut add = |slot| slots.push(content(memory, slot));
        if let Some(fields) = view.layout.multicore() {
            let domain = fields.memprof.and_then(|field| memory.field(state, field));
            if let Some(domain) = domain.filter(|&domain| domain != 0) {
                tracked::each_multicore(memory, domain, add);
            }
            return slots;
        }
        let is_mapped = |address| process.mapped.contains(address);
        let is_table = |table| tracked::is_table(memory, table, is_mapped);
        if let Some(table) = process.private(private::TRACKED, is_table) {
            tracked::each_single(memory, table, &mut add);
        }
        if let Some(context) = process.executable.address(memprof::MAIN_CONTEXT) {
            tracked::each_single(memory, tracked::table_of_context(context), add);
        }
        slots
    }

    fn all(view: &View<'_, Self>, _: Address) -> Slots {
        match view.layout.version.generation() {
            Generation::Single => loaded_globals(view),
            Generation::Multicore => Slots::new(),
        }
    }

    fn bytecode(&self) -> Option<&Bytecode<'_>> {
        self.0.bytecode.as_ref()
    }

    fn uncertain(view: &View<'_, Self>, state: Address) -> Vec<u64> {
        view.memory.0.uncertain(state)
    }
}

/// Fields of modules that were loaded by `Dynlink`.
fn loaded_globals(view: &View<'_, StoppedCore<'_>>) -> Slots {
    let memory = &view.memory;
    let is_list = |at| {
        memory.u64(at).is_some_and(|first| first != 0)
            && globals::each_loaded(memory, at, |_| {}).is_some()
    };
    let mut slots = Slots::new();
    if let Some(list) = memory.0.private(private::LOADED_GLOBALS, is_list) {
        globals::each_loaded(memory, list, |global| {
            let fields = (0..global.fields).map(|field| global.block.saturating_add(8 * field));
            slots.extend(fields.map_while(|slot| Some((slot, memory.u64(slot)?))));
        });
    }
    slots
}

fn content(memory: &impl Memory, slot: Address) -> (Address, u64) {
    (slot, memory.u64(slot).unwrap_or(0))
}

impl CoreProcess<'_> {
    /// A thread of a domain, from which a ring leads to the others: the running one.
    fn running_thread(&self, state: Address) -> Option<Address> {
        let Some(fields) = self.layout.multicore() else {
            return self.thread_that_ran().or_else(|| self.any_thread());
        };
        let domain = self.memory.field(state, fields.id)?;
        let running = |at| {
            let found = threads::running_of_domain(&self.memory, at, domain);
            found.into_iter().flatten().find_map(|thread| self.thread(thread))
        };
        running(self.private(private::THREAD_TABLE, |at| running(at).is_some())?)
    }

    /// OCaml 4: the thread whose stack the state has.
    pub(super) fn thread_that_ran(&self) -> Option<Address> {
        self.thread_in(private::RUNNING_THREAD)
    }

    /// OCaml 4: any thread.
    pub(super) fn any_thread(&self) -> Option<Address> {
        self.thread_in(private::ALL_THREADS)
    }

    fn thread_in(&self, variable: private::Variable) -> Option<Address> {
        let thread = |at| self.thread(self.memory.u64(at)?);
        thread(self.private(variable, |at| thread(at).is_some())?)
    }

    /// The thread at an address, if it is one.
    fn thread(&self, at: Address) -> Option<Address> {
        let generation = self.layout.version.generation();
        threads::each_thread(&self.memory, generation, at, |_| {}).then_some(at)
    }
}
