//! An OCaml process in a core file: its runtime, found by symbols.

use std::collections::HashMap;

use memtrail_ocaml::bytecode::stack::Code;
use memtrail_ocaml::bytecode::{Events, global_names, program, sections};
use memtrail_ocaml::frames::FrameTable;
use memtrail_ocaml::heap::frames::Top;
use memtrail_ocaml::heap::loaded::Symbol;
use memtrail_ocaml::heap::threads;
use memtrail_ocaml::heap::{chunks, loaded, pools};
use memtrail_ocaml::symbols::{bytecode as bytecode_names, callstack, private, state};
use memtrail_ocaml::{Address, Generation, Layout, Memory, Version, domain_lock, parameters};

use super::activity::SavedCall;
use super::error::Unreadable;
use super::executable::Executable;
use super::memory::{CoreMemory, MappedFiles};
use super::moment::Runtime;
use super::notes::Thread;
use super::parse::{AT_ENTRY, CoreFile};
use super::running::{self, Running};
use crate::frozen::{Bytecode, View};
use crate::mapped::Mapped;
use crate::symbols::Symbols;

const MAX_PATH_LEN: usize = 4096;
const MAX_NAME_LEN: usize = 512;

/// Why a snapshot is not exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// A part of the memory is missing.
    Truncated,
    /// A minor collection was under way.
    Collects,
    /// Registers and parts of stacks were taken for roots.
    Registers,
}

/// An OCaml process in a core file.
#[derive(Debug)]
pub struct CoreProcess<'a> {
    pub(super) memory: CoreMemory<'a>,
    pub(super) executable: Executable<'a>,
    pub(super) files: MappedFiles<'a>,
    pub(super) mapped: Mapped,
    pub(super) layout: Layout,
    domains: Vec<Address>,
    frame_table: Option<FrameTable>,
    pub(super) bytecode: Option<Bytecode<'a>>,
    /// Bytecode: address and size of functions of systhreads, which are in a library.
    pub(super) of_libraries: HashMap<Vec<u8>, (Address, u64)>,
    running: Vec<Running>,
    inexact: Vec<Address>,
    names: Option<Address>,
    is_truncated: bool,
    collects: bool,
    notes: Vec<String>,
}

/// The memory of a process in a core file.
#[derive(Clone, Copy, Debug)]
pub struct StoppedCore<'a>(pub(super) &'a CoreProcess<'a>);

impl<'a> CoreProcess<'a> {
    /// Finds the runtime. `executable` is the content of the program's file, `files` those of all files that were mapped
    /// and can be read.
    pub fn open(
        core: &CoreFile<'a>,
        executable: &'a [u8],
        files: MappedFiles<'a>,
    ) -> Result<Self, Unreadable> {
        let entry = core.auxiliary(AT_ENTRY).ok_or(Unreadable::NoState)?;
        let file = executable;
        let memory = CoreMemory::new(core, &files);
        let runtime = Runtime::find_in(executable, entry, &memory, &core.threads)?;
        let Runtime { executable, layout, frame_table, interprets } = runtime;
        let list = executable.dynamic.and_then(|dynamic| loaded::list_of(&memory, dynamic));
        // A truncated file may lack the linker's list of objects, of which the program is the first.
        let mut is_listed = false;
        loaded::each_object(&memory, list.unwrap_or(0), |_| is_listed = true);
        let is_nameless = !is_listed || !executable.exports_runtime;
        let mut process = Self {
            memory,
            executable,
            files,
            mapped: mapped(core),
            layout,
            domains: Vec::new(),
            frame_table,
            bytecode: None,
            of_libraries: HashMap::new(),
            running: Vec::new(),
            inexact: Vec::new(),
            names: None,
            is_truncated: core.missing > 0,
            collects: false,
            notes: Vec::new(),
        };
        if is_nameless {
            // Without a dynamic linker, or if it does not know them, names are in the file alone.
            let names = process.executable.names.to_vec();
            process.names = Some(process.memory.add_names(names));
        }
        if interprets {
            process.find_bytecode(file, list)?;
        } else if process.frame_table.is_none() {
            let table = process.find_frame_table().ok_or(Unreadable::NoFrameTable)?;
            process.frame_table = Some(table);
        }
        process.domains = process.find_domains(core);
        if process.domains.is_empty() {
            return Err(Unreadable::NoState);
        }
        process.take_waiting_thread();
        let waiting = process.calls_of_waiting_threads();
        process.running = running::settle(
            &mut process.memory,
            &process.executable,
            &process.layout,
            process.frame_table,
            &core.threads,
            &process.domains,
            waiting,
        );
        process.look_at_minor_heaps();
        if core.missing > 0 {
            let missing = core.missing;
            process.notes.push(format!("the core file is truncated: {missing} bytes are missing"));
        }
        Ok(process)
    }

