//! See [`memtrail_trace::fuzz::follow`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| memtrail_trace::fuzz::follow(bytes));
