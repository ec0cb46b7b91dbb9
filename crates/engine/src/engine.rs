//! Several recordings, and who may read and who may grow them.

mod leaks;

use std::collections::HashMap;
use std::sync::{
    Arc, Condvar, Mutex, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
};

use memtrail_heap::BlockIndex;
use memtrail_heap::graph::RootNodeId;
use memtrail_heap::query::{AllocatedBy, AllocatedPart, Catalogue, Heap, KindId, UntypedPlaces};
use memtrail_profile::processes::processes;
use memtrail_references::References;
use memtrail_trace::{Anomalies, Error, Naming};

use crate::api_error::{ApiError, Status};
use crate::compare::Side;
use crate::describe::Description;
use crate::difference::{self, Difference};
use crate::gate::{self, Evidence, Gate, GateResponse, Limit};
use crate::heap::allocated::Allocated;
use crate::heap::answer::{self, Recordings};
use crate::heap::file::{SnapshotFacts, SnapshotFile};
use crate::heap::outcome::is_analysing;
use crate::heap::snapshot_store::{Done, SnapshotStore};
use crate::heap::{
    BlockResponse, BlocksResponse, ChildrenResponse, OfSnapshot, Outcome, OwnerChanges,
    SamplesResponse, SnapshotsResponse, SurvivorsResponse, WhoResponse, WhyResponse,
};
use crate::leaks::{LeaksResponse, with_sites};
use crate::live_sites::{self, LiveSites, LiveSitesQuery};
use crate::query::{
    Compare, HeapBlock, HeapBlocks, HeapChildren, HeapLeaks, HeapSamples, HeapSurvivors, HeapWho,
    HeapWhy, ProfileQuery, Query,
};
use crate::recording::Recording;
use crate::response_body::ResponseBody;
use crate::setting::Setting;
use crate::source::SourceFiles;
use crate::{
    about, compare, export, filters, flame, measured, names, overview, source, table, time_order,
};

/// A recording of an [`Engine`], numbered from 0 in the order of adding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RecordingId(pub u32);

/// An answer's bytes, and how asking went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// How it went.
    pub status: Status,
    /// The answer, or the error, as a [slab](crate::response_body).
    pub bytes: Vec<u8>,
}

/// What has come to a recording that grows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grown {
    /// Allocations and collections there are now.
    pub events: u64,
    /// Seconds from its start to the last of them.
    pub end: f64,
}

/// Answers queries. Any number of threads may ask at a time; growing waits for those that ask of the
/// same recording.
#[derive(Debug, Default)]
pub struct Engine {
    setting: Setting,
    recordings: RwLock<Vec<Arc<RwLock<Recording>>>>,
    source_files: OnceLock<Arc<dyn SourceFiles>>,
    /// Leak suspects that were found in a process of a family, by its recording and snapshot.
    of_members: Mutex<HashMap<(u32, u64), LeaksResponse>>,
    /// Rung when there may be something to analyse; how often.
    changed: (Mutex<u64>, Condvar),
}

impl Engine {
    /// No recordings yet.
    pub fn new(setting: Setting) -> Self {
        Self { setting, ..Self::default() }
    }

    /// Says where source files are; only the first call does.
    pub fn set_source_files(&self, files: Arc<dyn SourceFiles>) {
        let _ = self.source_files.set(files);
    }

    /// The source files of a recording that are in call paths, as it calls them, those with most memory first.
    ///
    /// # Errors
    /// If there is no such recording.
    pub fn files_by_size(&self, id: RecordingId) -> Result<Vec<String>, ApiError> {
        self.look(id.0, source::files_by_size)?
    }

    /// Reads a trace that is there as a whole. `progress` is called with the number of events so far,
    /// every million or so.
    ///
    /// # Errors
    /// If it is no trace.
    pub fn add(
        &self,
        trace: &[u8],
        description: Description,
        progress: &mut dyn FnMut(u64),
    ) -> Result<RecordingId, Error> {
        Ok(self.push(Recording::read(trace, description, progress)?))
    }

    /// A recording that will [`grow`](Self::grow). Nothing of it is there yet. `naming` has names of functions that are not in
    /// the trace.
    pub fn add_growing(
        &self,
        description: Description,
        naming: Option<Arc<dyn Naming>>,
    ) -> RecordingId {
        self.push(Recording::growing(description, naming))
    }

