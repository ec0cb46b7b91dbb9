//! Names the variables that refer to blocks, from the symbol tables of the program and its libraries.

use std::collections::HashMap;
use std::path::Path;

use memtrail_references::{Place, References, Variable};
use memtrail_symbols::{Variable as Found, Variables};

/// Names variables that have no names yet, as far as files are there. Whether one was named.
pub(crate) fn name(references: &mut References) -> bool {
    let References { modules, roots, .. } = references;
    let mut known: HashMap<u32, Option<Variables>> = HashMap::new();
    let mut is_any = false;
    for root in roots {
        let Place::Data { module, address, variable: variable @ None } = &mut root.place else {
            continue;
        };
        let of_file = || Variables::of_file(Path::new(modules.get(module.0 as usize)?));
        let variables = known.entry(module.0).or_insert_with(of_file);
        let found = variables.as_ref().and_then(|variables| variables.at(*address));
        *variable = found.map(|Found { name, position }| Variable { name, position });
        is_any |= variable.is_some();
    }
    is_any
}
