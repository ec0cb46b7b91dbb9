//! Where the values of global variables are computed, as the program's own code tells.

use std::fmt::Write as _;

use memtrail_leb128::{Cursor, put, put_bytes, unzigzag, zigzag};

use crate::function_lines::Between;
use crate::units::LabelId;

/// Lines of the source file where a variable is defined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariablePlace {
    /// The file, as the compiler was given it.
    pub file: Vec<u8>,
    /// The lines: where its value is computed, or between which it is defined.
    pub lines: Between,
    /// Whether these are the lines of the code that computes its value. Otherwise they are those of the variables that are
    /// computed before and behind it.
    pub is_computed: bool,
}

/// A position in the source, and how it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// File and line, or lines: `cache.ml:12`, `cache.ml:9-14`.
    pub text: String,
    /// `cmt`, of the file that the compiler wrote of the unit, is that of the definition; `computed` is that of the code that
    /// computes the variable's value; `neighbours` are lines between which the variable is defined.
    pub derivation: &'static str,
}

impl VariablePlace {
    /// As it is shown.
    pub fn position(&self) -> Position {
        let mut text = String::from_utf8_lossy(&self.file).into_owned();
        let _ = write!(text, ":{}", self.lines);
        Position { text, derivation: if self.is_computed { "computed" } else { "neighbours" } }
    }
}

/// A variable's flag: the lines are those of the code that computes its value.
const IS_COMPUTED: u8 = 1;

/// The section with all places, which are in the order of labels. It is in columns: so it compresses better.
pub(crate) fn write<'p>(places: impl Iterator<Item = (LabelId, &'p VariablePlace)>) -> Vec<u8> {
    let places: Vec<_> = places.collect();
    let mut files: Vec<&[u8]> = places.iter().map(|(_, place)| place.file.as_slice()).collect();
    files.sort_unstable();
    files.dedup();
    let mut raw = Vec::new();
    put(&mut raw, files.len() as u64);
    for file in &files {
        put_bytes(&mut raw, file);
    }
    put(&mut raw, places.len() as u64);
    let mut last = 0;
    for (label, _) in &places {
        put(&mut raw, u64::from(label.0 - last));
        last = label.0;
    }
    let mut last = 0;
    for (_, place) in &places {
        let file = files.binary_search(&place.file.as_slice()).unwrap_or_default() as i64;
        put(&mut raw, zigzag(file - last));
        last = file;
    }
    raw.extend(places.iter().map(|(_, place)| if place.is_computed { IS_COMPUTED } else { 0 }));
    let mut last = 0;
    for (_, place) in &places {
        let first = i64::from(place.lines.first);
        put(&mut raw, zigzag(first - last));
        last = first;
    }
    for (_, place) in &places {
        let Between { first, last } = place.lines;
        let lines = last.map_or(0, |last| u64::from(last.saturating_sub(first)) + 1);
        put(&mut raw, lines);
    }
    raw
}

/// What such a section has.
pub(crate) fn read(cursor: &mut Cursor<'_>) -> Option<Vec<(LabelId, VariablePlace)>> {
    let count = cursor.count()?;
    let files: Option<Vec<&[u8]>> = (0..count).map(|_| cursor.bytes()).collect();
    let files = files?;
    let count = cursor.count()?;
    let mut label = 0_u32;
    let labels: Option<Vec<LabelId>> = (0..count)
        .map(|_| {
            label = label.checked_add(u32::try_from(cursor.number()?).ok()?)?;
            Some(LabelId(label))
        })
        .collect();
    let files_of = differences(cursor, count)?;
    let flags = cursor.take(count)?;
    let first_lines = differences(cursor, count)?;
    let labels = labels?.into_iter().zip(files_of).zip(flags).zip(first_lines);
    let places = labels.map(|(((label, file), flags), first)| {
        let file = files.get(file as usize)?.to_vec();
        let last = match u32::try_from(cursor.number()?).ok()? {
            0 => None,
            lines => Some(first.checked_add(lines - 1)?),
        };
        let is_computed = flags & IS_COMPUTED != 0;
        Some((label, VariablePlace { file, lines: Between { first, last }, is_computed }))
    });
    places.collect()
}

/// Numbers as differences to the last.
fn differences(cursor: &mut Cursor<'_>, count: usize) -> Option<Vec<u32>> {
    let mut last = 0_i64;
    let each = (0..count).map(|_| {
        last = last.checked_add(unzigzag(cursor.number()?))?;
        u32::try_from(last).ok()
    });
    each.collect()
}