    /// A recording that is heap snapshots alone.
    pub fn add_without_trace(&self, description: Description) -> RecordingId {
        self.push(Recording::without_trace(description))
    }

    /// Adds a heap snapshot to a recording; says whether it is new there. Without a file, there is
    /// what the facts say and nothing more.
    pub fn add_snapshot(
        &self,
        id: RecordingId,
        facts: SnapshotFacts,
        file: Option<Arc<dyn SnapshotFile>>,
    ) -> bool {
        let is_new = self.snapshots(id.0).is_ok_and(|snapshots| snapshots.add(facts, file));
        if is_new {
            self.notify();
        }
        is_new
    }

    /// Says what refers to a program's blocks from `malloc`, and of which snapshot that is, or why it is not known; only
    /// if it was looked for.
    pub fn set_references(&self, id: RecordingId, found: Result<(u64, References), String>) {
        if let Ok(recording) = self.get(id.0) {
            let mut recording = write(&recording);
            recording.snapshot_of_references = found.as_ref().ok().map(|(number, _)| *number);
            recording.references = Some(found.map(|(_, references)| references));
        }
    }

    /// Whether the program of a recording could be asked for a snapshot now.
    ///
    /// # Errors
    /// Why not.
    pub fn may_take_snapshot(&self, id: RecordingId) -> Result<(), ApiError> {
        match self.look(id.0, Recording::why_no_snapshot)? {
            None => Ok(()),
            Some(why) => Err(ApiError::bad(why)
                .hint("snapshots are taken of programs that run under memtrail run")),
        }
    }

    /// Analyses a snapshot that somebody has asked for, if there is one. Takes as long as that
    /// takes; queries are answered meanwhile.
    pub fn work(&self) -> Option<(RecordingId, Done)> {
        let recordings = self.recordings.read().unwrap_or_else(PoisonError::into_inner).clone();
        // What somebody waits for comes first, whichever recording it is of.
        [true, false].into_iter().find_map(|urgent| {
            (0..).zip(&recordings).find_map(|(id, recording)| {
                let snapshots = read(recording).snapshots.clone();
                snapshots.work(urgent).map(|done| (RecordingId(id), done))
            })
        })
    }

