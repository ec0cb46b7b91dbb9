//! The second pass: blocks of many fields, which are arrays if their elements are alike, or those of hash tables;
//! and the sizes of strings that may be buffers'.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::block_form::{BlockForm, NO_TARGET, Sort};
use super::chains::Chains;
use super::facts::{Facts, MIN_ARRAY};
use super::types::Found;
use crate::graph::passes::gather;
use crate::read::{Block, Columns, Error, HAS_DATA, Marks, Snapshot};
use crate::units::BlockIndex;

/// Records have fewer fields.
const MIN_ALONE: u64 = 33;
/// Records of values of one sort, but of different forms, have fewer fields.
const MIN_MIXED: u64 = 64;

/// What the second pass looks for.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    /// Blocks that may be the buckets of a hash table, in order.
    pub(super) tables: Vec<u32>,
    /// Strings of which the size is needed, in order.
    pub(super) strings: Vec<u32>,
    /// Blocks of modules, whose fields are roots instead of pointers, in order.
    pub(super) modules: Vec<u32>,
}

/// The array of a hash table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    /// Whose entries these are.
    pub(super) of: TableOf,
    /// How many chains of buckets it has room for.
    pub(super) room: u64,
    /// Where the first buckets of its chains are in [`Arrays::buckets`].
    pub(super) first: usize,
    /// How many there are.
    pub(super) chains: usize,
}

/// Which module's hash table it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TableOf {
    /// `Hashtbl`: buckets have a key and data.
    Hashtbl,
    /// `Ephemeron`: buckets have the hash of a key, which is an immediate, and an ephemeron.
    Ephemeron,
}

/// What the second pass found.
#[derive(Debug, Default)]
pub(super) struct Arrays {
    /// Blocks that have buckets of hash tables only, or nothing.
    pub(super) tables: HashMap<u32, Table, FxBuildHasher>,
    /// The first bucket of each chain of these.
    pub(super) buckets: Vec<u32>,
    /// Words of strings.
    pub(super) strings: HashMap<u32, u64, FxBuildHasher>,
    /// Arrays.
    pub(super) alone: Vec<u32>,
}

/// Looks at the sections that have any of these.
///
/// # Errors
/// If a section of the snapshot is damaged.
pub(super) fn arrays(
    snapshot: &Snapshot<'_>,
    threads: usize,
    (facts, known): (&Facts, &Found),
    buckets: &Chains,
    wanted: &Wanted,
) -> Result<Arrays, Error> {
    let mut sections = facts.with_arrays.clone();
    for string in &wanted.strings {
        if let Some(section) = snapshot.section_of(BlockIndex(*string)) {
            sections[section] = true;
        }
    }
    let parts = gather(
        sections.len(),
        threads,
        || (Arrays::default(), Columns::new()),
        |(found, columns), section| {
            if !sections[section] {
                return Ok(());
            }
            snapshot.decode_edges(section, columns)?;
            for block in columns.iter() {
                let index = block.index.0;
                if facts.form(index) == BlockForm::STRING {
                    if wanted.strings.binary_search(&index).is_ok() {
                        found.strings.insert(index, block.wosize.0);
                    }
                    continue;
                }
                let is_large = block.tag == 0 && block.wosize.0 >= MIN_ARRAY;
                if !is_large || !known.is_free(index) {
                    continue;
                }
                if wanted.tables.binary_search(&index).is_ok()
                    && are_buckets(facts, buckets, &block)
                    && let Some(of) = table_of(facts, snapshot.weak(), &block)
                {
                    let (first, chains) = (found.buckets.len(), block.targets.len());
                    found.tables.insert(index, Table { of, room: block.wosize.0, first, chains });
                    found.buckets.extend_from_slice(block.targets);
                } else if block.wosize.0 >= MIN_ALONE
                    && wanted.modules.binary_search(&index).is_err()
                    && is_array(facts, &block)
                {
                    found.alone.push(index);
                }
            }
            Ok::<_, Error>(())
        },
    )?;
    let mut all = Arrays::default();
    for (part, _) in parts {
        let before = all.buckets.len();
        let moved = |table: Table| Table { first: before + table.first, ..table };
        all.tables.extend(part.tables.into_iter().map(|(block, table)| (block, moved(table))));
        all.buckets.extend(part.buckets);
        all.strings.extend(part.strings);
        all.alone.extend(part.alone);
    }
    Ok(all)
}

/// Whether the elements are the buckets of a hash table, or nothing. A table is enlarged when it has twice as many
/// entries as chains.
fn are_buckets(facts: &Facts, buckets: &Chains, block: &Block<'_>) -> bool {
    let room = block.wosize.0;
    let mut entries = 0u64;
    let mut sorts: Option<(Sort, Sort)> = None;
    room.is_power_of_two()
        && block.targets.iter().all(|target| {
            let Some(bucket) = facts.triples.place(*target) else { return false };
            entries += u64::from(buckets.length(bucket).unwrap_or(u32::MAX));
            let [key, data, _] = facts.triples.fields(bucket);
            let these = (facts.sort(key), facts.sort(data));
            *sorts.get_or_insert(these) == these && entries <= room.saturating_mul(2)
        })
}

/// Whose table has these buckets. A table of `Ephemeron` has an ephemeron in each bucket, some of them with data. With
/// weak arrays or ephemerons of which none has data, it may be either's.
fn table_of(facts: &Facts, weak: &Marks, block: &Block<'_>) -> Option<TableOf> {
    let mut has_data = false;
    for first in block.targets {
        let mut at = *first;
        while let Some(place) = facts.triples.place(at) {
            let [key, data, next] = facts.triples.fields(place);
            let Some(number) = weak.get(BlockIndex(data)) else {
                return Some(TableOf::Hashtbl);
            };
            if key != NO_TARGET {
                return Some(TableOf::Hashtbl);
            }
            has_data |= number == HAS_DATA;
            at = next;
        }
    }
    match (block.targets.is_empty(), has_data) {
        (true, _) => Some(TableOf::Hashtbl),
        (false, true) => Some(TableOf::Ephemeron),
        (false, false) => None,
    }
}

/// Whether all elements are of one sort; of few elements, also of one form. Closures may be a record's.
fn is_array(facts: &Facts, block: &Block<'_>) -> bool {
    let pointers = block.targets.len() as u64;
    let Some(first) = block.targets.first() else { return true };
    let (form, sort) = (facts.form(*first), facts.sort(*first));
    let is_alike = match sort {
        Sort::Closure | Sort::Float => return false,
        Sort::Constructor if block.wosize.0 < MIN_MIXED => {
            form != BlockForm::OTHER
                && block.targets.iter().all(|target| facts.form(*target) == form)
        }
        _ => block.targets.iter().all(|target| facts.sort(*target) == sort),
    };
    let may_have_immediates = sort == Sort::Constructor;
    is_alike && (pointers == block.wosize.0 || may_have_immediates && pointers < block.wosize.0)
}
