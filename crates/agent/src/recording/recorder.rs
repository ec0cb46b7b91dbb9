//! The recording under way: where samples go, and what becomes of it at forks and at the end.

use std::path::PathBuf;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU64};

use memtrail_recording::relay::Operation;
use memtrail_recording::session::{Options, State, Status, WriteFailure, tail_name};
use memtrail_recording::{Description, FileState, Outcome, Snapshot};
use memtrail_trace::write::Version;
use memtrail_trace::{BlockId, DomainId};

use crate::context::runtime::Runtime;
use crate::os::clock::Clock;
use crate::os::ffi_guard;
use crate::os::forked;
use crate::os::lock::{self, Lock, LockGuard};
use crate::recording::describe;
use crate::recording::flusher;
use crate::recording::folder::Folder;
use crate::recording::follow;
use crate::recording::live_packet;
use crate::recording::output::{Output, Part};
use crate::recording::rate_log::RateLog;
use crate::recording::relay;
use crate::recording::small_heap::SmallHeap;
use crate::recording::stream::Stream;
use crate::recording::threads::{Identity, ThreadId, ThreadLog};
use crate::sampling::callstack::Capturer;
use crate::sampling::rate::Halvings;
use crate::sampling::seeding;
use crate::snapshot;

/// As many domains as a runtime can be built for, with room to spare (`Max_domains`).
const DOMAINS: usize = 1024;
/// Ids that a domain takes at once when there are several, as memtrace does.
const CHUNK: u64 = 10_000;

/// What does not change when the process forks.
pub(crate) struct Target {
    pub(crate) runtime: Runtime,
    pub(crate) capturer: Capturer,
    pub(crate) options: Options,
    pub(crate) session: PathBuf,
    /// Whether callstacks are captured by us.
    pub(crate) incremental: AtomicBool,
    /// The program's arguments, its own name first.
    pub(crate) arguments: Vec<String>,
    /// What the sampler's random numbers come from.
    pub(crate) seed: u64,
}

/// One recording.
pub(crate) struct Recorder {
    pub(crate) target: &'static Target,
    pub(crate) clock: Clock,
    pub(crate) pid: u32,
    /// Tells the blocks of this recording from those of the process it was forked from.
    pub(crate) epoch: u8,
    folder: Folder,
    streams: Box<[AtomicPtr<Lock<Stream>>]>,
    creating: Lock<()>,
    output: Lock<Output>,
    threads: Lock<ThreadLog>,
    rates: Lock<RateLog>,
    next_ids: AtomicU64,
    several: AtomicBool,
    stopped: AtomicBool,
    /// The error that ended writing the trace; 0 while there is none.
    failure: AtomicI32,
    /// Samples that came after that, or while their thread wrote another.
    missed: AtomicU64,
    description: Lock<Description>,
    small_heap: SmallHeap,
}

static RECORDER: AtomicPtr<Recorder> = AtomicPtr::new(std::ptr::null_mut());

fn installed() -> Option<&'static Recorder> {
    // SAFETY: null, or a recorder that was leaked for the life of the process.
    unsafe { RECORDER.load(Acquire).as_ref() }
}

/// The recording that samples of this process go to, if one is under way.
#[inline]
pub(crate) fn active() -> Option<&'static Recorder> {
    let recorder = installed()?;
    if !forked::is_owner() {
        return follow::after_fork(recorder);
    }
    if recorder.stopped.load(Relaxed) { None } else { Some(recorder) }
}

/// The recording of this process, under way or ended, but not one inherited by a fork.
fn own() -> Option<&'static Recorder> {
    installed().filter(|_| forked::is_owner_itself())
}

