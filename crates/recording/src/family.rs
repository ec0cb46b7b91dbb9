//! A family: the recordings of a program and of the processes that it started and forked, in one folder.
//!
//! Nothing lists the members: a folder that holds recordings is a family, whoever put them there. Their
//! descriptions tell who descends from whom. A member that is missing, cut or still written takes nothing
//! from the others.
//!
//! A forked process has a recording of its own, which begins with what it allocated itself. What its parent
//! allocated before is in the parent's alone, so that sums over a family count every block once.

mod tree;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use memtrail_order::SortRows as _;

use crate::description::{Description, TRACE_FILE};
use crate::folder::{DESCRIPTION_FILE, Error, Recording};

pub use tree::Origin;
use tree::{Facts, Place};

/// Recordings in one folder, and who descends from whom.
#[derive(Debug)]
pub struct Family {
    /// The folder.
    pub path: PathBuf,
    /// In the order in which they began, so that parents come before children; those of which that is
    /// unknown last.
    pub members: Vec<Member>,
}

/// A recording of a family.
#[derive(Debug)]
pub struct Member {
    /// Its folder's name.
    pub name: String,
    /// The recording, or why it cannot be opened.
    pub recording: Result<Recording, Error>,
    /// Its parent among the members: the nearest recorded process above it, or what its process was before
    /// it became another program.
    pub parent: Option<usize>,
    /// How it came to be.
    pub origin: Origin,
    /// Recorded processes above it. A process that becomes another program stays in its generation.
    pub generation: u32,
}

impl Family {
    /// Opens a folder that holds recordings. `None` if it is a recording itself, holds none, or is no
    /// folder.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn open(path: &Path) -> Result<Option<Self>, Error> {
        let has = |folder: &Path, file: &str| folder.join(file).exists();
        if !path.is_dir() || has(path, DESCRIPTION_FILE) || has(path, TRACE_FILE) {
            return Ok(None);
        }
        let cannot =
            |source: io::Error| Error::Io { action: "read", path: path.to_path_buf(), source };
        let mut found = Vec::new();
        for entry in fs::read_dir(path).map_err(cannot)? {
            let folder = entry.map_err(cannot)?.path();
            let is_recording = has(&folder, DESCRIPTION_FILE) || has(&folder, TRACE_FILE);
            if folder.is_dir() && is_recording {
                let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
                found.push((name, Recording::open(&folder)));
            }
        }
        if found.is_empty() {
            return Ok(None);
        }
        let began = |recording: &Result<Recording, Error>| {
            let description = recording.as_ref().ok()?.description.as_ref()?;
            Some(description.clock.start_unix_us)
        };
        found.sort_rows_by_key(|(name, recording)| {
            (began(recording).unwrap_or(u64::MAX), name.clone())
        });
        let facts = found.iter().map(|(_, recording)| {
            let description = recording.as_ref().ok()?.description.as_ref()?;
            Some(Facts::of(description))
        });
        let places = tree::link(&facts.collect::<Vec<_>>());
        let members = found.into_iter().zip(places).map(|((name, recording), place)| {
            let Place { parent, origin, generation } = place;
            Member { name, recording, parent, origin, generation }
        });
        Ok(Some(Self { path: path.to_path_buf(), members: members.collect() }))
    }

    /// The folders of those that did something.
    pub fn active(&self) -> Vec<PathBuf> {
        let active =
            self.members.iter().filter(|member| !member.did_nothing() && member.recording.is_ok());
        active.map(|member| self.path.join(&member.name)).collect()
    }

    /// Those of one process: several if it became another program.
    pub fn of_process(&self, pid: u32) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(move |member| member.pid() == Some(pid))
    }
}

impl Member {
    /// What is known of it.
    pub fn description(&self) -> Option<&Description> {
        self.recording.as_ref().ok()?.description.as_ref()
    }

    /// Its process id, if that is known.
    pub fn pid(&self) -> Option<u32> {
        self.description().map(|description| description.pid)
    }

    /// The program's name without its folder; that of the recording if it is unknown.
    pub fn program(&self) -> &str {
        let known = self.description().map(|description| description.program.as_str());
        let name = known.and_then(|program| program.rsplit('/').next());
        name.filter(|name| !name.is_empty()).unwrap_or(&self.name)
    }

    /// What to call it among the others: `ocamlopt.opt-4711`.
    pub fn label(&self) -> &str {
        self.name.strip_suffix(".memtrail").unwrap_or(&self.name)
    }

    /// Whether nothing was sampled, nothing was lost, and there is no snapshot: there is nothing to open.
    /// Of what is still written that is not known yet.
    pub fn did_nothing(&self) -> bool {
        self.description().is_some_and(Description::did_nothing)
    }

    /// Whether there is a heap snapshot, as far as its description tells.
    pub fn has_snapshots(&self) -> bool {
        self.description().is_some_and(Description::has_snapshots)
    }
}

#[cfg(test)]
mod tests;
