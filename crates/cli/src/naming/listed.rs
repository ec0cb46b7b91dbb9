//! The list of a program's executable and libraries that the agent leaves beside the trace.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use memtrail_recording::MODULES_FILE;
use memtrail_symbols::modules::{self, Module};

/// The modules that the agent has listed, as a process has them that runs; `None` if there is no list.
pub(super) fn listed(folder: &Path, pid: Option<u32>) -> io::Result<Option<Vec<Module>>> {
    match fs::read(folder.join(MODULES_FILE)) {
        Ok(text) => {
            let modules = modules::parse(&String::from_utf8_lossy(&text)).into_iter();
            let seen = |module: Module| match pid {
                Some(pid) => module.seen_by(pid),
                None => module,
            };
            Ok(Some(modules.map(seen).collect()))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The executable, if its file is gone or another one.
pub(super) fn executable_without_file(modules: &[Module]) -> Option<PathBuf> {
    let executable = modules.first()?;
    (!executable.is_at(&executable.path)).then(|| executable.path.clone())
}
