//! Where functions are in the source, by the frame descriptors of the calls and allocations in them:
//! for programs that have no other debug information left.

use crate::debuginfo::{Packing, RawLocation, locations};
use crate::frames::FrameTable;
use crate::memory::{Address, Memory};
use crate::own_name::Origin;

/// A function's code, and what is found of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionCode {
    /// Its first byte.
    pub start: Address,
    /// Behind its last byte.
    pub end: Address,
    /// The first place in the source that a descriptor of its code names, of those of the best origin; its line is no
    /// less than the function's own.
    pub place: Option<RawLocation>,
    /// The last line of the same file that a descriptor of its code names.
    pub last_line: u32,
    /// What the place is of.
    pub origin: Origin,
}

impl FunctionCode {
    /// Code of which nothing is known yet.
    pub const fn new(start: Address, end: Address) -> Self {
        Self { start, end, place: None, last_line: 0, origin: Origin::Other }
    }

    /// Takes note of a place in its code.
    fn add(&mut self, place: RawLocation, origin: impl FnOnce() -> Origin) {
        let first = |place: &RawLocation| (place.line, place.start_column);
        let Some(known) = self.place else {
            let origin = origin();
            if origin != Origin::Other {
                (self.place, self.last_line, self.origin) = (Some(place), place.line, origin);
            }
            return;
        };
        if place.file == known.file {
            self.last_line = self.last_line.max(place.line);
        }
        let is_first = first(&place) < first(&known);
        if !is_first && self.origin == Origin::Function {
            return;
        }
        let origin = if place.function == known.function { self.origin } else { origin() };
        if origin < self.origin || origin == self.origin && is_first {
            if place.file != known.file {
                self.last_line = place.line;
            }
            (self.place, self.origin) = (Some(place), origin);
        }
    }
}

/// Looks for the places of functions, which are in the order of their starts and do not overlap: one
/// pass over all descriptors. `origin` tells what a place in the code of one of them is of.
pub fn locate(
    memory: &impl Memory,
    packing: Packing,
    table: FrameTable,
    functions: &mut [FunctionCode],
    mut origin: impl FnMut(usize, &RawLocation) -> Origin,
) {
    // Descriptors of neighbouring slots are mostly of the same function.
    let mut last = 0;
    table.each(memory, |at, return_address| {
        let contains = |function: &FunctionCode| {
            // A return address is behind a call, which may be the last instruction.
            function.start < return_address && return_address <= function.end
        };
        if !functions.get(last).is_some_and(contains) {
            let after = functions.partition_point(|function| function.start < return_address);
            match after.checked_sub(1) {
                Some(place) if functions.get(place).is_some_and(contains) => last = place,
                _ => return,
            }
        }
        let Some(descriptor) = crate::frames::Descriptor::read(memory, at) else { return };
        for debuginfo in descriptor.debuginfos(memory) {
            // The outermost of the functions inlined into each other is the one that has the code.
            let place = locations(memory, packing, debuginfo).last();
            if let (Some(function), Some(place)) = (functions.get_mut(last), place)
                && place.line > 0
            {
                function.add(place, || origin(last, &place));
            }
        }
    });
}
