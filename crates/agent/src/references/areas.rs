//! The memory of the process that can hold references: what the kernel lists, and the data of loaded objects.

use std::ops::Range;

use memtrail_ocaml::Memory;
use memtrail_recording::mappings::Mapping;

use super::system_calls::{Waiting, waiting};
use crate::os::objects::find_in_objects;
use crate::os::{own_memory, private_stack};

/// A part of the address space.
pub(crate) type Area = Range<u64>;

/// The data of the executable or of a library.
#[derive(Clone)]
struct ModuleData {
    /// What is added to addresses in its file.
    bias: u64,
    segments: Vec<Area>,
    /// Whether it is this library.
    is_ours: bool,
}

/// What a copy cannot tell of the process that it is a copy of.
#[derive(Clone)]
pub(crate) struct Original {
    modules: Vec<ModuleData>,
    waiting: Vec<Waiting>,
}

/// To be called in the process itself, right before it is copied.
pub(crate) fn original() -> Original {
    Original { modules: data_of_modules(), waiting: waiting() }
}

/// The data of all loaded objects. The dynamic linker gives them.
fn data_of_modules() -> Vec<ModuleData> {
    let ours = data_of_modules as fn() -> _ as usize as u64;
    let mut all = Vec::new();
    let _ = find_in_objects(|object| {
        let writable =
            |(segment, access): (Area, u32)| (access & libc::PF_W != 0).then_some(segment);
        let segments = object.segments().filter_map(writable).collect();
        let is_ours = object.contains(ours);
        all.push(ModuleData { bias: object.bias, segments, is_ours });
        None::<()>
    });
    all
}

/// The data of a module, as far as it can be written.
pub(crate) struct Data {
    pub(crate) path: String,
    pub(crate) bias: u64,
    pub(crate) areas: Vec<Area>,
}

/// All private memory that can be read and written, sorted into what it is.
#[derive(Default)]
pub(crate) struct Areas {
    pub(crate) data: Vec<Data>,
    /// What is grown by `brk`.
    pub(crate) heap: Vec<Area>,
    /// The main thread's stack.
    pub(crate) stack: Option<Area>,
    /// All other memory without a file.
    pub(crate) anonymous: Vec<Area>,
    /// Memory of files that is no module's data.
    pub(crate) files: Vec<Area>,
    /// Threads that wait in a system call.
    pub(super) waiting: Vec<Waiting>,
}

/// Reads the mappings of this copy. A program in another root folder may have no `/proc`: without the mappings, nothing would
/// refer to any block.
pub(crate) fn areas(memory: &impl Memory, original: Original) -> Option<Areas> {
    let text = std::fs::read("/proc/self/maps").ok().filter(|text| !text.is_empty())?;
    let ours = united(own_memory::all().collect());
    Some(Areas { waiting: original.waiting, ..sorted(memory, &text, original.modules, &ours) })
}

fn sorted(memory: &impl Memory, text: &[u8], modules: Vec<ModuleData>, ours: &[Area]) -> Areas {
    let mut found = Areas::default();
    let mut paths: Vec<(u64, String)> = Vec::new();
    let mut writable: Vec<Area> = Vec::new();
    let (stack_size, _) = private_stack::extent();
    let mut below: Option<Area> = None;
    for line in text.split(|&byte| byte == b'\n') {
        let Some(mapping) = Mapping::parse(line) else { continue };
        let area = mapping.addresses.clone();
        if mapping.is_file() {
            paths.push((area.start, String::from_utf8_lossy(mapping.path).into_owned()));
        }
        let guard_below = below.take().filter(|below| below.end == area.start);
        if mapping.is_inaccessible() {
            below = Some(area);
            continue;
        }
        if !mapping.is_data() || mapping.is_shared() {
            continue;
        }
        writable.push(area.clone());
        match mapping.path {
            b"[heap]" => found.heap.push(area),
            b"[stack]" => found.stack = Some(area),
            b"" => {
                // A private stack may have the guard of the next one above, or other memory.
                let is_large = guard_below.is_some() && area.end - area.start >= stack_size;
                let stack = private_stack::beginning_at(area.start, |at| {
                    memory.u64(at).filter(|_| is_large)
                });
                let start = stack.map_or(area.start, |stack| stack.end);
                found.anonymous.extend(without(&(start..area.end), ours));
            }
            path if path.starts_with(b"/") => found.files.push(area),
            // Memory that the program has named.
            path if path.starts_with(b"[anon") => found.anonymous.push(area),
            _ => {}
        }
    }
    // In a forked child, what `brk` added since is a mapping of its own: no chunk begins with it.
    found.heap = united(found.heap);
    let mut segments: Vec<Area> = Vec::new();
    for ModuleData { bias, segments: own, is_ours } in modules {
        if is_ours {
            segments.extend(own);
            continue;
        }
        let parts = own.iter().flat_map(|segment| common(segment, &writable)).collect();
        let first = own.first().map_or(0, |segment| segment.start);
        let path = paths.iter().rev().find(|(start, _)| *start <= first);
        let path = path.map(|(_, path)| path.clone()).unwrap_or_default();
        segments.extend(own);
        found.data.push(Data { path, bias, areas: parts });
    }
    // The whole last page of a segment is the module's, too.
    let pages =
        segments.iter().map(|segment| segment.start & !0xfff..segment.end.next_multiple_of(0x1000));
    let pages = united(pages.collect());
    for list in [&mut found.anonymous, &mut found.files] {
        *list = list.iter().flat_map(|area| without(area, &pages)).collect();
    }
    found
}