impl Recorder {
    /// Makes the recording's folder and begins its trace. The reason is the error.
    pub(crate) fn begin(
        target: &'static Target,
        forked_from: Option<u32>,
        epoch: u8,
    ) -> Result<&'static Self, String> {
        let pid = std::process::id();
        let clock = Clock::start();
        let folder = Folder::make(target, pid, forked_from.is_some())?;
        let failed = |errno: i32| {
            let error = std::io::Error::from_raw_os_error(errno);
            format!("cannot write into {}: {error}", folder.path().display())
        };
        let mut output = Output::create(&folder, Part::Trace).map_err(failed)?;
        let small_heap = SmallHeap::default();
        small_heap.look(&target.runtime, &target.capturer.memory(), target.runtime.state());
        let mut description = describe::description(target, &clock, pid, forked_from);
        small_heap.note(&mut description);
        output.append(&folder, &describe::info_packet(target, &description)).map_err(failed)?;
        folder.save(&description).map_err(|error| failed(error.errno))?;
        let state = State::Recording { folder: folder.path().to_owned(), failure: None };
        let image = folder.image();
        let recorder = Box::leak(Box::new(Self {
            target,
            clock,
            pid,
            epoch,
            folder,
            streams: (0..DOMAINS).map(|_| AtomicPtr::default()).collect(),
            creating: Lock::new(()),
            output: Lock::new(output),
            threads: Lock::new(ThreadLog::default()),
            rates: Lock::new(RateLog::default()),
            next_ids: AtomicU64::new(0),
            several: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
            failure: AtomicI32::new(0),
            missed: AtomicU64::new(0),
            description: Lock::new(description),
            small_heap,
        }));
        forked::take_ownership();
        RECORDER.store(recorder, Release);
        report(target, pid, image, state);
        flusher::start();
        Ok(recorder)
    }

    /// The part of the trace that a domain writes; made when the domain is first seen, then being
    /// the one whose state stands at `state`.
    #[inline]
    pub(crate) fn stream(&self, domain: DomainId, state: u64) -> Option<&Lock<Stream>> {
        let place = self.streams.get(usize::from(domain.0))?;
        // SAFETY: null, or a stream that was leaked for the life of the process.
        match unsafe { place.load(Acquire).as_ref() } {
            Some(stream) => Some(stream),
            None => self.make_stream(domain, state, place),
        }
    }

    #[cold]
    fn make_stream(
        &self,
        domain: DomainId,
        state: u64,
        place: &AtomicPtr<Lock<Stream>>,
    ) -> Option<&Lock<Stream>> {
        let held = self.creating.lock_unless_ending()?;
        // SAFETY: as in `stream`.
        if let Some(stream) = unsafe { place.load(Acquire).as_ref() } {
            return Some(stream);
        }
        // Version 2 knows only the main domain; another one's first block makes it version 3.
        let alone = domain == DomainId(0) && !self.several.load(Acquire);
        if !alone && !self.several.swap(true, AcqRel) {
            // The main domain's part is the only one there can be by now.
            if let Some(main) = self.all_streams().next() {
                let mut main = main.lock_unless_ending()?;
                self.next_ids.store(main.next_id().0.next_multiple_of(CHUNK), Release);
                main.become_one_of_several(self);
            }
        }
        let version = if alone { Version::V2 } else { Version::V3 };
        if domain != DomainId(0) {
            seeding::seed_domain(self.target, state, domain.0);
        }
        let file = self.target.session.join(tail_name(self.pid, self.folder.image(), domain.0));
        let memory = ffi_guard::keeping_errno(|| live_packet::map(Some(&file)))?;
        let stream = Stream::new(self, domain, version, memory)?;
        let stream = Box::leak(Box::new(Lock::new(stream)));
        place.store(stream, Release);
        drop(held);
        Some(stream)
    }

    /// A stream, to write a sample. There is none for a thread that was interrupted while it wrote one
    /// and has not come back: the sample is left out, and counted.
    pub(crate) fn to_write<'a>(&self, stream: &'a Lock<Stream>) -> Option<LockGuard<'a, Stream>> {
        let held = stream.lock_unless_ending();
        if held.is_none() {
            self.missed.fetch_add(1, Relaxed);
        }
        held
    }

    fn all_streams(&self) -> impl Iterator<Item = &Lock<Stream>> {
        // SAFETY: as in `stream`.
        self.streams.iter().filter_map(|place| unsafe { place.load(Acquire).as_ref() })
    }

    /// The next ids for a domain that is one of several: the first, and the one after the last.
    pub(crate) fn next_ids(&self) -> (BlockId, BlockId) {
        let first = self.next_ids.fetch_add(CHUNK, Relaxed);
        (BlockId(first), BlockId(first + CHUNK))
    }

    /// Appends whole packets to the trace; false if they are lost, and with them all that follow.
    pub(crate) fn append(&self, packets: &[u8]) -> bool {
        ffi_guard::keeping_errno(|| {
            let Some(mut output) = self.output.lock_unless_ending() else { return false };
            let failed = match output.append(&self.folder, packets) {
                Ok(()) => return true,
                Err(errno) => errno,
            };
            self.stopped.store(true, Release);
            if self.failure.swap(failed, AcqRel) == 0 {
                // Should the process be killed, the launcher knows at least this.
                self.report_failure(0);
            }
            false
        })
    }

    /// Tells the launcher that the trace ends before the program does: what is on the disk may say
    /// otherwise for good, as it may be the disk that is full.
    fn report_failure(&self, lost: u64) {
        let folder = self.folder.path().to_owned();
        let failure = Some(WriteFailure { errno: self.failure.load(Acquire), lost });
        let state = State::Recording { folder, failure };
        report(self.target, self.pid, self.folder.image(), state);
    }

    /// From block `id` of `domain` on, blocks are of `author`. `at_work` runs this.
    #[cold]
    pub(crate) fn thread_changes(
        &self,
        domain: DomainId,
        id: BlockId,
        thread_id: ThreadId,
        at_work: &mut Identity,
    ) {
        if let Some(mut threads) = self.threads.lock_unless_ending() {
            threads.switched(&self.folder, domain, id, thread_id, at_work);
        }
    }

    /// From block `id` of `domain` on, blocks are sampled at another rate.
    #[cold]
    pub(crate) fn rate_changes(&self, domain: DomainId, id: BlockId, halvings: Halvings) {
        if let Some(mut rates) = self.rates.lock_unless_ending() {
            rates.changed(&self.folder, domain, id, halvings);
        }
    }

    /// Sends everything sampled so far to the file. A stream that is in use for long (this may be
    /// its own thread, interrupted by a signal) is passed over: its packet is in the session. So are
    /// all if it is the file that is in use. Gives how many were passed over.
    fn flush(&self) -> usize {
        if self.output.lock_unless_ending().is_none() {
            return self.all_streams().count();
        }
        let now = self.clock.now();
        let in_use = |stream: &&Lock<Stream>| match stream.try_lock_for() {
            Some(mut stream) => {
                stream.flush(self, now);
                false
            }
            None => true,
        };
        self.all_streams().filter(in_use).count()
    }

    /// Ends the recording. Further samples are ignored.
    fn end(&self, outcome: Outcome) {
        self.stopped.store(true, Release);
        lock::while_ending(|| {
            let passed_over = self.flush();
            self.note(Some(outcome), FileState::Complete, passed_over);
        });
    }

    /// Looks at the minor heap of a domain that was sampled.
    #[inline]
    pub(crate) fn look_at_minor_heap(&self, state: u64) {
        self.small_heap.look(&self.target.runtime, &self.target.capturer.memory(), state);
    }

    /// Notes what was seen of minor heaps since the recording began.
    fn note_small_heap(&self) {
        if self.small_heap.is_news()
            && let Some(mut description) = self.description.try_lock_for()
        {
            self.small_heap.note(&mut description);
            let _ = self.folder.save(&description);
        }
    }

    /// `passed_over` tells how many streams could not be brought to the file.
    fn note(&self, outcome: Option<Outcome>, state: FileState, passed_over: usize) {
        let Some(mut description) = self.description.try_lock_for() else { return };
        self.small_heap.note(&mut description);
        if passed_over > 0 {
            description.notes.push(format!(
                "the process ended in the midst of writing a sample: the last packet of {passed_over} of \
                 its domains was left to `memtrail run`"
            ));
        }
        let (mut blocks, mut lost) = (0, self.missed.load(Relaxed));
        for stream in self.all_streams().filter_map(Lock::try_lock_for) {
            blocks += stream.blocks;
            lost += stream.lost;
        }
        if let Some(output) = self.output.try_lock_for() {
            description.trace.bytes = output.length();
        }
        let failure = self.failure.load(Acquire);
        (description.outcome, description.trace.state) = match failure {
            0 => (outcome, state),
            errno => (Some(Outcome::WriteFailed { errno }), FileState::Cut),
        };
        description.trace.blocks = blocks;
        description.trace.lost = lost;
        description.sampling.checked = self.target.capturer.checked();
        if failure != 0 {
            self.report_failure(lost);
        }
        // Nobody is there to be told if this fails; the trace itself is whole.
        let _ = self.folder.save(&description);
    }
}

