//! Reads the file, and what the helper writes. Any bytes give a result or an error with its offset.

use xxhash_rust::xxh3::xxh3_64;

use crate::digest::Digest;
use crate::error::{Cause, Error};
use crate::format::{MAGIC, OLDEST, VERSION, WITH_CONTENTS, kind};
use crate::problem::{Problem, Reason};
use crate::read_table::{Section, content, contents, has_content, slot, table};
use crate::slot::Slot;
use crate::term::{Content, TypeTable};
use crate::unit::{Evidence, Layout, Types, Unit};
use memtrail_leb128::Cursor;

/// A section of the helper's output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HelperMessage {
    /// It reads the files of this unit now.
    Begun(String),
    /// It does not use a file.
    Rejected(Problem),
    /// It has a unit's layout.
    Found { unit: String, layout: Layout },
    /// It has what the slots of a unit's block hold.
    Contents { unit: String, contents: Vec<Content> },
}

impl Types {
    /// Reads a file.
    ///
    /// # Errors
    /// If these are not the bytes of one, with the offset.
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        let rest = bytes.strip_prefix(MAGIC.as_slice()).ok_or(Cause::Magic.at(0))?;
        let version = *rest.first().ok_or(Cause::Truncated.at(MAGIC.len()))?;
        if !(OLDEST..=VERSION).contains(&version) {
            return Err(Cause::Version(version).at(MAGIC.len()));
        }
        let (body, checksum) =
            bytes.split_last_chunk::<8>().ok_or(Cause::Truncated.at(bytes.len()))?;
        if xxh3_64(body) != u64::from_le_bytes(*checksum) {
            return Err(Cause::Checksum.at(body.len()));
        }
        let mut types = Self::default();
        let mut units = 0;
        let mut cursor = Cursor::new(body);
        cursor.take(MAGIC.len() + 1).ok_or(Cause::Truncated.at(0))?;
        let (sections, error) = sections(&mut cursor);
        if let Some(error) = error {
            return Err(error);
        }
        types.table = table(&sections)?;
        for Section { at, kind, payload } in sections {
            let mut payload = Cursor::new(payload);
            match kind {
                kind::PROGRAM => {
                    (types.program, types.compiler, units) =
                        program(&mut payload).ok_or(Cause::Section("program").at(at))?;
                }
                kind::UNIT => {
                    let unit = unit(&mut payload, version)
                        .filter(|unit| has_contents(&types.table, unit))
                        .ok_or(Cause::Section("unit").at(at))?;
                    types.units.push(unit);
                }
                _ => {}
            }
        }
        if types.units.len() as u64 != units {
            return Err(Cause::Section("list of units").at(body.len()));
        }
        Ok(types)
    }
}

/// Whether the table has what a unit's slots speak of.
fn has_contents(table: &TypeTable, unit: &Unit) -> bool {
    let slots = unit.layout.iter().flat_map(|layout| layout.exported.iter().chain(&layout.hidden));
    slots.into_iter().all(|slot| has_content(table, slot.content))
}

/// Reads the helper's output, up to where it ends.
pub(crate) fn helper_output(bytes: &[u8]) -> (Vec<HelperMessage>, Option<Error>) {
    let mut all = Vec::new();
    let (sections, error) = sections(&mut Cursor::new(bytes));
    for Section { at, kind, payload } in sections {
        let mut payload = Cursor::new(payload);
        let message = match kind {
            kind::BEGUN => payload.text().map(HelperMessage::Begun),
            kind::REJECTED => problem(&mut payload).map(HelperMessage::Rejected),
            kind::FOUND => found(&mut payload),
            kind::CONTENTS => held(&mut payload),
            _ => continue,
        };
        match message {
            Some(message) => all.push(message),
            None => return (all, Some(Cause::Section("section of the helper's output").at(at))),
        }
    }
    (all, error)
}

/// Reads the table at the end of the helper's output.
pub(crate) fn helper_table(bytes: &[u8]) -> Result<TypeTable, Error> {
    table(&sections(&mut Cursor::new(bytes)).0)
}

/// All sections, up to the first that is not whole.
fn sections<'a>(cursor: &mut Cursor<'a>) -> (Vec<Section<'a>>, Option<Error>) {
    let mut sections = Vec::new();
    while !cursor.is_at_end() {
        let at = cursor.at();
        let Some((kind, payload)) = cursor.number().zip(cursor.bytes()) else {
            return (sections, Some(Cause::Truncated.at(at)));
        };
        sections.push(Section { at, kind, payload });
    }
    (sections, None)
}

fn program(payload: &mut Cursor<'_>) -> Option<(String, String, u64)> {
    Some((payload.text()?, payload.text()?, payload.number()?))
}

fn found(payload: &mut Cursor<'_>) -> Option<HelperMessage> {
    let unit = payload.text()?;
    digest(payload)??;
    let layout = layout(payload, Evidence::Interface, false)?;
    Some(HelperMessage::Found { unit, layout })
}

fn held(payload: &mut Cursor<'_>) -> Option<HelperMessage> {
    let unit = payload.text()?;
    Some(HelperMessage::Contents { unit, contents: contents(payload)? })
}

fn unit(payload: &mut Cursor<'_>, version: u8) -> Option<Unit> {
    let name = payload.text()?;
    let interface = digest(payload)?;
    let implementation = digest(payload)?;
    let fields = payload.number()?.checked_sub(1);
    let problems = payload.count()?;
    let problems = (0..problems).map(|_| problem(payload)).collect::<Option<_>>()?;
    let layout = match payload.number()? {
        0 => None,
        1 => {
            let evidence = Evidence::from_code(payload.number()?)?;
            Some(layout(payload, evidence, version >= WITH_CONTENTS)?)
        }
        _ => return None,
    };
    Some(Unit { name, interface, implementation, fields, layout, problems })
}

fn problem(payload: &mut Cursor<'_>) -> Option<Problem> {
    let file = payload.text()?;
    let reason = Reason::from_code(payload.number()?)?;
    Some(Problem { file, reason, detail: payload.text()? })
}

/// The outer `None` is damage.
#[expect(clippy::option_option, reason = "a digest may be missing, and it may be damaged")]
fn digest(payload: &mut Cursor<'_>) -> Option<Option<Digest>> {
    match payload.bytes()? {
        [] => Some(None),
        bytes => Digest::from_bytes(bytes).map(Some),
    }
}

fn layout(payload: &mut Cursor<'_>, evidence: Evidence, with_contents: bool) -> Option<Layout> {
    let interface_file = payload.text()?;
    let implementation_file = payload.text()?;
    let files = payload.count()?;
    let files = (0..files).map(|_| payload.text()).collect::<Option<Vec<_>>>()?;
    let method_cache = payload.number()? != 0;
    let exported = slots(payload, &files, with_contents)?;
    let hidden = slots(payload, &files, with_contents)?;
    Some(Layout { interface_file, implementation_file, evidence, method_cache, exported, hidden })
}

fn slots(payload: &mut Cursor<'_>, files: &[String], with_contents: bool) -> Option<Vec<Slot>> {
    let count = payload.count()?;
    let slot = |_| {
        let slot = slot(payload, files)?;
        let content = if with_contents { content(payload)? } else { Content::Unknown };
        Some(Slot { content, ..slot })
    };
    (0..count).map(slot).collect()
}