    /// The process as the walk of its heap sees it.
    pub fn view(&self) -> View<'_, StoppedCore<'_>> {
        let memory = StoppedCore(self);
        let symbols = Symbols::collect(memory, |each| {
            if let Some(names) = self.names {
                self.executable.each_symbol(names, each);
            }
            let dynamic = self.executable.dynamic;
            let list = dynamic.and_then(|dynamic| loaded::list_of(&self.memory, dynamic));
            loaded::each_object(&memory, list.unwrap_or(0), |object| {
                // An object whose table cannot be read has no names.
                let _ = object.each_symbol(&memory, &mut *each);
            });
        });
        View {
            memory,
            layout: self.layout,
            frame_table: self.frame_table,
            domains: &self.domains,
            inexact: &self.inexact,
            symbols,
            mapped: self.mapped.clone(),
        }
    }

    /// The runtime's version.
    pub fn version(&self) -> Version {
        self.layout.version
    }

    /// The settings of the collector, as `Sys.runtime_parameters` prints them.
    pub fn parameters(&self) -> String {
        let mut text = [0; 512];
        let state = self.domains.first().copied().unwrap_or(0);
        let resolve = |name: &str| self.executable.address(name);
        let text = parameters::write(&self.memory, &self.layout, state, resolve, &mut text);
        String::from_utf8_lossy(text).into_owned()
    }

    /// The worst of the reasons why the snapshot does not show all, or more than the program retained; none if it is exact.
    pub fn limit(&self) -> Option<Limit> {
        if self.is_truncated {
            Some(Limit::Truncated)
        } else if self.collects {
            Some(Limit::Collects)
        } else if !self.running.is_empty() {
            Some(Limit::Registers)
        } else {
            None
        }
    }

    /// Facts that readers of the snapshot should know, as fragments.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Path of the file that has the bytecode, as the process knew it; `None` if that is the executable itself, or the program is
    /// native.
    pub fn bytecode_file(&self) -> Option<Vec<u8>> {
        self.bytecode.as_ref().filter(|bytecode| bytecode.names.is_empty())?;
        let path =
            program::file_name(&self.memory, &self.layout, |name| self.executable.address(name))?;
        let mut text = [0; MAX_PATH_LEN];
        Some(self.memory.c_string(path, &mut text)?.to_vec())
    }

    /// Takes the names of a bytecode program from its file.
    ///
    /// # Errors
    /// If it is not the file of this program, or is damaged: why, as a fragment.
    pub fn add_bytecode_file(&mut self, file: &'a [u8]) -> Result<(), String> {
        let Some(bytecode) = &mut self.bytecode else { return Ok(()) };
        let code = sections::section(file, sections::CODE).ok_or("it is no bytecode executable")?;
        if code.len() as u64 != bytecode.code.bytes {
            return Err(format!(
                "it has {} bytes of code, the program that runs has {}",
                code.len(),
                bytecode.code.bytes
            ));
        }
        if let Some(symbols) = sections::section(file, sections::SYMBOLS) {
            let names = global_names::of_section(symbols);
            bytecode.names = names.map_err(|error| format!("its names: {error}"))?;
        }
        if let Some(events) = sections::section(file, sections::DEBUG) {
            let events = Events::read(events);
            bytecode.events = Some(events.map_err(|error| format!("its debug events: {error}"))?);
        }
        Ok(())
    }

