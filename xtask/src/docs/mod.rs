//! The manual: `docs/`, a book of mdBook's. Its command reference and the outputs in its pages are generated, its links
//! are checked.

mod blocks;
mod links;
#[cfg(test)]
mod messages;
#[cfg(test)]
mod options;
mod pages;
mod recordings;
mod reference;
mod replay;

use std::fs;
use std::path::{Path, PathBuf};

use self::pages::{pages, pages_with_examples, read};
use self::reference::REFERENCE;
use crate::command::{Outcome, memtrail, repository};

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

fn links() -> Outcome {
    let broken = links::broken(repository(), &pages()?)?;
    if broken.is_empty() { Ok(()) } else { Err(format!("broken links:\n{}", broken.join("\n"))) }
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
