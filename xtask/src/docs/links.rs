//! Links between pages: the file is there, and has the heading.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::pages::read;
use crate::command::Outcome;

/// Every link that leads nowhere, as `page: target`.
pub(super) fn broken(root: &Path, pages: &[PathBuf]) -> Outcome<Vec<String>> {
    let mut anchors: HashMap<PathBuf, HashSet<String>> = HashMap::new();
    let mut broken = Vec::new();
    for page in pages {
        let text = read(&root.join(page))?;
        for target in targets(&text) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            let folder = page.parent().unwrap_or(Path::new(""));
            let file = root.join(if path.is_empty() { page.clone() } else { folder.join(path) });
            let mut found = file.exists();
            if found && !anchor.is_empty() {
                if !anchors.contains_key(&file) {
                    anchors.insert(file.clone(), headings(&read(&file)?));
                }
                found = anchors[&file].contains(anchor);
            }
            if !found {
                broken.push(format!("{}: {target}", page.display()));
            }
        }
    }
    Ok(broken)
}

/// Lines outside fenced and indented code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence && !line.starts_with("    ")
    })
}

/// Targets of links and pictures.
fn targets(text: &str) -> Vec<&str> {
    let mut targets = Vec::new();
    for line in prose(text) {
        for (at, _) in line.match_indices("](") {
            let in_code = line[..at].matches('`').count() % 2 == 1;
            let target = line[at + 2..].split(')').next().unwrap_or_default();
            if !in_code && !target.is_empty() {
                targets.push(target);
            }
        }
    }
    targets
}

/// The anchors of a page's headings, as GitHub and mdBook name them.
fn headings(text: &str) -> HashSet<String> {
    let mut found: HashSet<String> = HashSet::new();
    for line in prose(text).filter(|line| line.starts_with('#')) {
        let mut heading = line.trim_start_matches('#').trim().to_lowercase();
        heading.retain(|c| c.is_alphanumeric() || " -_".contains(c));
        let anchor = heading.replace(' ', "-");
        let numbered = (1..).map(|n| format!("{anchor}-{n}"));
        let mut names = std::iter::once(anchor.clone()).chain(numbered);
        found.extend(names.find(|name| !found.contains(name)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_and_code_is_not() {
        let text =
            "See [a](b.md#c), ![p](p.png).\n```\n[no](no.md)\n```\n    [no](no.md)\n`[no](no)`\n";
        assert_eq!(targets(text), ["b.md#c", "p.png"]);
    }

    #[test]
    fn anchors_are_named_as_in_the_book() {
        let found = headings("# What `run` says: notes\n## In, out\n## In, out\n```\n# no\n```\n");
        let mut found: Vec<_> = found.into_iter().collect();
        found.sort();
        assert_eq!(found, ["in-out", "in-out-1", "what-run-says-notes"]);
    }

    #[test]
    fn missing_files_and_headings_are_reported() {
        let folder = std::env::temp_dir().join(format!("memtrail-links-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("a.md"), "# A\n[1](#a) [2](#b) [3](b.md) [4](a.md#a)\n")
            .unwrap();
        let found = broken(&folder, &["a.md".into()]).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(found, ["a.md: #b", "a.md: b.md"]);
    }
}
