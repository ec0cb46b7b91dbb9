//! What stands at a code, file and function names given by their place among the latest ones.

use crate::info::Location;
use crate::units::Code;
use crate::wire::{MTF_LEN, location as bits};
use crate::write::sink::{Sink, until_nul};

/// Bytes that a definition takes at most, its event header included.
pub(super) const MAX_BYTES: usize = 4096;
/// Bytes before the first location: event header, code, count.
const HEAD: usize = 4 + 8 + 1;
/// Bytes of a location's word.
const WORD: usize = 6;
/// Bytes of a name that are kept. Two of them and all else fit a definition.
const MAX_NAME: usize = 1024;

/// What replaces locations that do not fit.
const UNKNOWN: Location<'static> =
    Location { function: b"??", file: b"<unknown>", line: 1, start_col: 1, end_col: 1 };

/// The locations as they are to be written, and an upper bound of their bytes. It must not depend
/// on the stream: all definitions of a code are equal.
pub(super) fn fitting<'a, 'b>(locations: &'a [Location<'b>]) -> (&'a [Location<'b>], usize) {
    let bound = |locations: &[Location<'_>]| {
        let one = |at: &Location<'_>| WORD + name(at.file).len() + name(at.function).len() + 2;
        HEAD + locations.iter().map(one).sum::<usize>()
    };
    let bytes = bound(locations);
    if locations.len() > usize::from(u8::MAX) || bytes > MAX_BYTES {
        (&[UNKNOWN], bound(&[UNKNOWN]))
    } else {
        (locations, bytes)
    }
}

fn name(bytes: &[u8]) -> &[u8] {
    until_nul(bytes, MAX_NAME)
}

/// The latest names, as the stream's readers have them, latest first. Without memory it forgets;
/// readers keep more behind what is left, which does no harm.
#[derive(Debug, Default)]
struct Names {
    entries: Vec<Vec<u8>>,
}

impl Names {
    /// The index of a name, which moves to the front. `None` if it is new.
    fn touch(&mut self, name: &[u8]) -> Option<usize> {
        let index = self.entries.iter().position(|entry| entry == name)?;
        self.entries.get_mut(..=index)?.rotate_right(1);
        Some(index)
    }

    /// Enters a new name at the front; `false` when there is no memory for it.
    fn push(&mut self, name: &[u8]) -> bool {
        let mut entry = if self.entries.len() == MTF_LEN {
            self.entries.pop().unwrap_or_default()
        } else {
            Vec::new()
        };
        entry.clear();
        let remembered = entry.try_reserve(name.len()).is_ok() && self.reserve();
        if remembered {
            entry.extend_from_slice(name);
            self.entries.insert(0, entry);
        } else {
            self.entries.clear();
        }
        remembered
    }

    fn reserve(&mut self) -> bool {
        let more = MTF_LEN - self.entries.len().min(MTF_LEN);
        self.entries.try_reserve(more).is_ok()
    }
}

/// The tables of names of a stream.
#[derive(Debug, Default)]
pub(super) struct NameTables {
    files: Names,
    /// The functions of each file, in the same order.
    functions: Vec<Names>,
}

impl NameTables {
    /// Writes what follows the event header: the code and its locations, which fit.
    pub(super) fn put(&mut self, out: &mut Sink<'_>, code: Code, locations: &[Location<'_>]) {
        out.u64(code.0);
        out.u8(locations.len() as u8);
        for location in locations {
            self.put_one(out, location);
        }
    }

    fn put_one(&mut self, out: &mut Sink<'_>, at: &Location<'_>) {
        let (file, function) = (name(at.file), name(at.function));
        let file_index = self.file(file);
        let function_index = self.functions.first_mut().map_or(MTF_LEN, |functions| {
            functions.touch(function).unwrap_or_else(|| {
                functions.push(function);
                MTF_LEN
            })
        });
        let mut word = clamped(at.line, bits::LINE_BITS);
        let mut shift = bits::LINE_BITS;
        for (value, width) in [
            (clamped(at.start_col, bits::START_BITS), bits::START_BITS),
            (clamped(at.end_col, bits::END_BITS), bits::END_BITS),
            (file_index as u64, bits::INDEX_BITS),
            (function_index as u64, bits::INDEX_BITS),
        ] {
            word |= value << shift;
            shift += width;
        }
        out.u32(word as u32);
        out.u16((word >> 32) as u16);
        if file_index == MTF_LEN {
            out.string(file);
        }
        if function_index == MTF_LEN {
            out.string(function);
        }
    }

    /// The index of a file, which comes to the front of both tables.
    fn file(&mut self, file: &[u8]) -> usize {
        if let Some(index) = self.files.touch(file) {
            if let Some(moved) = self.functions.get_mut(..=index) {
                moved.rotate_right(1);
            }
            return index;
        }
        // Readers give a new file the functions of the one pushed out; to us it has none.
        let mut functions = if self.functions.len() == MTF_LEN {
            self.functions.pop().unwrap_or_default()
        } else {
            Names::default()
        };
        functions.entries.clear();
        if self.functions.try_reserve(MTF_LEN).is_ok() && self.files.push(file) {
            self.functions.insert(0, functions);
        } else {
            self.files.entries.clear();
            self.functions.clear();
        }
        MTF_LEN
    }
}

/// A number that does not fit becomes the greatest that does.
fn clamped(value: u32, width: u32) -> u64 {
    value.min((1 << width) - 1).into()
}
