//! What is watched: a process, or a family with all its processes, to which more may come.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use memtrail_engine::{Engine, RecordingId};
use memtrail_recording::Recording;
use memtrail_recording::family::{Family, Member};

use super::family::FamilyFigures;
use super::figures::{Figures, Wanted};
use super::subject::Subject;
use super::watched_process::{Process, begin, look_at, times};
use crate::error::Failure;
use crate::recording_facts;

/// All that is watched.
pub(super) struct Watched {
    target: Target,
    processes: Vec<Process>,
    /// The sums of a family.
    family: Option<FamilyFigures>,
    /// The process of a family that is shown alone, by itself.
    opened: Option<(usize, Figures)>,
}

/// What the user named.
enum Target {
    Process(Option<Box<Subject>>),
    Family { path: PathBuf, known: HashSet<String> },
}

/// What is shown of it.
#[derive(Clone, Copy)]
pub(super) struct Shown<'w> {
    pub(super) figures: &'w Figures,
    /// The family, if all of it is shown.
    pub(super) family: Option<&'w FamilyFigures>,
}

impl Watched {
    /// What a path or a number names. Nothing of it is read yet. In an empty folder a family may be about to begin.
    pub(super) fn find(named: &Path) -> Result<Self, Failure> {
        let target = if is_empty(named) || Family::open(named)?.is_some() {
            Target::Family { path: named.to_path_buf(), known: HashSet::new() }
        } else {
            Target::Process(Some(Box::new(Subject::find(named)?)))
        };
        Ok(Self { target, processes: Vec::new(), family: None, opened: None })
    }

    /// Whether it is a family.
    pub(super) fn is_family(&self) -> bool {
        self.family_folder().is_some()
    }

    /// The folder, if it is a family.
    pub(super) fn family_folder(&self) -> Option<&Path> {
        match &self.target {
            Target::Family { path, .. } => Some(path),
            Target::Process(_) => None,
        }
    }

    /// Whether more may come.
    pub(super) fn may_grow(&self) -> bool {
        match &self.target {
            Target::Process(subject) => {
                subject.as_ref().is_some_and(|subject| recording_facts::grows(&subject.recording))
            }
            Target::Family { .. } => true,
        }
    }

    /// Its processes.
    pub(super) fn processes(&self) -> &[Process] {
        &self.processes
    }

    /// Asks for figures anew; `add` brings in recordings that are not known yet. Of a family, the process with this
    /// number is looked at by itself.
    pub(super) fn look(
        &mut self,
        engine: &Engine,
        wanted: Wanted,
        opened: Option<usize>,
        mut add: impl FnMut(&Recording) -> Result<RecordingId, Failure>,
    ) -> Result<(), Failure> {
        let (path, known) = match &mut self.target {
            Target::Process(subject) => {
                if let Some(subject) = subject.take() {
                    let id = add(&subject.recording)?;
                    let figures = Figures::new(engine, id, &subject, wanted, None, None)?;
                    self.processes.push(Process {
                        name: String::new(),
                        subject: *subject,
                        id,
                        generation: 0,
                        freed: None,
                        figures,
                        settled: None,
                    });
                } else if let [process] = self.processes.as_mut_slice() {
                    let Process { id, subject, figures, .. } = process;
                    *figures = Figures::new(engine, *id, subject, wanted, None, Some(figures))?;
                }
                return Ok(());
            }
            Target::Family { path, known } => (path, known),
        };
        let (mut without_samples, mut problems) = (0, Vec::new());
        match Family::open(path) {
            Ok(Some(family)) => {
                for member in family.members {
                    if known.contains(&member.name) {
                        update(&mut self.processes, member);
                    } else if member.did_nothing() {
                        without_samples += 1;
                    } else if let Some(problem) = problem_of(&member) {
                        problems.push(problem);
                    } else if let Ok(recording) = &member.recording {
                        match add(recording) {
                            Ok(id) => {
                                known.insert(member.name.clone());
                                self.processes.push(begin(engine, id, member, wanted)?);
                            }
                            Err(failure) => {
                                problems.push(format!("{}: {}", member.name, failure.message()));
                            }
                        }
                    }
                }
            }
            Ok(None) => problems.push("no process has begun its recording yet".to_owned()),
            Err(error) => problems.push(error.to_string()),
        }
        let times = times(&self.processes);
        for process in &mut self.processes {
            look_at(engine, process, wanted, times)?;
        }
        let family = path.to_string_lossy().into_owned();
        let figures = FamilyFigures::new(family, &self.processes, [times.start, times.now], wanted);
        self.family = Some(FamilyFigures { without_samples, problems, ..figures });
        let last = self.opened.take();
        if let Some((number, process)) = opened.and_then(|n| Some((n, self.processes.get(n)?))) {
            let last = last.filter(|(of, _)| *of == number).map(|(_, figures)| figures);
            let Process { id, subject, .. } = process;
            let figures = Figures::new(engine, *id, subject, wanted, None, last.as_ref())?;
            self.opened = Some((number, figures));
        }
        Ok(())
    }

    /// What is shown, once it was looked at.
    pub(super) fn shown(&self, opened: Option<usize>) -> Option<Shown<'_>> {
        let of_opened = self.opened.as_ref().filter(|(number, _)| Some(*number) == opened);
        match (of_opened, &self.family) {
            (Some((_, figures)), _) => Some(Shown { figures, family: None }),
            (None, Some(family)) => Some(Shown { figures: &family.whole, family: Some(family) }),
            (None, None) => {
                let process = self.processes.first()?;
                Some(Shown { figures: &process.figures, family: None })
            }
        }
    }
}

/// Whether it is a folder with nothing in it.
fn is_empty(path: &Path) -> bool {
    fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

/// Why a recording cannot be watched.
fn problem_of(member: &Member) -> Option<String> {
    let name = &member.name;
    match &member.recording {
        Err(error) => Some(format!("{name}: {error}")),
        Ok(recording) if recording.description.is_none() => {
            let problem = recording.problem.as_deref().unwrap_or("it has no description");
            Some(format!("{name}: {problem}"))
        }
        Ok(_) => None,
    }
}

/// The recording of a known process as it is now.
fn update(processes: &mut [Process], member: Member) {
    let known = processes.iter_mut().find(|process| process.name == member.name);
    if let (Some(process), Ok(recording)) = (known, member.recording)
        && recording.description.is_some()
    {
        process.generation = member.generation;
        process.subject.recording = recording;
    }
}
