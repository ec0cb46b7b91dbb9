//! What a command reads: a recording, a process of a family, or a family as a whole.
//!
//! A family is read as one trace, which is merged into a file without a name, with lists of rates and threads
//! beside it: to commands it is a recording like any other.

mod merged;
mod successor;

use std::ops::Deref;
use std::path::{Path, PathBuf};

use memtrail_recording::Recording;
use memtrail_recording::family::{Family, Member, Origin};

use crate::error::{Failure, Kind};
use crate::recording_facts;
use crate::references;
use crate::shell_quote;
use crate::snapshot_file;

pub(crate) use merged::ProcessNames;
pub(crate) use successor::note as note_successor;

/// Processes that a hint names, at most.
const NAMED: usize = 8;

/// Which process of a family.
#[derive(clap::Args, Clone, Copy, Debug, Default)]
pub(crate) struct Process {
    /// Of the recordings of a program with its children, only that of this process
    #[arg(long, value_name = "PID")]
    process: Option<u32>,
}

/// A recording, or what stands for one.
#[derive(Debug)]
pub(crate) struct RecordingSource {
    recording: Recording,
    /// The family that it is of, if all of it was asked for.
    pub(crate) family: Option<Family>,
    /// Hold what has no name.
    files: Vec<std::fs::File>,
}

impl Deref for RecordingSource {
    type Target = Recording;

    fn deref(&self) -> &Recording {
        &self.recording
    }
}

/// A process of a family that has what a command needs.
#[derive(Clone, Debug)]
pub(crate) struct FamilyMember {
    /// Its recording.
    pub(crate) path: PathBuf,
    pub(crate) pid: Option<u32>,
    /// The program's path.
    pub(crate) program: Option<String>,
    /// Recorded processes above it.
    pub(crate) generation: u32,
    /// Whether it is a copy of its parent.
    pub(crate) is_fork: bool,
    /// Of a fork, the nearest process above it of which it is a copy and that has what the command needs; if none has, the
    /// first of these.
    pub(crate) copy_of: Option<PathBuf>,
}

impl FamilyMember {
    fn new(family: &Family, member: &Member, need: Need) -> Self {
        let mut copy_of = None;
        let mut of = member;
        while of.origin == Origin::Forked
            && let Some(parent) = of.parent.and_then(|parent| family.members.get(parent))
        {
            copy_of = Some(family.path.join(&parent.name));
            if need.is_met_by(&family.path, parent) {
                break;
            }
            of = parent;
        }
        let family = &family.path;
        Self {
            copy_of,
            path: family.join(&member.name),
            pid: member.pid(),
            program: member.description().map(|description| description.program.clone()),
            generation: member.generation,
            is_fork: member.origin == Origin::Forked,
        }
    }

    /// The only process of a recording, or of a snapshot.
    fn alone(path: &Path) -> Self {
        let description = Recording::open(path).ok().and_then(|recording| recording.description);
        Self {
            path: path.to_path_buf(),
            pid: description.as_ref().map(|description| description.pid),
            program: description.map(|description| description.program),
            generation: 0,
            is_fork: false,
            copy_of: None,
        }
    }

    /// The process, as answers have it.
    pub(crate) fn member(&self) -> memtrail_engine::question::Member {
        memtrail_engine::question::Member {
            recording: self.path.display().to_string(),
            pid: self.pid,
            program: self.program.clone(),
            generation: self.generation,
            name: self.name(),
            is_fork: self.is_fork,
            copy_of: self.copy_of.clone(),
        }
    }

    /// What to call it among the others: `ocamlopt.opt-4711`.
    pub(crate) fn name(&self) -> String {
        recording_facts::name(&self.path).trim_end_matches(".memtrail").to_owned()
    }
}

/// What a recording must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// Heap snapshots.
    Snapshots,
    /// What retains blocks: heap snapshots, or references of a native program.
    Retainers,
    /// What leaks are found by: heap snapshots, or that the program frees its memory itself.
    Leaks,
}

impl Need {
    const fn text(self) -> &'static str {
        match self {
            Self::Snapshots | Self::Retainers | Self::Leaks => "heap snapshots",
        }
    }

    fn is_met_by(self, family: &Path, member: &Member) -> bool {
        let path = family.join(&member.name);
        let frees = || member.recording.as_ref().is_ok_and(recording_facts::is_native);
        let has_references = || !references::of_recording(&path).is_empty();
        !snapshot_file::of_recording(&path).is_empty()
            || (self != Self::Snapshots && has_references())
            || (self == Self::Leaks && frees())
    }
}

