//! Entry point for fuzzing: takes any bytes and must come back.
//!
//! Not part of the interface; the fuzz target and the tests call it.

use memtrail_ocaml::Memory as _;

use crate::core_file::{CoreFile, CoreMemory, CoreProcess, MappedFiles, build_id};

/// A core file, whose executable is the core file itself: the bytes are as hostile as those of any file.
pub fn core_file(bytes: &[u8]) {
    let _ = build_id(bytes);
    let Ok(core) = CoreFile::parse(bytes) else { return };
    let mut files = MappedFiles::new();
    for file in &core.files {
        let _ = core.loaded_header(&file.path);
        files.insert(file.path.clone(), bytes);
    }
    let memory = CoreMemory::new(&core, &files);
    for segment in &core.segments {
        let last = segment.start.saturating_add(segment.mapped).saturating_sub(8);
        let _ = (memory.u64(segment.start), memory.u64(last));
    }
    let _ = core.executable();
    let _ = CoreProcess::open(&core, bytes, files);
}
