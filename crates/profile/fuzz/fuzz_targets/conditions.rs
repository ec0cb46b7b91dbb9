//! See [`memtrail_profile::fuzz::conditions`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| memtrail_profile::fuzz::conditions(bytes));
