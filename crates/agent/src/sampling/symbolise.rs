//! Names call sites: from the code of a callstack's frame to functions, files and lines.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use memtrail_ocaml::debuginfo::{Locations, RawLocation, locations};
use memtrail_ocaml::heap::loaded::Object;
use memtrail_ocaml::memory::ThisProcess;
use memtrail_ocaml::symbols::callstack::PROGRAM;
use memtrail_ocaml::{Memory, names};
use memtrail_trace::{Code, Location, PARTIAL_APPLICATION, omitted};

use crate::context::checked_memory::CheckedMemory;
use crate::context::functions::size_of_function;
use crate::context::target::Target;
use crate::os::objects::find_in_objects;
use crate::os::program::invocation_name;
use crate::os::symbol::symbol;
use crate::recording::hooks::UseLocations;
use crate::recording::stream::NO_OCAML_CODE;
use crate::sampling::labels::name_of as label_name;

/// Inlined frames shown of one call site, the innermost ones.
const MAX_INLINED: usize = 24;
/// This and the next are on the stack of a thread of the target, so they are no larger than need be.
const MAX_NAME_LEN: usize = 256;

/// The code of `caml_program`, from which each compilation unit is initialised: every unit has a return address there, none
/// has debug information, and the function has no name of OCaml's. Looking through the symbols for each took a sixth of a
/// second at the start of a program that exports 588,000. Both are 0 where it is not known.
static PROGRAM_CODE: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

/// Finds it. Only while nothing is loaded or unloaded.
pub(crate) fn find_program_code() {
    let start = symbol(PROGRAM) as u64;
    let end = start + size_of_function(PROGRAM) as u64;
    PROGRAM_CODE[0].store(start, Relaxed);
    PROGRAM_CODE[1].store(end, Relaxed);
}

/// Calls `use_it` with the functions at a call site, the caller first; with none where the program
/// was compiled without debug information and exports no symbol for the place.
pub(crate) fn with_locations(target: &Target, code: Code, use_it: UseLocations<'_>) {
    if code == NO_OCAML_CODE {
        let function = b"[no OCaml code]";
        return use_it(&[Location { function, file: b"", line: 0, start_col: 0, end_col: 0 }]);
    }
    if let Some(location) = omitted::location(code) {
        return use_it(&[location]);
    }
    if let Some(function) = label_name(code) {
        return use_it(&[Location { function, file: b"", line: 0, start_col: 0, end_col: 0 }]);
    }
    let memory = target.memory;
    let address = code.0 >> 1;
    let debuginfo = if code.0 & 1 == 1 {
        Some(address)
    } else {
        target
            .frame_table()
            .and_then(|t| t.find(&memory, address))
            .and_then(|d| d.debuginfo(&memory))
    };
    let [start, end] = PROGRAM_CODE.each_ref().map(|at| at.load(Relaxed));
    match debuginfo {
        Some(debuginfo) => with_debuginfo(&memory, target, debuginfo, use_it),
        None if (start..end).contains(&address) => use_it(&[]),
        None => with_symbol(memory, address, use_it),
    }
}

/// The same for a return address of OCaml's, at a moment at which the runtime may be changing its tables.
pub(crate) fn with_unsettled(target: &Target, code: Code, use_it: UseLocations<'_>) {
    let memory = CheckedMemory;
    let found = target.unsettled_frame_table().and_then(|t| t.find(&memory, code.0 >> 1));
    match found.and_then(|descriptor| descriptor.debuginfo(&memory)) {
        Some(debuginfo) => with_debuginfo(&memory, target, debuginfo, use_it),
        None => use_it(&[]),
    }
}

fn with_debuginfo(memory: &impl Memory, target: &Target, debuginfo: u64, use_it: UseLocations<'_>) {
    let raw: Locations<'_, _> = locations(memory, target.runtime.layout.packing, debuginfo);
    let mut found = [RawLocation::NOWHERE; MAX_INLINED];
    let mut length = 0;
    for (slot, location) in found.iter_mut().zip(raw) {
        *slot = location;
        length += 1;
    }
    let mut text = [[0u8; 2 * MAX_NAME_LEN]; MAX_INLINED];
    let mut named =
        [Location { function: b"", file: b"", line: 0, start_col: 0, end_col: 0 }; MAX_INLINED];
    // The runtime gives the innermost first, the trace wants it last.
    for ((location, raw), text) in
        named.iter_mut().zip(found.iter().take(length).rev()).zip(text.iter_mut())
    {
        let (function_text, file_text) = text.split_at_mut(MAX_NAME_LEN);
        let mut linked = [0u8; MAX_NAME_LEN];
        let linked = memory.c_string(raw.function, &mut linked).unwrap_or_default();
        *location = Location {
            function: names::write_name(linked, function_text),
            file: memory.c_string(raw.file, file_text).unwrap_or_default(),
            line: raw.line,
            start_col: raw.start_column,
            end_col: raw.end_column,
        };
    }
    use_it(&named[..length]);
}

/// Code without debug information still has a symbol, whose name tells the function.
///
/// `dladdr` looks through the symbols in the order of a hash table, which takes milliseconds where
/// there are a hundred thousand; in the order of the file it is a tenth of that.
fn with_symbol(memory: ThisProcess, address: u64, use_it: UseLocations<'_>) {
    // No object is unloaded meanwhile.
    let found = find_in_objects(|loaded| {
        if !loaded.contains(address) {
            return None;
        }
        let dynamic = loaded.dynamic()?;
        let object = Object::of(&memory, loaded.bias, loaded.name as u64, dynamic)?;
        Some((object.symbol_at(&memory, address)?, object))
    });
    let Some((symbol, object)) = found else { return use_it(&[]) };
    let (mut symbol_text, mut file_text) = ([0; MAX_NAME_LEN], [0; MAX_NAME_LEN]);
    let name = memory.c_string(symbol.name, &mut symbol_text).unwrap_or_default();
    let file = match memory.c_string(object.name, &mut file_text) {
        Some(file) if !file.is_empty() => file,
        // The linker leaves the program's own name out.
        _ => invocation_name(),
    };
    if names::is_partial_application(name) {
        let function = PARTIAL_APPLICATION;
        return use_it(&[Location { function, file: b"", line: 0, start_col: 0, end_col: 0 }]);
    }
    let mut text = [0; MAX_NAME_LEN];
    let Some(function) = names::demangle(name, &mut text) else {
        return use_it(&[]);
    };
    use_it(&[Location { function, file, line: 0, start_col: 0, end_col: 0 }]);
}
