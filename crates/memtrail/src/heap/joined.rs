//! A snapshot together with the trace of its recording, in an engine: what both halves say of the
//! same blocks.

use std::path::PathBuf;

use memtrail_engine::query::Query;
use memtrail_engine::{Engine, RecordingId, Setting};
use memtrail_profile::Caveats;
use memtrail_recording::Recording;
use serde_json::{Map, Value, json};

use super::input::{choose, none, number_of, with_spinner};
use crate::caveats;
use crate::damage;
use crate::error::{Failure, Kind};
use crate::loading;
use crate::view::snapshot_file;

/// Which snapshot of which recording.
#[derive(clap::Args)]
pub(super) struct WhichRecording {
    /// A recording with heap snapshots (NAME.memtrail)
    #[arg(value_name = "REC")]
    path: PathBuf,
    /// The snapshot with this number, or the last with this label (Memtrail.dump), instead of the last
    #[arg(long, value_name = "N|LABEL")]
    snapshot: Option<String>,
}

/// Trace and snapshot, opened.
pub(crate) struct Joined {
    recording: Recording,
    engine: Engine,
    id: RecordingId,
    snapshot: u64,
    path: PathBuf,
}

impl WhichRecording {
    pub(super) fn open(&self) -> Result<Joined, Failure> {
        Joined::open(Recording::open(&self.path)?, self.snapshot.as_deref())
    }
}

impl Joined {
    /// Opens the snapshot with this number or label, or the last.
    pub(crate) fn open(recording: Recording, wanted: Option<&str>) -> Result<Self, Failure> {
        if loading::is_snapshot_alone(&recording) {
            let path = recording.path.display();
            return Err(Failure::new(Kind::Usage, format_args!("{path} is a snapshot alone"))
                .hint("name the recording that it is in: what allocated blocks is in its trace"));
        }
        let path = choose(&recording.path, wanted)?;
        let number = number_of(&path).ok_or_else(|| none(&recording.path))?;
        let engine = Engine::new(Setting::default());
        let id = loading::add(&engine, &recording)?;
        let (facts, file) = snapshot_file::look(&path, Some(number));
        engine.add_snapshot(id, facts, Some(file));
        Ok(Self { snapshot: number, path, recording, engine, id })
    }

    /// Asks the engine; fields of the ask are added to those that say which snapshot is meant.
    pub(crate) fn ask(&self, mut ask: Value) -> Result<Map<String, Value>, Failure> {
        ask["rec"] = json!(self.id.0);
        ask["snapshot"] = json!(self.snapshot);
        let ask = Query::parse(ask.to_string().as_bytes()).map_err(|e| loading::refused(&e))?;
        with_spinner(format!("analysing snapshot {}", self.snapshot), || {
            loop {
                let answer = self.engine.answer(&ask).map_err(|e| loading::refused(&e))?;
                // Until it is analysed, the answer is that it has to be.
                if !answer.header().contains_key("analysing") || self.engine.work().is_none() {
                    return Ok(answer.header().clone());
                }
            }
        })
    }

    /// Asks for rows until there are as many as wanted, or all: one answer is of bounded size.
    pub(super) fn rows(&self, mut ask: Value, limit: usize) -> Result<Map<String, Value>, Failure> {
        let mut all: Vec<Value> = Vec::new();
        loop {
            ask["offset"] = json!(all.len());
            ask["limit"] = json!(limit - all.len());
            let mut answer = self.ask(ask.clone())?;
            let Some(Value::Array(some)) = answer.get_mut("rows").map(Value::take) else {
                return Ok(answer);
            };
            let none_left = some.is_empty();
            all.extend(some);
            if none_left || all.len() >= limit || answer["count"] == json!(all.len()) {
                answer["rows"] = json!(all);
                return Ok(answer);
            }
        }
    }

    /// What must be known of how many blocks were sampled.
    pub(super) fn caveats(&self) -> Caveats {
        caveats::reported(&self.recording).of_allocation()
    }

    /// What is wrong with the snapshot, if an answer is about a part of it.
    pub(super) fn damage(&self, answer: &Map<String, Value>) -> Option<String> {
        Some(format!("{} is damaged {}", self.path.display(), answer.get("partial")?.as_str()?))
    }

    /// How it ends: damage of the trace is told.
    pub(super) fn verdict(&self) -> Result<std::process::ExitCode, Failure> {
        damage::verdict(&self.recording, &self.engine.damage(self.id).unwrap_or_default())
    }
}
