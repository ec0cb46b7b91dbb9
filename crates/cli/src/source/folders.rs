//! Source files below folders, found by the ends of their paths.
//!
//! A name in a recording is what the compiler was given: relative to where it ran, absolute on another machine, or
//! with `..` in it. It never is opened. It is compared with the files that were listed below the folders; the one whose
//! path ends with most of the name's parts is meant. What is opened is checked again, as files change.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Component, Path, PathBuf};
use std::time::UNIX_EPOCH;

use memtrail_engine::{SourceFile, SourceFiles};
use memtrail_text::rounded::bytes;

use crate::error::Failure;

/// Largest file that is shown.
const MAX_FILE: u64 = 4 << 20;
/// Files that are listed at most, and folders within each other.
const MAX_FILES: usize = 500_000;
const MAX_DEPTH: usize = 64;
/// Files that are named where a name may mean several.
const NAMED: usize = 3;
/// Ends of the names of source files.
const ENDS: [&str; 14] =
    ["ml", "mli", "mll", "mly", "mlp", "re", "rei", "rs", "c", "h", "cc", "cpp", "hpp", "eliom"];

/// The source files below some folders.
#[derive(Debug)]
pub(crate) struct SourceFolders {
    roots: Vec<PathBuf>,
    /// Files by their own names: the number of the folder, and the path below it.
    by_name: HashMap<String, Vec<(usize, PathBuf)>>,
}

impl SourceFolders {
    /// Lists what is below folders.
    pub(crate) fn open(folders: &[PathBuf]) -> Result<Self, Failure> {
        let mut found = Self { roots: Vec::new(), by_name: HashMap::new() };
        for folder in folders {
            let failed = |error: io::Error| {
                Failure::unreadable(folder, &error)
                    .or_hint("--source takes a folder with source files")
            };
            let root = folder.canonicalize().map_err(failed)?;
            // An error of the folder itself is the user's; of what is below it, it is passed over.
            fs::read_dir(&root).map_err(failed)?;
            found.roots.push(root);
            found.list(found.roots.len() - 1);
        }
        Ok(found)
    }

    fn list(&mut self, number: usize) {
        let mut count = 0;
        let mut waiting = vec![(PathBuf::new(), 0)];
        while let Some((below, depth)) = waiting.pop() {
            let entries = fs::read_dir(self.roots[number].join(&below)).into_iter().flatten();
            for entry in entries.flatten() {
                // Not that of a link's target: links are not followed.
                let Ok(kind) = entry.file_type() else { continue };
                let Ok(name) = entry.file_name().into_string() else { continue };
                let path = below.join(&name);
                if kind.is_dir() && depth < MAX_DEPTH && !name.starts_with('.') {
                    waiting.push((path, depth + 1));
                } else if kind.is_file() && is_source(&name) && count < MAX_FILES {
                    count += 1;
                    self.by_name.entry(name).or_default().push((number, path));
                }
            }
        }
    }

    /// The file that a name means.
    fn meant(&self, recorded: &str) -> Result<&(usize, PathBuf), String> {
        let parts: Vec<&str> =
            recorded.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
        // What is before the last `..` is of no folder that can be known.
        let from = parts.iter().rposition(|part| *part == "..").map_or(0, |at| at + 1);
        let parts = &parts[from..];
        let none = || "No file below the folders of --source has this name".to_owned();
        let files = parts.last().and_then(|name| self.by_name.get(*name)).ok_or_else(none)?;
        // Most parts in common first; of these the one that is least deep: builds have copies.
        let rank = |(_, path): &(usize, PathBuf)| {
            let own = path.components().rev().zip(parts.iter().rev());
            let common = own.take_while(|(own, part)| own.as_os_str() == **part).count();
            (Reverse(common), path.components().count())
        };
        let best = files.iter().map(rank).min().ok_or_else(none)?;
        let mut meant: Vec<&(usize, PathBuf)> =
            files.iter().filter(|file| rank(file) == best).collect();
        meant.sort();
        match meant.as_slice() {
            [only] => Ok(only),
            several => {
                let names = several.iter().take(NAMED).map(|(_, path)| path.display().to_string());
                let names = names.collect::<Vec<_>>().join(", ");
                let more = if several.len() > NAMED { " and more" } else { "" };
                Err(format!("Several files may be meant: {names}{more}"))
            }
        }
    }

    /// Opens a file below a folder, and nothing that a link leads to.
    fn open_below(&self, number: usize, below: &Path) -> io::Result<(PathBuf, File)> {
        let root = &self.roots[number];
        let only_names = below.components().all(|part| matches!(part, Component::Normal(_)));
        let path = root.join(below);
        // Folders may have become links since they were listed.
        let is_below = || Ok::<_, io::Error>(path.canonicalize()? == path);
        if !only_names || !is_below()? {
            return Err(io::Error::other("it is not in the folder any more"));
        }
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC;
        let file = OpenOptions::new().read(true).custom_flags(flags).open(&path)?;
        Ok((path, file))
    }

    fn read(&self, number: usize, below: &Path) -> io::Result<SourceFile> {
        let (path, file) = self.open_below(number, below)?;
        let about = file.metadata()?;
        if !about.is_file() {
            return Err(io::Error::other("it is no file any more"));
        }
        let mut text = Vec::new();
        file.take(MAX_FILE + 1).read_to_end(&mut text)?;
        if text.len() as u64 > MAX_FILE {
            let size = bytes(about.len() as f64);
            return Err(io::Error::other(format!("{size} are too many to be shown")));
        }
        let modified = about.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        Ok(SourceFile {
            name: below.to_string_lossy().into_owned(),
            path: path.to_str().map(ToOwned::to_owned),
            modified: modified.map(|time| time.as_secs_f64()),
            text: String::from_utf8_lossy(&text).into_owned(),
        })
    }
}

