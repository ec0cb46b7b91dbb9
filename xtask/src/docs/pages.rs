//! The pages that users and contributors read.

use std::fs;
use std::path::{Path, PathBuf};

use super::reference::REFERENCE;
use crate::command::{Outcome, repository};

/// Pages for users whose code blocks are checked.
pub(super) fn pages_with_examples() -> Outcome<Vec<PathBuf>> {
    let is_for_users = |page: &PathBuf| {
        page != Path::new(REFERENCE)
            && (page == Path::new("README.md")
                || page.starts_with("docs")
                || page.starts_with("examples"))
    };
    Ok(pages()?.into_iter().filter(is_for_users).collect())
}

/// All pages that users and contributors read, relative to the repository.
pub(super) fn pages() -> Outcome<Vec<PathBuf>> {
    let mut pages = Vec::new();
    let mut folders = vec![PathBuf::from("docs"), PathBuf::from("examples")];
    let mut entries = list(Path::new(""))?;
    while let Some(folder) = folders.pop() {
        entries.extend(list(&folder)?);
        folders.extend(entries.iter().filter(|e| e.starts_with(&folder) && is_folder(e)).cloned());
        pages.extend(entries.drain(..).filter(|e| e.extension().is_some_and(|e| e == "md")));
    }
    pages.sort();
    Ok(pages)
}

fn list(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let entries = fs::read_dir(repository().join(folder));
    let entries = entries.map_err(|e| format!("{}: {e}", folder.display()))?;
    Ok(entries.filter_map(Result::ok).map(|entry| folder.join(entry.file_name())).collect())
}

fn is_folder(path: &Path) -> bool {
    repository().join(path).is_dir() && path.file_name().is_some_and(|name| name != "_out")
}

/// The text of a file.
pub(super) fn read(path: &Path) -> Outcome<String> {
    fs::read_to_string(path).map_err(|e| format!("cannot read {}: {e}", path.display()))
}
