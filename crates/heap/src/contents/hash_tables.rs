//! `Hashtbl.t`: a record of the number of entries, buckets, the seed and the initial size, and chains of buckets
//! with key, data and the next. Tables of `Ephemeron` are made alike, of hashes and ephemerons.

use super::arrays::{Arrays, TableOf};
use super::block_form::{BlockForm, NO_TARGET};
use super::facts::Facts;
use super::types::{Found, Part};

/// Blocks that may be the buckets of a hash table.
pub(super) fn wanted(facts: &Facts, found: &Found) -> Vec<u32> {
    let tables = facts.quads.iter().filter(|(block, _)| found.is_free(*block));
    let mut wanted: Vec<u32> = tables.filter_map(|(_, fields)| table(fields, facts)).collect();
    wanted.sort_unstable();
    wanted.dedup();
    wanted
}

/// The parts of a table: itself, the array of its buckets, and a bucket.
const fn parts(of: TableOf) -> [Part; 3] {
    match of {
        TableOf::Hashtbl => [Part::HashTable, Part::Buckets, Part::Bucket],
        TableOf::Ephemeron => [Part::EphemeronTable, Part::EphemeronBuckets, Part::EphemeronBucket],
    }
}

/// Marks hash tables, their arrays and buckets.
pub(super) fn mark(facts: &Facts, arrays: &Arrays, found: &mut Found) {
    for (block, fields) in facts.quads.iter() {
        if let Some(buckets) = table(fields, facts)
            && let Some(array) = arrays.tables.get(&buckets)
        {
            let [table, all, _] = parts(array.of);
            if found.set(block, table) {
                found.set(buckets, all);
            }
        }
    }
    for array in arrays.tables.values() {
        let [_, _, bucket] = parts(array.of);
        let chains = arrays.buckets.get(array.first..array.first + array.chains);
        for first in chains.unwrap_or_default() {
            let mut at = *first;
            while let Some(place) = facts.triples.place(at)
                && found.set(at, bucket)
            {
                at = facts.triples.fields(place)[2];
            }
        }
    }
}

/// The block that a candidate's second field points to, if that alone does and may be an array.
fn table([size, buckets, seed]: [u32; 3], facts: &Facts) -> Option<u32> {
    let is_table =
        size == NO_TARGET && seed == NO_TARGET && facts.form(buckets) == BlockForm::LARGE;
    is_table.then_some(buckets)
}
