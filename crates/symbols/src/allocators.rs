//! Functions of allocators by names of their own: jemalloc's `mallocx`, mimalloc's `mi_malloc`. What calls them goes
//! past `malloc`.

use std::collections::BTreeSet;

use memtrail_map::MappedFile;
use object::{Object as _, ObjectSymbol};

use crate::modules::Module;

/// What jemalloc's functions are called in programs that have it in their executable.
const PREFIXES: [&str; 2] = ["_rjem_", "je_"];
/// What all names of mimalloc begin with.
const MIMALLOC: &str = "mi_";

/// How a program calls such functions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnFunctions {
    /// Those of libraries that the program or a library of its imports.
    pub imported: Vec<String>,
    /// One of an allocator that is in the executable.
    pub in_executable: Option<String>,
}

impl OwnFunctions {
    /// Those of a process that had these modules, the executable first. Files that cannot be read have none.
    pub fn of_modules(modules: &[Module]) -> Self {
        let (mut imported, mut defined) = <(BTreeSet<String>, BTreeSet<String>)>::default();
        let mut in_executable = None;
        for (number, module) in modules.iter().enumerate() {
            if !module.is_at(&module.path) {
                continue;
            }
            let Ok(bytes) = MappedFile::open(&module.path) else { continue };
            let Ok(file) = object::File::parse(&*bytes) else { continue };
            for symbol in file.dynamic_symbols() {
                let Some(name) = symbol.name().ok().filter(|name| allocates(name)) else {
                    continue;
                };
                let names = if symbol.is_undefined() { &mut imported } else { &mut defined };
                names.insert(name.to_owned());
            }
            if number == 0 {
                let all = file.symbols().chain(file.dynamic_symbols());
                let own = all.filter(ObjectSymbol::is_definition);
                let mut names = own.filter_map(|symbol| symbol.name().ok());
                in_executable = names.find(|name| is_in_executable(name)).map(ToOwned::to_owned);
            }
        }
        // Programs ask by weak symbols whether an allocator is there.
        Self { imported: imported.intersection(&defined).cloned().collect(), in_executable }
    }
}

/// Whether a function allocates, and is of an allocator's own.
fn allocates(name: &str) -> bool {
    matches!(name, "mallocx" | "rallocx") || is_of_mimalloc(name)
}

fn is_of_mimalloc(name: &str) -> bool {
    let own = name.strip_prefix(MIMALLOC).unwrap_or_default();
    // `mi_heap_new` makes a heap.
    let allocates = |own: &str| {
        ["malloc", "calloc", "zalloc", "realloc"].iter().any(|start| own.starts_with(start))
    };
    own.starts_with("new") || allocates(own.strip_prefix("heap_").unwrap_or(own))
}

fn is_in_executable(name: &str) -> bool {
    let of_jemalloc = |prefix| name.strip_prefix(prefix).is_some_and(|own| own == "malloc");
    name == "mi_malloc" || PREFIXES.into_iter().any(of_jemalloc)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_functions_that_allocate() {
        for name in ["mallocx", "rallocx", "mi_malloc", "mi_heap_malloc_aligned", "mi_new_nothrow"]
        {
            assert!(allocates(name), "{name}");
        }
        for name in ["malloc", "mallctl", "nallocx", "mi_free", "mi_version", "mi_heap_new"] {
            assert!(!allocates(name), "{name}");
        }
        for name in ["mi_malloc", "_rjem_malloc", "je_malloc"] {
            assert!(is_in_executable(name), "{name}");
        }
        assert!(!is_in_executable("malloc") && !is_in_executable("_rjem_mallctl"));
    }
}
