//! What answers of families say of each process.

use serde::Serialize;

use crate::recording_source::Fitting;

/// A process of a family.
#[derive(Serialize)]
pub(super) struct Process {
    /// The folder of its recording.
    pub(super) recording: String,
    pid: Option<u32>,
    program: Option<String>,
    generation: u32,
    #[serde(skip)]
    pub(super) name: String,
    #[serde(skip)]
    pub(super) is_fork: bool,
}

impl From<&Fitting> for Process {
    fn from(member: &Fitting) -> Self {
        Self {
            recording: member.path.display().to_string(),
            pid: member.pid,
            program: member.program.clone(),
            generation: member.generation,
            name: member.name(),
            is_fork: member.is_fork,
        }
    }
}

impl Process {
    /// What its program is called.
    pub(super) fn program_name(&self) -> &str {
        let program = self.program.as_deref().unwrap_or("(unknown)");
        program.rsplit('/').next().unwrap_or(program)
    }

    /// What is said behind its name.
    pub(super) const fn note(&self) -> &'static str {
        if self.is_fork { " (fork)" } else { "" }
    }
}
