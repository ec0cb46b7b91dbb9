//! A frozen process, and what is known of it before its heap is walked.

use memtrail_ocaml::frames::FrameTable;
use memtrail_ocaml::heap::loaded::Symbol;
use memtrail_ocaml::{Address, Layout};

use crate::frozen::Frozen;
use crate::mapped::Mapped;
use crate::symbols::Symbols;

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

impl<F: Frozen> View<'_, F> {
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