/// The processes that a question is about.
#[derive(Debug)]
pub(crate) enum Subject {
    /// One, by the path of its recording or snapshot.
    One(PathBuf),
    /// All processes of a family that have what the question needs.
    Family(Vec<FamilyMember>),
}

impl Subject {
    /// The processes.
    pub(crate) fn members(&self) -> Vec<FamilyMember> {
        match self {
            Self::One(path) => vec![FamilyMember::alone(path)],
            Self::Family(members) => members.clone(),
        }
    }

    /// Rows that are needed of each process: of several, all are summed before some are left out.
    pub(crate) const fn rows(&self, limit: usize) -> usize {
        match self {
            Self::One(_) => limit,
            Self::Family(_) => usize::MAX,
        }
    }
}

impl RecordingSource {
    fn alone(recording: Recording) -> Self {
        Self { recording, family: None, files: Vec::new() }
    }

    /// The recordings that a page shows: of a family all processes together, then each alone. What has no name is
    /// there only as long as the rest.
    pub(crate) fn shown(self) -> Result<(Vec<Recording>, impl Sized), Failure> {
        let members = self.family.as_ref().filter(|_| self.is_merged()).map(Family::active);
        let (whole, files) = self.take();
        let mut recordings = vec![whole];
        for member in members.unwrap_or_default() {
            recordings.push(Recording::open(&member)?);
        }
        Ok((recordings, files))
    }

    /// The recording, for those who keep it. What has no name is there only as long as the rest.
    pub(crate) fn take(self) -> (Recording, impl Sized) {
        (self.recording, self.files)
    }
}

impl Process {
    /// Whether one is named.
    pub(crate) const fn is_named(self) -> bool {
        self.process.is_some()
    }

    /// Opens a recording or a trace; of a family all that did something, or one process.
    pub(crate) fn open(self, path: &Path) -> Result<RecordingSource, Failure> {
        self.open_named(path, ProcessNames::Labels)
    }

    /// The same, with processes called so.
    pub(crate) fn open_named(
        self,
        path: &Path,
        names: ProcessNames,
    ) -> Result<RecordingSource, Failure> {
        let Some(family) = Family::open(path)? else {
            let recording = Recording::open(path)?;
            self.check(&recording)?;
            successor::note(&recording);
            return Ok(RecordingSource::alone(recording));
        };
        let chosen = |member: &&Member| self.process.is_none_or(|pid| member.pid() == Some(pid));
        let members: Vec<&Member> = family.members.iter().filter(chosen).collect();
        if let (Some(pid), []) = (self.process, members.as_slice()) {
            return Err(no_process(&family, pid));
        }
        let active: Vec<&Member> = members.iter().filter(|m| !m.did_nothing()).copied().collect();
        let shown = if active.is_empty() { &members[..1] } else { &active[..] };
        let mut opened = match shown {
            [only] => RecordingSource::alone(Recording::open(&path.join(&only.name))?),
            several => {
                let (recording, files) = merged::merged(path, several, names)?;
                RecordingSource { recording, family: None, files }
            }
        };
        if self.process.is_none() && family.members.len() > 1 {
            opened.family = Some(family);
        }
        Ok(opened)
    }

    /// The paths of the recordings of all processes that did something or cannot be read, each by itself.
    pub(crate) fn each(self, path: &Path) -> Result<Vec<PathBuf>, Failure> {
        let Some(family) = Family::open(path)? else {
            self.check(&Recording::open(path)?)?;
            return Ok(vec![path.to_path_buf()]);
        };
        let asked = |member: &&Member| self.process.is_none_or(|pid| member.pid() == Some(pid));
        let members: Vec<&Member> = family.members.iter().filter(asked).collect();
        if let (Some(pid), []) = (self.process, members.as_slice()) {
            return Err(no_process(&family, pid));
        }
        let active = members.iter().filter(|member| !member.did_nothing());
        Ok(active.map(|member| path.join(&member.name)).collect())
    }

