//! Tables that the compiler makes when it links a program (`asmcomp/asmlink.ml`): one entry a unit, in the same order.
//!
//! The frame tables begin with those of the startup code and of the runtime's assembly; the tables of data and code with
//! the startup code's. So the lengths of all four follow from the first.

use std::ops::Range;

use super::words::{Parts, Words};
use crate::block::{COLOUR_STATIC, tag, tag_of, wosize};
use crate::debuginfo::{Packing, locations};
use crate::frames::{Descriptor, UnitTable};
use crate::memory::{Address, Memory};

/// A unit has no more descriptors than this.
const MAX_DESCRIPTORS: u64 = 1 << 20;
/// Descriptors of a table that are looked at.
const LOOKED_AT: usize = 16;
/// Words before the tables that may look like a part of them.
const MAX_BEFORE: usize = 4;
/// Tables of a list: startup code, assembly, and a unit.
const MIN_TABLES: usize = 3;
/// A module has no more fields than this.
const MAX_FIELDS: u64 = 1 << 20;
/// A unit has no more static blocks than this.
const MAX_BLOCKS: u64 = 1 << 20;
const MAX_NAME_LEN: usize = 256;
/// The runtime's assembly (`runtime/amd64.S`) is no longer, on both sides of where it returns from OCaml.
const ASSEMBLY: u64 = 4096;

/// A unit of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Its name for the linker, `Stdlib__List`; a number if it has no debug information.
    pub name: Vec<u8>,
    /// The module's block, and other static blocks that may lead to the heap.
    pub blocks: Vec<Address>,
    /// Its data; the last word is at the end.
    pub data: Range<Address>,
    /// Its code.
    pub code: Range<Address>,
    /// Addresses of functions that have static closures: of all that are not inside another one.
    pub functions: Vec<Address>,
}

/// The tables of a program.
pub(super) struct Linked {
    /// Addresses of `caml_frametable`, `caml_globals`, `caml_data_segments`, `caml_code_segments`.
    pub(super) frames: Address,
    pub(super) globals: Address,
    pub(super) data: Address,
    pub(super) code: Address,
    /// Code that OCaml code calls C and the collector by, and more: its ends are not known.
    pub(super) assembly: Range<Address>,
    /// Number of all descriptors.
    pub(super) descriptors: u64,
    /// The first descriptors of each unit.
    samples: Vec<Vec<Descriptor>>,
    roots: Vec<Vec<Address>>,
    extents: Vec<[Range<Address>; 2]>,
}

/// Looks for the tables.
pub(super) fn find(memory: &impl Memory, words: &Words, parts: &Parts) -> Option<Linked> {
    let is_code = |at: Address| parts.code.iter().any(|code| code.contains(&at));
    let mut runs = words.runs(|word| is_frame_table(memory, word, is_code));
    let filled =
        |tables: &[u64]| tables.iter().filter(|table| memory.u64(**table).unwrap_or(0) > 0).count();
    runs.retain(|(_, tables)| tables.len() >= MIN_TABLES && filled(tables) >= MIN_TABLES);
    runs.sort_by_key(|(_, tables)| std::cmp::Reverse(filled(tables)));
    runs.iter().find_map(|(at, tables)| {
        (0..=MAX_BEFORE).find_map(|before| {
            let tables = tables.get(before..).filter(|tables| tables.len() >= MIN_TABLES)?;
            fit(memory, words, parts, at + 8 * before as u64, tables)
        })
    })
}

/// Looks for the other tables of a program with these frame tables.
fn fit(
    memory: &impl Memory,
    words: &Words,
    parts: &Parts,
    at: Address,
    tables: &[u64],
) -> Option<Linked> {
    let units = tables.len() - 2;
    let samples: Vec<Vec<Descriptor>> =
        tables.iter().map(|table| descriptors(memory, *table).collect()).collect();
    let is_data = |at: Address| words.contain(at);
    let (data, data_pairs) = words.lists(2 * (units + 1)).find_map(|(at, list)| {
        let pairs = pairs(list, is_data)?;
        (!pairs.iter().all(Range::is_empty)).then_some((at, pairs))
    })?;
    let is_list = |list: &[u64]| {
        list.iter().zip(data_pairs.get(1..).unwrap_or_default()).all(|(list, data)| {
            let blocks = root_list(memory, words, *list);
            blocks.is_some_and(|blocks| {
                blocks.iter().all(|block| data.start <= *block && *block <= data.end)
            })
        })
    };
    let (globals, lists) = words.lists(units).find(|(_, list)| is_list(list))?;
    let is_code = |at: Address| parts.code.iter().any(|code| code.start <= at && at <= code.end);
    // With sections of their own for functions, hot ones come first.
    let (code, code_pairs) = [units + 1, units + 2].into_iter().find_map(|length| {
        words.lists(2 * length).find_map(|(at, list)| {
            let pairs = pairs(list, is_code)?;
            let own = pairs.get(length - units..)?;
            let fits = own.iter().zip(samples.get(2..)?).all(|(code, samples)| {
                let first = samples.first().map(|sample| sample.return_address);
                first.is_none_or(|first| code.start <= first && first <= code.end)
            });
            fits.then(|| (at, own.to_vec()))
        })
    })?;
    let roots = lists.iter().map(|list| root_list(memory, words, *list).unwrap_or_default());
    let data_of_units = data_pairs.get(1..).unwrap_or_default().iter().cloned();
    let extents = data_of_units.zip(code_pairs).map(|(data, code)| [data, code]);
    let assembly = samples.get(1)?.first()?.return_address;
    Some(Linked {
        frames: at,
        globals,
        data,
        code,
        assembly: assembly.saturating_sub(ASSEMBLY)..assembly.saturating_add(ASSEMBLY),
        descriptors: tables.iter().filter_map(|table| memory.u64(*table)).sum(),
        roots: roots.collect(),
        extents: extents.collect(),
        samples,
    })
}

