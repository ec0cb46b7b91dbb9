#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| memtrail_recording::fuzz::waiting(bytes));
