//! Words of our own for things that have a standard term are in no identifier, help text or document.

mod identifiers;
mod terms;
mod texts;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::command::repository;

/// Files with this extension below a folder, relative to the repository.
fn files(folder: &str, extensions: &[&str]) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![PathBuf::from(folder)]);
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(repository().join(&folder)).expect("a folder of the repository");
        for entry in entries.map(|entry| entry.expect("an entry")) {
            let path = folder.join(entry.file_name());
            let generated = ["target", "node_modules", "assets", "_out", "generated", "dist"];
            if entry.path().is_dir() {
                if !generated.iter().any(|name| path.ends_with(name)) {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|e| extensions.iter().any(|wanted| e == *wanted))
            {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

fn read(file: &Path) -> String {
    fs::read_to_string(repository().join(file))
        .unwrap_or_else(|e| panic!("{}: {e}", file.display()))
}

/// Of the crates, of the page and of xtask, the table of terms itself aside.
fn sources() -> Vec<PathBuf> {
    let folders = [("crates", &["rs"][..]), ("xtask/src", &["rs"]), ("web/src", &["ts", "tsx"])];
    let all = folders.iter().flat_map(|(folder, extensions)| files(folder, extensions));
    // Names of tests are not of the product.
    let is_test = |file: &Path| file.iter().any(|part| part == "tests");
    let own = |file: &PathBuf| !is_test(file) && !file.starts_with("xtask/src/vocabulary");
    all.filter(own).collect()
}

#[test]
fn identifiers_have_standard_terms() {
    let mut found = Vec::new();
    let mut seen = 0;
    let terms = terms::Terms::new();
    for file in sources() {
        let text = read(&file);
        let all = match file.extension() {
            Some(e) if e == "rs" => identifiers::of_rust(&text),
            _ => identifiers::of_typescript(&text),
        };
        seen += all.len();
        // The first place of each is enough, and most are repeated often.
        let mut known = HashSet::new();
        for (line, identifier) in &all {
            if !known.insert(identifier) {
                continue;
            }
            if let Some(term) = terms.in_identifier(&file, identifier) {
                let (old, new) = (term.old, term.new);
                found
                    .push(format!("{}:{line}: {identifier}: not {old}, but {new}", file.display()));
            }
        }
    }
    assert!(seen > 100_000, "{seen} identifiers");
    assert!(found.is_empty(), "{} places:\n{}", found.len(), found.join("\n"));
}

#[test]
fn documents_and_comments_have_standard_terms() {
    let (phrases, for_users) =
        (texts::compiled(terms::PHRASES), texts::compiled(terms::PHRASES_FOR_USERS));
    let mut found = Vec::new();
    let mut documents: Vec<PathBuf> =
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(PathBuf::from).to_vec();
    documents.extend(files("docs", &["md"]));
    documents.extend(files("examples", &["md"]));
    assert!(documents.contains(&"docs/commands.md".into()), "help texts are among them");
    for file in &documents {
        found.extend(texts::wrong(file, &read(file), &phrases));
        found.extend(texts::wrong(file, &read(file), &for_users));
    }
    for file in sources() {
        found.extend(texts::wrong(&file, &read(&file), &phrases));
    }
    assert!(found.is_empty(), "{} places:\n{}", found.len(), found.join("\n"));
}