/// A sample came that is recorded nowhere: counted if that is because writing failed.
#[cold]
pub(crate) fn missed() {
    if let Some(recorder) = own().filter(|recorder| recorder.failure.load(Relaxed) != 0) {
        recorder.missed.fetch_add(1, Relaxed);
    }
}

/// What is recorded, or was until the program began to sample by itself, if it is this process.
pub(crate) fn target() -> Option<&'static Target> {
    active().or_else(own).map(|recorder| recorder.target)
}

/// Whether a recording was begun in this process or before it forked.
pub(crate) fn is_recorded() -> bool {
    installed().is_some()
}

/// Whether the user asked for the children of recorded processes.
pub(crate) fn follows_children() -> bool {
    installed().is_some_and(|recorder| recorder.target.options.children)
}

/// Where this process is recorded, and when.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) folder: &'static Folder,
    pub(crate) clock: Clock,
    pub(crate) pid: u32,
    pub(crate) epoch: u8,
}

/// The place of this process's own recording, which may have ended.
pub(crate) fn place() -> Option<Place> {
    own().map(|recorder| Place {
        folder: &recorder.folder,
        clock: recorder.clock,
        pid: recorder.pid,
        epoch: recorder.epoch,
    })
}

/// Notes in plain words what readers of the recording should know.
pub(crate) fn note(words: String) {
    let Some(recorder) = own() else { return };
    let Some(mut description) = recorder.description.try_lock_for() else { return };
    description.notes.push(words);
    let _ = recorder.folder.save(&description);
}

