//! The snapshots of a recording: which there are, which are open, which are being analysed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use memtrail_heap::RootKind;
use memtrail_heap::query::{self, HeldByStored, Summary};

use super::file::{SnapshotFacts, SnapshotFile};
use super::loaded::{self, LoadedSnapshot};
use crate::api_error::ApiError;

/// Blocks of all open snapshots of a recording together, beyond which the one that was not used for
/// longest is closed. Each takes some 25 bytes, and ten more once its containers were asked for.
const MAX_BLOCKS: u64 = if cfg!(target_arch = "wasm32") { 12_000_000 } else { 60_000_000 };
/// So many stay open whatever their size: two, to be compared.
const MIN_OPEN: usize = 2;

/// The snapshots of a recording, by number.
#[derive(Debug, Default)]
pub(crate) struct SnapshotStore(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    entries: Vec<Entry>,
    /// Counts up with each use.
    clock: u64,
    /// Whether summaries of all are wanted.
    all: bool,
    /// Whether one is being analysed right now.
    busy: Option<u64>,
}

#[derive(Debug)]
struct Entry {
    facts: SnapshotFacts,
    /// Absent where an offline page has only the summary.
    file: Option<Arc<dyn SnapshotFile>>,
    summary: Option<Arc<Summary>>,
    /// Whether the file was asked for one.
    asked: bool,
    open: Option<Arc<LoadedSnapshot>>,
    failed: Option<ApiError>,
    used: u64,
    /// When it was asked for, since which nobody has opened it.
    wanted: Option<u64>,
}

/// A snapshot as far as it is known.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) facts: SnapshotFacts,
    pub(crate) summary: Option<Arc<Summary>>,
    pub(crate) included: bool,
    pub(crate) failed: Option<String>,
}

/// Names of variables for what summaries tell, from a snapshot that is open; otherwise fields have numbers.
#[derive(Debug, Default)]
pub(crate) struct VariableNames(Option<Arc<LoadedSnapshot>>);

impl VariableNames {
    /// These, or others where no snapshot is open that has these.
    pub(super) fn or(self, others: impl FnOnce() -> Self) -> Self {
        if self.0.is_some() { self } else { others() }
    }

    /// A variable's name, by that which a summary has.
    pub(super) fn name(&self, kind: &str, name: &str) -> Option<String> {
        self.0.as_ref()?.stored_names().get(&(kind.to_owned(), name.to_owned())).cloned()
    }

    /// Puts a variable's name in the place of that which a summary has. Kinds of blocks have no kind of root.
    pub(super) fn rename(&self, kind: Option<&String>, name: &mut String) {
        if let Some(known) = kind.and_then(|kind| self.name(kind, name)) {
            *name = known;
        }
    }
}

impl VariableNames {
    /// What variables hold whose names in summaries these are, where they have no other name. Of a damaged snapshot it is not
    /// known; what is wrong with it is said elsewhere.
    pub(super) fn held<'n>(
        &self,
        names: impl Iterator<Item = (Option<&'n String>, &'n String)>,
    ) -> HeldByStored {
        let Some(open) = &self.0 else { return HeldByStored::default() };
        let globals = names.filter(|(kind, _)| kind.is_some_and(|kind| kind == GLOBAL));
        let wanted = globals.map(|(_, name)| name.as_str()).collect();
        query::held_by_stored(open.heap(), &wanted).unwrap_or_default()
    }
}

/// The kind of root of global variables.
const GLOBAL: &str = RootKind::Global.name();

impl Known {
    /// What is wrong with it: figures are of a part of it, or there are none.
    pub(crate) fn damage(&self) -> Option<&String> {
        let of_summary = self.summary.as_ref().and_then(|summary| summary.damage.as_ref());
        self.failed.as_ref().or(of_summary).or(self.facts.damage.as_ref())
    }
}

/// A snapshot that is asked for.
#[derive(Debug)]
pub(crate) enum Wanted {
    Open(Arc<LoadedSnapshot>),
    /// It will be; this is its number.
    Analysing(u64),
}

