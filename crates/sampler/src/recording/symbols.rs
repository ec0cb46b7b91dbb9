//! What stands at return addresses: functions, inlined ones too, with files and lines.

use std::collections::HashMap;

use addr2line::Loader;
use memtrail_trace::Location;

use crate::recording::modules::{self, Module};
use crate::recording::names;

/// A function at a position of its source.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Symbol {
    function: String,
    file: String,
    line: u32,
    column: u32,
}

/// What is at an address, the outermost function first; all others are inlined.
#[derive(Debug, Default)]
struct Frame {
    symbols: Vec<Symbol>,
    is_library: bool,
}

/// The names of addresses that were met. A module's debug information is read when the first of its
/// addresses is met, and stays in memory.
#[derive(Default)]
pub(super) struct Symbols {
    modules: Vec<(Module, Option<Loader>)>,
    frames: HashMap<u64, Frame>,
}

impl Symbols {
    /// Looks return addresses up that have not been met.
    pub(super) fn resolve(&mut self, callstack: &[u64]) {
        for &address in callstack {
            if !self.frames.contains_key(&address) {
                // The call is before the address to which it returns.
                let frame = self.look_up(address.saturating_sub(1));
                self.frames.insert(address, frame);
            }
        }
    }

    /// What stands at the code of a label.
    pub(super) fn define_label(&mut self, code: u64, text: &str) {
        let symbol =
            Symbol { function: format!("[{text}]"), file: String::new(), line: 0, column: 0 };
        // Nothing was allocated by a label.
        self.frames.insert(code, Frame { symbols: vec![symbol], is_library: true });
    }

    /// A callstack, innermost first, without the innermost frames that are libraries'; with them, if it has no
    /// others.
    pub(super) fn allocating<'a>(&self, callstack: &'a [u64]) -> &'a [u64] {
        let is_library =
            |address| self.frames.get(address).is_none_or(|frame: &Frame| frame.is_library);
        let libraries = callstack.iter().take_while(|address| is_library(address)).count();
        if libraries == callstack.len() { callstack } else { &callstack[libraries..] }
    }

    /// What is at a return address that was [resolved](Self::resolve), the outermost function first.
    pub(super) fn locations(&self, address: u64) -> impl Iterator<Item = Location<'_>> {
        let symbols = self.frames.get(&address).map_or(&[][..], |frame| &frame.symbols);
        symbols.iter().map(|symbol| Location {
            function: symbol.function.as_bytes(),
            file: symbol.file.as_bytes(),
            line: symbol.line,
            start_col: symbol.column,
            end_col: symbol.column,
        })
    }

    fn look_up(&mut self, address: u64) -> Frame {
        let Some((in_file, loader)) = self.module(address) else { return Frame::default() };
        let mut symbols = functions(loader, in_file);
        let is_library = |symbol: &Symbol| names::is_library(&symbol.function, &symbol.file);
        let is_all_library = symbols.iter().all(is_library);
        // What a function inlines of a library is the function's own.
        while !is_all_library && symbols.last().is_some_and(is_library) {
            symbols.pop();
        }
        Frame { symbols, is_library: is_all_library }
    }

    /// The module of an address, and the address in its file.
    fn module(&mut self, address: u64) -> Option<(u64, &Loader)> {
        let find = |modules: &[(Module, Option<Loader>)]| {
            modules.iter().position(|(module, _)| module.in_file(address).is_some())
        };
        let at = if let Some(at) = find(&self.modules) {
            at
        } else {
            // A library that was loaded since, perhaps.
            let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
            for module in modules::parse(&maps) {
                if !self.modules.iter().any(|(known, _)| *known == module) {
                    self.modules.push((module, None));
                }
            }
            find(&self.modules)?
        };
        let (module, loader) = self.modules.get_mut(at)?;
        if loader.is_none() {
            *loader = Some(Loader::new(&module.path).ok()?);
        }
        Some((module.in_file(address)?, loader.as_ref()?))
    }
}

/// The functions at an address of a file, the outermost first. Without debug information that is the one of the
/// symbol table, at an unknown position; with that of lines alone, the position is known.
fn functions(loader: &Loader, address: u64) -> Vec<Symbol> {
    let mut symbols = Vec::new();
    let of_symbol_table = || loader.find_symbol(address).map(names::demangled);
    let Ok(mut frames) = loader.find_frames(address) else { return symbols };
    while let Ok(Some(frame)) = frames.next() {
        let function = frame.function.as_ref().and_then(|function| function.raw_name().ok());
        let function = function.map(|name| names::demangled(&name)).or_else(of_symbol_table);
        let Some(function) = function else { continue };
        let location = frame.location.as_ref();
        symbols.push(Symbol {
            function,
            file: location.and_then(|at| at.file).unwrap_or_default().into(),
            line: location.and_then(|at| at.line).unwrap_or(0),
            column: location.and_then(|at| at.column).unwrap_or(0).saturating_sub(1),
        });
    }
    if symbols.is_empty()
        && let Some(function) = of_symbol_table()
    {
        symbols.push(Symbol { function, file: String::new(), line: 0, column: 0 });
    }
    symbols.reverse();
    symbols
}
