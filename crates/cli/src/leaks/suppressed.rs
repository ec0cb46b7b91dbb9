//! The file of `--suppress`.

use std::fs;
use std::path::{Path, PathBuf};

use memtrail_engine::leaks::KnownLeaks;

use crate::error::Failure;

/// Known leaks, which are not to be listed.
#[derive(Clone, Default, clap::Args)]
pub(crate) struct Suppressions {
    /// Do not count known leaks: a file with a pattern a line, like a suspect's owner, its type, or a function or
    /// `file:line` that allocated what it owns; `*` is any text. Comments begin with `#`
    #[arg(long, value_name = "FILE")]
    suppress: Option<PathBuf>,
}

impl Suppressions {
    /// Reads the file; nothing if there is none.
    pub(crate) fn read(&self) -> Result<KnownLeaks, Failure> {
        self.suppress.as_deref().map_or_else(|| Ok(KnownLeaks::default()), read)
    }
}

fn read(path: &Path) -> Result<KnownLeaks, Failure> {
    let text = fs::read(path).map_err(|error| Failure::unreadable(path, &error))?;
    Ok(KnownLeaks::parse(&String::from_utf8_lossy(&text)))
}