    /// The path of the one recording that a command is about: of a family, the only one that has what it
    /// needs, or that of the process.
    pub(crate) fn one(self, path: &Path, need: Need) -> Result<PathBuf, Failure> {
        let mut fitting = self.all(path, need)?;
        let number = fitting.len();
        match (fitting.pop(), self.process) {
            (Some(only), _) if number == 1 => Ok(only),
            (last, Some(pid)) => {
                fitting.extend(last);
                let names: Vec<String> =
                    fitting.iter().map(|path| shell_quote::path(path)).collect();
                let message =
                    format_args!("process {pid} was several programs with {}", need.text());
                Err(Failure::new(Kind::Usage, message)
                    .hint(format_args!("name one of {}", names.join(", "))))
            }
            (_, None) => {
                let family = Family::open(path)?;
                let members = family.iter().flat_map(|family| &family.members);
                let members = members.filter(|member| need.is_met_by(path, member));
                let path = path.display();
                let message = format_args!("{number} processes in {path} have {}", need.text());
                Err(Failure::new(Kind::Usage, message)
                    .hint(format_args!("choose one: {}", list(members))))
            }
        }
    }

    /// The processes of a family that are meant together: all that have what a command needs, unless one is named or
    /// there is one only.
    pub(crate) fn several(
        self,
        path: &Path,
        need: Need,
    ) -> Result<Option<Vec<FamilyMember>>, Failure> {
        if self.is_named() {
            return Ok(None);
        }
        let Some(family) = Family::open(path)? else { return Ok(None) };
        let members = family.members.iter().filter(|member| need.is_met_by(path, member));
        let fitting: Vec<FamilyMember> =
            members.map(|member| FamilyMember::new(&family, member, need)).collect();
        Ok((fitting.len() > 1).then_some(fitting))
    }

    /// The processes that a question is about: several of a family together, unless one is named.
    pub(crate) fn subject(self, path: &Path, need: Need) -> Result<Subject, Failure> {
        match self.several(path, need)? {
            Some(several) => Ok(Subject::Family(several)),
            None => Ok(Subject::One(self.one(path, need)?)),
        }
    }

    /// The paths of all recordings that have what a command needs; at least one.
    pub(crate) fn all(self, path: &Path, need: Need) -> Result<Vec<PathBuf>, Failure> {
        let Some(family) = Family::open(path)? else {
            if self.process.is_some() {
                self.check(&Recording::open(path)?)?;
            }
            successor::note_of(path);
            return Ok(vec![path.to_path_buf()]);
        };
        let asked = |member: &&Member| self.process.is_none_or(|pid| member.pid() == Some(pid));
        let members: Vec<&Member> = family.members.iter().filter(asked).collect();
        let fitting = members.iter().filter(|member| need.is_met_by(path, member));
        let fitting: Vec<PathBuf> = fitting.map(|member| path.join(&member.name)).collect();
        match self.process {
            _ if !fitting.is_empty() => Ok(fitting),
            Some(pid) if members.is_empty() => Err(no_process(&family, pid)),
            Some(pid) => {
                let message = format_args!("process {pid} has no {}", need.text());
                Err(Failure::new(Kind::Input, message))
            }
            None => {
                let message = format!("no process in {} has {}", path.display(), need.text());
                Err(Failure::new(Kind::Input, message))
            }
        }
    }

    /// A recording that is no family has one process.
    fn check(self, recording: &Recording) -> Result<(), Failure> {
        let known = recording.description.as_ref().map(|description| description.pid);
        match (self.process, known) {
            (Some(asked), Some(pid)) if asked != pid => {
                let path = recording.path.display();
                Err(Failure::new(
                    Kind::Usage,
                    format_args!("{path} is of process {pid}, not {asked}"),
                ))
            }
            _ => Ok(()),
        }
    }
}

fn no_process(family: &Family, pid: u32) -> Failure {
    let path = family.path.display();
    Failure::new(Kind::Usage, format_args!("no process {pid} in {path}"))
        .hint(format_args!("there is {}", list(family.members.iter())))
}

/// `--process 4711 (coqc), --process 4712 (make), …`
fn list<'a>(members: impl Iterator<Item = &'a Member>) -> String {
    let known = members.filter_map(|member| Some((member.pid()?, member.program())));
    let mut named: Vec<String> =
        known.map(|(pid, program)| format!("--process {pid} ({program})")).collect();
    if named.len() > NAMED {
        named.truncate(NAMED);
        named.push("…".to_owned());
    }
    named.join(", ")
}
