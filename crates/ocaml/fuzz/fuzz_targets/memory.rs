//! See [`memtrail_ocaml::fuzz::memory`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| memtrail_ocaml::fuzz::memory(bytes));
