//! Copies of snapshots that say less, to be given away.
//!
//! A copy is made of known sections only, and of each only if its checksum is right: what cannot be
//! read may hold anything. It therefore ends where a damaged file begins to be damaged, and is as
//! incomplete as that.

use crate::format::{SECTION_HEADER, kind};
use crate::label::Labels;
use crate::read::sections::{header, section};
use crate::read::{self, Error};
use crate::variable_places::{self, VariablePlace};
use crate::write::Function;
use crate::write::sections::Sections;
use crate::write::tables;
use memtrail_leb128::{Cursor, put};

/// What is left out of a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// The contents of strings.
    pub contents: bool,
    /// The process id, the label that the program gave the snapshot, and all folders: of files and of
    /// the program only the names stay.
    pub identity: bool,
}

/// A copy of a snapshot without what is to be removed.
///
/// # Errors
/// If it is no snapshot.
pub fn redact(bytes: &[u8], removed: Removed) -> Result<Vec<u8>, Error> {
    let start = header(bytes)?;
    let mut at = start.end;
    let mut copy = bytes.get(..at).unwrap_or_default().to_vec();
    while let Ok((section, next)) = section(bytes, at) {
        let whole = bytes.get(at..next).unwrap_or_default();
        let mut buffer = Vec::new();
        match section.kind {
            kind::CONTENTS if removed.contents => {}
            kind::FACTS | kind::LABELS | kind::CODES | kind::PLACES if removed.identity => {
                let content = section.content(&mut buffer)?;
                let Some(table) = anonymous(section.kind, content, start.version) else { break };
                // Memory takes all that is written.
                let _ = Sections::behind(&mut copy).section(section.kind, 0, &table);
            }
            kind::FACTS..=kind::TOTALS | kind::IMMEDIATES..=kind::EDGES => {
                copy.extend_from_slice(whole);
            }
            kind::END => {
                // It is empty.
                if whole.len() == SECTION_HEADER {
                    copy.extend_from_slice(whole);
                }
                break;
            }
            _ => {}
        }
        at = next;
    }
    Ok(copy)
}

/// A table without what tells whose machine it was.
fn anonymous(kind: u16, content: &[u8], version: u16) -> Option<Vec<u8>> {
    let mut cursor = Cursor::new(content);
    match kind {
        kind::FACTS => {
            let mut facts = read::tables::facts(&mut cursor, 0)?;
            facts.pid = 0;
            facts.label.clear();
            facts.program = file_name(&facts.program).to_vec();
            Some(tables::facts(&facts))
        }
        kind::LABELS => Some(tables::labels(&shortened(&read::tables::labels(&mut cursor)?))),
        kind::PLACES => {
            let places = variable_places::read(&mut cursor)?;
            let short = places.into_iter().map(|(label, place)| {
                let file = file_name(&place.file).to_vec();
                (label, VariablePlace { file, ..place })
            });
            let short: Vec<_> = short.collect();
            Some(variable_places::write(short.iter().map(|(label, place)| (*label, place))))
        }
        _ => {
            let functions = read::tables::functions(&mut cursor, version)?;
            let mut table = Vec::new();
            put(&mut table, functions.len() as u64);
            for function in functions {
                tables::function_of(
                    version,
                    &mut table,
                    function.code.0,
                    function.is_partial,
                    &Function {
                        symbol: function.symbol,
                        name: function_name(&function.name).to_vec(),
                        file: file_name(&function.file).to_vec(),
                        line: function.line,
                        column: function.column,
                        is_start: function.is_start,
                        between: function.between,
                        is_of_class: function.is_of_class,
                    },
                );
            }
            Some(table)
        }
    }
}

/// The same labels, with the names of files for their paths.
fn shortened(labels: &Labels) -> Labels {
    let mut short = Labels::new();
    for (_, label) in labels.iter() {
        let (name, file) = (function_name(labels.name(label)), file_name(labels.file(label)));
        short.add(label.parent, label.kind, label.part, name, file, label.number);
    }
    short
}

/// What stands behind the folders of a path.
pub fn file_name(path: &[u8]) -> &[u8] {
    let folders = path.iter().rposition(|&byte| byte == b'/').map_or(0, |at| at + 1);
    path.get(folders..).unwrap_or_default()
}

/// A function's name, or that of something else in a program. Slashes are those of operators, unless
/// it seems to be a path.
pub fn function_name(name: &[u8]) -> &[u8] {
    let is_path = name.windows(2).any(|two| two[0] == b'/' && is_word(two[1]));
    if is_path { file_name(name) } else { name }
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80
}