/// What there is to do.
struct Job {
    facts: SnapshotFacts,
    file: Arc<dyn SnapshotFile>,
    /// Not only the summary.
    open: bool,
}

/// What has been done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// The snapshot's number.
    pub number: u64,
    /// How many have summaries now.
    pub ready: usize,
    /// Of how many.
    pub of: usize,
}

impl SnapshotStore {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a snapshot; says whether it is new.
    pub(crate) fn add(
        &self,
        mut facts: SnapshotFacts,
        file: Option<Arc<dyn SnapshotFile>>,
    ) -> bool {
        let mut state = self.lock();
        let place = state.entries.partition_point(|entry| entry.facts.number < facts.number);
        if state.entries.get(place).is_some_and(|entry| entry.facts.number == facts.number) {
            return false;
        }
        let summary = facts.summary.take().map(Arc::new);
        let entry = Entry {
            facts,
            file,
            asked: summary.is_some(),
            summary,
            open: None,
            failed: None,
            used: 0,
            wanted: None,
        };
        state.entries.insert(place, entry);
        true
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().entries.len()
    }

    /// All of them, in their order.
    pub(crate) fn list(&self) -> Vec<Known> {
        let mut state = self.lock();
        state.read_summaries();
        let known = state.entries.iter().map(|entry| Known {
            facts: entry.facts.clone(),
            summary: entry.summary.clone(),
            included: entry.file.is_some(),
            failed: entry.failed.as_ref().map(ToString::to_string),
        });
        known.collect()
    }

    /// The number of the last that can be opened.
    pub(crate) fn last(&self) -> Option<u64> {
        let state = self.lock();
        let last = state.entries.iter().rfind(|entry| entry.file.is_some());
        last.map(|entry| entry.facts.number)
    }

    /// The first of those whose summary is to come, after all were wanted.
    pub(crate) fn want_summaries(&self) -> Option<u64> {
        let mut state = self.lock();
        state.all = true;
        state.read_summaries();
        let missing = state.entries.iter().find(|entry| entry.lacks_summary());
        missing.map(|entry| entry.facts.number)
    }

    /// Closes one that was looked at and is not likely to be looked at again.
    pub(crate) fn close(&self, number: u64) {
        let mut state = self.lock();
        let mut entries = state.entries.iter_mut();
        if let Some(entry) = entries.find(|entry| entry.facts.number == number) {
            entry.open = None;
        }
    }

    /// That the summaries of all are wanted.
    pub(crate) fn want_all(&self) {
        self.lock().all = true;
    }

    /// Names of variables.
    pub(crate) fn names(&self) -> VariableNames {
        let state = self.lock();
        let open = state.entries.iter().filter_map(|entry| Some((entry.used, entry.open.clone()?)));
        let open = open.filter(|(_, open)| open.is_whole());
        VariableNames(open.max_by_key(|(used, _)| *used).map(|(_, open)| open))
    }

    /// The snapshot with a number, or the last one that is there.
    pub(crate) fn want(&self, number: Option<u64>) -> Result<Wanted, ApiError> {
        let mut state = self.lock();
        state.clock += 1;
        let clock = state.clock;
        let count = state.entries.len();
        let mut entries = state.entries.iter_mut();
        let entry = match number {
            Some(number) => entries.find(|entry| entry.facts.number == number),
            None => entries.rfind(|entry| entry.file.is_some()),
        };
        let Some(entry) = entry else {
            return Err(ApiError::unknown(match number {
                Some(number) => format!("no snapshot {number}, there are {count}"),
                None => "the recording has no heap snapshots".to_owned(),
            }));
        };
        entry.used = clock;
        if entry.open.as_ref().is_some_and(|open| !open.is_whole()) {
            // What is left of it is analysed anew, and is said to be a part.
            (entry.open, entry.summary) = (None, None);
        }
        if let Some(open) = &entry.open {
            return Ok(Wanted::Open(open.clone()));
        }
        if let Some(failed) = &entry.failed {
            return Err(failed.clone());
        }
        if entry.file.is_none() {
            let message = format_args!("snapshot {} is not in this file", entry.facts.number);
            return Err(ApiError::bad(message)
                .hint("only its summary is; `memtrail html --max-size` makes larger files"));
        }
        entry.wanted = Some(clock);
        Ok(Wanted::Analysing(entry.facts.number))
    }