    /// Finds the code of a bytecode program. Its names are in the executable, in memory, or in a file that the caller adds.
    fn find_bytecode(&mut self, file: &'a [u8], list: Option<Address>) -> Result<(), Unreadable> {
        let memory = &self.memory;
        let variable = |name: &str| self.executable.address(name);
        let code = Code::find(memory, variable).ok_or(Unreadable::NoState)?;
        let globals = variable(bytecode_names::GLOBALS).ok_or(Unreadable::NoState)?;
        let table = program::sections(memory, &self.layout, variable);
        let table = table.and_then(|(table, length)| memory.slice(table, length));
        let names = table.and_then(|table| global_names::of_sections(table).ok());
        let mut text = [0; MAX_NAME_LEN];
        loaded::each_object(memory, list.unwrap_or(0), |object| {
            // An object whose table cannot be read has no names.
            let _ = object.each_symbol(memory, &mut |symbol: Symbol| {
                let name = memory.c_string(symbol.name, &mut text).unwrap_or_default();
                if names_of_threads().any(|known| known.as_bytes() == name) {
                    self.of_libraries.insert(name.to_vec(), (symbol.address, symbol.size));
                }
            });
        });
        let names = names.unwrap_or_default();
        self.bytecode = Some(Bytecode { code, globals, names, events: None });
        if sections::section(file, sections::CODE).is_some()
            && let Err(error) = self.add_bytecode_file(file)
        {
            self.notes
                .push(format!("variables have no names: the program cannot be read: {error}"));
        }
        Ok(())
    }

    pub(super) fn uncertain(&self, state: Address) -> Vec<u64> {
        let of_domain = self.running.iter().filter(|running| running.state == state);
        of_domain.flat_map(|running| running.values.iter().copied()).collect()
    }

    fn find_frame_table(&self) -> Option<FrameTable> {
        let memory = &self.memory;
        match self.layout.version.generation() {
            Generation::Single => {
                let variable = |name| self.executable.address(name);
                let (table, mask) =
                    (variable(callstack::DESCRIPTORS)?, variable(callstack::DESCRIPTORS_MASK)?);
                FrameTable::single(memory, table, mask)
            }
            Generation::Multicore => {
                let at = self.private(private::FRAME_TABLE, |at| {
                    FrameTable::multicore(memory, at).is_some()
                })?;
                FrameTable::multicore(memory, at)
            }
        }
    }

    /// States of the domains that run; in OCaml 4, of the program.
    fn find_domains(&self, core: &CoreFile<'_>) -> Vec<Address> {
        let memory = &self.memory;
        let allocates =
            |state: &Address| memory.field(*state, self.layout.state.young_ptr).unwrap_or(0) != 0;
        let Some(fields) = self.layout.multicore() else {
            let variable = self.executable.address(state::SINGLE);
            let state = variable.and_then(|variable| memory.u64(variable));
            return state.into_iter().filter(allocates).collect();
        };
        let threads = core.threads.iter().map(Thread::thread_pointer);
        let young_limit = self.layout.state.young_limit;
        let own = |thread| {
            let variable = self.executable.of_thread(state::MULTICORE, thread)?;
            let running = memory.u64(variable).filter(|&state| state != 0);
            running.or_else(|| domain_lock::state_of_thread(memory, variable, young_limit))
        };
        let is_domain = |state: &Address| {
            *state != 0
                && allocates(state)
                && pools::heap_of_owner(memory, fields, *state).is_some()
        };
        let mut states: Vec<Address> = threads.filter_map(own).filter(is_domain).collect();
        states.sort_unstable();
        states.dedup();
        states.sort_by_key(|state| memory.field(*state, fields.id));
        states
    }

    /// OCaml 4: if the thread that ran last has ended, as threads of C libraries do, the state has nothing of the program's
    /// stacks. It is changed as if the first of the threads that wait had run last.
    fn take_waiting_thread(&mut self) {
        let Some(fields) = self.layout.single() else { return };
        if self.thread_that_ran().is_some() {
            return;
        }
        let (Some(at), Some(&state)) = (self.any_thread(), self.domains.first()) else { return };
        let mut first = None;
        threads::each_thread(&self.memory, Generation::Single, at, |thread| {
            first = first.or(Some(thread));
        });
        let Some(thread) = first else { return };
        if let Some(Top::Single { sp, return_address, registers }) = thread.top {
            for (field, value) in [
                (fields.bottom_of_stack, sp),
                (fields.last_return_address, return_address),
                (self.layout.state.gc_regs, registers),
                (self.layout.state.local_roots, thread.local_roots),
            ] {
                self.memory.change(state + field, value);
            }
        }
    }

