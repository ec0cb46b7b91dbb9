//! See [`memtrail_heap::fuzz::block_types`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| memtrail_heap::fuzz::block_types(bytes));
