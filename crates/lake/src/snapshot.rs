//! Rows of a heap snapshot: types and owners, as the engine answers.

use memtrail_engine::question::{KindHistogram, RootOwners};

use crate::error::Error;
use crate::files::RecordingFiles;
use crate::identity::Hasher;
use crate::pseudonym::Names;
use crate::schema::Table;
use crate::value::{Value, int, maybe};

/// A snapshot of a recording.
#[derive(Clone, Copy, Debug)]
pub struct SnapshotKey {
    /// The recording's id.
    pub recording: i64,
    /// Counts from 1.
    pub number: u64,
}

impl SnapshotKey {
    /// The snapshot's id.
    pub fn id(&self, hasher: &Hasher) -> i64 {
        hasher.of_pair(self.recording, i64::try_from(self.number).unwrap_or(i64::MAX))
    }
}

/// The id of a type or kind of blocks.
pub(crate) fn type_id(names: &Names<'_>, name: &str) -> i64 {
    names.hasher().hash(name.as_bytes())
}

/// Writes the types of a snapshot.
///
/// # Errors
/// If a file cannot be written.
pub fn write_types(
    files: &mut RecordingFiles,
    snapshot: SnapshotKey,
    histogram: &KindHistogram,
    names: Names<'_>,
) -> Result<(), Error> {
    for row in &histogram.rows {
        let name = names.text(&row.kind);
        let values = [
            Value::Int(snapshot.recording),
            Value::Int(snapshot.id(names.hasher())),
            int(snapshot.number),
            Value::Int(type_id(&names, &row.kind)),
            Value::Text(&name),
            int(row.blocks),
            int(row.bytes.0),
            int(row.external.0),
            maybe(row.retained.map(|bytes| bytes.0)),
        ];
        files.row(Table::HeapTypes, &values)?;
    }
    Ok(())
}

/// Writes the owners of a snapshot.
///
/// # Errors
/// If a file cannot be written.
pub fn write_owners(
    files: &mut RecordingFiles,
    snapshot: SnapshotKey,
    owners: &RootOwners,
    names: Names<'_>,
) -> Result<(), Error> {
    for row in &owners.rows {
        let owner = &row.owner;
        let full = owner.name();
        let name = names.text(&full);
        let r#type = owner.r#type.as_deref().map(|name| names.text(name));
        let position = owner.position.as_deref().map(|position| names.position(position));
        let values = [
            Value::Int(snapshot.recording),
            Value::Int(snapshot.id(names.hasher())),
            int(snapshot.number),
            int(owner.owner.0.into()),
            Value::Text(owner.kind),
            Value::Text(&name),
            r#type.as_deref().into(),
            position.as_deref().into(),
            int(owner.owned.0),
            int(owner.owned_external.0),
            int(owner.retained.0),
            int(owner.retained_external.0),
        ];
        files.row(Table::HeapOwners, &values)?;
    }
    Ok(())
}
