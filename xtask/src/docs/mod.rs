//! The manual: `docs/`, a book of mdBook's. Its command reference is generated, its links are checked.

mod links;
#[cfg(test)]
mod messages;
mod reference;

use std::fs;
use std::path::{Path, PathBuf};

use crate::command::{Outcome, memtrail, repository};

/// Generated from `--help`.
const REFERENCE: &str = "docs/commands.md";

/// Write the command reference, then check all links.
pub(crate) fn build() -> Outcome {
    let path = repository().join(REFERENCE);
    let text = reference::text(Path::new(&memtrail()?))?;
    fs::write(&path, text).map_err(|e| format!("cannot write {}: {e}", path.display()))?;
    links()
}

/// Compare the command reference with what would be written, and check all links.
pub(crate) fn check() -> Outcome {
    let found = read(&repository().join(REFERENCE))?;
    if found != reference::text(Path::new(&memtrail()?))? {
        return Err(format!("{REFERENCE} is not what --help prints; `cargo xtask docs` writes it"));
    }
    links()
}

fn links() -> Outcome {
    let broken = links::broken(repository(), &pages()?)?;
    if broken.is_empty() { Ok(()) } else { Err(format!("broken links:\n{}", broken.join("\n"))) }
}

/// All pages that users and contributors read, relative to the repository.
fn pages() -> Outcome<Vec<PathBuf>> {
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

fn read(path: &Path) -> Outcome<String> {
    fs::read_to_string(path).map_err(|e| format!("cannot read {}: {e}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_links_lead_somewhere() {
        let pages = pages().unwrap();
        for page in ["README.md", "CONTRIBUTING.md", "docs/heap.md", "docs/guide/ci.md"] {
            assert!(pages.contains(&page.into()), "{page} is checked");
        }
        assert_eq!(links::broken(repository(), &pages).unwrap(), [""; 0]);
    }

    /// mdBook leaves out what its table of contents does not name.
    #[test]
    fn every_chapter_is_in_the_table_of_contents() {
        let contents = read(&repository().join("docs/SUMMARY.md")).unwrap();
        let chapters: Vec<_> = pages()
            .unwrap()
            .into_iter()
            .filter_map(|page| Some(page.strip_prefix("docs").ok()?.to_string_lossy().into_owned()))
            .filter(|chapter| chapter != "SUMMARY.md")
            .collect();
        assert!(chapters.len() > 10, "{chapters:?}");
        for chapter in chapters {
            assert!(contents.contains(&format!("]({chapter})")), "{chapter}");
        }
    }
}