impl SourceFiles for SourceFolders {
    fn find(&self, recorded: &str) -> Result<SourceFile, String> {
        let (number, below) = self.meant(recorded)?;
        let failed = |error| format!("{} cannot be read: {error}", below.display());
        self.read(*number, below).map_err(failed)
    }
}

fn is_source(name: &str) -> bool {
    let no_control = !name.contains(char::is_control);
    no_control && name.rsplit_once('.').is_some_and(|(_, end)| ENDS.contains(&end))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A folder with these files, each with its own name in it.
    fn folder(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in files {
            let path = folder.path().join("project").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, name).unwrap();
        }
        folder
    }

    fn open(folder: &tempfile::TempDir) -> SourceFolders {
        SourceFolders::open(&[folder.path().join("project")]).unwrap()
    }

    fn name(found: Result<SourceFile, String>) -> Result<String, String> {
        found.map(|file| {
            assert_eq!(file.text, file.name);
            file.name
        })
    }

    #[test]
    fn the_longest_common_end_of_a_path_decides() {
        let files =
            ["src/cache.ml", "lib/cache.ml", "_build/default/src/cache.ml", "main.ml", "notes"];
        let folder = folder(&files);
        let sources = open(&folder);
        for (recorded, found) in [
            ("src/cache.ml", "src/cache.ml"),
            ("/home/other/project/src/cache.ml", "src/cache.ml"),
            ("./lib//cache.ml", "lib/cache.ml"),
            ("../../lib/cache.ml", "lib/cache.ml"),
            ("default/src/cache.ml", "_build/default/src/cache.ml"),
            ("x/../main.ml", "main.ml"),
            ("other/main.ml", "main.ml"),
        ] {
            assert_eq!(name(sources.find(recorded)).as_deref(), Ok(found), "{recorded}");
        }
        let error = sources.find("cache.ml").unwrap_err();
        assert_eq!(error, "Several files may be meant: lib/cache.ml, src/cache.ml");
    }

    /// Names in a recording may be anybody's.
    #[test]
    fn hostile_names_lead_to_no_file() {
        let folder = folder(&["src/cache.ml", "src/notes", "ab\u{1b}[31m.ml"]);
        fs::write(folder.path().join("secret.ml"), "secret").unwrap();
        let sources = open(&folder);
        let outside = folder.path().join("secret.ml");
        for recorded in [
            "",
            "/",
            "..",
            "../secret.ml",
            "src/../../secret.ml",
            "project/../secret.ml",
            outside.to_str().unwrap(),
            "/etc/passwd",
            "src/notes",
            "src",
            "cache.ml/",
            "cache.ml/..",
            "cache.ml\0",
            "ab\u{1b}[31m.ml",
            "\u{fffd}.ml",
        ] {
            let found = name(sources.find(recorded));
            let allowed = recorded == "cache.ml/" && found.as_deref() == Ok("src/cache.ml");
            assert!(allowed || found.is_err(), "{recorded:?}: {found:?}");
        }
    }

    #[test]
    fn links_are_not_followed() {
        let folder = folder(&["src/cache.ml", "src/late.ml", "late/inner.ml"]);
        let (project, secret) = (folder.path().join("project"), folder.path().join("secret.ml"));
        fs::write(&secret, "secret").unwrap();
        fs::create_dir(folder.path().join("outside")).unwrap();
        fs::write(folder.path().join("outside/inner.ml"), "secret").unwrap();
        symlink(&secret, project.join("src/link.ml")).unwrap();
        symlink(folder.path().join("outside"), project.join("linked")).unwrap();
        symlink(&project, project.join("src/circle")).unwrap();
        let sources = open(&folder);
        assert!(sources.find("src/link.ml").is_err());
        assert_eq!(name(sources.find("linked/inner.ml")).as_deref(), Ok("late/inner.ml"));
        // Those that became links after they were listed.
        fs::remove_file(project.join("src/late.ml")).unwrap();
        symlink(&secret, project.join("src/late.ml")).unwrap();
        fs::remove_dir_all(project.join("late")).unwrap();
        symlink(folder.path().join("outside"), project.join("late")).unwrap();
        for gone in ["src/late.ml", "late/inner.ml"] {
            let error = sources.find(gone).unwrap_err();
            assert!(error.ends_with("it is not in the folder any more"), "{error}");
        }
    }

    #[test]
    fn files_that_are_no_text_or_too_large() {
        let folder = folder(&["latin.ml", "huge.ml", "pipe.ml"]);
        let project = folder.path().join("project");
        fs::write(project.join("latin.ml"), b"(* caf\xe9 *)\r\nlet x = 1").unwrap();
        File::create(project.join("huge.ml")).unwrap().set_len(MAX_FILE + 1).unwrap();
        let sources = open(&folder);
        assert_eq!(sources.find("latin.ml").unwrap().text, "(* caf\u{fffd} *)\r\nlet x = 1");
        let error = sources.find("huge.ml").unwrap_err();
        assert!(error.contains("too many to be shown"), "{error}");
        // A pipe that nobody writes into is not waited for.
        fs::remove_file(project.join("pipe.ml")).unwrap();
        let made = std::process::Command::new("mkfifo").arg(project.join("pipe.ml")).status();
        assert!(made.unwrap().success());
        assert!(sources.find("pipe.ml").unwrap_err().ends_with("it is no file any more"));
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error() {
        assert!(SourceFolders::open(&["/nowhere/at/all".into()]).is_err());
    }
}
