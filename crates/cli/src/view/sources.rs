//! What a page shows: an engine with recordings, their events, and who works for it.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use memtrail_engine::{ApiError, Engine, RecordingId, Setting, SnapshotFacts};
use memtrail_recording::{REQUEST_FILE, Recording};
use memtrail_server::{RecordingEvents, SnapshotTrigger};

use super::follow::follow;
use crate::error::{Failure, Kind};
use crate::recording_facts;
use crate::snapshot_file::{MemoryArgs, SnapshotFiles};
use crate::{loading, snapshot};

/// Recordings that are shown.
#[derive(Clone, Debug)]
pub(crate) struct Sources {
    pub(crate) engine: Arc<Engine>,
    pub(crate) recording_events: RecordingEvents,
    folders: Arc<Folders>,
    memory: MemoryArgs,
}

/// The folders of recordings whose programs may be asked for snapshots.
#[derive(Debug, Default)]
struct Folders(Mutex<HashMap<RecordingId, PathBuf>>);

impl Sources {
    /// None yet. `live`: whether any may still grow.
    pub(crate) fn new(live: bool, memory: MemoryArgs) -> Self {
        let engine = Arc::new(Engine::new(Setting { live, offline: false }));
        let recording_events = RecordingEvents::default();
        let sources = Self { engine, recording_events, folders: Arc::default(), memory };
        let (engine, recording_events) =
            (Arc::clone(&sources.engine), sources.recording_events.clone());
        // Without this thread snapshots are listed and never analysed, which the page then shows.
        let worker = std::thread::Builder::new().name("analyse".into());
        let _ = worker.spawn(move || analyse(&engine, &recording_events));
        sources
    }

    /// Reads a recording, or a heap snapshot alone, and goes on reading what still grows.
    pub(crate) fn add(&self, recording: Recording) -> Result<RecordingId, Failure> {
        if recording_facts::is_snapshot_alone(&recording) {
            return self.add_snapshot_alone(&recording.path);
        }
        let folder = recording.path.clone();
        let id = follow(&self.engine, &self.recording_events, recording, self.memory)?;
        let mut folders = self.folders.0.lock().unwrap_or_else(PoisonError::into_inner);
        folders.insert(id, folder);
        Ok(id)
    }

    fn add_snapshot_alone(&self, path: &Path) -> Result<RecordingId, Failure> {
        let (facts, file) = SnapshotFiles::alone(self.memory).open(path, None);
        if let SnapshotFacts { blocks: 0, damage: Some(damage), .. } = &facts {
            let message = format_args!("cannot read {}: {damage}", path.display());
            return Err(Failure::new(Kind::Input, message));
        }
        let id = self.engine.add_without_trace(loading::describe_snapshot(path, &facts));
        self.engine.add_snapshot(id, facts, Some(file));
        Ok(id)
    }

    /// Who asks programs for snapshots.
    pub(super) fn trigger(&self) -> Arc<dyn SnapshotTrigger> {
        Arc::clone(&self.folders) as Arc<dyn SnapshotTrigger>
    }
}

/// Analyses what somebody asks for, for ever.
fn analyse(engine: &Engine, recording_events: &RecordingEvents) {
    let mut count = 0;
    loop {
        // A snapshot that makes the analysis panic is passed over from then on.
        match catch_unwind(AssertUnwindSafe(|| engine.work())) {
            Ok(Some((recording, done))) => recording_events.analysed(recording, done),
            Ok(None) => count = engine.wait_for_analysis(count),
            Err(_) => {}
        }
    }
}

impl SnapshotTrigger for Folders {
    fn take(&self, recording: RecordingId) -> Result<(), ApiError> {
        let folders = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = folders.get(&recording).ok_or_else(|| ApiError::bad("it has no folder"))?;
        snapshot::write_request(&folder.join(REQUEST_FILE)).map_err(ApiError::bad)
    }
}
