//! Names of functions, and which functions are not the program's own: the standard library's, and ours.

/// A function's name as in its source, without the hash that the compiler adds.
pub(super) fn demangled(symbol: &str) -> String {
    format!("{:#}", rustc_demangle::demangle(symbol))
}

/// Whether a function is the standard library's or this crate's. An allocation is attributed to the innermost
/// function that is not.
pub(super) fn is_library(function: &str, file: &str) -> bool {
    let name = function.trim_start_matches('<');
    ["/rustc/", "/rust/deps/"].iter().any(|folder| file.starts_with(folder))
        || file.contains("/rustlib/src/rust/library/")
        || function.starts_with("__r")
        || ["alloc::", "core::", "std::", "hashbrown::", "memtrail_sampler::"]
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
        ] {
            assert!(is_library(function, file), "{function} {file}");
        }
        assert!(!is_library("program::main", "src/main.rs"));
        assert!(!is_library("stdx::alloc::f", "src/alloc.rs"));
    }

    #[test]
    fn names_have_no_hash() {
        assert_eq!(demangled("_ZN4core3fmt5write17h0123456789abcdefE"), "core::fmt::write");
        assert_eq!(demangled("main"), "main");
    }
}
