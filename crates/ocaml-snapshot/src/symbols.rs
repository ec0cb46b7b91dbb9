//! Names of addresses, and addresses of names, without the dynamic linker's help.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::ops::Range;

use memtrail_ocaml::block::wosize;
use memtrail_ocaml::heap::Extent;
use memtrail_ocaml::heap::loaded::{Symbol, each_object};
use memtrail_ocaml::names;
use memtrail_ocaml::symbols::heap::PREDEFINED_EXCEPTION;
use memtrail_ocaml::{Address, Memory};

/// Symbols of the program and of the libraries that are loaded.
pub struct Symbols<M> {
    memory: M,
    by_address: Vec<Symbol>,
    /// What the runtime exports.
    by_name: HashMap<Vec<u8>, u64, BuildHasherDefault<DefaultHasher>>,
    /// Where the data of each unit begin and end, plugins' too.
    data: [Vec<u64>; 2],
    /// Where the code of each unit begins and ends, plugins' too.
    code: [Vec<u64>; 2],
    /// Code of partial applications.
    partial: Vec<u64>,
    /// Whether some of the code was compiled with flambda, which gives functions without a name symbols of their own.
    pub(super) has_flambda: bool,
    /// The entry code of units, by their names, and where their data begin.
    entries: Vec<(Vec<u8>, u64)>,
    data_of: HashMap<Vec<u8>, u64, BuildHasherDefault<DefaultHasher>>,
    /// Units, plugins' too, as the linker knows them.
    units: HashSet<Vec<u8>, BuildHasherDefault<DefaultHasher>>,
}

const MAX_NAME_LEN: usize = 512;
/// How the symbols at both ends of a unit's data end.
const DATA_EDGES: [&[u8]; 2] = [b"data_begin", b"data_end"];
/// How the symbols end that are at both ends of a unit's code, where its first function may be, too.
const CODE_EDGES: [&[u8]; 2] = [b"code_begin", b"code_end"];

impl<M: Memory + Copy> Symbols<M> {
    /// Reads the exported symbols of everything that is loaded; `list` is the address of the linker's list
    /// ([`memtrail_ocaml::heap::loaded::LIST`]).
    pub fn of_loaded(memory: M, list: Address) -> Self {
        Self::collect(memory, |each| {
            each_object(&memory, list, |object| {
                // An object whose table cannot be read has no names.
                let _ = object.each_symbol(&memory, &mut *each);
            });
        })
    }

    /// Takes all symbols that `read` hands out. Of several with one name, the first is taken.
    pub fn collect(memory: M, read: impl FnOnce(&mut dyn FnMut(Symbol))) -> Self {
        let mut by_address = Vec::new();
        let mut by_name = HashMap::default();
        let (mut data, mut code) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
        let mut partial = Vec::new();
        let mut units = HashSet::default();
        let (mut entries, mut data_of) = (Vec::new(), HashMap::default());
        let mut has_flambda = false;
        let mut text = [0; MAX_NAME_LEN];
        read(&mut |symbol| {
            by_address.push(symbol);
            let name = memory.c_string(symbol.name, &mut text).unwrap_or_default();
            if !name.starts_with(b"caml") {
                return;
            }
            if name.starts_with(b"caml_") {
                by_name.entry(name.to_vec()).or_insert(symbol.address);
                if names::is_partial_application(name) {
                    partial.push(symbol.address);
                }
            }
            has_flambda |= names::is_flambda(name);
            if let Some(unit) = names::unit_of_table(name) {
                units.insert(unit.to_vec());
            }
            if let Some(unit) = names::unit_of(name, b"entry") {
                entries.push((unit.to_vec(), symbol.address));
            } else if let Some(unit) = names::unit_of(name, DATA_EDGES[0]) {
                data_of.insert(unit.to_vec(), symbol.address);
            }
            let edges = DATA_EDGES.iter().chain(&CODE_EDGES);
            for (edge, ends) in edges.zip(data.iter_mut().chain(&mut code)) {
                if name.ends_with(edge) {
                    ends.push(symbol.address);
                }
            }
        });
        sort(&mut by_address);
        for edge in data.iter_mut().chain(&mut code) {
            edge.sort_unstable();
        }
        partial.sort_unstable();
        Self {
            memory,
            by_address,
            by_name,
            data,
            code,
            partial,
            has_flambda,
            entries,
            data_of,
            units,
        }
    }

