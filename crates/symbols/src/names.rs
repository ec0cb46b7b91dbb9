//! Names of functions, and which functions are not the program's own: the standard library's, and ours.

use std::path::Path;

/// Ends of names and lists of types at which a symbol is cut to be read, at most.
const MAX_ENDS: usize = 64;

/// A function's name as in its source: that of Rust without the hash that the compiler adds, that of C++ without
/// the types of its parameters.
pub fn demangled(symbol: &str) -> String {
    if let Ok(name) = rustc_demangle::try_demangle(symbol) {
        return format!("{name:#}");
    }
    if !symbol.starts_with("_Z") {
        return symbol.to_owned();
    }
    cpp(symbol).or_else(|| cpp_of_start(symbol)).unwrap_or_else(|| symbol.to_owned())
}

/// A function of C++ without the types of its parameters and of its result.
fn cpp(symbol: &str) -> Option<String> {
    let options = cpp_demangle::DemangleOptions::new().no_params().no_return_type();
    let name = cpp_demangle::Symbol::new(symbol).ok()?.demangle_with_options(&options).ok()?;
    // An empty pack of parameters.
    Some(name.replace(", >", ">"))
}

/// A function of C++ whose types cannot be read, as GCC encodes some conditions. Its name is complete before them.
fn cpp_of_start(symbol: &str) -> Option<String> {
    let ends = symbol.bytes().enumerate().filter(|(_, byte)| *byte == b'E').map(|(at, _)| at + 1);
    let ends: Vec<usize> = ends.take(MAX_ENDS).collect();
    ends.into_iter().rev().find_map(|end| cpp(symbol.get(..end)?))
}

/// Whether a function is the standard library's or this crate's. An allocation is attributed to the innermost
/// function that is not.
pub(crate) fn is_library(function: &str, file: &str) -> bool {
    let name = function.trim_start_matches('<');
    ["/rustc/", "/rust/deps/"].iter().any(|folder| file.starts_with(folder))
        || file.contains("/rustlib/src/rust/library/")
        // A template over a type of a function has a name without `std::`.
        || file.contains("/include/c++/")
        || function.starts_with("__r")
        || [
            "alloc::",
            "core::",
            "std::",
            "hashbrown::",
            "memtrail_sampler::",
            "__gnu_cxx::",
            "operator new",
        ]
        .iter()
        .any(|library| name.starts_with(library))
}

/// Whether this is the function by which Rust code calls the program's allocator. What it calls is the allocator, be it
/// one that wraps another.
pub(crate) fn enters_allocator(function: &str) -> bool {
    let name = function.strip_prefix("__rustc::").unwrap_or(function);
    ["__rust_alloc", "__rust_alloc_zeroed", "__rust_realloc"].contains(&name)
}

/// Whether all code of a file is a standard library's: those of C and C++, and the dynamic linker.
pub(crate) fn is_library_file(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    ["libc.so.", "libc-", "libstdc++.so.", "libc++.so.", "libc++abi.so.", "ld-linux", "libm.so."]
        .iter()
        .any(|library| name.starts_with(library))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_libraries_are_known_by_name_or_file() {
        for (function, file) in [
            ("alloc::vec::Vec<T>::with_capacity", ""),
            ("<alloc::string::String as core::clone::Clone>::clone", ""),
            ("__rust_alloc", ""),
            ("__rustc::__rust_alloc", ""),
            ("f", "/rust/deps/hashbrown-0.16.1/src/raw/mod.rs"),
            ("f", "/rustc/5980/library/core/src/ops/function.rs"),
            ("f", "/home/a/.rustup/toolchains/b/lib/rustlib/src/rust/library/std/src/lib.rs"),
            ("allocate", "/usr/include/c++/12/bits/new_allocator.h"),
        ] {
            assert!(is_library(function, file), "{function} {file}");
        }
        assert!(!is_library("program::main", "src/main.rs"));
        assert!(!is_library("stdx::alloc::f", "src/alloc.rs"));
    }

    #[test]
    fn libraries_of_c_are_known_by_their_files() {
        for file in ["libc.so.6", "libstdc++.so.6.0.30", "ld-linux-x86-64.so.2", "libc-2.31.so"] {
            assert!(is_library_file(&Path::new("/usr/lib").join(file)), "{file}");
        }
        for file in ["libcrypto.so.3", "libcurl.so.4", "prog"] {
            assert!(!is_library_file(&Path::new("/usr/lib").join(file)), "{file}");
        }
    }

    #[test]
    fn names_have_no_hash() {
        assert_eq!(demangled("_ZN4core3fmt5write17h0123456789abcdefE"), "core::fmt::write");
        assert_eq!(demangled("main"), "main");
        assert_eq!(demangled("_ZN5cache5Table3addEPKcm"), "cache::Table::add");
        assert_eq!(demangled("_Znwm"), "operator new");
        assert_eq!(demangled("_Zx"), "_Zx");
    }

    /// `make_shared` of GCC 12 was printed as its symbol, and was not known as the standard library's.
    #[test]
    fn a_name_is_readable_though_the_type_of_its_result_is_not() {
        let made = "_ZSt11make_sharedI4NodeJEESt10shared_ptrINSt9enable_ifIXntsrSt8is_arrayIT_E5valueES4_E4typeEEDpOT0_";
        assert_eq!(demangled(made), "std::make_shared<Node>");
        assert!(is_library(&demangled(made), ""));
    }
}
