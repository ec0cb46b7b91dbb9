//! A copy of the repository in the cache, with what was built of it.
//!
//! A fresh clone has new times on all files, in a new folder, so cargo would build everything again. The copy
//! stays where it is, and a file is written only if its content differs: cargo builds what has changed since the
//! last run. The copy has exactly the files that git lists, so no result depends on an earlier run.

use std::collections::BTreeSet;
use std::fs::{self, File, Metadata};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use xxhash_rust::xxh3::xxh3_64;

use super::selection::Selection;
use crate::command::{Outcome, cache, output, repository};

/// Copies kept, one for each toolchain and `Cargo.lock`.
const KEPT: usize = 2;
/// Folders in the copy that are not git's: what the tests' tools install.
const INSTALLED: [&str; 1] = ["web/node_modules"];

/// Runs the tests in the copy. `None` without git, whose list of files is needed.
pub(super) fn run(selection: &Selection) -> Outcome<Option<ExitCode>> {
    let Some(files) = listed()? else { return Ok(None) };
    let builds = cache()?.join("builds");
    let home = builds.join(key()?);
    fs::create_dir_all(&home).map_err(|e| format!("{}: {e}", home.display()))?;
    let lock_path = home.join("lock");
    // A second run waits for the first.
    let _lock = File::create(&lock_path)
        .and_then(|file| file.lock().map(|()| file))
        .map_err(|e| format!("cannot lock {}: {e}", lock_path.display()))?;
    prune(&builds, &home);
    let copy = home.join("memtrail");
    let written = synchronise(repository(), &copy, &files)?;
    println!("--- tests run in {} ({written} files changed there)", copy.display());
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["run", "--quiet", "--package", "xtask", "--", "test", "--here"]);
    cargo.args(selection.all.then_some("--all"));
    cargo.args((!selection.setup).then_some("--no-setup"));
    cargo.current_dir(&copy).env("CARGO_TARGET_DIR", home.join("target"));
    cargo.env("CARGO_INCREMENTAL", "0").stdin(Stdio::null());
    let status = cargo.status().map_err(|e| format!("cannot start cargo: {e}"))?;
    Ok(Some(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE }))
}

/// Files of the repository, and new ones that git does not ignore. `None` where there is no git or no clone.
fn listed() -> Outcome<Option<BTreeSet<PathBuf>>> {
    let mut git = Command::new("git");
    git.args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"]);
    git.current_dir(repository()).stderr(Stdio::null());
    let Ok(answer) = git.output() else { return Ok(None) };
    if !answer.status.success() {
        return Ok(None);
    }
    let text = String::from_utf8(answer.stdout).map_err(|e| format!("a name of a file: {e}"))?;
    let names = text.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from);
    // A deleted file is still listed until the deletion is staged.
    Ok(Some(names.filter(|name| repository().join(name).is_file()).collect()))
}

/// Names the toolchain and the versions of all dependencies.
fn key() -> Outcome<String> {
    let rustc = output(Command::new("rustc").arg("-vV").current_dir(repository()))?;
    let lock = repository().join("Cargo.lock");
    let lock = fs::read_to_string(&lock).map_err(|e| format!("{}: {e}", lock.display()))?;
    let dependencies = checksums(&lock);
    Ok(format!(
        "{:08x}-{:08x}",
        xxh3_64(rustc.as_bytes()) as u32,
        xxh3_64(dependencies.as_bytes()) as u32
    ))
}

/// The checksums in a `Cargo.lock`. Crates of the workspace have none: a new one does not make a new copy.
fn checksums(lock: &str) -> String {
    lock.lines().filter(|line| line.starts_with("checksum = ")).collect()
}

/// Removes the copies that were not used for longest.
fn prune(builds: &Path, current: &Path) {
    let used = |path: &PathBuf| fs::metadata(path.join("lock")).and_then(|m| m.modified()).ok();
    let entries = fs::read_dir(builds).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut others: Vec<PathBuf> = entries.filter(|path| path != current).collect();
    others.sort_by_key(|path| std::cmp::Reverse(used(path)));
    for old in others.iter().skip(KEPT - 1) {
        let free = File::open(old.join("lock")).is_ok_and(|lock| lock.try_lock().is_ok());
        if free {
            let _ = fs::remove_dir_all(old);
        }
    }
}