impl Linked {
    /// The first descriptor of each unit.
    pub(super) fn samples(&self) -> impl Iterator<Item = &Descriptor> {
        self.samples.iter().filter_map(|samples| samples.first())
    }

    /// The data of all units.
    pub(super) fn data_of_units(&self) -> Vec<Range<Address>> {
        self.extents.iter().map(|[data, _]| data.clone()).collect()
    }

    /// The units, with names as far as debug information has them.
    pub(super) fn units(self, memory: &impl Memory, packing: Packing) -> Vec<Unit> {
        let own = self.samples.into_iter().skip(2).zip(self.roots).zip(self.extents).enumerate();
        let units = own.map(|(index, ((samples, blocks), [data, code]))| {
            let name = samples.iter().find_map(|sample| unit_name(memory, packing, sample));
            let name = name.unwrap_or_else(|| format!("Unit{index}").into_bytes());
            let functions = functions(memory, &data, &code);
            Unit { name, blocks, data, code, functions }
        });
        units.collect()
    }
}

/// Code of the static closures in a unit's data: of functions with several arguments behind the code that takes them one by
/// one.
fn functions(memory: &impl Memory, data: &Range<Address>, code: &Range<Address>) -> Vec<Address> {
    let mut found = Vec::new();
    let is_closure = |header| {
        tag_of(header) == tag::CLOSURE && header >> 8 & 3 == COLOUR_STATIC && wosize(header) >= 2
    };
    for at in data.clone().step_by(8) {
        let Some(header) = memory.u64(at) else { break };
        if is_closure(header) {
            let fields = [8, 24].map(|offset| memory.field(at, offset));
            found.extend(fields.into_iter().flatten().filter(|start| code.contains(start)));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn is_frame_table(memory: &impl Memory, at: Address, is_code: impl Fn(Address) -> bool) -> bool {
    let Some(count) = at.is_multiple_of(8).then(|| memory.u64(at)).flatten() else { return false };
    if count > MAX_DESCRIPTORS {
        return false;
    }
    let mut found = 0;
    let all = descriptors(memory, at).all(|descriptor| {
        found += 1;
        is_code(descriptor.return_address)
    });
    all && found == count.min(LOOKED_AT as u64)
}

fn descriptors(memory: &impl Memory, table: Address) -> impl Iterator<Item = Descriptor> {
    UnitTable::read(memory, table).into_iter().flatten().take(LOOKED_AT)
}

/// First and last addresses, two words each.
fn pairs(list: &[u64], is_part: impl Fn(Address) -> bool) -> Option<Vec<Range<Address>>> {
    let pairs = list.chunks_exact(2).map(|pair| {
        let &[start, end] = pair else { return None };
        (start <= end && is_part(start) && is_part(end)).then_some(start..end)
    });
    pairs.collect()
}

/// The blocks of a unit's list of roots.
fn root_list(memory: &impl Memory, words: &Words, list: Address) -> Option<Vec<Address>> {
    if !list.is_multiple_of(8) || !words.contain(list) {
        return None;
    }
    let mut blocks = Vec::new();
    for index in 0..MAX_BLOCKS {
        let block = memory.field(list, 8 * index)?;
        if block == 0 {
            return Some(blocks);
        }
        let header = memory.u64(block.checked_sub(8)?)?;
        let is_static = header >> 8 & 3 == COLOUR_STATIC && wosize(header) < MAX_FIELDS;
        if !is_static || !block.is_multiple_of(8) || !words.contain(block) {
            return None;
        }
        blocks.push(block);
    }
    None
}

/// The unit of a function, which debug information names with the unit in front: `Stdlib__List.map`.
fn unit_name(memory: &impl Memory, packing: Packing, descriptor: &Descriptor) -> Option<Vec<u8>> {
    // The outermost of the functions inlined into each other is of this unit.
    let place = locations(memory, packing, descriptor.debuginfo(memory)?).last()?;
    let mut text = [0; MAX_NAME_LEN];
    let name = memory.c_string(place.function, &mut text)?;
    let unit = name.split(|&byte| byte == b'.').next()?;
    let is_name = unit.first()?.is_ascii_uppercase()
        && unit.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_'".contains(byte));
    is_name.then(|| unit.to_vec())
}
