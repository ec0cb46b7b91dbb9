//! How exact a snapshot would be that is taken of a process now, told from its threads before it is copied.

use memtrail_ocaml::frames::FrameTable;
use memtrail_ocaml::heap::code::loaded;
use memtrail_ocaml::layout::Machine;
use memtrail_ocaml::symbols::{private, state};
use memtrail_ocaml::version::detect_bytecode;
use memtrail_ocaml::{Layout, Memory, Unsupported, Version, detect, domain_lock, shape};

use super::activity::{Activities, Activity};
use super::error::Unreadable;
use super::executable::Executable;
use super::notes::Thread;

/// What the threads of a process do, by what it costs a snapshot; the best comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Moment {
    /// All roots are saved, and no block is being written.
    Exact,
    /// A thread runs OCaml code: registers and parts of stacks have to be taken for roots.
    Running,
    /// A thread runs C code, and may be writing a block.
    InC,
    /// Blocks are being moved.
    Collecting,
}

/// The runtime of a program, as its executable has it.
#[derive(Debug)]
pub struct Runtime<'a> {
    pub(super) executable: Executable<'a>,
    pub(super) layout: Layout,
    /// The table of frame descriptors, if the program has no symbols.
    pub(super) frame_table: Option<FrameTable>,
    /// True if it interprets bytecode.
    pub(super) interprets: bool,
}

impl<'a> Runtime<'a> {
    /// Finds the runtime by the symbols in a program's file, which was entered at `entry`.
    ///
    /// # Errors
    /// If there is none, or one that is not known.
    pub fn find(executable: &'a [u8], entry: u64) -> Result<Self, Unreadable> {
        let runtime = Self::known(executable, entry)?;
        let version = runtime.layout.version;
        if matches!(version, Version::V4_11 | Version::V5_0) {
            return Err(Unreadable::Version(version));
        }
        Ok(runtime)
    }

    /// Finds the runtime, also one whose heap cannot be read from outside.
    ///
    /// # Errors
    /// As for [`Self::find`].
    pub fn known(executable: &'a [u8], entry: u64) -> Result<Self, Unreadable> {
        let executable = Executable::read(executable, entry).ok_or(Unreadable::NoExecutable)?;
        if executable.is_stripped() {
            return Err(Unreadable::NoSymbols);
        }
        let detected = detect(|name| executable.has(name));
        let interprets = detected == Err(Unsupported::Bytecode);
        let version =
            if interprets { detect_bytecode(|name| executable.has(name))? } else { detected? };
        let version = version.unless_newer(|| executable.release)?;
        let layout = Layout::of(version, Machine::Amd64);
        Ok(Self { executable, layout, frame_table: None, interprets })
    }

    /// Finds the runtime by symbols, or in a program that has none of it, by the shape of its memory.
    ///
    /// # Errors
    /// If there is none, or one that is not known.
    pub fn find_in(
        executable: &'a [u8],
        entry: u64,
        memory: &impl Memory,
        threads: &[Thread],
    ) -> Result<Self, Unreadable> {
        let error = match Self::find(executable, entry) {
            Err(error) if error.is_without_symbols() => error,
            other => return other,
        };
        let mut executable = Executable::read(executable, entry).ok_or(Unreadable::NoExecutable)?;
        let parts = executable.parts(threads.iter().map(Thread::thread_pointer));
        let found = shape::find(memory, &parts).ok_or(error)?;
        executable.add_found(&found);
        let layout = Layout::of(found.version, Machine::Amd64);
        let frame_table = Some(found.frame_table);
        Ok(Self { executable, layout, frame_table, interprets: false })
    }

    /// True if a program that has no symbols of a runtime may have one: its memory has the tables that OCaml's compiler makes.
    pub fn may_be_in(executable: &[u8], entry: u64, memory: &impl Memory) -> bool {
        let executable = Executable::read(executable, entry);
        executable.is_some_and(|it| shape::is_ocaml(memory, &it.parts(std::iter::empty())))
    }

    /// Its version.
    pub const fn version(&self) -> Version {
        self.layout.version
    }

    /// True if a thread runs code that OCaml's compiler made.
    pub fn is_in_ocaml(&self, memory: &impl Memory, thread: &Thread) -> bool {
        let activities =
            Activities::new(memory, &self.executable, &self.layout, self.interprets, Vec::new());
        activities.is_in_ocaml(thread)
    }

    /// The moment at which a process was stopped with these threads.
    pub fn moment(&self, memory: &impl Memory, threads: &[Thread]) -> Moment {
        let activities =
            Activities::new(memory, &self.executable, &self.layout, self.interprets, Vec::new());
        if self.collects(memory, threads) {
            return Moment::Collecting;
        }
        let moments = threads.iter().map(|thread| match activities.of(thread) {
            Activity::Waits => Moment::Exact,
            Activity::Interprets | Activity::SavedC
                if self.layout.single().is_some() && activities.moves_blocks(thread) =>
            {
                Moment::Collecting
            }
            Activity::Ocaml | Activity::UnsavedC | Activity::Interprets => Moment::Running,
            Activity::SavedC => Moment::InC,
        });
        moments.max().unwrap_or(Moment::Exact)
    }

    /// True during a minor collection, and in OCaml 5 whenever all domains pause for one of them. The process may run;
    /// its threads are known from an earlier stop.
    pub fn collects(&self, memory: &impl Memory, threads: &[Thread]) -> bool {
        let Some(fields) = self.layout.single() else {
            return self.all_stand_still(memory, threads);
        };
        let state = self.executable.address(state::SINGLE).and_then(|at| memory.u64(at));
        let collects = state.and_then(|state| memory.field(state, fields.in_minor_collection));
        collects.is_some_and(|collects| collects != 0)
    }

    /// OCaml 5: true while one of the domains has all others pause, as in each minor collection.
    fn all_stand_still(&self, memory: &impl Memory, threads: &[Thread]) -> bool {
        let (name, functions) = private::LEADER;
        if let Some(leader) = self.executable.address(name) {
            return memory.u64(leader).is_some_and(|leader| leader != 0);
        }
        let young_limit = self.layout.state.young_limit;
        let domain_of = |thread: &Thread| {
            let variable = self.executable.of_thread(state::MULTICORE, thread.thread_pointer())?;
            domain_lock::domain_of_thread(memory, variable, young_limit).map(|(domain, _)| domain)
        };
        let domains: Vec<u64> = threads.iter().filter_map(domain_of).collect();
        functions.iter().filter_map(|name| self.executable.function(name)).any(|(start, bytes)| {
            let code: Vec<u8> = (start..start + bytes).map_while(|at| memory.u8(at)).collect();
            let leads = |at| memory.u64(at).is_some_and(|leader| domains.contains(&leader));
            loaded(&code, start).any(leads)
        })
    }
}
