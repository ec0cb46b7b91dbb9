//! The manual: `docs/`, a book of mdBook's. Its command reference and the outputs in its pages are generated, its links
//! are checked.

mod blocks;
mod links;
#[cfg(test)]
mod messages;
#[cfg(test)]
mod options;
mod recordings;
mod reference;
mod replay;

use std::fs;
use std::path::{Path, PathBuf};

use crate::command::{Outcome, memtrail, repository};

/// Generated from `--help`.
const REFERENCE: &str = "docs/commands.md";

/// Write the command reference and the outputs in the pages, then check all links.
pub(crate) fn build() -> Outcome {
    for (page, text) in generated()? {
        let path = repository().join(&page);
        fs::write(&path, text).map_err(|e| format!("cannot write {}: {e}", path.display()))?;
    }
    links()
}

/// Compare generated pages and outputs with what would be written, and check all links.
pub(crate) fn check() -> Outcome {
    for (page, text) in generated()? {
        let found = read(&repository().join(&page))?;
        if let Some((line, (found, new))) =
            (1..).zip(found.lines().zip(text.lines())).find(|(_, (found, new))| found != new)
        {
            return Err(format!(
                "{}:{line} is not what memtrail prints; `cargo xtask docs` writes it\n  \
                 in the page:  {found}\n  now:          {new}",
                page.display()
            ));
        }
        if found != text {
            return Err(format!("{} is too long or too short", page.display()));
        }
    }
    links()
}

/// Pages with generated parts, and their texts.
fn generated() -> Outcome<Vec<(PathBuf, String)>> {
    let program = std::env::var("MEMTRAIL").or_else(|_| memtrail())?;
    let program = Path::new(&program);
    let mut generated = vec![(REFERENCE.into(), reference::text(program)?)];
    let replay = replay::Replay::new(program)?;
    for page in pages_with_examples()? {
        let text = replay.page(&read(&repository().join(&page))?);
        let text = text.map_err(|e| format!("{}:{e}", page.display()))?;
        generated.push((page, text));
    }
    Ok(generated)
}

/// Pages for users whose code blocks are checked.
fn pages_with_examples() -> Outcome<Vec<PathBuf>> {
    let is_for_users = |page: &PathBuf| {
        page != Path::new(REFERENCE)
            && (page == Path::new("README.md")
                || page.starts_with("docs")
                || page.starts_with("examples"))
    };
    Ok(pages()?.into_iter().filter(is_for_users).collect())
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

    #[test]
    fn every_code_block_is_run_or_has_a_reason() {
        let mut run = 0;
        for page in pages_with_examples().unwrap() {
            let text = read(&repository().join(&page)).unwrap();
            let blocks = blocks::read(&text);
            let blocks = blocks.unwrap_or_else(|wrong| panic!("{}:{wrong}", page.display()));
            run += blocks.iter().filter(|block| block.check != blocks::Check::NotRun).count();
        }
        assert!(run > 10, "{run}");
    }

    #[test]
    fn commands_and_options_in_pages_exist() {
        let reference = read(&repository().join(REFERENCE)).unwrap();
        let options = options::Options::read(&reference);
        for page in pages_with_examples().unwrap() {
            let text = read(&repository().join(&page)).unwrap();
            for block in blocks::read(&text).unwrap() {
                let unknown: Vec<_> =
                    block.lines.iter().flat_map(|line| options.unknown(line)).collect();
                assert_eq!(unknown, [""; 0], "{}:{}", page.display(), block.line);
            }
        }
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