    /// OCaml 4: the calls of C in which threads wait for the lock.
    fn calls_of_waiting_threads(&self) -> Vec<SavedCall> {
        let mut calls = Vec::new();
        let running = self.thread_that_ran();
        if let (Some(_), Some(at)) = (self.layout.single(), self.any_thread()) {
            threads::each_thread(&self.memory, Generation::Single, at, |thread| {
                if let Some(Top::Single { sp, return_address, .. }) = thread.top
                    && Some(thread.at) != running
                {
                    calls.push((sp, return_address));
                }
            });
        }
        calls
    }

    /// Finds minor heaps whose blocks do not follow each other: of threads that were about to write a header, or in the
    /// midst of a minor collection.
    fn look_at_minor_heaps(&mut self) {
        let mut collects = false;
        for &state in &self.domains {
            let extent = match self.layout.single() {
                Some(fields) => {
                    collects |= self.memory.field(state, fields.in_minor_collection) != Some(0);
                    chunks::minor(&self.memory, &self.layout, fields, state)
                }
                None => pools::minor(&self.memory, &self.layout, state),
            };
            let Some(extent) = extent else { continue };
            let words = self.memory.words(extent).unwrap_or_default();
            if words.len() as u64 * 8 < extent.bytes {
                // A truncated file.
                continue;
            }
            let (mut at, mut is_whole) = (0, true);
            while let Some(header) = words.get(at) {
                is_whole &= *header != 0;
                let size = usize::try_from(header >> 10).unwrap_or(usize::MAX);
                at = at.saturating_add(size).saturating_add(1);
            }
            is_whole &= at == words.len();
            let is_running = self.running.iter().any(|running| running.state == state);
            collects |= !is_whole && !is_running;
            if !is_whole || is_running {
                self.inexact.push(state);
            }
        }
        if !self.running.is_empty() {
            self.notes.push(format!(
                "{} threads ran OCaml code: what their registers held is shown as \
                 `registers`, and may retain more than the program did",
                self.running.len()
            ));
        }
        self.collects = collects;
        if collects {
            self.notes.push(
                "a minor collection was under way: blocks that it had not moved may be missing"
                    .to_owned(),
            );
        }
    }
}

/// Functions by whose code the variables of systhreads are found.
fn names_of_threads() -> impl Iterator<Item = &'static str> {
    let variables = [private::RUNNING_THREAD, private::ALL_THREADS, private::THREAD_TABLE];
    variables.into_iter().flat_map(|(_, functions)| functions.iter().copied())
}

/// The process's mappings.
fn mapped(core: &CoreFile<'_>) -> Mapped {
    let path_at = |at: Address| {
        let next = core.files.partition_point(|file| file.addresses.start <= at);
        let file = core.files.get(next.checked_sub(1)?)?;
        file.addresses.contains(&at).then_some(file.path.as_slice())
    };
    let segments = core.segments.iter().map(|segment| {
        let end = segment.start.saturating_add(segment.mapped);
        (segment.start..end, segment.is_readable, segment.is_writable)
    });
    // Debuggers list nothing that they leave out.
    let is_listed = |at: Address| {
        let next = core.segments.partition_point(|segment| segment.start <= at);
        let segment = next.checked_sub(1).and_then(|place| core.segments.get(place));
        segment.is_some_and(|segment| at - segment.start < segment.mapped)
    };
    let unlisted = core.files.iter().filter(|file| !is_listed(file.addresses.start));
    let unlisted = unlisted.map(|file| (file.addresses.clone(), true, false));
    let mut all: Vec<_> = segments.chain(unlisted).collect();
    all.sort_by_key(|(addresses, ..)| addresses.start);
    Mapped::of(all.iter().map(|(addresses, is_readable, is_writable)| {
        let path = path_at(addresses.start);
        (addresses.clone(), *is_readable, *is_writable, path)
    }))
}
