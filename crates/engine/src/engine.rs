//! Several recordings, and who may read and who may grow them.

use std::sync::{Arc, PoisonError, RwLock};

use memtrail_trace::Error;

use crate::about;
use crate::answer::Answer;
use crate::ask::Ask;
use crate::describe::Description;
use crate::recording::Recording;
use crate::refusal::{Refusal, Status};

/// A recording of an [`Engine`], numbered from 0 in the order of adding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RecordingId(pub u32);

/// Where an engine works. Asks for it are answered by [`about`](crate::ask::About).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Setting {
    /// Whether recordings may still grow, and events tell of it.
    pub live: bool,
    /// Whether it works inside a page that was opened from disk.
    pub offline: bool,
}

/// An answer's bytes, and how asking went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// How it went.
    pub status: Status,
    /// The answer, or the error, as a [slab](crate::answer).
    pub bytes: Vec<u8>,
}

/// What has come to a recording that grows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grown {
    /// Events there are now.
    pub events: u64,
    /// Seconds from its start to the last of them.
    pub end: f64,
}

/// Answers asks. Any number of threads may ask at a time; growing waits for those that ask of the
/// same recording.
#[derive(Debug, Default)]
pub struct Engine {
    setting: Setting,
    recordings: RwLock<Vec<Arc<RwLock<Recording>>>>,
}

impl Engine {
    /// No recordings yet.
    pub fn new(setting: Setting) -> Self {
        Self { setting, recordings: RwLock::default() }
    }

    /// Reads a trace that is there as a whole. `progress` is told the number of events so far,
    /// every million or so.
    ///
    /// # Errors
    /// If it is no trace.
    pub fn add(
        &self,
        trace: &[u8],
        description: Description,
        progress: impl FnMut(u64),
    ) -> Result<RecordingId, Error> {
        let recording = Recording::read(trace, description, progress)?;
        let mut recordings = self.recordings.write().unwrap_or_else(PoisonError::into_inner);
        recordings.push(Arc::new(RwLock::new(recording)));
        Ok(RecordingId(recordings.len() as u32 - 1))
    }

    /// Says anew what is known of a recording: that it ended, and how.
    pub fn describe(&self, id: RecordingId, description: Description) {
        if let Some(recording) = self.recording(id) {
            recording.write().unwrap_or_else(PoisonError::into_inner).description = description;
        }
    }

    /// Answers an ask, whatever it is.
    pub fn ask(&self, ask: &[u8]) -> Reply {
        match Ask::parse(ask).and_then(|ask| self.answer(&ask)) {
            Ok(answer) => Reply { status: Status::Answered, bytes: answer.encode() },
            Err(refusal) => Reply { status: refusal.status, bytes: refusal.answer().encode() },
        }
    }

    /// Answers an ask that has been read.
    ///
    /// # Errors
    /// If it makes no sense, or is about a recording that does not exist.
    pub fn answer(&self, ask: &Ask) -> Result<Answer, Refusal> {
        match ask {
            Ask::About(_) => Ok(self.about()),
        }
    }

    fn about(&self) -> Answer {
        let recordings = self.recordings.read().unwrap_or_else(PoisonError::into_inner).clone();
        let each = recordings.iter().map(|recording| {
            about::recording(&recording.read().unwrap_or_else(PoisonError::into_inner))
        });
        about::answer(self.setting, &each.collect::<Vec<_>>())
    }

    fn recording(&self, id: RecordingId) -> Option<Arc<RwLock<Recording>>> {
        let recordings = self.recordings.read().unwrap_or_else(PoisonError::into_inner);
        recordings.get(id.0 as usize).cloned()
    }
}
