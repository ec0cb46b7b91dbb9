//! Which units are a library's, and which are the program's own.
//!
//! A unit is a library's if the recording's types say that its files are installed (`memtrail types`), or if its name
//! is that of a unit of OCaml's distribution, or of a library that runs the program's code from a loop of its own.
//! All other OCaml code is the program's. Where that has no functions, as it only starts what is installed (`coqc`,
//! `ocamlopt.opt`), installed units are the program's, too.

use std::collections::HashSet;

use memtrail_trace::FunctionId;

use crate::recording::Recording;

/// Units of OCaml's distribution, and libraries whose first name is one of these.
const LIBRARIES: [&str; 25] = [
    "Stdlib",
    "Unix",
    "UnixLabels",
    "Str",
    "Thread",
    "Mutex",
    "Condition",
    "Event",
    "Semaphore",
    "Dynlink",
    "Std_exit",
    "Pervasives",
    "Bigarray",
    "Lwt",
    "Async",
    "Async_kernel",
    "Async_unix",
    "Core",
    "Core_kernel",
    "Base",
    "Eio",
    "Miou",
    "Picos",
    "Luv",
    "Uring",
];
/// The first name of units of libraries, and what follows it: a program's own unit may be called `Lwt_server`.
const FAMILIES: [(&str, &[&str]); 2] = [
    (
        "Lwt_",
        &[
            "bytes",
            "chan",
            "condition",
            "config",
            "daemon",
            "direct",
            "domain",
            "eio",
            "engine",
            "features",
            "fmt",
            "gc",
            "glib",
            "io",
            "list",
            "log",
            "log_core",
            "log_rules",
            "main",
            "mutex",
            "mvar",
            "pool",
            "pqueue",
            "preemptive",
            "process",
            "react",
            "result",
            "seq",
            "sequence",
            "ssl",
            "stream",
            "switch",
            "sys",
            "throttle",
            "timeout",
            "unix",
            "util",
        ],
    ),
    (
        "Eio_",
        &["linux", "luv", "main", "mock", "posix", "runtime_events", "unix", "utils", "windows"],
    ),
];
/// Beginning of names of units of OCaml's distribution.
const PREFIX: &str = "Camlinternal";

/// Units of a recording's installed libraries, as functions' names begin; none if the program is made of them.
pub(crate) fn installed_units(recording: &Recording) -> HashSet<&str> {
    let installed: HashSet<&str> =
        recording.description.library_units.iter().map(String::as_str).collect();
    let (entities, functions) = (&recording.entities, recording.profile().locations.functions());
    let functions = (0..functions.len() as u32).map(FunctionId);
    let names = functions.filter_map(|id| Some(entities.name(entities.of_function(id)?)));
    if is_made_of_installed(names, &installed) { HashSet::new() } else { installed }
}

/// Whether only the initialisation of modules, which has no name of its own, is not of a library.
fn is_made_of_installed<'n>(
    mut names: impl Iterator<Item = &'n str>,
    installed: &HashSet<&str>,
) -> bool {
    !names.any(|name| name.contains('.') && is_own_name(name, |unit| installed.contains(unit)))
}

/// Whether a function is of the program's own, by its name: `Cache.remember`.
pub(crate) fn is_own_name(name: &str, is_installed: impl Fn(&str) -> bool) -> bool {
    if !name.starts_with(|letter: char| letter.is_ascii_uppercase()) {
        return false;
    }
    let first = name.split('.').next().unwrap_or(name);
    let is_of_family = |(start, ends): &(&str, &[&str])| {
        first.strip_prefix(start).is_some_and(|end| ends.contains(&end))
    };
    if LIBRARIES.contains(&first) || first.starts_with(PREFIX) || FAMILIES.iter().any(is_of_family)
    {
        return false;
    }
    // A unit's name may have several parts: `Yojson.Basic`.
    let ends = name.match_indices('.').map(|(end, _)| end).chain([name.len()]);
    !ends.into_iter().any(|end| is_installed(&name[..end]))
}

/// Prefixes of functions of OCaml's runtime, and of the standard libraries of Rust and C++.
const NATIVE_PREFIXES: [&str; 9] = [
    "caml_",
    "std::",
    "core::",
    "alloc::",
    "<std::",
    "<core::",
    "<alloc::",
    "__libc_",
    "__gnu_cxx::",
];

/// True if a function is of a library that everybody has, or of an installed unit, by its name as people write it.
pub fn is_library_name(name: &str, installed: &[String]) -> bool {
    if name.starts_with(|letter: char| letter.is_ascii_uppercase()) {
        return !is_own_name(name, |unit| installed.iter().any(|known| known == unit));
    }
    NATIVE_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Folders of the standard libraries of Rust and C++, in the paths of their files.
const NATIVE_FOLDERS: [&str; 3] = ["/include/c++/", "/rustc/", "/rustlib/src/rust/library/"];

/// True if a file is of a standard library: a template over a type of a function has a name without `std::`.
pub(crate) fn is_library_file(path: &str) -> bool {
    NATIVE_FOLDERS.iter().any(|folder| path.contains(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_libraries_are_known() {
        let installed = ["Yojson.Basic".to_owned()];
        for name in
            ["Stdlib.List.map", "Lwt_main.run", "Yojson.Basic.parse", "caml_main", "std::vec::push"]
        {
            assert!(is_library_name(name, &installed), "{name}");
        }
        for name in ["Shop.serve", "Yojson", "read_body", "shop::serve", "Lwt_server.answer"] {
            assert!(!is_library_name(name, &installed), "{name}");
        }
    }

    #[test]
    fn what_only_starts_installed_units_is_not_all_of_a_program() {
        let installed = HashSet::from(["Coqc", "Stm", "Vernac"]);
        let made = |names: &[&str]| is_made_of_installed(names.iter().copied(), &installed);
        assert!(made(&["Coqc_bin", "Coqc.main", "Stdlib.List.map", "Stm.(fun)", "Vernac.load"]));
        assert!(made(&["Coqc.main", "caml_alloc_string"]));
        assert!(!made(&["Shop.serve", "Stm.(fun)"]));
    }
}
