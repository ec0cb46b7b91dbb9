//! Folders from which memtrail loads or runs code: nobody but this user and root may change what is there.
//!
//! It is not enough that a folder belongs to this user: whoever can write to one above it can rename it and put another one
//! in its place. So each folder up to `/` is looked at.

use std::fs::{self, DirBuilder, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::Path;
use std::path::PathBuf;

/// Mode bits that let other users write.
const WRITABLE_BY_OTHERS: u32 = 0o022;
/// Mode bit of folders in which a name belongs to who made it, as in `/tmp`.
const STICKY: u32 = 0o1000;

/// The users that may change what this process runs.
struct Trusted {
    me: u32,
    /// Whoever owns `/` can replace all; in a user namespace root has another number.
    root: u32,
}

impl Trusted {
    fn new() -> io::Result<Self> {
        Ok(Self { me: fs::metadata("/proc/self")?.uid(), root: fs::metadata("/")?.uid() })
    }

    fn owns(&self, metadata: &Metadata) -> bool {
        [0, self.me, self.root].contains(&metadata.uid())
    }

    /// Checks each folder from `/` to `path`, and who made links on the way.
    fn check(&self, path: &Path) -> io::Result<()> {
        for folder in path.ancestors().filter(|folder| !folder.as_os_str().is_empty()) {
            let metadata = fs::symlink_metadata(folder)?;
            let others_write = metadata.is_dir()
                && metadata.mode() & WRITABLE_BY_OTHERS != 0
                && metadata.mode() & STICKY == 0;
            if !self.owns(&metadata) || others_write {
                return Err(refused(folder));
            }
        }
        Ok(())
    }
}

fn refused(folder: &Path) -> io::Error {
    let message = format!("another user can change {}", folder.display());
    io::Error::new(io::ErrorKind::PermissionDenied, message)
}

/// Checks a folder in which this process makes files under new names: other users may do the same, as in `/tmp`.
pub fn check_shared(folder: &Path) -> io::Result<()> {
    let trusted = Trusted::new()?;
    trusted.check(&std::path::absolute(folder)?)?;
    trusted.check(&fs::canonicalize(folder)?)
}

/// Makes a folder if it is not there, and gives its path without links. In it nobody else can change anything.
pub fn make(folder: &Path) -> io::Result<PathBuf> {
    let folder = std::path::absolute(folder)?;
    let there = folder.ancestors().find(|folder| fs::symlink_metadata(folder).is_ok());
    check_shared(there.unwrap_or(Path::new("/")))?;
    DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
    check_shared(&folder)?;
    let folder = fs::canonicalize(folder)?;
    let metadata = fs::metadata(&folder)?;
    if metadata.uid() != Trusted::new()?.me || metadata.mode() & WRITABLE_BY_OTHERS != 0 {
        return Err(refused(&folder));
    }
    Ok(folder)
}

/// True if a file belongs to this user and nobody else may write to it.
pub fn is_own_file(file: &Path) -> bool {
    let me = Trusted::new().map(|trusted| trusted.me);
    fs::symlink_metadata(file).is_ok_and(|metadata| {
        metadata.is_file()
            && me.is_ok_and(|me| me == metadata.uid())
            && metadata.mode() & WRITABLE_BY_OTHERS == 0
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, chown, symlink};

    use super::*;

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    /// True if a folder below `path` is refused, and not made.
    fn is_refused(path: &Path) -> bool {
        let folder = path.join("cache/memtrail");
        make(&folder).is_err_and(|e| e.kind() == io::ErrorKind::PermissionDenied)
            && !folder.exists()
    }

    // Root with the HOME of a user loaded what that user put in place of the cache folder.
    #[test]
    fn folders_below_one_of_another_user_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        let link = folder.path().join("link");
        fs::create_dir(&home).unwrap();
        symlink(&home, &link).unwrap();
        assert_eq!(make(&home.join("1/2")).unwrap(), home.canonicalize().unwrap().join("1/2"));
        assert!(make(&link.join("3")).is_ok());
        for mode in [0o777, 0o775] {
            set_mode(&home, mode);
            assert!(is_refused(&home) && is_refused(&link), "{mode:o}");
            assert!(make(&home.join("1/2")).is_err(), "it is there, and others can rename it");
        }
        set_mode(&home, 0o1777);
        assert!(make(&home.join("memtrail-0")).is_ok(), "as /tmp");
        assert!(make(&home).is_err(), "others can write to the folder itself");
        set_mode(&home, 0o755);
        assert_eq!(Trusted::new().unwrap().me, 0, "chown needs root: run these tests as root");
        chown(&home, Some(4321), None).unwrap();
        assert!(is_refused(&home) && is_refused(&link));
    }

    #[test]
    fn files_that_others_can_change_are_not_own_ones() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("agent.so");
        fs::write(&file, "").unwrap();
        set_mode(&file, 0o755);
        assert!(is_own_file(&file));
        set_mode(&file, 0o775);
        assert!(!is_own_file(&file));
    }
}
