//! `--memory`: the limit of the memory that an analysis of snapshots may use.

use std::path::Path;

use memtrail_engine::heap::MemoryLimit;
use memtrail_heap::Bytes;

/// The limit that a command was given.
#[derive(clap::Args, Clone, Copy, Debug, Default)]
pub(crate) struct MemoryArgs {
    /// Analyse snapshots within about this much memory, at least a twentieth of the heap's size; the rest is in
    /// files beside the snapshot meanwhile [default: no limit]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    memory: Option<Bytes>,
}

impl MemoryArgs {
    /// The limit for a snapshot, whose folder has what does not fit.
    pub(super) fn limit(self, snapshot: &Path) -> Option<MemoryLimit> {
        let folder = snapshot.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).to_path_buf();
        self.memory.map(|memory| MemoryLimit { memory, folder })
    }
}

fn size(text: &str) -> Result<Bytes, String> {
    memtrail_text::size(text).map(|size| Bytes(size.0))
}
