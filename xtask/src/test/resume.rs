//! Steps of `--all` that passed already, so that an interrupted run goes on where it was.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use xxhash_rust::xxh3::Xxh3;

use super::tally::Tally;
use crate::command::{Outcome, cache, output, repository};

/// Steps that passed with these sources: a line `PASSED NAME` for each in a file of the cache.
pub(crate) struct Resume {
    file: Option<PathBuf>,
    passed: Vec<(String, Tally)>,
}

impl Resume {
    /// Every step runs, and nothing is noted.
    pub(super) fn off() -> Self {
        Self { file: None, passed: Vec::new() }
    }

    /// Reads the steps that passed with the sources as they are now.
    pub(super) fn load() -> Self {
        let file = file().ok();
        let text = file.as_ref().and_then(|file| fs::read_to_string(file).ok()).unwrap_or_default();
        Self { file, passed: text.lines().filter_map(read).collect() }
    }

    /// Results of a step that passed.
    pub(super) fn passed(&self, name: &str) -> Option<Tally> {
        self.passed.iter().find(|(step, _)| step == name).map(|(_, tally)| *tally)
    }

    /// Notes a step that passed. A step with a failure runs again.
    pub(super) fn note(&mut self, name: &str, tally: Tally) {
        if tally.failed > 0 || self.file.is_none() {
            return;
        }
        self.passed.push((name.to_owned(), tally));
        let lines = self.passed.iter().map(|(name, tally)| format!("{} {name}\n", tally.passed));
        if let Some(file) = &self.file {
            // Without the note the step only runs once more.
            let _ = fs::write(file, lines.collect::<String>());
        }
    }

    /// Forgets the steps: the run is complete.
    pub(super) fn finish(&self) {
        if let Some(file) = &self.file {
            let _ = fs::remove_file(file);
        }
    }
}

fn read(line: &str) -> Option<(String, Tally)> {
    let (passed, name) = line.split_once(' ')?;
    Some((name.to_owned(), Tally { passed: passed.parse().ok()?, failed: 0 }))
}

fn file() -> Outcome<PathBuf> {
    Ok(cache()?.join(format!("passed-{:016x}", sources()?)))
}

/// Hash of all files here but those that tools install or build.
fn sources() -> Outcome<u64> {
    let mut hash = Xxh3::new();
    hash.update(output(Command::new("rustc").arg("-vV"))?.as_bytes());
    hash_folder(repository(), &mut hash)?;
    Ok(hash.digest())
}

fn hash_folder(folder: &Path, hash: &mut Xxh3) -> Outcome {
    let failed = |e: std::io::Error| format!("{}: {e}", folder.display());
    let entries = fs::read_dir(folder).map_err(failed)?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if ["target", "node_modules", ".git"].contains(&&*name) {
            continue;
        }
        if path.is_dir() {
            hash_folder(&path, hash)?;
        } else {
            let content = fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            for part in [path.as_os_str().as_encoded_bytes(), &content] {
                hash.update(&(part.len() as u64).to_le_bytes());
                hash.update(part);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_steps_without_a_failure_are_noted() {
        let file = std::env::temp_dir().join(format!("memtrail-passed-{}", std::process::id()));
        let mut resume = Resume { file: Some(file.clone()), passed: Vec::new() };
        resume.note("format", Tally { passed: 1, failed: 0 });
        resume.note("tests", Tally { passed: 7, failed: 1 });
        let text = fs::read_to_string(&file).unwrap();
        let found: Vec<_> = text.lines().filter_map(read).collect();
        assert_eq!(found, [("format".to_owned(), Tally { passed: 1, failed: 0 })]);
        resume.finish();
        assert!(!file.exists());
    }
}
