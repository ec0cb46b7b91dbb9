//! Entry points for fuzzing: each takes any bytes and must come back.
//!
//! Not part of the interface; the fuzz targets and the tests call them.

use crate::debuginfo::{Packing, RawLocation, locations, outermost_first};
use crate::entry_code::{Entry, definitions};
use crate::frames::{Descriptor, FrameTable, UnitTable};
use crate::functions::{FunctionCode, locate};
use crate::memory::{Address, Image, Memory};
use crate::memprof::{Sample, Slot};
use crate::own_name::{Origin, own_name};
use crate::version::Version;

/// Most steps taken through a structure whose length the input says.
const MAX_STEPS: usize = 1000;

/// Where the input is taken to stand.
const BASE: Address = 0x40_0000;

/// Everything that decodes memory, at the place that the first bytes give.
pub fn memory(input: &[u8]) {
    let Some((at, bytes)) = input.split_first_chunk::<2>() else { return };
    let at = BASE + u64::from(u16::from_le_bytes(*at));
    let image = Image { base: BASE, bytes };
    frames(&image, at);
    if let Some(sample) = Sample::read(&image, at) {
        let _ = sample.slots(&image, 1 << 20);
    }
    let _ = Slot::read(at);
    for version in Version::ALL {
        for machine in [crate::layout::Machine::Amd64, crate::layout::Machine::Arm64] {
            stack(&image, &crate::Layout::of(version, machine), at);
        }
    }
}

/// Code that gives variables their values, of a unit whose data are the input.
pub fn entry_code(input: &[u8]) {
    let memory = Image { base: BASE, bytes: input };
    let end = BASE + input.len() as u64;
    let entry = Entry {
        symbol: b"camlShop__entry",
        code: input,
        start: BASE,
        data: BASE..end,
        initialize: Some(BASE),
    };
    let Some(table) = FrameTable::given(BASE, 3) else { return };
    let found = definitions(&memory, Packing::WithEnd, table, &entry, |at| memory.u64(at));
    assert!(found.iter().all(|(slot, _)| entry.data.contains(slot)));
}

/// Files of bytecode, sections and marshalled values.
pub fn bytecode(input: &[u8]) {
    use crate::bytecode::{Events, global_names, sections};
    for name in [sections::CODE, sections::SYMBOLS, sections::DEBUG] {
        let content = sections::section(input, name).unwrap_or(input);
        let _ = global_names::of_section(content);
        let _ = global_names::of_sections(content);
        let Ok(events) = Events::read(content) else { continue };
        for position in [0, 4, 8, u64::MAX] {
            for event in [events.from(position), events.of_return(position)].into_iter().flatten() {
                let _ = (event.module(), event.function(), event.place(), event.variables());
            }
        }
    }
}

/// Frame tables and debug information.
pub(crate) fn frames(memory: &impl Memory, at: Address) {
    for packing in [Packing::OneLine, Packing::WithEnd] {
        for descriptor in UnitTable::read(memory, at).into_iter().flatten().take(MAX_STEPS) {
            let _ = descriptor.allocation_wosize(memory, 0);
            for debuginfo in descriptor.debuginfos(memory) {
                locations(memory, packing, debuginfo).for_each(drop);
            }
        }
        let mut found = [RawLocation::NOWHERE; 8];
        outermost_first(memory, packing, at, &mut found);
    }
    for table in [FrameTable::multicore(memory, at), FrameTable::single(memory, at, at + 8)] {
        let _ = table.and_then(|table| table.find(memory, at));
        if let Some(table) = table.filter(|table| table.extent().1 <= MAX_STEPS as u64) {
            let mut functions = [FunctionCode::new(at, at.saturating_add(64))];
            locate(memory, Packing::OneLine, table, &mut functions, |_, _| Origin::Unit);
        }
    }
}

fn stack(memory: &impl Memory, layout: &crate::Layout, state: Address) {
    use crate::stack::{CutParents, Position, Step, first_frame};
    let _ =
        crate::calibrate::calibrate(memory, layout, state, None, crate::calibrate::Phase::Start);
    let distance = first_frame(memory, layout, state, |_| true).unwrap_or(8);
    let mut position = Position::innermost(memory, layout, distance, state);
    for _ in 0..MAX_STEPS {
        let next = position.and_then(|position| {
            let descriptor = Descriptor::read(memory, position.return_address)?;
            let cut = || CutParents::new(memory, layout, state)?.next();
            position.step(memory, layout, distance, &descriptor, cut)
        });
        match next {
            Some(Step::Frame(next) | Step::Chunk(next)) => position = Some(next),
            Some(Step::End) | None => break,
        }
    }
}

/// Names of both kinds.
pub fn names(input: &[u8]) {
    for room in [0, 1, 64] {
        let mut out = vec![0; room];
        let _ = crate::names::write_name(input, &mut out);
        let _ = crate::names::demangle(input, &mut out);
        let _ = crate::names::function(input, true, &mut out);
        let _ = crate::names::is_partial_application(input);
        let _ = crate::names::anonymous_place(input, &mut out);
        let (symbol, name) = input.split_at(input.len() / 2);
        assert!(name.starts_with(own_name(symbol, name).1));
    }
}

/// Files of executables: symbols, sections and lines.
#[cfg(feature = "image")]
pub fn image(input: &[u8]) {
    let Some(image) = crate::image::Image::parse(input) else { return };
    let _ = image.first_address();
    let _ = image.section_at(BASE);
    image.private_variables().for_each(drop);
    let functions = [0..BASE, BASE..2 * BASE];
    crate::image::lines(&image, &functions, |place, _, _| assert!(place < functions.len()));
}

/// Executables.
#[cfg(feature = "inspect")]
pub fn executable(input: &[u8]) {
    let _ = crate::inspect::inspect(input);
}