/// Notes that nobody can have heap snapshots.
pub(crate) fn without_snapshots() {
    let Some(recorder) = own() else { return };
    let Some(mut description) = recorder.description.try_lock_for() else { return };
    description.snapshots = None;
    let _ = recorder.folder.save(&description);
}

/// Notes a snapshot in the recording.
pub(crate) fn note_snapshot(snapshot: Snapshot) {
    let Some(recorder) = own() else { return };
    ffi_guard::keeping_errno(|| {
        let Some(mut description) = recorder.description.try_lock_for() else { return };
        let all = description.snapshots.get_or_insert_default();
        all.push(snapshot);
        all.sort_by_key(|snapshot| snapshot.number);
        // The snapshot itself is there, whether it is listed or not.
        let _ = recorder.folder.save(&description);
    });
}

/// Called by the flusher; false when there is nothing more to do.
pub(crate) fn flush_periodically() -> bool {
    let Some(recorder) = own() else { return false };
    if recorder.stopped.load(Relaxed) {
        return false;
    }
    recorder.flush();
    recorder.note_small_heap();
    snapshot::collect_ended();
    true
}

/// Brings everything sampled so far to the file.
pub(crate) fn flush_now() {
    if let Some(recorder) = own() {
        ffi_guard::keeping_errno(|| recorder.flush());
    }
}

/// The process comes to its end.
pub(crate) fn end_of_process() {
    ffi_guard::keeping_errno(snapshot::end_of_process);
    if let Some(recorder) = own()
        && (!recorder.stopped.load(Relaxed) || recorder.failure.load(Acquire) != 0)
    {
        ffi_guard::keeping_errno(|| recorder.end(Outcome::Exited { code: None }));
    }
}

/// The process is about to become another program.
pub(crate) fn before_exec() {
    if let Some(recorder) = own() {
        ffi_guard::keeping_errno(|| {
            snapshot::before_exec();
            lock::while_ending(|| {
                let passed_over = recorder.flush();
                recorder.note(Some(Outcome::Execed), FileState::Complete, passed_over);
            });
        });
    }
}

/// It did not.
pub(crate) fn after_failed_exec() {
    if let Some(recorder) = own() {
        ffi_guard::keeping_errno(|| recorder.note(None, FileState::Growing, 0));
    }
}

/// The program samples by itself from now on.
pub(crate) fn hand_over() {
    if let Some(recorder) = own() {
        ffi_guard::keeping_errno(|| recorder.end(Outcome::GaveWay));
    }
}

/// Tells the launcher what became of this process.
pub(crate) fn report(target: &Target, pid: u32, image: u32, state: State) {
    let program = describe::executable();
    let status = Status { pid, image, program, state };
    if status.save(&target.session).is_err() {
        // Without a launcher nobody listens.
        let _ = relay::call(pid, image, Operation::Report, &status.to_json());
    }
}
