//! How a command fails: a message with the data in it, a hint, and an exit code from one table.
//!
//! | code | meaning |
//! |---|---|
//! | 0 | done |
//! | 1 | something went wrong while working |
//! | 2 | the command line is wrong |
//! | 3 | an input file is missing, damaged or no trace |
//! | 4 | `check`: a gate failed |
//! | 5 | `check`: the program failed |
//! | 6 | `check`: a gate could not be judged |
//! | 125 | `run --require-recording`: the program cannot be, or was not, recorded |
//! | 126, 127 | `run`: the program cannot be executed, does not exist (as shells say) |
//!
//! `run` otherwise ends exactly as the program did.

use std::fmt;
use std::path::Path;
use std::process::ExitCode;

use memtrail_recording::family::Family;

/// The exit code of `check` if a gate failed.
pub(crate) const GATE_FAILED: u8 = 4;
/// The exit code of `check` if the program failed.
pub(crate) const PROGRAM_FAILED: u8 = 5;
/// The exit code of `check` if a gate could not be judged.
pub(crate) const UNJUDGED: u8 = 6;

/// Why a command ends early.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    kind: Kind,
    message: String,
    hint: Option<String>,
    is_absent: bool,
}

/// The row of the table of exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Something went wrong while working.
    Work,
    /// The command line is wrong in a way that the parser cannot see.
    Usage,
    /// An input file is missing, damaged or no trace.
    Input,
    /// There is nothing to judge a program by.
    Unjudged,
    /// The program is not recorded, and was to be.
    Launch,
    /// The program cannot be executed.
    NotExecutable,
    /// The program does not exist.
    NotFound,
    /// Whoever reads our output has gone: no message, no failure.
    BrokenPipe,
}

impl Failure {
    /// A failure with a lowercase fragment that says what happened.
    pub(crate) fn new(kind: Kind, message: impl fmt::Display) -> Self {
        Self { kind, message: message.to_string(), hint: None, is_absent: false }
    }

    /// Adds what the user can do about it.
    pub(crate) fn hint(mut self, hint: impl fmt::Display) -> Self {
        self.hint = Some(hint.to_string());
        self
    }

    /// A file or folder that the system does not give. Says who may, if it is forbidden.
    pub(crate) fn unreadable(path: &Path, error: &std::io::Error) -> Self {
        let message = format_args!("cannot read {}: {error}", path.display());
        Self::new(Kind::Input, message).forbidden(path, error)
    }

    /// The hint of a file that may not be read: other hints are about files that are not there.
    fn forbidden(self, path: &Path, error: &std::io::Error) -> Self {
        if error.kind() != std::io::ErrorKind::PermissionDenied {
            return self;
        }
        self.hint(format_args!(
            "`namei -l {}` shows who may read it",
            crate::shell_quote::path(path)
        ))
    }

    /// Adds a hint, if there is none yet.
    pub(crate) fn or_hint(self, hint: impl fmt::Display) -> Self {
        if self.hint.is_some() { self } else { self.hint(hint) }
    }

    /// Marks it as one about a name that does not occur in what was looked at, and may in another process of a family.
    pub(crate) const fn absent(mut self) -> Self {
        self.is_absent = true;
        self
    }

    /// Whether it is only that a name does not occur.
    pub(crate) const fn is_absent(&self) -> bool {
        self.is_absent
    }

    /// What kind it is.
    pub(crate) const fn kind(&self) -> Kind {
        self.kind
    }

    /// Sets its kind.
    pub(crate) fn of_kind(self, kind: Kind) -> Self {
        Self { kind, ..self }
    }

    /// What happened.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// The hint, if there is one.
    pub(crate) fn hint_text(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Prints the failure on stderr and gives its exit code.
    pub(crate) fn report(&self) -> ExitCode {
        if self.kind != Kind::BrokenPipe {
            message!("memtrail: {}", self.message);
            if let Some(hint) = &self.hint {
                message!("hint: {}", hint);
            }
        }
        self.exit_code()
    }

    /// The exit code of a command that fails this way.
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self.kind {
            Kind::BrokenPipe => 0,
            Kind::Work => 1,
            Kind::Usage => 2,
            Kind::Input => 3,
            Kind::Unjudged => UNJUDGED,
            Kind::Launch => 125,
            Kind::NotExecutable => 126,
            Kind::NotFound => 127,
        })
    }
}

/// Output errors; all other errors say themselves what kind they are.
impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::new(Kind::BrokenPipe, "broken pipe"),
            _ => Self::new(Kind::Work, format_args!("cannot write output: {error}")),
        }
    }
}

impl From<memtrail_recording::Error> for Failure {
    fn from(error: memtrail_recording::Error) -> Self {
        let hint = match &error {
            memtrail_recording::Error::TooNew { .. } => "read it with a newer memtrail",
            memtrail_recording::Error::NotARecording { path }
                if matches!(Family::open(path), Ok(Some(_))) =>
            {
                "it holds the recordings of several processes: name one of them"
            }
            memtrail_recording::Error::NotARecording { .. } => {
                "name a folder that `memtrail run` made, or a .ctf file"
            }
            _ => "`memtrail run -- PROGRAM` makes a recording and prints its name",
        };
        let failure = Self::new(Kind::Input, &error);
        match &error {
            memtrail_recording::Error::Io { path, source, .. } => failure.forbidden(path, source),
            _ => failure,
        }
        .or_hint(hint)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};

    use super::*;

    /// It had the hint of a file that is not there.
    #[test]
    fn a_file_that_may_not_be_read_has_its_own_hint() {
        let path = Path::new("/srv/a b.ctf");
        let hint = |kind: ErrorKind| {
            let failure = Failure::unreadable(path, &Error::from(kind)).or_hint("name a recording");
            failure.hint_text().map(str::to_owned)
        };
        let who = "`namei -l '/srv/a b.ctf'` shows who may read it";
        assert_eq!(hint(ErrorKind::PermissionDenied).as_deref(), Some(who));
        assert_eq!(hint(ErrorKind::NotFound).as_deref(), Some("name a recording"));
        let of_folder = memtrail_recording::Error::Io {
            action: "open",
            path: path.into(),
            source: ErrorKind::PermissionDenied.into(),
        };
        assert_eq!(Failure::from(of_folder).hint_text(), Some(who));
    }
}
