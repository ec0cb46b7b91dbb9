//! Rows of leak suspects, as the engine judges.

use memtrail_engine::leaks::Suspect;

use crate::error::Error;
use crate::files::RecordingFiles;
use crate::pseudonym::Names;
use crate::schema::Table;
use crate::snapshot::SnapshotKey;
use crate::value::{Value, int};

/// Writes suspects: those of a snapshot, or of call sites if a recording has no snapshots.
///
/// # Errors
/// If a file cannot be written.
pub fn write(
    files: &mut RecordingFiles,
    recording: i64,
    snapshot: Option<SnapshotKey>,
    suspects: &[Suspect],
    names: Names<'_>,
) -> Result<(), Error> {
    for suspect in suspects {
        let owner = names.text(&suspect.owner);
        let site = suspect.allocated.first();
        let function = site.map(|site| names.function(&site.function));
        let file = site.and_then(|site| site.file.as_deref()).map(|file| names.file(file));
        let rate = suspect.growth.rate;
        let values = [
            Value::Int(recording),
            snapshot.map(|snapshot| snapshot.id(names.hasher())).into(),
            Value::Text(suspect.rule),
            Value::Text(suspect.kind),
            Value::Text(&owner),
            int((suspect.owned + suspect.owned_external).0),
            Value::Float(suspect.growth.grown),
            Value::Float(rate.value),
            Value::Float(rate.stderr.powi(2)),
            function.as_deref().into(),
            file.as_deref().into(),
            site.and_then(|site| site.line).map_or(Value::Null, |line| int(line.into())),
            // A sentence is made of names.
            names.are_real().then_some(suspect.heading.as_str()).into(),
        ];
        files.row(Table::Leaks, &values)?;
    }
    Ok(())
}