/// What an area has in common with others.
fn common(area: &Area, others: &[Area]) -> Vec<Area> {
    let both = others.iter().map(|other| area.start.max(other.start)..area.end.min(other.end));
    both.filter(|both| both.start < both.end).collect()
}

/// Areas in order, those that overlap or touch as one.
pub(crate) fn united(mut areas: Vec<Area>) -> Vec<Area> {
    areas.sort_unstable_by_key(|area| area.start);
    areas.dedup_by(|area, before| {
        let is_one = area.start <= before.end;
        if is_one {
            before.end = before.end.max(area.end);
        }
        is_one
    });
    areas
}

/// What is left of an area without others, which are in order and do not overlap.
pub(crate) fn without(area: &Area, others: &[Area]) -> Vec<Area> {
    let (mut left, mut start) = (Vec::new(), area.start);
    let first = others.partition_point(|other| other.end <= area.start);
    for other in others.iter().skip(first).take_while(|other| other.start < area.end) {
        if start < other.start {
            left.push(start..other.start);
        }
        start = start.max(other.end);
    }
    if start < area.end {
        left.push(start..area.end);
    }
    left
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "lists of areas")]
mod tests {
    use memtrail_ocaml::memory::Image;

    use super::*;

    const MAPS: &[u8] = b"\
400000-401000 r-xp 00000000 08:02 17      /usr/bin/program
402000-403000 rw-p 00002000 08:02 17      /usr/bin/program
403000-406000 rw-p 00000000 00:00 0
e03000-e24000 rw-p 00000000 00:00 0       [heap]
7f0000000000-7f0000010000 ---p 00000000 00:00 0
7f0000010000-7f0000120000 rw-p 00000000 00:00 0
7f0000200000-7f0000210000 rw-s 00000000 08:02 18      /tmp/shared
7f0000300000-7f0000310000 rw-p 00000000 08:02 19      /tmp/private
7ffe00000000-7ffe00021000 rw-p 00000000 00:00 0       [stack]
";

    #[test]
    fn memory_is_sorted_into_what_it_is() {
        let segments = vec![0x0040_2100..0x0040_4800];
        let memory = Image { base: 0, bytes: &[] };
        let modules = vec![ModuleData { bias: 0, segments, is_ours: false }];
        let found = sorted(&memory, MAPS, modules, &[]);
        assert_eq!(found.data[0].path, "/usr/bin/program");
        assert_eq!(found.data[0].areas, [0x0040_2100..0x0040_3000, 0x0040_3000..0x0040_4800]);
        assert_eq!(found.heap, [0xe0_3000..0xe2_4000]);
        // Not the rest of the module's last page.
        assert_eq!(found.anonymous, [0x0040_5000..0x0040_6000, 0x7f00_0001_0000..0x7f00_0012_0000]);
        assert_eq!(found.files, [0x7f00_0030_0000..0x7f00_0031_0000]);
        assert_eq!(found.stack, Some(0x7ffe_0000_0000..0x7ffe_0002_1000));
    }

    /// Words of the agent's heap, and of its variables, counted as references of the program's.
    #[test]
    fn memory_of_ours_is_left_out() {
        let segments = vec![0x0040_2100..0x0040_4800];
        let memory = Image { base: 0, bytes: &[] };
        let modules = vec![ModuleData { bias: 0, segments, is_ours: true }];
        let ours = [0x7f00_0002_0000..0x7f00_0011_0000, 0x7f00_0030_0000..0x7f00_0031_0000];
        let found = sorted(&memory, MAPS, modules, &ours);
        assert!(found.data.is_empty());
        let others = [
            0x0040_5000..0x0040_6000,
            0x7f00_0001_0000..0x7f00_0002_0000,
            0x7f00_0011_0000..0x7f00_0012_0000,
        ];
        assert_eq!(found.anonymous, others);
    }

    #[test]
    fn what_is_left_is_around_the_others() {
        assert_eq!(
            without(&(10..50), &united(vec![12..20, 0..10, 45..60, 13..14, 18..22])),
            [10..12, 22..45]
        );
        assert_eq!(without(&(10..50), &[0..60]), []);
        assert_eq!(without(&(10..50), &[]), [10..50]);
    }
}
