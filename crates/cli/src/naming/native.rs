//! Names in the trace of a native program.

use std::ops::Range;

use memtrail_symbols::Symbols;
use memtrail_trace::{Code, Location};

use super::names::Names;

/// Names at the addresses of a native program.
#[derive(Debug)]
pub(super) struct NativeNames {
    symbols: Symbols,
}

impl NativeNames {
    pub(super) fn new(symbols: Symbols) -> Self {
        Self { symbols }
    }
}

impl Names for NativeNames {
    fn resolve(&mut self, codes: &[Code]) {
        for code in codes {
            self.symbols.resolve(&[code.0]);
        }
    }

    /// Without the innermost frames that are not the program's own, unless all are.
    fn own(&self, callstack: &[Code]) -> Range<usize> {
        let others = self.symbols.not_own(callstack.iter().rev().map(|code| code.0));
        match callstack.len() - others {
            0 => 0..callstack.len(),
            own => 0..own,
        }
    }

    fn locations(&self, code: Code) -> Vec<Location<'_>> {
        self.symbols.locations(code.0).collect()
    }
}
