//! Names call sites: from the code of a callstack's frame to functions, files and lines.

use memtrail_ocaml::debuginfo::{Locations, RawLocation, locations};
use memtrail_ocaml::{Memory as _, names};
use memtrail_trace::{Code, Location, omitted};

use crate::program::label_name;
use crate::recorder::Target;

/// Inlined frames shown of one call site, the innermost ones.
const MOST: usize = 24;
/// This and the next are on the stack of a thread of the target, so they are no larger than need be.
const LONGEST_NAME: usize = 256;

/// Stands for the callstack of what the runtime allocates while no OCaml code runs: memtrace's tools
/// cannot take an empty one.
pub(crate) const NO_OCAML_CODE: Code = Code(2);

/// Calls `use_it` with the functions at a call site, the caller first; with none where the program
/// was compiled without debug information and exports no symbol for the place.
pub(crate) fn with_locations<T>(
    target: &Target,
    code: Code,
    use_it: impl FnOnce(&[Location<'_>]) -> T,
) -> T {
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
    let (runtime, capturer) = (&target.runtime, &target.capturer);
    let memory = capturer.memory();
    let address = code.0 >> 1;
    let debuginfo = if code.0 & 1 == 1 {
        Some(address)
    } else {
        capturer.table().and_then(|t| t.find(&memory, address)).and_then(|d| d.debuginfo(&memory))
    };
    let Some(debuginfo) = debuginfo else {
        return with_symbol(address, use_it);
    };
    let raw: Locations<'_, _> = locations(&memory, runtime.layout.packing, debuginfo);
    let mut found = [RawLocation::NOWHERE; MOST];
    let mut length = 0;
    for (slot, location) in found.iter_mut().zip(raw) {
        *slot = location;
        length += 1;
    }
    let mut text = [[0u8; 2 * LONGEST_NAME]; MOST];
    let mut named =
        [Location { function: b"", file: b"", line: 0, start_col: 0, end_col: 0 }; MOST];
    // The runtime gives the innermost first, the trace wants it last.
    for ((location, raw), text) in
        named.iter_mut().zip(found.iter().take(length).rev()).zip(text.iter_mut())
    {
        let (function_text, file_text) = text.split_at_mut(LONGEST_NAME);
        let mut linked = [0u8; LONGEST_NAME];
        let linked = memory.c_string(raw.function, &mut linked).unwrap_or_default();
        *location = Location {
            function: names::write_name(linked, function_text),
            file: memory.c_string(raw.file, file_text).unwrap_or_default(),
            line: raw.line,
            start_col: raw.start_column,
            end_col: raw.end_column,
        };
    }
    use_it(&named[..length])
}

/// Code without debug information still has a symbol, whose name tells the function.
fn with_symbol<T>(address: u64, use_it: impl FnOnce(&[Location<'_>]) -> T) -> T {
    // SAFETY: an all-zero Dl_info is valid and filled on success; its strings live as long as the
    // object, which OCaml never unloads.
    let (symbol, object) = unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(address as *const libc::c_void, &raw mut info) == 0
            || info.dli_sname.is_null()
            || info.dli_fname.is_null()
        {
            return use_it(&[]);
        }
        (std::ffi::CStr::from_ptr(info.dli_sname), std::ffi::CStr::from_ptr(info.dli_fname))
    };
    let mut text = [0; LONGEST_NAME];
    let Some(function) = names::demangle(symbol.to_bytes(), &mut text) else {
        return use_it(&[]);
    };
    use_it(&[Location { function, file: object.to_bytes(), line: 0, start_col: 0, end_col: 0 }])
}
