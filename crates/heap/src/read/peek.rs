//! What a snapshot says of itself, without going through its blocks.

use super::error::{Cause, Error};
use super::sections::{self, header, peek_section};
use super::tables;
use crate::facts::Facts;
use crate::format::kind;
use memtrail_leb128::Cursor;

/// What the headers of a snapshot's sections tell. Blocks are not checked: that is done when the
/// snapshot is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peek {
    /// The process and the moment.
    pub facts: Facts,
    /// How many blocks there are.
    pub blocks: u64,
    /// Whether strings' contents were written.
    pub has_contents: bool,
    /// Whether the file has its end.
    pub is_whole: bool,
    /// As [`Snapshot::checksum`](super::Snapshot::checksum), if nothing is damaged.
    pub checksum: u64,
}

impl Peek {
    /// Looks at a snapshot.
    ///
    /// # Errors
    /// If it is no snapshot, of a later version, or does not say what it is of.
    pub fn new(bytes: &[u8]) -> Result<Self, Error> {
        let start = header(bytes)?;
        let mut pause = start.pause;
        let mut facts = None;
        let mut peek = Self {
            facts: Facts::default(),
            blocks: 0,
            has_contents: false,
            is_whole: false,
            checksum: 0,
        };
        let mut at = start.end;
        while let Ok((section, next)) = peek_section(bytes, at) {
            peek.checksum = peek.checksum.rotate_left(7).wrapping_add(section.checksum);
            match section.kind {
                kind::FACTS => {
                    let (section, _) = sections::section(bytes, at)?;
                    let mut buffer = Vec::new();
                    let mut cursor = Cursor::new(section.content(&mut buffer)?);
                    facts = tables::facts(&mut cursor, 0);
                }
                kind::TOTALS => {
                    let mut buffer = Vec::new();
                    let totals = sections::section(bytes, at).ok().and_then(|(section, _)| {
                        tables::totals(&mut Cursor::new(section.content(&mut buffer).ok()?))
                    });
                    pause = totals.and_then(|(_, pause)| pause).unwrap_or(pause);
                }
                kind::BLOCKS => peek.blocks += u64::from(section.count),
                kind::CONTENTS => peek.has_contents = true,
                kind::END => peek.is_whole = true,
                _ => {}
            }
            at = next;
            if peek.is_whole {
                break;
            }
        }
        let facts = facts.ok_or(Cause::Missing("facts").at(at as u64))?;
        peek.facts = Facts { pause, ..facts };
        Ok(peek)
    }
}
