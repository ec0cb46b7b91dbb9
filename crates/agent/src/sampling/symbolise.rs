//! Names call sites: from the code of a callstack's frame to functions, files and lines.

use std::ffi::{c_int, c_void};

use memtrail_ocaml::debuginfo::{Locations, RawLocation, locations};
use memtrail_ocaml::heap::loaded::{Object, Symbol};
use memtrail_ocaml::memory::ThisProcess;
use memtrail_ocaml::{Memory, names};
use memtrail_trace::{Code, Location, omitted};

use crate::recording::recorder::Target;
use crate::sampling::labels::name_of as label_name;

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
        return with_symbol(&memory, address, use_it);
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
///
/// `dladdr` looks through the symbols in the order of a hash table, which takes milliseconds where
/// there are a hundred thousand; in the order of the file it is a tenth of that.
fn with_symbol<T>(
    memory: &impl Memory,
    address: u64,
    use_it: impl FnOnce(&[Location<'_>]) -> T,
) -> T {
    let mut search = Search { address, found: None };
    // It keeps objects from being unloaded meanwhile.
    // SAFETY: `visit` gets what it expects.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
    let Some((symbol, object)) = search.found else { return use_it(&[]) };
    let (mut symbol_text, mut file_text) = ([0; LONGEST_NAME], [0; LONGEST_NAME]);
    let name = memory.c_string(symbol.name, &mut symbol_text).unwrap_or_default();
    let file = match memory.c_string(object.name, &mut file_text) {
        Some(file) if !file.is_empty() => file,
        // The linker leaves the program's own name out.
        _ => program_name(),
    };
    let mut text = [0; LONGEST_NAME];
    let Some(function) = names::demangle(name, &mut text) else {
        return use_it(&[]);
    };
    use_it(&[Location { function, file, line: 0, start_col: 0, end_col: 0 }])
}

/// As the program was called.
fn program_name() -> &'static [u8] {
    unsafe extern "C" {
        static program_invocation_name: *const libc::c_char;
    }
    // SAFETY: glibc's variable; the C string lives as long as the process.
    unsafe {
        if program_invocation_name.is_null() {
            return b"";
        }
        std::ffi::CStr::from_ptr(program_invocation_name).to_bytes()
    }
}

struct Search {
    address: u64,
    found: Option<(Symbol, Object)>,
}

/// Looks for the symbol in the object that holds the address.
///
/// # Safety
/// As `dl_iterate_phdr` calls it, with a `Search` as data.
unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, data: *mut c_void) -> c_int {
    // SAFETY: glibc passes a valid description of a loaded object, whose tables are mapped.
    let (info, search, headers, memory) = unsafe {
        let (info, search) = (&*info, &mut *data.cast::<Search>());
        let headers = std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum));
        (info, search, headers, ThisProcess::new())
    };
    let start = |header: &libc::Elf64_Phdr| info.dlpi_addr + header.p_vaddr;
    let holds = |header: &libc::Elf64_Phdr| {
        header.p_type == libc::PT_LOAD
            && (start(header)..start(header) + header.p_memsz).contains(&search.address)
    };
    if !headers.iter().any(holds) {
        return 0;
    }
    let dynamic = headers.iter().find(|header| header.p_type == libc::PT_DYNAMIC).map(start);
    search.found = dynamic.and_then(|dynamic| {
        let object = Object::of(&memory, info.dlpi_addr, info.dlpi_name as u64, dynamic)?;
        Some((object.symbol_at(&memory, search.address)?, object))
    });
    1
}