/// Makes the copy's files those listed; gives how many were written or removed.
fn synchronise(from: &Path, to: &Path, files: &BTreeSet<PathBuf>) -> Outcome<usize> {
    let mut changed = 0;
    for name in present(to, Path::new(""))? {
        if !files.contains(&name) {
            remove(&to.join(&name))?;
            changed += 1;
        }
    }
    for name in files {
        let (source, copy) = (from.join(name), to.join(name));
        if !same(&source, &copy)? {
            let folder = copy.parent().unwrap_or(to);
            fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
            fs::copy(&source, &copy).map_err(|e| format!("{}: {e}", copy.display()))?;
            changed += 1;
        }
    }
    Ok(changed)
}

/// All files of the copy, relative to it.
fn present(root: &Path, below: &Path) -> Outcome<Vec<PathBuf>> {
    let folder = root.join(below);
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(format!("{}: {error}", folder.display())),
    };
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|e| format!("{}: {e}", folder.display()))?;
        let name = below.join(entry.file_name());
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if INSTALLED.iter().any(|installed| name == Path::new(installed)) {
            continue;
        }
        if is_folder { files.extend(present(root, &name)?) } else { files.push(name) }
    }
    Ok(files)
}

fn same(source: &Path, copy: &Path) -> Outcome<bool> {
    let metadata = fs::metadata(source).map_err(|e| format!("{}: {e}", source.display()))?;
    let Ok(there) = fs::symlink_metadata(copy) else { return Ok(false) };
    let mode = |metadata: &Metadata| metadata.permissions().mode() & 0o111;
    if !there.is_file() || there.len() != metadata.len() || mode(&there) != mode(&metadata) {
        return Ok(false);
    }
    let read = |path: &Path| fs::read(path).map_err(|e| format!("{}: {e}", path.display()));
    Ok(read(source)? == read(copy)?)
}

fn remove(file: &Path) -> Outcome {
    fs::remove_file(file).map_err(|e| format!("{}: {e}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_of_the_workspace_makes_no_new_copy() {
        let one = "[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nchecksum = \"12\"\n";
        let own =
            "[[package]]\nname = \"own\"\nversion = \"0.1.0\"\ndependencies = [\n \"a\",\n]\n";
        assert_eq!(checksums(&format!("{one}\n{own}")), checksums(one));
        assert_ne!(checksums(&one.replace("12", "13")), checksums(one));
    }

    #[test]
    fn the_copy_has_exactly_the_files_listed_and_keeps_the_times_of_equal_ones() {
        let root = std::env::temp_dir().join(format!("memtrail-mirror-{}", std::process::id()));
        let (from, to) = (root.join("from"), root.join("to"));
        for (file, text) in [("a/same", "1"), ("a/changed", "2"), ("new", "3")] {
            fs::create_dir_all(from.join(file).parent().unwrap()).unwrap();
            fs::write(from.join(file), text).unwrap();
        }
        for (file, text) in [("a/same", "1"), ("a/changed", "x"), ("gone", "4")] {
            fs::create_dir_all(to.join(file).parent().unwrap()).unwrap();
            fs::write(to.join(file), text).unwrap();
        }
        let time = || fs::metadata(to.join("a/same")).unwrap().modified().unwrap();
        let before = time();
        let files = ["a/same", "a/changed", "new"].into_iter().map(PathBuf::from).collect();
        assert_eq!(synchronise(&from, &to, &files), Ok(3));
        assert_eq!(time(), before);
        assert_eq!(fs::read_to_string(to.join("a/changed")).unwrap(), "2");
        let mut found = present(&to, Path::new("")).unwrap();
        found.sort();
        assert_eq!(found, files.iter().cloned().collect::<Vec<_>>());
        assert_eq!(synchronise(&from, &to, &files), Ok(0));
        fs::remove_dir_all(root).unwrap();
    }
}
