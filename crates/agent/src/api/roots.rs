//! Roots for the program's own use: the fields of modules, and the values on the running stack.

use std::ffi::{CStr, c_void};

use memtrail_ocaml::block::{self, Value};
use memtrail_ocaml::debuginfo::locations;
use memtrail_ocaml::heap::frames::{Frame, Met, Top, Walker};
use memtrail_ocaml::heap::globals::globals as all_globals;
use memtrail_ocaml::symbols::heap as symbols;
use memtrail_ocaml::{Memory as _, names, stack};

use crate::context::target::Target;
use crate::os::heap::may_fail;
use crate::os::symbol::symbol;

const MAX_NAME_LEN: usize = 256;

/// Where a frame is in the source.
#[derive(Debug)]
pub struct Place<'a> {
    /// The function's name, `?` if it is not known.
    pub function: &'a [u8],
    /// The source file; empty if it is not known.
    pub file: &'a [u8],
    /// Line in that file; 0 if it is not known.
    pub line: u32,
}

/// Gives every block of fields of every unit that the program was linked with: name, address, fields.
pub(super) fn globals(target: &Target, mut each: impl FnMut(&[u8], Value, u64)) {
    let tables = symbol(symbols::GLOBALS);
    if tables.is_null() {
        return;
    }
    let memory = target.memory;
    for global in all_globals(&memory, tables as u64) {
        let header = global.block.checked_sub(8).and_then(|at| memory.u64(at));
        // Others are no records of values.
        if header.is_none_or(|header| block::tag_of(header) != 0) {
            continue;
        }
        let mut text = [0; MAX_NAME_LEN];
        let name = linked_name(global.block).and_then(|name| names::demangle(name, &mut text));
        each(name.unwrap_or(b"?"), global.block, global.fields);
    }
}

/// The symbol that an address belongs to.
fn linked_name(address: u64) -> Option<&'static [u8]> {
    // SAFETY: an all-zero Dl_info is valid and filled on success; its strings live as long as the
    // object, which OCaml never unloads.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(address as *const c_void, &raw mut info) == 0 || info.dli_sname.is_null() {
            return None;
        }
        Some(CStr::from_ptr(info.dli_sname).to_bytes())
    }
}

/// Walks the running stack from the innermost frame outwards.
pub(super) fn walk(target: &Target, mut each: impl FnMut(&Frame)) {
    let memory = target.memory;
    let layout = &target.runtime.layout;
    let state = target.runtime.state();
    let Some(table) = target.frame_table() else { return };
    let has = |address| table.find(&memory, address).is_some();
    let Some(first_frame) = stack::first_frame(&memory, layout, state, has) else { return };
    let Some(top) = Top::of_state(&memory, layout, state) else { return };
    let walker = Walker { memory: &memory, layout, table, first_frame };
    // Where the walk ends early, the rest is not given.
    let _ = walker.walk(top, |met| {
        if let Met::Frame(frame) = met {
            each(&frame);
        }
    });
}

/// Gives every frame of the running stack, the innermost first, with the addresses of its values.
pub(super) fn frames(target: &Target, mut each: impl FnMut(&Place<'_>, &[u64])) {
    let memory = target.memory;
    let mut slots = Vec::new();
    walk(target, |frame| {
        slots.clear();
        for slot in frame.slots(&memory) {
            if may_fail(|| slots.try_reserve(1)).is_ok() {
                slots.push(slot);
            }
        }
        let packing = target.runtime.layout.packing;
        // The outermost of the functions inlined into each other is the one that has the frame.
        let place = frame
            .descriptor
            .debuginfo(&memory)
            .and_then(|at| locations(&memory, packing, at).last());
        let (mut linked, mut file, mut text) =
            ([0; MAX_NAME_LEN], [0; MAX_NAME_LEN], [0; MAX_NAME_LEN]);
        let place = match place {
            Some(place) => Place {
                function: names::write_name(
                    memory.c_string(place.function, &mut linked).unwrap_or_default(),
                    &mut text,
                ),
                file: memory.c_string(place.file, &mut file).unwrap_or_default(),
                line: place.line,
            },
            None => Place {
                function: linked_name(frame.descriptor.return_address)
                    .and_then(|name| names::demangle(name, &mut text))
                    .unwrap_or(b"?"),
                file: b"",
                line: 0,
            },
        };
        each(&place, &slots);
    });
}
