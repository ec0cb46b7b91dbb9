//! The process as a frozen copy sees it.

use memtrail_ocaml::heap::loaded::Symbol;
use memtrail_ocaml::memory::{Memory as _, ThisProcess};

use super::symbols::Symbols;
use crate::context::target::Target;

/// The heap as it is looked at.
pub(crate) struct ForkedView<'a> {
    pub(super) target: &'static Target,
    pub(super) memory: ThisProcess,
    pub(super) domains: &'a [u64],
    pub(super) symbols: Symbols,
    /// Tells the blocks of this recording.
    pub(super) epoch: u8,
}

impl ForkedView<'_> {
    /// The word at an exported variable; 0 without one. `dlsym` may not be called here.
    pub(super) fn symbol_value(&self, name: &str) -> u64 {
        let at = self.symbols.address(name);
        at.and_then(|at| self.memory.u64(at)).unwrap_or(0)
    }

    /// The code of the runtime's function of this name, and its address.
    pub(super) fn code_of(&self, name: &str) -> Option<(&'static [u8], u64)> {
        let &Symbol { address, size, .. } = self.symbols.named(name)?;
        // SAFETY: the symbol says how long the function is; code is never unmapped here.
        let code = unsafe { std::slice::from_raw_parts(address as *const u8, size as usize) };
        Some((code, address))
    }
}
