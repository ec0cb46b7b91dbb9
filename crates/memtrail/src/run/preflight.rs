//! Looks at the program's file before it is started: what cannot be recorded is run as it is.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// What to do with a program.
pub(super) enum Decision {
    /// Record it, or find out inside it.
    Record,
    /// It cannot be recorded: run it as if memtrail were not there.
    RunAsItIs { reason: String, hint: Option<String> },
}

/// Looks at the program that a command names.
pub(super) fn look(program: &OsStr) -> Decision {
    let Some(path) = find(program) else { return Decision::Record };
    let _ = path;
    Decision::Record
}

/// The file that `execvp` would run.
fn find(program: &OsStr) -> Option<PathBuf> {
    if program.as_bytes().contains(&b'/') {
        return Some(PathBuf::from(program));
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}