    /// Every unit's data, of plugins too.
    pub(super) fn data(&self) -> impl Iterator<Item = Extent> + '_ {
        let [begins, ends] = &self.data;
        begins.iter().filter_map(|&begin| {
            let end = *ends.get(ends.partition_point(|&end| end < begin))?;
            Extent::between(begin.checked_next_multiple_of(8)?, (end & !7).checked_add(8)?)
        })
    }

    /// The entry code of all units, each with the unit's data, plugins' too.
    pub(super) fn entries(&self) -> impl Iterator<Item = (u64, Range<u64>)> + '_ {
        let [_, ends] = &self.data;
        self.entries.iter().filter(|(unit, _)| self.units.contains(unit)).filter_map(
            |(unit, code)| {
                let begin = *self.data_of.get(unit)?;
                let end = *ends.get(ends.partition_point(|&end| end < begin))?;
                Some((*code, begin..end))
            },
        )
    }

    /// The symbol of the static block that a slot is in.
    pub(super) fn of_block(&self, slot: u64) -> Option<&Symbol> {
        let after = self.by_address.partition_point(|symbol| symbol.address <= slot);
        self.by_address[..after].iter().rev().take(2).find(|symbol| {
            let header = symbol.address.checked_sub(8).and_then(|at| self.memory.u64(at));
            header.is_some_and(|header| (slot - symbol.address) / 8 < wosize(header))
        })
    }

    /// The unit that a data symbol is of, and the value with its stamp, empty for the module's block itself.
    pub(super) fn split<'s>(&self, symbol: &'s [u8]) -> Option<(&'s [u8], &'s [u8])> {
        names::split_data_symbol(symbol, |unit| self.units.contains(unit))
    }

    /// How many fields the static block at a symbol has.
    pub(super) fn fields(&self, symbol: &Symbol) -> Option<u64> {
        let header = self.memory.u64(symbol.address.checked_sub(8)?)?;
        Some(wosize(header))
    }

    /// The symbol that covers an address.
    pub(super) fn at(&self, address: u64) -> Option<&Symbol> {
        let after = self.by_address.partition_point(|symbol| symbol.address <= address);
        // Several may begin at one place; one that covers the address is meant.
        self.by_address[..after]
            .iter()
            .rev()
            .take(4)
            .find(|symbol| address == symbol.address || address - symbol.address < symbol.size)
    }

    /// Whether code is that of partial applications, which have symbols in all programs.
    pub(super) fn is_partial_application(&self, code: u64) -> bool {
        self.partial.binary_search(&code).is_ok()
    }

    /// The symbol of the function that begins at an address, and where its code ends at the latest.
    pub(super) fn function_at(&self, code: u64) -> (Option<&Symbol>, u64) {
        let after = self.by_address.partition_point(|symbol| symbol.address <= code);
        let (before, behind) = self.by_address.split_at(after);
        let next = behind.first().map_or(u64::MAX, |symbol| symbol.address);
        let mut text = [0; MAX_NAME_LEN];
        let mut is_edge = |symbol: &Symbol| {
            let name = self.memory.c_string(symbol.name, &mut text).unwrap_or_default();
            CODE_EDGES.iter().any(|edge| name.ends_with(edge))
        };
        let mut here = before.iter().rev().take_while(|symbol| symbol.address == code);
        let symbol = here.find(|symbol| symbol.size > 0 || !is_edge(symbol));
        let end = symbol
            .filter(|symbol| symbol.size > 0)
            .map_or(next, |symbol| code.saturating_add(symbol.size).min(next));
        (symbol, end)
    }

    /// Where functions of the unit begin that a function is in, in order; none if its ends are unknown.
    pub(super) fn unit_of(&self, code: u64) -> impl Iterator<Item = u64> + '_ {
        let [begins, ends] = &self.code;
        let next = begins.partition_point(|&begin| begin <= code);
        let begin = next.checked_sub(1).and_then(|at| begins.get(at).copied());
        let end = ends.get(ends.partition_point(|&end| end <= code)).copied();
        // Behind a further begin, the end is that of another unit.
        let is_own = |&end: &u64| begins.get(next).is_none_or(|&begin| end <= begin);
        let unit = begin.zip(end.filter(is_own)).unwrap_or_default();
        let at = |address| self.by_address.partition_point(|symbol| symbol.address < address);
        let symbols = self.by_address.get(at(unit.0)..at(unit.1)).unwrap_or_default();
        symbols.iter().map(|symbol| symbol.address)
    }

    /// The name of the symbol at this address, copied to `into`.
    pub(super) fn name_at<'a>(&self, address: u64, into: &'a mut [u8]) -> Option<&'a [u8]> {
        self.memory.c_string(self.at(address)?.name, into)
    }

    /// The names and blocks of the exceptions that the runtime raises itself, in order.
    pub(super) fn predefined_exceptions(&self) -> Vec<(&[u8], u64)> {
        let named = self.by_name.iter().filter_map(|(symbol, address)| {
            let name = symbol.strip_prefix(PREDEFINED_EXCEPTION)?;
            name.first()?.is_ascii_uppercase().then_some((name, *address))
        });
        let mut found: Vec<_> = named.collect();
        found.sort_unstable();
        found
    }

    /// Address of a symbol of the runtime's.
    pub fn address(&self, name: &str) -> Option<u64> {
        self.by_name.get(name.as_bytes()).copied()
    }

    /// The symbol of a function of the runtime's.
    pub(super) fn named(&self, name: &str) -> Option<&Symbol> {
        self.at(self.address(name)?)
    }
}

/// Puts symbols in the order of their addresses. Of several at one place the last is taken for it: a function, which covers
/// code, comes behind the mark of where its unit's code begins.
fn sort(symbols: &mut [Symbol]) {
    symbols.sort_unstable_by_key(|symbol| (symbol.address, symbol.size, symbol.name));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which one was taken for the place changed with the number of symbols.
    #[test]
    fn a_function_is_not_called_after_the_beginning_of_its_unit() {
        let of = |address, size, name| Symbol { address, size, name };
        let (begin, function, other) = (of(64, 0, 9), of(64, 99, 3), of(32, 32, 5));
        for mut symbols in [[begin, function, other], [function, other, begin]] {
            sort(&mut symbols);
            assert_eq!(symbols, [other, begin, function]);
        }
    }
}