    /// Does the most urgent work, if there is any that nobody does already; or only if somebody
    /// waits for it.
    pub(crate) fn work(&self, urgent: bool) -> Option<Done> {
        let job = {
            let mut state = self.lock();
            let job = state.job().filter(|job| job.open || !urgent)?;
            state.busy = Some(job.facts.number);
            job
        };
        let unfinished = Unfinished(self);
        let mut open = None;
        let summary = if job.open {
            LoadedSnapshot::new(&*job.file).and_then(|loaded| {
                let left = loaded::left_summary(&*job.file, &job.facts);
                let is_left = left.is_some();
                let summary = left.map_or_else(|| loaded.summary(), Ok)?;
                if !is_left {
                    loaded::leave_summary(&*job.file, &summary);
                }
                open = Some(Arc::new(loaded));
                Ok(summary)
            })
        } else {
            loaded::summary(&*job.file, &job.facts)
        };
        std::mem::forget(unfinished);
        let mut state = self.lock();
        state.busy = None;
        let clock = state.clock;
        if let Some(entry) = state.entries.iter_mut().find(|e| e.facts.number == job.facts.number) {
            match summary {
                Ok(summary) => entry.summary = Some(Arc::new(summary)),
                Err(api_error) => entry.failed = Some(api_error),
            }
            if open.is_some() {
                (entry.open, entry.used) = (open, clock);
            }
            if job.open {
                entry.wanted = None;
            }
        }
        state.close_some();
        let of = state.entries.len();
        let ready = state.entries.iter().filter(|entry| entry.summary.is_some()).count();
        Some(Done { number: job.facts.number, ready, of })
    }
}

/// If an analysis panics, its snapshot is one that cannot be read, and the others go on.
struct Unfinished<'a>(&'a SnapshotStore);

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        let number = state.busy.take();
        let mut entries = state.entries.iter_mut();
        if let Some(entry) = entries.find(|entry| Some(entry.facts.number) == number) {
            entry.wanted = None;
            entry.failed = Some(ApiError::bad("the analysis of the snapshot failed"));
        }
    }
}

impl State {
    /// What somebody waits for comes first, then summaries in their order.
    fn job(&self) -> Option<Job> {
        if self.busy.is_some() {
            return None;
        }
        let wanted = self.entries.iter().filter(|entry| entry.wanted.is_some());
        if let Some(entry) = wanted.max_by_key(|entry| entry.wanted) {
            let file = entry.file.clone()?;
            return Some(Job { facts: entry.facts.clone(), file, open: true });
        }
        let missing = self.entries.iter().find(|entry| entry.lacks_summary())?;
        let file = missing.file.clone()?;
        self.all.then(|| Job { facts: missing.facts.clone(), file, open: false })
    }

    /// Takes the summaries that earlier analyses have left.
    fn read_summaries(&mut self) {
        for entry in self.entries.iter_mut().filter(|entry| !entry.asked) {
            entry.asked = true;
            let left = |file: &Arc<dyn SnapshotFile>| loaded::left_summary(&**file, &entry.facts);
            if entry.summary.is_none() {
                entry.summary = entry.file.as_ref().and_then(left).map(Arc::new);
            }
        }
    }

    fn close_some(&mut self) {
        loop {
            let open = || self.entries.iter().filter(|entry| entry.open.is_some());
            let blocks: u64 = open().filter_map(|entry| Some(entry.open.as_ref()?.blocks())).sum();
            if open().count() <= MIN_OPEN || blocks <= MAX_BLOCKS {
                return;
            }
            let oldest = self.entries.iter_mut().filter(|entry| entry.open.is_some());
            if let Some(oldest) = oldest.min_by_key(|entry| entry.used) {
                oldest.open = None;
            }
        }
    }
}

impl Entry {
    fn lacks_summary(&self) -> bool {
        self.summary.is_none() && self.failed.is_none() && self.file.is_some()
    }
}
