//! Names a snapshot that was looked at.

use std::fmt::{self, Display, Formatter};
use std::path::Path;

use serde::Serialize;

use super::input::number_of;
use crate::snapshot_file;

/// The number and the label of a snapshot.
#[derive(Clone, Serialize)]
pub(super) struct SnapshotName {
    number: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
}

impl SnapshotName {
    pub(super) fn of(file: &Path) -> Self {
        let facts = snapshot_file::facts(file, number_of(file));
        Self { number: facts.number, label: facts.label }
    }
}

impl Display for SnapshotName {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "snapshot {}", self.number)?;
        self.label.as_ref().map_or(Ok(()), |label| write!(f, " {label:?}"))
    }
}
