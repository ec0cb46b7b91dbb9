//! Confines an assistant to one folder: a path that leads out of it is refused, by `..`, as a whole path or by a symbolic link.
//!
//! Paths are judged before they are opened. A process that can write into the folder may replace a file by a symbolic link
//! in between. It could as well put a copy of the other file there.

use std::fs::{self, FileType};
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Component, Path, PathBuf};

use crate::error::{Failure, Kind};

/// Folders below a family: recordings, and those of what their processes were before.
const DEPTH: usize = 3;

/// The folder, which is the current one, too: paths in answers are relative to it.
pub(super) struct Folder {
    /// Without symbolic links.
    root: PathBuf,
}

impl Folder {
    /// Opens a folder, and makes it the current one.
    pub(super) fn enter(folder: &Path) -> Result<Self, Failure> {
        let cannot = |error: std::io::Error| {
            Failure::unreadable(folder, &error)
                .or_hint("name the folder that has recordings: memtrail mcp --dir DIR")
        };
        let root = folder.canonicalize().map_err(cannot)?;
        std::env::set_current_dir(&root).map_err(cannot)?;
        Ok(Self { root })
    }

    /// The path of a recording, relative to the folder and without symbolic links.
    pub(super) fn recording(&self, named: &str) -> Result<PathBuf, Failure> {
        let found = self.resolve(Path::new(named)).map_err(|refused| refused.failure(named))?;
        self.check(&found, DEPTH).map_err(|refused| refused.failure(named))?;
        Ok(found)
    }

    /// True if all of a folder, or a file, is inside.
    pub(super) fn has(&self, path: &Path) -> bool {
        self.resolve(path).is_ok_and(|found| self.check(&found, DEPTH).is_ok())
    }

    fn resolve(&self, path: &Path) -> Result<PathBuf, Refused> {
        // Before the system is asked: whether a file outside exists is nothing to tell.
        let mut depth = 0_usize;
        let below = path.strip_prefix(&self.root).unwrap_or(path);
        for part in below.components() {
            match part {
                Component::Normal(_) => depth += 1,
                Component::CurDir => {}
                Component::ParentDir if depth > 0 => depth -= 1,
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                    return Err(Refused::Outside);
                }
            }
        }
        let found = self.root.join(below).canonicalize().map_err(|_| Refused::Missing)?;
        let inside = found.strip_prefix(&self.root).map_err(|_| Refused::Outside)?;
        Ok(if inside.as_os_str().is_empty() { ".".into() } else { inside.to_path_buf() })
    }

    /// Checks what a folder holds: a symbolic link may lead out of it, and reading from a pipe may never end.
    fn check(&self, path: &Path, depth: usize) -> Result<(), Refused> {
        let known = fs::metadata(path).map_err(|_| Refused::Missing)?;
        check_type(path, known.file_type())?;
        if !known.is_dir() || depth == 0 {
            return Ok(());
        }
        for entry in fs::read_dir(path).map_err(|_| Refused::Missing)?.flatten() {
            let (file, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
            if kind.is_symlink() {
                match self.resolve(&file) {
                    Ok(target) => self.check(&target, depth - 1)?,
                    Err(_) => return Err(Refused::LinkInside(file)),
                }
            } else if kind.is_dir() {
                self.check(&file, depth - 1)?;
            } else {
                check_type(&file, kind)?;
            }
        }
        Ok(())
    }
}

fn check_type(file: &Path, kind: FileType) -> Result<(), Refused> {
    if kind.is_fifo() || kind.is_char_device() || kind.is_block_device() {
        return Err(Refused::NoFile(file.to_path_buf()));
    }
    Ok(())
}

/// The reason that a path is refused.
#[derive(Debug, PartialEq)]
enum Refused {
    Missing,
    Outside,
    LinkInside(PathBuf),
    NoFile(PathBuf),
}

impl Refused {
    fn failure(self, named: &str) -> Failure {
        let message = match &self {
            Self::Missing => format!("there is no {named}"),
            Self::Outside => format!("{named} is outside the folder that this server may read"),
            Self::LinkInside(link) => {
                format!("{named} is refused: the symbolic link {} leads elsewhere", link.display())
            }
            Self::NoFile(file) => format!("{named} is refused: {} is no file", file.display()),
        };
        Failure::new(Kind::Input, message).hint("the tool `recordings` lists what there is")
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn paths_outside_are_refused() {
        let all = tempfile::tempdir().unwrap();
        let root = all.path().canonicalize().unwrap().join("in");
        for folder in ["in/a.memtrail", "in/b.memtrail", "in/c", "out.memtrail"] {
            fs::create_dir_all(all.path().join(folder)).unwrap();
        }
        fs::write(root.join("a.memtrail/trace.ctf"), "").unwrap();
        fs::write(all.path().join("secret"), "").unwrap();
        symlink("../../secret", root.join("b.memtrail/trace.ctf")).unwrap();
        symlink("../out.memtrail", root.join("out.memtrail")).unwrap();
        symlink("a.memtrail", root.join("link.memtrail")).unwrap();
        symlink("missing", root.join("c/dangling")).unwrap();
        let folder = Folder { root: root.clone() };
        let resolved = |path: &str| folder.resolve(Path::new(path));
        for inside in ["a.memtrail", "./c/../a.memtrail", "link.memtrail"] {
            assert_eq!(resolved(inside), Ok("a.memtrail".into()), "{inside}");
        }
        assert_eq!(resolved(root.join("a.memtrail").to_str().unwrap()), Ok("a.memtrail".into()));
        assert_eq!(resolved("."), Ok(".".into()));
        for outside in ["..", "../secret", "../missing", "/", "/etc/passwd", "c/../../secret"] {
            assert_eq!(resolved(outside), Err(Refused::Outside), "{outside}");
        }
        assert_eq!(resolved("out.memtrail"), Err(Refused::Outside));
        assert_eq!(resolved("d"), Err(Refused::Missing));
        let checked = |name: &str| folder.check(&root.join(name), DEPTH);
        assert_eq!(checked("a.memtrail"), Ok(()));
        for with_link in ["b.memtrail", "c"] {
            assert!(matches!(checked(with_link), Err(Refused::LinkInside(_))), "{with_link}");
        }
    }
}
