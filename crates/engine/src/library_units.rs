//! Which units are a library's, and which are the program's own.
//!
//! A unit is a library's if the recording's types say that its files are installed (`memtrail types`), or if its name
//! is that of a unit of OCaml's distribution, or of a library that runs the program's code from a loop of its own.
//! All other OCaml code is the program's.

/// Units of OCaml's distribution, and libraries whose first name is one of these.
const LIBRARIES: [&str; 29] = [
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
    "Lwt_unix",
    "Lwt_main",
    "Lwt_engine",
    "Async",
    "Async_kernel",
    "Async_unix",
    "Core",
    "Core_kernel",
    "Base",
    "Eio",
    "Eio_main",
    "Eio_linux",
    "Eio_posix",
    "Miou",
    "Picos",
];
/// How names of other units of these begin.
const PREFIXES: [&str; 3] = ["Camlinternal", "Lwt_", "Eio_"];

/// Whether a function is of the program's own, by its name: `Cache.remember`.
pub(crate) fn is_own_name(name: &str, is_installed: impl Fn(&str) -> bool) -> bool {
    if !name.starts_with(|letter: char| letter.is_ascii_uppercase()) {
        return false;
    }
    let first = name.split('.').next().unwrap_or(name);
    if LIBRARIES.contains(&first) || PREFIXES.iter().any(|prefix| first.starts_with(prefix)) {
        return false;
    }
    // A unit's name may have several parts: `Yojson.Basic`.
    let ends = name.match_indices('.').map(|(end, _)| end).chain([name.len()]);
    !ends.into_iter().any(|end| is_installed(&name[..end]))
}
