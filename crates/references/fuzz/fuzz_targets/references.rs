#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| memtrail_references::fuzz::references(bytes));
