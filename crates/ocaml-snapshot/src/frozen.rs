//! A process that does not run: its memory, and what is known of it before its heap is walked.

use memtrail_heap::write::Sample;
use memtrail_ocaml::bytecode::stack::Code;
use memtrail_ocaml::bytecode::{Events, GlobalName};
use memtrail_ocaml::frames::FrameTable;
use memtrail_ocaml::heap::Extent;
use memtrail_ocaml::heap::finalisers::Kind;
use memtrail_ocaml::heap::frames::Frame;
use memtrail_ocaml::heap::loaded::Symbol;
use memtrail_ocaml::{Address, Layout, Memory};

use crate::mapped::Mapped;
use crate::symbols::Symbols;

/// Addresses and contents of roots.
pub type Slots = Vec<(Address, u64)>;

/// A process that does not run: its memory, its files, and the runtime's private tables of roots.
///
/// The agent's copy of its own process has the runtime's iterators called, which hand out private tables. A core file
/// has no code to call: there the tables are found by their symbols, or by the code that refers to them.
pub trait StoppedProcess: Memory + Copy {
    /// Memory as words, as far as it can be read: `None` if the first word cannot.
    fn words(&self, extent: Extent) -> Option<&[u64]>;

    /// Memory as bytes; `None` unless all of them can be read.
    fn slice(&self, start: Address, length: u64) -> Option<&[u8]>;

    /// Content of a file that is mapped in the process, by the path in its list of mappings.
    fn file(&self, path: &[u8]) -> Option<&[u8]>;

    /// Variables that C code registered. In OCaml 5 fields of modules are among them.
    fn registered(view: &View<'_, Self>) -> Slots;

    /// Values that C code registered by name: slot, and address of the name.
    fn named_values(view: &View<'_, Self>) -> Slots;

    /// The `caml_thread_struct` of the running thread of the domain with this state; 0 without systhreads.
    fn running_thread(view: &View<'_, Self>, hooked: &Slots, state: Address) -> Address;

    /// Roots that libraries hand out by the hook that they put into the runtime.
    fn hooked(view: &View<'_, Self>, state: Address) -> Slots;

    /// OCaml 4: kinds and addresses of entries in the tables of finalisers.
    fn finalisers(view: &View<'_, Self>) -> Vec<(Kind, Address)>;

    /// User data of the blocks that the runtime's sampler tracks for a domain; in OCaml 4, for the program.
    fn tracked(view: &View<'_, Self>, state: Address) -> Slots;

    /// All roots of a domain that the runtime scans, as far as they can be told; in OCaml 4, of the program.
    fn all(view: &View<'_, Self>, state: Address) -> Slots;

    /// Words of registers and stacks of a domain that may be values, where the runtime had saved none.
    fn uncertain(view: &View<'_, Self>, state: Address) -> Vec<u64> {
        let _ = (view, state);
        Vec::new()
    }

    /// The code and the names of a program of bytecode; `None` for native code.
    fn bytecode(&self) -> Option<&Bytecode<'_>> {
        None
    }

    /// The label that the program gave a frame of its stack.
    fn label_of(&self, frame: &Frame) -> Option<&[u8]> {
        let _ = frame;
        None
    }

    /// The number in the trace of a block that the sampler tracks, from its user data.
    fn number_in_trace(&self, user_data: u64) -> Option<u64> {
        let _ = user_data;
        None
    }

    /// Blocks of the trace that memtrail's own sampler tracks.
    fn tracked_by_memtrail(&self) -> Vec<Sample> {
        Vec::new()
    }

    /// True for the profile by which memtrail has the runtime sample: no block of the program's.
    fn is_own_profile(&self, value: u64) -> bool {
        let _ = value;
        false
    }
}

/// A program of bytecode: where its code is, and names from its file.
#[derive(Debug)]
pub struct Bytecode<'a> {
    /// The code in memory.
    pub code: Code,
    /// Address of the variable that leads to all global variables.
    pub globals: Address,
    /// Names of global variables; none without the program's file.
    pub names: Vec<GlobalName>,
    /// Debug events; `None` if the program has none.
    pub events: Option<Events<'a>>,
}

/// A frozen process with an OCaml runtime.
pub struct View<'a, F> {
    /// Its memory.
    pub memory: F,
    /// The runtime's layout.
    pub layout: Layout,
    /// The runtime's table of frame descriptors.
    pub frame_table: Option<FrameTable>,
    /// States of all domains that run; in OCaml 4, the only state.
    pub domains: &'a [Address],
    /// States of those domains whose minor heaps have blocks that do not follow each other.
    pub inexact: &'a [Address],
    /// Symbols of the program and its libraries.
    pub symbols: Symbols<F>,
    /// Its mappings.
    pub mapped: Mapped,
}

impl<F: StoppedProcess> View<'_, F> {
    /// The word at a variable of the runtime's; 0 without one.
    pub fn symbol_value(&self, name: &str) -> u64 {
        let at = self.symbols.address(name);
        at.and_then(|at| self.memory.u64(at)).unwrap_or(0)
    }

    /// The code of the runtime's function of this name, and its address.
    pub fn code_of(&self, name: &str) -> Option<(&[u8], Address)> {
        let &Symbol { address, size, .. } = self.symbols.named(name)?;
        Some((self.memory.slice(address, size)?, address))
    }
}
