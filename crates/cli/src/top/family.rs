//! The processes of a family, each by itself and all together.

use memtrail_engine::describe::State;
use memtrail_engine::heap::{OwnerChanges, SnapshotRow};
use memtrail_engine::{LiveFigures, LiveSites};
use memtrail_order::SortRows as _;
use memtrail_profile::estimate::Estimate;
use memtrail_text::rounded::grouped;
use serde::Serialize;

use super::figures::{Figures, Wanted, without_snapshots};
use super::process::ProcessFigures;
use super::watched_process::Process;

/// All that is shown of a family. This is what `--json` prints.
#[derive(Clone, Debug, Serialize)]
pub(super) struct FamilyFigures {
    /// The folder.
    pub(super) family: String,
    /// Sums over all processes. Times are since the first of them began.
    pub(super) whole: Figures,
    /// In the order in which they began.
    pub(super) processes: Vec<ProcessRow>,
    /// How many processes have neither a sample nor a snapshot, and are not among them.
    pub(super) without_samples: usize,
    /// Recordings that cannot be read, and why.
    pub(super) problems: Vec<String>,
}

/// A process of it, or one of the programs that a process was.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ProcessRow {
    /// The name of its recording's folder.
    pub(super) recording: String,
    pub(super) pid: Option<u32>,
    pub(super) program: String,
    /// Recorded processes above it.
    pub(super) generation: u32,
    pub(super) running: bool,
    /// How it is, in words.
    pub(super) status: String,
    /// When it began, in seconds since the first of them did.
    pub(super) began: f64,
    /// What is live of it; nothing once it has ended.
    #[serde(flatten)]
    pub(super) figures: LiveFigures,
    /// What it allocated in a second of the window, in bytes.
    pub(super) allocated_per_second: f64,
    /// What it allocated since its beginning, in bytes.
    pub(super) total: Estimate,
    /// Its resident memory.
    pub(super) rss: Option<u64>,
}

impl ProcessRow {
    fn new(process: &Process, start: f64) -> Self {
        let Process { subject, figures, .. } = process;
        Self {
            recording: process.name.clone(),
            pid: subject.pid,
            program: figures.program().to_owned(),
            generation: process.generation,
            running: subject.is_running(),
            status: figures.status(),
            began: process.began_since(start),
            figures: figures.live.all,
            allocated_per_second: figures.per_second(figures.live.all.allocated.value),
            total: figures.live.total,
            rss: figures.process.and_then(|process| process.rss),
        }
    }
}

impl FamilyFigures {
    /// The sums over processes. `start` and `now` are the family's, in seconds since 1970.
    pub(super) fn new(
        family: String,
        processes: &[Process],
        [start, now]: [f64; 2],
        wanted: Wanted,
    ) -> Self {
        let rows = processes.iter().map(|process| ProcessRow::new(process, start)).collect();
        let whole = whole(&family, processes, [start, now], wanted);
        Self { family, whole, processes: rows, without_samples: 0, problems: Vec::new() }
    }

    /// How it is.
    pub(super) fn status(&self) -> String {
        let all = self.processes.len() + self.without_samples;
        let runs = self.processes.iter().filter(|process| process.running).count();
        format!("{} of {} processes running", grouped(runs as u64), grouped(all as u64))
    }

    /// What is said of processes that are not in the table.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> =
            self.problems.iter().map(|problem| format!("note: {problem}")).collect();
        if self.without_samples > 0 {
            notes.push(format!("{} more without samples", grouped(self.without_samples as u64)));
        }
        notes
    }
}

fn whole(family: &str, processes: &[Process], [start, now]: [f64; 2], wanted: Wanted) -> Figures {
    let parts = processes.iter().map(|process| &process.figures.live);
    let mut live =
        LiveSites::sum(family.to_owned(), now - start, wanted.window.as_secs_f64(), parts);
    let is_running = processes.iter().any(|process| process.subject.is_running());
    live.state = if is_running { State::Growing } else { State::Ended };
    // What has ended owns nothing any more.
    let owning: Vec<&Process> =
        processes.iter().filter(|process| process.freed.is_none()).collect();
    let owners = owning
        .iter()
        .filter_map(|process| Some((process.began_since(start), process.figures.owners.as_ref()?)));
    let owners = OwnerChanges::sum(owners);
    let snapshots = snapshots(processes, start);
    let is_native =
        !processes.is_empty() && processes.iter().all(|process| process.figures.is_native);
    let references = processes.iter().filter_map(|process| process.figures.references).max();
    let no_owners = if snapshots.is_empty() {
        Some(without_snapshots(is_native).to_owned())
    } else {
        let with = owning.iter().filter(|process| !process.figures.snapshots.is_empty());
        let why = with.filter_map(|process| {
            Some(format!("{}: {}", process.name, process.figures.no_owners.as_ref()?))
        });
        Some(why.collect::<Vec<_>>().join("; ")).filter(|why| !why.is_empty())
    };
    let can_snapshot = owning.iter().any(|process| process.can_snapshot());
    let last = processes.iter().rev().find_map(|process| process.figures.no_snapshot.clone());
    let system = processes.iter().filter_map(|process| process.figures.process);
    Figures {
        recording: family.to_owned(),
        pid: None,
        process: ProcessFigures::sum(system),
        live,
        owners,
        no_owners,
        snapshots,
        no_snapshot: last.filter(|_| !can_snapshot),
        is_native,
        references,
    }
}

/// Those of all processes, on the clock of the family, with what the process is called.
fn snapshots(processes: &[Process], start: f64) -> Vec<SnapshotRow> {
    let of_process = |process: &Process| {
        let (name, began) = (process.name.clone(), process.began_since(start));
        let rows = process.figures.snapshots.clone().into_iter();
        rows.map(move |row| {
            let label = row.label.map_or_else(|| name.clone(), |label| format!("{name}: {label}"));
            SnapshotRow { at: row.at.map(|at| at + began), label: Some(label), ..row }
        })
    };
    let mut rows: Vec<SnapshotRow> = processes.iter().flat_map(of_process).collect();
    rows.sort_rows_by(|a, b| a.at.unwrap_or(0.0).total_cmp(&b.at.unwrap_or(0.0)));
    rows
}
