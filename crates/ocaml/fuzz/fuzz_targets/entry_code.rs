//! See [`memtrail_ocaml::fuzz::entry_code`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| memtrail_ocaml::fuzz::entry_code(bytes));
