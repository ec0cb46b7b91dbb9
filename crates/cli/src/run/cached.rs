//! The files that memtrail keeps in its cache, and their removal.

use std::fs;
use std::io;
use std::path::PathBuf;

use memtrail_types::is_kept;

use super::agent::cache_folders;
use super::in_use::in_use;
use super::old_agents::is_agent;

/// A file of the cache.
pub(crate) struct Cached {
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
    /// A process has it loaded, or would load it.
    pub(crate) is_used: bool,
}

/// All agents, and all that searches for types keep, that are in the cache.
pub(crate) fn cached() -> io::Result<Vec<Cached>> {
    let mut found = Vec::new();
    for folder in cache_folders() {
        // Most of them are not there.
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let is_ours = name.to_str().is_some_and(|name| is_agent(name) || is_kept(name));
            let Some(metadata) = entry.metadata().ok().filter(fs::Metadata::is_file) else {
                continue;
            };
            if is_ours {
                found.push((entry.path(), metadata.len()));
            }
        }
    }
    let paths: Vec<PathBuf> = found.iter().map(|(path, _)| path.clone()).collect();
    let used = in_use(&paths)?;
    let files = found.into_iter().zip(used);
    Ok(files.map(|((path, bytes), is_used)| Cached { path, bytes, is_used }).collect())
}
