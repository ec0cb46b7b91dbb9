//! See [`memtrail_ocaml::fuzz::bytecode`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| memtrail_ocaml::fuzz::bytecode(bytes));
