//! See [`memtrail_heap::fuzz::read`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| memtrail_heap::fuzz::read(bytes));
