//! Tells which agents and sessions processes use, before old ones are removed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use memchr::memmem;

/// Which of these agents or sessions running processes have mapped or were started with, as far as we may know:
/// those of other users cannot load from this user's folder. They are looked for by name, as the
/// folder may have another path there.
pub(super) fn in_use(paths: &[PathBuf]) -> io::Result<Vec<bool>> {
    let mut in_use = vec![false; paths.len()];
    if paths.is_empty() {
        return Ok(in_use);
    }
    for entry in fs::read_dir("/proc")? {
        let Ok(entry) = entry else { continue };
        if !entry.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit) {
            continue;
        }
        for file in ["maps", "environ"] {
            let Ok(text) = fs::read(entry.path().join(file)) else { continue };
            for (path, in_use) in paths.iter().zip(&mut in_use) {
                *in_use |= names(&text, path);
            }
        }
    }
    Ok(in_use)
}

/// Whether a process's mappings, or its environment, have the name of a file or folder.
pub(super) fn names(text: &[u8], path: &Path) -> bool {
    path.file_name().is_none_or(|name| memmem::find(text, name.as_encoded_bytes()).is_some())
}