    /// Waits until [`work`](Self::work) may have something to do that it had not when it was called
    /// with this count, and gives the count from then on.
    pub fn wait_for_analysis(&self, count: u64) -> u64 {
        let (revision, changed) = &self.changed;
        let revision = revision.lock().unwrap_or_else(PoisonError::into_inner);
        *changed
            .wait_while(revision, |revision| *revision == count)
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn notify(&self) {
        let (revision, changed) = &self.changed;
        *revision.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        changed.notify_all();
    }

    fn push(&self, recording: Recording) -> RecordingId {
        let mut recordings = self.recordings.write().unwrap_or_else(PoisonError::into_inner);
        recordings.push(Arc::new(RwLock::new(recording)));
        RecordingId(recordings.len() as u32 - 1)
    }

    /// Byte of a growing recording's trace from which on it is to be read the next time.
    pub fn offset(&self, id: RecordingId) -> u64 {
        self.get(id.0).map_or(0, |recording| read(&recording).offset())
    }

    /// Takes in what is new of a recording that grows: `tail` is its trace from
    /// [`offset`](Self::offset) to its present end. `None` if that is not yet a whole packet.
    pub fn grow(&self, id: RecordingId, tail: &[u8]) -> Option<Grown> {
        let recording = self.get(id.0).ok()?;
        let more = write(&recording).grow(tail);
        more.then(|| grown(&read(&recording)))
    }

    /// Reads a growing recording's trace anew: a thinned one has taken its place. `None` if that has no whole packet; then
    /// all stays as it was.
    pub fn read_again(&self, id: RecordingId, trace: &[u8]) -> Option<Grown> {
        let recording = self.get(id.0).ok()?;
        // Queries are answered meanwhile.
        let mut new = read(&recording).anew();
        if !new.grow(trace) {
            return None;
        }
        write(&recording).take_trace(new);
        Some(grown(&read(&recording)))
    }

    /// As [`grow`](Self::grow), when no more will come.
    ///
    /// # Errors
    /// If nothing has said what the trace is.
    pub fn finish(&self, id: RecordingId, tail: &[u8]) -> Result<Grown, Error> {
        let Ok(recording) = self.get(id.0) else { return Err(Error::Empty) };
        write(&recording).finish(tail)?;
        Ok(grown(&read(&recording)))
    }

    /// Reads another trace in place of a recording's own, which stands for several that grew.
    ///
    /// # Errors
    /// If it is no trace. Then all stays as it was.
    pub fn replace(
        &self,
        id: RecordingId,
        trace: &[u8],
        description: Description,
    ) -> Result<Grown, Error> {
        let Ok(recording) = self.get(id.0) else { return Err(Error::Empty) };
        let new = Recording::read(trace, description, &mut |_| ())?;
        write(&recording).replace(new);
        Ok(grown(&read(&recording)))
    }

    /// Says anew what is known of a recording: that it ended, and how.
    pub fn describe(&self, id: RecordingId, description: Description) {
        if let Ok(recording) = self.get(id.0) {
            write(&recording).describe(description);
        }
    }

    /// Says that a recording is of all processes of a family together, of which each has one of these.
    pub fn set_members(&self, id: RecordingId, members: &[RecordingId]) {
        if let Ok(recording) = self.get(id.0) {
            let members = members.iter().map(|member| member.0).collect();
            write(&recording).description.members = members;
        }
    }

    /// What is wrong with a recording's trace.
    pub fn damage(&self, id: RecordingId) -> Option<Anomalies> {
        self.get(id.0).ok().map(|recording| read(&recording).profile().damage.clone())
    }

    /// Answers a query, whatever it is.
    pub fn query(&self, query: &[u8]) -> Response {
        match Query::parse(query).and_then(|query| self.answer_or_work(&query)) {
            Ok(response) if is_analysing(&response) => {
                Response { status: Status::Analysing, bytes: response.encode() }
            }
            Ok(response) => Response { status: Status::Answered, bytes: response.encode() },
            Err(api_error) => {
                Response { status: api_error.status, bytes: api_error.answer().encode() }
            }
        }
    }

    /// In a page that was opened from disk nobody else works.
    fn answer_or_work(&self, query: &Query) -> Result<ResponseBody, ApiError> {
        loop {
            let response = self.answer(query)?;
            if !self.setting.offline || !is_analysing(&response) || self.work().is_none() {
                return Ok(response);
            }
        }
    }

    /// Answers a query that has been read.
    ///
    /// # Errors
    /// If it makes no sense, or is about a recording that does not exist.
    pub fn answer(&self, query: &Query) -> Result<ResponseBody, ApiError> {
        match query {
            Query::Profile(query) => self.answer_profile(query),
            Query::Heap(query) => {
                let response = answer::answer(self, query);
                self.notify();
                response
            }
        }
    }

    /// All that is known of a block of a snapshot.
    ///
    /// # Errors
    /// As [`answer`](Self::answer).
    pub fn heap_block(&self, query: &HeapBlock) -> Result<Outcome<BlockResponse>, ApiError> {
        let outcome = answer::block(self, query);
        self.notify();
        outcome
    }

    /// What a node of a snapshot's dominator tree alone retains.
    ///
    /// # Errors
    /// As [`answer`](Self::answer).
    pub fn heap_children(
        &self,
        query: &HeapChildren,
    ) -> Result<Outcome<ChildrenResponse>, ApiError> {
        let outcome = answer::children(self, query);
        self.notify();
        outcome
    }

    /// The places in the program whose blocks retain most of a snapshot.
    ///
    /// # Errors
    /// As [`answer`](Self::answer).
    pub fn heap_samples(&self, query: &HeapSamples) -> Result<Outcome<SamplesResponse>, ApiError> {
        let outcome = answer::samples(self, query);
        self.notify();
        outcome
    }

    /// What retains what a function allocated.
    ///
    /// # Errors
    /// As [`answer`](Self::answer); if nothing that it allocated is alive.
    pub fn heap_why(&self, query: &HeapWhy) -> Result<Outcome<WhyResponse>, ApiError> {
        let outcome = answer::why(self, query);
        self.notify();
        outcome
    }

    /// What differs between two recordings, or two filters, and is no chance; of `query`'s rows those
    /// that changed most, `limit` at most.
    ///
    /// # Errors
    /// If there is no such recording, or a filter cannot be read.
    pub fn difference(&self, query: &Compare) -> Result<Difference, ApiError> {
        self.sides(query, |a, b| difference::difference(a, b, query))
    }

    /// Which calls allocated what a root owns, or the blocks of a type or kind.
    ///
    /// # Errors
    /// As [`answer`](Self::answer); if nothing has the name.
    pub fn heap_who(&self, query: &HeapWho) -> Result<Outcome<WhoResponse>, ApiError> {
        let outcome = answer::who(self, query);
        self.notify();
        outcome
    }

    /// What was alive in one snapshot and is in a later one, by what allocated it.
    ///
    /// # Errors
    /// As [`answer`](Self::answer); if there are no two snapshots.
    pub fn heap_survivors(
        &self,
        query: &HeapSurvivors,
    ) -> Result<Outcome<SurvivorsResponse>, ApiError> {
        let outcome = answer::survivors(self, query);
        self.notify();
        outcome
    }

    /// What owners have in the last snapshot, and by how much that changed.
    ///
    /// # Errors
    /// As [`answer`](Self::answer); if there is no snapshot.
    pub fn owner_changes(&self, id: RecordingId) -> Result<Outcome<OwnerChanges>, ApiError> {
        let outcome = answer::owner_changes(self, id.0);
        self.notify();
        outcome
    }

    /// The snapshots of a recording.
    ///
    /// # Errors
    /// If there is no such recording.
    pub fn heap_snapshots(&self, id: RecordingId) -> Result<SnapshotsResponse, ApiError> {
        answer::snapshots(self, id.0)
    }

    /// What is live at a moment, by what allocated it, and how that changed shortly before.
    ///
    /// # Errors
    /// If there is no such recording.
    pub fn live_sites(&self, query: &LiveSitesQuery) -> Result<LiveSites, ApiError> {
        self.look(query.rec, |recording| live_sites::live_sites(recording, query))
    }

    /// The blocks of a snapshot that a filter wants.
    ///
    /// # Errors
    /// As [`answer`](Self::answer); if the filter is wrong.
    pub fn heap_blocks(&self, query: &HeapBlocks) -> Result<Outcome<BlocksResponse>, ApiError> {
        let outcome = answer::blocks(self, query);
        self.notify();
        outcome
    }

    /// Which owners grow, and why.
    ///
    /// # Errors
    /// As [`answer`](Self::answer).
    pub fn heap_leaks(&self, query: &HeapLeaks) -> Result<Outcome<LeaksResponse>, ApiError> {
        let outcome = answer::leaks(self, query);
        self.notify();
        outcome
    }

    /// What allocated the blocks without a type of a snapshot that the caller has opened, by kind, the largest part of
    /// each first; of these owners alone, if some are given.
    ///
    /// # Errors
    /// If there is no such recording.
    pub fn allocated_parts(
        &self,
        id: RecordingId,
        heap: &Heap<'_>,
        catalogue: &Catalogue,
        owners: Option<&[RootNodeId]>,
    ) -> Result<HashMap<KindId, Vec<AllocatedPart>>, ApiError> {
        self.look(id.0, |recording| {
            let allocated = Allocated::new(heap, catalogue, recording);
            if allocated.is_empty() {
                return HashMap::new();
            }
            allocated.parts(&UntypedPlaces::new(heap, catalogue), owners)
        })
    }

    /// What allocated most blocks that are where these are, of those without a type.
    ///
    /// # Errors
    /// If there is no such recording.
    pub fn allocated_blocks(
        &self,
        id: RecordingId,
        heap: &Heap<'_>,
        catalogue: &Catalogue,
        blocks: &[BlockIndex],
    ) -> Result<HashMap<BlockIndex, AllocatedBy>, ApiError> {
        self.look(id.0, |recording| {
            let allocated = Allocated::new(heap, catalogue, recording);
            let found =
                |block: &BlockIndex| Some((*block, allocated.of_block(heap, catalogue, *block)?));
            blocks.iter().filter_map(found).collect()
        })
    }

    /// Judges a recording by gates; `beside` gates of other processes are judged with them. What of its snapshots is not analysed yet is asked for, and judged when it
    /// is: as long as [`work`](Self::work) does anything, the response may change.
    ///
    /// # Errors
    /// As [`answer`](Self::answer).
    pub fn judge(
        &self,
        id: RecordingId,
        gates: &[Gate],
        beside: usize,
    ) -> Result<Outcome<GateResponse>, ApiError> {
        let snapshots = self.snapshots(id.0)?;
        let leaks = if !gates.iter().any(|gate| matches!(gate.limit, Limit::NoLeak(_))) {
            None
        } else if snapshots.len() == 0 {
            self.site_leaks(id, usize::MAX)?.map(Ok)
        } else {
            // All of them: known leaks must not take the places of others.
            let limit = usize::MAX;
            let query = HeapLeaks { rec: id.0, limit, ..HeapLeaks::default() };
            match answer::leaks(self, &query) {
                Ok(Outcome::Ready(OfSnapshot { response, partial: None })) => {
                    Some(Ok(with_sites(response, self.site_leaks(id, limit)?, limit)))
                }
                Ok(Outcome::Ready(OfSnapshot { partial: Some(partial), .. })) => {
                    Some(Err(ApiError::bad(format_args!("the last snapshot is damaged {partial}"))))
                }
                Ok(Outcome::Analysing(number)) => {
                    self.notify();
                    return Ok(Outcome::Analysing(number));
                }
                Err(error) => Some(Err(error)),
            }
        };
        snapshots.want_all();
        self.notify();
        let baselines = gates.iter().map(|gate| match gate.limit {
            Limit::Baseline { rec, .. } if rec == id.0 => {
                Err(ApiError::bad("a recording is no baseline of itself"))
            }
            Limit::Baseline { rec, .. } => self.get(rec).map(Some),
            _ => Ok(None),
        });
        let baselines = baselines.collect::<Result<Vec<_>, ApiError>>()?;
        // Each is held once, as of two that wait for each other none would go on.
        let held: Vec<_> = baselines.iter().map(|other| other.as_deref().map(read)).collect();
        let this = self.get(id.0)?;
        let recording = read(&this);
        let start = recording.profile().info.start.0 as f64 / 1e6;
        let exact = snapshots.list().into_iter().filter_map(|known| {
            let summary = known.summary.filter(|summary| summary.damage.is_none())?;
            let size = summary.in_heap + summary.external;
            Some(((known.facts.taken_unix - start).max(0.0), size.0))
        });
        let evidence = Evidence {
            snapshots: exact.collect(),
            of_several: !processes(recording.profile()).is_empty(),
            leaks,
            baselines: held.iter().map(|other| other.as_deref()).collect(),
            beside,
        };
        gate::judge(&recording, gates, &evidence).map(GateResponse::new).map(Outcome::ready)
    }

    fn answer_profile(&self, query: &ProfileQuery) -> Result<ResponseBody, ApiError> {
        match query {
            ProfileQuery::About(_) => self.about(),
            ProfileQuery::Overview(query) => {
                self.of(query.rec, |recording| overview::overview(recording, query))
            }
            ProfileQuery::Process(query) => {
                self.of(query.rec, |recording| Ok(ResponseBody::new(measured::measured(recording))))
            }
            ProfileQuery::Flame(query) => {
                self.of(query.rec, |recording| flame::flame(recording, query))
            }
            ProfileQuery::TimeOrder(query) => {
                self.of(query.rec, |recording| time_order::time_order(recording, query))
            }
            ProfileQuery::Names(query) => {
                self.of(query.rec, |recording| Ok(names::names(recording, query)))
            }
            ProfileQuery::Table(query) => match &query.baseline {
                None => self.of(query.rec, |recording| table::table(recording, None, query)),
                Some(side) => self.both([side.rec, query.rec], |before, recording| {
                    table::table(recording, Some((before, &side.filter)), query)
                })?,
            },
            ProfileQuery::Branches(query) => {
                self.of(query.rec, |recording| table::branches(recording, query))
            }
            ProfileQuery::HotFragments(query) => {
                self.of(query.rec, |recording| table::hot_fragments(recording, query))
            }
            ProfileQuery::Density(query) => {
                self.of(query.rec, |recording| overview::density(recording, query))
            }
            ProfileQuery::Search(query) => {
                self.of(query.rec, |recording| flame::search(recording, query))
            }
            ProfileQuery::Compare(query) => self.sides(query, |a, b| compare::compare(a, b, query)),
            ProfileQuery::Presets(query) => {
                self.of(query.rec, |recording| Ok(filters::presets(recording, query)))
            }
            ProfileQuery::Complete(query) => {
                self.of(query.rec, |recording| Ok(names::complete(recording, query)))
            }
            ProfileQuery::Conditions(query) => Ok(filters::conditions(query)),
            ProfileQuery::Export(query) => {
                self.of(query.rec, |recording| export::export(recording, query))
            }
            ProfileQuery::SourceText(query) => {
                let files = self.source_files.get().map(|files| &**files);
                self.of(query.rec, |recording| source::source_text(recording, files, query))
            }
            ProfileQuery::SiteLeaks(query) => {
                let leaks = self.site_leaks(RecordingId(query.rec), query.limit)?;
                let none = || ApiError::bad("the program's memory is freed by a garbage collector");
                leaks.map(ResponseBody::new).ok_or_else(none)
            }
            ProfileQuery::FamilyLeaks(query) => Ok(self.family_leaks(query)?.into()),
        }
    }

    fn of(
        &self,
        rec: u32,
        respond: impl FnOnce(&Recording) -> Result<ResponseBody, ApiError>,
    ) -> Result<ResponseBody, ApiError> {
        respond(&read(&*self.get(rec)?))
    }

    fn about(&self) -> Result<ResponseBody, ApiError> {
        let recordings = self.recordings.read().unwrap_or_else(PoisonError::into_inner).clone();
        let each = recordings.iter().map(|recording| about::recording(&read(recording)));
        let files = self.source_files.get().map(|files| &**files);
        Ok(about::answer(self.setting, files, each.collect::<Result<Vec<_>, _>>()?))
    }

    /// Opens both sides of a comparison.
    fn sides<R>(
        &self,
        query: &Compare,
        respond: impl FnOnce(&Side<'_>, &Side<'_>) -> R,
    ) -> Result<R, ApiError> {
        self.both([query.a.rec, query.b.rec], |a, b| {
            let a = Side::new(a, &query.a.filter, query.normalise)?;
            let b = Side::new(b, &query.b.filter, query.normalise)?;
            Ok(respond(&a, &b))
        })?
    }

    /// Looks at two recordings, which may be the same.
    fn both<R>(
        &self,
        [a, b]: [u32; 2],
        look: impl FnOnce(&Recording, &Recording) -> R,
    ) -> Result<R, ApiError> {
        let (first, second) = (self.get(a)?, self.get(b)?);
        // Both must not change meanwhile. They are locked in the order of their numbers, and one
        // that is compared with itself but once, so that nobody waits for somebody who waits.
        let low = read(if a <= b { &first } else { &second });
        let high = (a != b).then(|| read(if a <= b { &second } else { &first }));
        let high = high.as_deref().unwrap_or(&low);
        Ok(if a <= b { look(&low, high) } else { look(high, &low) })
    }

    fn get(&self, rec: u32) -> Result<Arc<RwLock<Recording>>, ApiError> {
        let recordings = self.recordings.read().unwrap_or_else(PoisonError::into_inner);
        recordings.get(rec as usize).cloned().ok_or_else(|| {
            let count = recordings.len();
            ApiError::unknown(format_args!("no recording {rec}, there are {count}"))
        })
    }
}

impl Recordings for Engine {
    fn snapshots(&self, rec: u32) -> Result<Arc<SnapshotStore>, ApiError> {
        Ok(read(&*self.get(rec)?).snapshots.clone())
    }

    fn look<R>(&self, rec: u32, look: impl FnOnce(&Recording) -> R) -> Result<R, ApiError> {
        Ok(look(&read(&*self.get(rec)?)))
    }
}

fn grown(recording: &Recording) -> Grown {
    let profile = recording.profile();
    let blocks = &profile.blocks;
    let events = (blocks.len() + blocks.by_collection().len()) as u64;
    Grown { events, end: profile.end.seconds() }
}

/// A panic in another thread has not left a recording half read: reading does not panic.
fn read(recording: &RwLock<Recording>) -> RwLockReadGuard<'_, Recording> {
    recording.read().unwrap_or_else(PoisonError::into_inner)
}

fn write(recording: &RwLock<Recording>) -> RwLockWriteGuard<'_, Recording> {
    recording.write().unwrap_or_else(PoisonError::into_inner)
}
