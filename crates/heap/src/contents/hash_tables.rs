//! `Hashtbl.t`: a record of the number of entries, buckets, the seed and the initial size, and chains of buckets
//! with key, data and the next.

use super::arrays::Arrays;
use super::facts::Facts;
use super::form::{Form, NO_TARGET};
use super::types::{Found, Part};

/// Blocks that may be the buckets of a hash table.
pub(super) fn wanted(facts: &Facts, found: &Found) -> Vec<u32> {
    let tables = facts.quads.iter().filter(|(block, _)| found.is_free(*block));
    let mut wanted: Vec<u32> = tables.filter_map(|(_, fields)| table(fields, facts)).collect();
    wanted.sort_unstable();
    wanted.dedup();
    wanted
}

/// Marks hash tables, their arrays and buckets.
pub(super) fn mark(facts: &Facts, arrays: &Arrays, found: &mut Found) {
    for (block, fields) in facts.quads.iter() {
        if let Some(buckets) = table(fields, facts)
            && arrays.tables.contains_key(&buckets)
            && found.set(block, Part::HashTable)
        {
            found.set(buckets, Part::Buckets);
        }
    }
    for first in &arrays.buckets {
        let mut at = *first;
        while let Some(place) = facts.triples.place(at)
            && found.set(at, Part::Bucket)
        {
            at = facts.triples.fields(place)[2];
        }
    }
}

/// The block that a candidate's second field points to, if that alone does and may be an array.
fn table([size, buckets, seed]: [u32; 3], facts: &Facts) -> Option<u32> {
    let is_table = size == NO_TARGET && seed == NO_TARGET && facts.form(buckets) == Form::LARGE;
    is_table.then_some(buckets)
}
