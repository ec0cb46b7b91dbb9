#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| memtrail_ocaml_snapshot::fuzz::core_file(bytes));
