//! What the WebAssembly engine was built from: noted beside it, and compared by a test that needs
//! no build.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use xxhash_rust::xxh3::Xxh3;

use crate::command::{Outcome, output, repository};

/// The file's name in the assets.
pub(crate) const FILE: &str = "engine.stamp";

/// Sources and compiler of a build.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// Hash of our crates' sources and of the versions of all others.
    pub(crate) sources: String,
    /// The compiler, as it calls itself.
    pub(crate) rustc: String,
}

impl Stamp {
    /// As the repository is now.
    pub(crate) fn of_now() -> Outcome<Self> {
        Ok(Self {
            sources: hash()?,
            rustc: output(Command::new("rustc").arg("--version").current_dir(repository()))?,
        })
    }

    pub(crate) fn load(assets: &Path) -> Outcome<Self> {
        let path = assets.join(FILE);
        let text = fs::read_to_string(&path)
            .map_err(|e| format!("cannot read {}: {e}", path.display()))?;
        let line = |name| {
            let found = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
            found.map(str::to_owned).ok_or_else(|| format!("{} has no {name}", path.display()))
        };
        Ok(Self { sources: line("sources")?, rustc: line("compiler")? })
    }

    pub(crate) fn save(&self, assets: &Path) -> Outcome {
        let path = assets.join(FILE);
        let text = format!("sources: {}\ncompiler: {}\n", self.sources, self.rustc);
        fs::write(&path, text).map_err(|e| format!("cannot write {}: {e}", path.display()))
    }
}

/// Everything that is compiled into the engine.
fn hash() -> Outcome<String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["tree", "--locked", "--package", "memtrail-wasm", "--edges", "normal,build"]);
    cargo.args(["--target", "wasm32-unknown-unknown", "--prefix", "none", "--format", "{p}\t{f}"]);
    let tree = output(cargo.current_dir(repository()))?;
    let mut packages: Vec<&str> = tree.lines().map(|line| line.trim_end_matches(" (*)")).collect();
    packages.sort_unstable();
    packages.dedup();
    let mut hash = Xxh3::new();
    for package in packages {
        // `memtrail-engine v0.1.0 (/path/of/it)`: ours.
        let (name, features) = package.split_once('\t').unwrap_or((package, ""));
        let ours = name.split_once(" (/").and_then(|(_, rest)| rest.strip_suffix(')'));
        match ours {
            None => hash.update(package.as_bytes()),
            Some(folder) => {
                hash.update(features.as_bytes());
                sources(Path::new(&format!("/{folder}")), &mut hash)?;
            }
        }
    }
    let mut text = String::new();
    let _ = write!(text, "{:032x}", hash.digest128());
    Ok(text)
}

/// A crate's manifest and sources, by name.
fn sources(folder: &Path, hash: &mut Xxh3) -> Outcome {
    let mut files = vec![folder.join("Cargo.toml")];
    let mut folders = vec![folder.join("src")];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        for entry in entries.filter_map(Result::ok) {
            let path = entry.path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort_unstable();
    for file in files {
        let content = fs::read(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        let name = relative(&file);
        for part in [name.to_string_lossy().as_bytes(), &content] {
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part);
        }
    }
    Ok(())
}

fn relative(file: &Path) -> PathBuf {
    let root = fs::canonicalize(repository()).unwrap_or_else(|_| repository().to_path_buf());
    file.strip_prefix(root).unwrap_or(file).to_path_buf()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engine_is_built_from_these_sources() {
        let then = Stamp::load(&crate::web::assets()).unwrap();
        assert_eq!(then.sources, hash().unwrap(), "`cargo xtask web` builds it");
    }
}
