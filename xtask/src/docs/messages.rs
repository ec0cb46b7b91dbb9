//! Messages that the page on troubleshooting explains are messages of the code.

use std::fs;
use std::path::Path;

use super::pages::read;
use crate::command::{Outcome, repository};

/// All sources of our crates, string literals that are continued on the next line joined.
fn sources() -> Outcome<String> {
    let mut text = String::new();
    let mut folders = vec![repository().join("crates")];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                text.push_str(&read(&path)?);
            }
        }
    }
    Ok(text.split("\\\n").map(str::trim_start).collect())
}

/// The messages in the first column of the tables of a page, without what stands for data.
fn explained(page: &str) -> Vec<&str> {
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
    let cells = rows.filter_map(|row| row.split(" | ").next());
    let messages = cells.flat_map(|cell| cell.split('`').step_by(2));
    let parts = messages.filter_map(|message| message.split('…').max_by_key(|part| part.len()));
    parts.map(|part| part.trim_matches([' ', ',', ':'])).collect()
}

#[test]
fn explained_messages_are_those_of_the_code() {
    let (sources, page) = (sources().unwrap(), read(&manual("troubleshooting.md")).unwrap());
    let explained = explained(&page);
    assert!(explained.len() > 40, "{explained:?}");
    // `cannot` is put before some of them.
    let known = |message: &str| {
        sources.contains(message) || sources.contains(message.trim_start_matches("cannot "))
    };
    let unknown: Vec<_> = explained.into_iter().filter(|message| !known(message)).collect();
    assert_eq!(unknown, [""; 0], "in docs/troubleshooting.md, and in no source");
}

fn manual(page: &str) -> std::path::PathBuf {
    Path::new(repository()).join("docs").join(page)
}
