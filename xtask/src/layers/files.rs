//! Files of the repository.

use std::path::{Path, PathBuf};

use crate::command::{Outcome, repository};

/// The text of a file of the repository.
pub(super) fn text(file: &Path) -> Outcome<String> {
    std::fs::read_to_string(repository().join(file))
        .map_err(|e| format!("cannot read {}: {e}", file.display()))
}

/// All files below a folder with one of these extensions, in order.
pub(super) fn below(root: &Path, extensions: &[&str]) -> Outcome<Vec<PathBuf>> {
    let (mut files, mut folders) = (Vec::new(), vec![root.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(repository().join(&folder));
        let entries = entries.map_err(|e| format!("cannot list {}: {e}", folder.display()))?;
        for entry in entries.filter_map(Result::ok) {
            let path = folder.join(entry.file_name());
            let extension = path.extension().and_then(|extension| extension.to_str());
            if entry.path().is_dir() {
                folders.push(path);
            } else if extension.is_some_and(|extension| extensions.contains(&extension)) {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}
