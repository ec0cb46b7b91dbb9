//! Entry point for fuzzing: takes any bytes and must come back.
//!
//! Not part of the interface; the fuzz target and the tests call it.

use memtrail_heap::write::{Facts, write};
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
    if let Ok(process) = CoreProcess::open(&core, bytes, files) {
        walk(&process);
    }
}

/// The core file of a program with this executable: what comes behind the headers, too.
pub fn core_of_program(bytes: &[u8], executable: &[u8]) {
    let Ok(core) = CoreFile::parse(bytes) else { return };
    let paths = core.files.iter().map(|file| file.path.clone());
    let files: MappedFiles<'_> = paths.map(|path| (path, executable)).collect();
    if let Ok(mut process) = CoreProcess::open(&core, executable, files) {
        let _ = process.add_bytecode_file(bytes);
        walk(&process);
    }
}

/// All of the heap.
fn walk(process: &CoreProcess<'_>) {
    let view = process.view();
    let list = crate::roots(&view);
    let facts = Facts { counters: crate::counters(&view), ..Facts::default() };
    let source = crate::source(&view, list, crate::regions(&view), facts, true);
    let mut details = crate::RuntimeDetails::new(&view);
    // Nothing is kept, so writing does not fail.
    let _ = write(std::io::sink(), &source, &mut details);
    let _ = (process.limit(), process.parameters(), process.bytecode_file());
}
