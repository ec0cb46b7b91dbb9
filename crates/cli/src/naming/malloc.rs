//! Names of native code in the trace of an OCaml program whose calls of `malloc` are recorded, too.

use std::collections::HashMap;
use std::ops::Range;

use memtrail_ocaml::{names, symbols};
use memtrail_symbols::Symbols;
use memtrail_trace::malloc::native_address;
use memtrail_trace::{Code, Location};

use super::names::Names;

/// Names at the addresses of native code in a trace of OCaml.
#[derive(Debug)]
pub(super) struct MallocNames {
    symbols: Symbols,
    /// Names of OCaml functions that the frame tables have none for.
    ocaml: HashMap<u64, Option<String>>,
}

impl MallocNames {
    pub(super) fn new(symbols: Symbols) -> Self {
        Self { symbols, ocaml: HashMap::new() }
    }

    /// True if a frame is native code of which this is true; OCaml's are not.
    fn is(&self, code: Code, what: impl Fn(u64, &[u8]) -> bool) -> bool {
        native_address(code).is_some_and(|address| {
            let function = self.symbols.locations(address).next_back();
            what(address, function.map_or(b"", |location| location.function))
        })
    }

    /// True if a function allocates for those that call it.
    fn is_passed_over(&self, code: Code) -> bool {
        self.is(code, |address, function| {
            self.symbols.is_library(address) || is_one_of(&symbols::malloc::FOR_OTHERS, function)
        })
    }

    /// True if a function is on the way to a thread's first one of OCaml's.
    fn is_way_in(&self, code: Code) -> bool {
        self.is(code, |address, function| {
            self.symbols.is_library(address) || is_one_of(&symbols::malloc::WAY_IN, function)
        })
    }
}

fn is_one_of(names: &[&str], function: &[u8]) -> bool {
    names.iter().any(|name| name.as_bytes() == function)
}

impl Names for MallocNames {
    fn resolve(&mut self, codes: &[Code]) {
        let Self { symbols, ocaml } = self;
        for address in codes.iter().filter_map(|&code| native_address(code)) {
            ocaml.entry(address).or_insert_with(|| {
                symbols.resolve(&[address]);
                let symbol = symbols.locations(address).next_back()?.function;
                let mut text = vec![0; symbol.len()];
                names::demangle(symbol, &mut text)
                    .map(|name| String::from_utf8_lossy(name).into_owned())
            });
        }
    }

    /// Without the innermost frames that allocate for others, and, where OCaml's functions follow, without the
    /// outermost ones that lead to them: the runtime's sampler does not have these either.
    fn own(&self, callstack: &[Code]) -> Range<usize> {
        let others = callstack.iter().rev().take_while(|&&code| self.is_passed_over(code)).count();
        let end = match callstack.len() - others {
            0 => callstack.len(),
            own => own,
        };
        let own = callstack.get(..end).unwrap_or_default();
        let way_in = own.iter().take_while(|&&code| self.is_way_in(code)).count();
        match own.get(way_in) {
            Some(&first) if native_address(first).is_none() => way_in..end,
            _ => 0..end,
        }
    }

    fn locations(&self, code: Code) -> Vec<Location<'_>> {
        let Some(address) = native_address(code) else { return Vec::new() };
        let mut found: Vec<_> = self.symbols.locations(address).collect();
        if let (Some(last), Some(Some(name))) = (found.last_mut(), self.ocaml.get(&address)) {
            last.function = name.as_bytes();
        }
        found
    }
}
