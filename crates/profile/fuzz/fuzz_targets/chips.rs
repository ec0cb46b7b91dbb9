//! See [`memtrail_profile::fuzz::chips`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| memtrail_profile::fuzz::chips(bytes));
