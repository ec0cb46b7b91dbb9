//! Lines of functions, from the tables that debuggers use (DWARF, section 6.2 of version 5).

use std::ops::Range;

use gimli::LineProgramHeader;
use gimli::{
    AttributeValue, DebugLine, DebugLineOffset, DebugLineStr, DebugStr, EndianSlice, Format,
};

use super::elf::Image;
use crate::memory::Address;

type Bytes<'a> = EndianSlice<'a, gimli::LittleEndian>;

/// Where code is in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// The folder of its file; empty if the file is given as the compiler was.
    pub folder: &'a [u8],
    /// The file.
    pub file: &'a [u8],
    /// The line, from 1.
    pub line: u32,
    /// The column, 0 if unknown.
    pub column: u32,
}

/// Calls `each` with lines of `functions`, which are extents of code in order that do not overlap: the place among
/// them, whether the line is that of the function's first byte, and the line. Of one whose first byte has a line, that
/// is the only one; of others it is called for every line of their code. What cannot be read is left out.
pub fn lines<'a>(
    image: &Image<'a>,
    functions: &[Range<Address>],
    mut each: impl FnMut(usize, bool, Line<'a>),
) {
    let bytes = image.section(b".debug_line");
    let table = DebugLine::new(bytes, gimli::LittleEndian);
    let section = |name| EndianSlice::new(image.section(name), gimli::LittleEndian);
    let texts = Texts {
        lines: DebugLineStr::from(section(b".debug_line_str")),
        all: DebugStr::from(section(b".debug_str")),
    };
    let mut offset = 0;
    while offset < bytes.len() {
        // Without a header, it is unknown where the next one is.
        let Ok(program) = table.program(DebugLineOffset(offset), 8, None, None) else { return };
        let header = program.header();
        let before_length = match header.encoding().format {
            Format::Dwarf32 => 4,
            Format::Dwarf64 => 12,
        };
        let end =
            offset.checked_add(before_length).and_then(|at| at.checked_add(header.unit_length()));
        unit(program, functions, &texts, &mut each);
        let Some(end) = end else { return };
        offset = end;
    }
}

/// The rows of one unit.
fn unit<'a>(
    program: gimli::IncompleteLineProgram<Bytes<'a>>,
    functions: &[Range<Address>],
    texts: &Texts<'a>,
    each: &mut impl FnMut(usize, bool, Line<'a>),
) {
    let mut rows = program.rows();
    // Addresses rise within a sequence, and so does the place among the functions.
    let mut place = None;
    // The function whose first byte has a line.
    let mut complete = None;
    while let Ok(Some((header, row))) = rows.next_row() {
        if row.end_sequence() {
            place = None;
            continue;
        }
        let at = row.address();
        let mut here = place.unwrap_or_else(|| functions.partition_point(|one| one.end <= at));
        while functions.get(here).is_some_and(|one| one.end <= at) {
            here += 1;
        }
        place = Some(here);
        let Some(function) = functions.get(here).filter(|one| one.start <= at) else { continue };
        // Of several rows at its first byte, the first is the function's own.
        if complete != Some(here)
            && let Some(line) = line(header, row, texts)
        {
            let is_first = at == function.start;
            if is_first {
                complete = Some(here);
            }
            each(here, is_first, line);
        }
    }
}

fn line<'a>(
    header: &LineProgramHeader<Bytes<'a>>,
    row: &gimli::LineRow,
    texts: &Texts<'a>,
) -> Option<Line<'a>> {
    let entry = row.file(header)?;
    let folder = match entry.directory_index() {
        // The one that the compiler ran in.
        0 => None,
        _ => entry.directory(header).and_then(|folder| texts.get(folder)),
    };
    Some(Line {
        folder: folder.unwrap_or_default(),
        file: texts.get(entry.path_name())?,
        line: u32::try_from(row.line()?.get()).ok()?,
        column: match row.column() {
            gimli::ColumnType::LeftEdge => 0,
            gimli::ColumnType::Column(column) => u32::try_from(column.get()).unwrap_or(0),
        },
    })
}

/// Sections that texts are in.
struct Texts<'a> {
    lines: DebugLineStr<Bytes<'a>>,
    all: DebugStr<Bytes<'a>>,
}

impl<'a> Texts<'a> {
    fn get(&self, value: AttributeValue<Bytes<'a>>) -> Option<&'a [u8]> {
        let text = match value {
            AttributeValue::String(text) => text,
            AttributeValue::DebugLineStrRef(at) => self.lines.get_str(at).ok()?,
            AttributeValue::DebugStrRef(at) => self.all.get_str(at).ok()?,
            _ => return None,
        };
        Some(text.slice())
    }
}
