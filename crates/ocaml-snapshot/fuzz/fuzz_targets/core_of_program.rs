//! A length, an executable of so many bytes, and the core file of its process.
#![no_main]

use memtrail_ocaml_snapshot::fuzz::core_of_program;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((length, rest)) = bytes.split_first_chunk() else { return };
    let length = u32::from_le_bytes(*length) as usize;
    if let Some((executable, core)) = rest.split_at_checked(length) {
        core_of_program(core, executable);
    }
});
