//! The recording under way: where samples go, and what becomes of it at forks and at the end.

use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64};

use memtrail_recording::session::{Options, State, Status, tail_name};
use memtrail_recording::{Description, FileState, Outcome, Snapshot, TRACE_FILE, folder_name};
use memtrail_trace::write::Version;
use memtrail_trace::{BlockId, DomainId};

use crate::callstack::Capturer;
use crate::clock::Clock;
use crate::lock::Lock;
use crate::output::Output;
use crate::runtime::Runtime;
use crate::stream::Stream;
use crate::threads::{Author, Identity, ThreadLog};
use crate::{describe, fence, flusher, forked, seeding, snapshot, tail};

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
    folder: PathBuf,
    image: u32,
    streams: Box<[AtomicPtr<Lock<Stream>>]>,
    creating: Lock<()>,
    output: Lock<Output>,
    threads: Lock<ThreadLog>,
    next_ids: AtomicU64,
    several: AtomicBool,
    stopped: AtomicBool,
    description: Lock<Description>,
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
        return crate::follow::after_fork(recorder);
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
        let (folder, image) = make_folder(target, pid, forked_from.is_some())?;
        let trace = folder.join(TRACE_FILE);
        let failed = |e: std::io::Error| format!("cannot write {}: {e}", trace.display());
        let mut output = Output::create(&trace).map_err(failed)?;
        let description = describe::description(target, &clock, pid, forked_from);
        output.append(&describe::info_packet(target, &description));
        if let Some(errno) = output.failure() {
            return Err(failed(std::io::Error::from_raw_os_error(errno)));
        }
        description.save(&folder).map_err(|e| e.to_string())?;
        let recorder = Box::leak(Box::new(Self {
            target,
            clock,
            pid,
            epoch,
            folder: folder.clone(),
            image,
            streams: (0..DOMAINS).map(|_| AtomicPtr::default()).collect(),
            creating: Lock::new(()),
            output: Lock::new(output),
            threads: Lock::new(ThreadLog::default()),
            next_ids: AtomicU64::new(0),
            several: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
            description: Lock::new(description),
        }));
        forked::take_ownership();
        RECORDER.store(recorder, Release);
        report(target, pid, image, State::Recording { folder });
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
        let held = self.creating.lock();
        // SAFETY: as in `stream`.
        if let Some(stream) = unsafe { place.load(Acquire).as_ref() } {
            return Some(stream);
        }
        // Version 2 knows only the main domain; another one's first block makes it version 3.
        let alone = domain == DomainId(0) && !self.several.load(Acquire);
        if !alone && !self.several.swap(true, AcqRel) {
            // The main domain's part is the only one there can be by now.
            if let Some(main) = self.all_streams().next() {
                let mut main = main.lock();
                self.next_ids.store(main.next_id().0.next_multiple_of(CHUNK), Release);
                main.become_one_of_several(self);
            }
        }
        let version = if alone { Version::V2 } else { Version::V3 };
        if domain != DomainId(0) {
            seeding::seed_domain(self.target, state, domain.0);
        }
        let file = self.target.session.join(tail_name(self.pid, self.image, domain.0));
        let memory = fence::keeping_errno(|| tail::map(Some(&file)))?;
        let stream = Stream::new(self, domain, version, memory)?;
        let stream = Box::leak(Box::new(Lock::new(stream)));
        place.store(stream, Release);
        drop(held);
        Some(stream)
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

    /// Appends whole packets to the trace.
    pub(crate) fn append(&self, packets: &[u8]) {
        fence::keeping_errno(|| {
            let mut output = self.output.lock();
            output.append(packets);
            if output.failure().is_some() {
                self.stopped.store(true, Release);
            }
        });
    }

    /// From block `id` of `domain` on, blocks are of `author`. `at_work` runs this.
    #[cold]
    pub(crate) fn author_changes(
        &self,
        domain: DomainId,
        id: BlockId,
        author: Author,
        at_work: &mut Identity,
    ) {
        self.threads.lock().switched(&self.folder, domain, id, author, at_work);
    }

    /// Sends everything sampled so far to the file. A stream that is in use for long (this may be
    /// its own thread, interrupted by a signal) is passed over: its packet is in the session.
    fn flush(&self) {
        let now = self.clock.now();
        for stream in self.all_streams() {
            if let Some(mut stream) = stream.lock_soon() {
                stream.flush(self, now);
            }
        }
    }

    /// Ends the recording. Further samples are ignored.
    fn end(&self, outcome: Outcome) {
        self.stopped.store(true, Release);
        self.flush();
        self.note(Some(outcome), FileState::Complete);
    }

    fn note(&self, outcome: Option<Outcome>, state: FileState) {
        let Some(mut description) = self.description.lock_soon() else { return };
        let (mut blocks, mut lost) = (0, 0);
        for stream in self.all_streams().filter_map(Lock::lock_soon) {
            blocks += stream.blocks;
            lost += stream.lost;
        }
        if let Some(output) = self.output.lock_soon() {
            description.trace.bytes = output.length();
            description.outcome = match output.failure() {
                Some(errno) => Some(Outcome::WriteFailed { errno }),
                None => outcome,
            };
        }
        description.trace.state = state;
        description.trace.blocks = blocks;
        description.trace.lost = lost;
        description.sampling.checked = self.target.capturer.checked();
        // Nobody is there to be told if this fails; the trace itself is whole.
        let _ = description.save(&self.folder);
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
    pub(crate) folder: &'static Path,
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
    let Some(mut description) = recorder.description.lock_soon() else { return };
    description.notes.push(words);
    let _ = description.save(&recorder.folder);
}

/// Notes that nobody can have heap snapshots.
pub(crate) fn without_snapshots() {
    let Some(recorder) = own() else { return };
    let Some(mut description) = recorder.description.lock_soon() else { return };
    description.snapshots = None;
    let _ = description.save(&recorder.folder);
}

/// Notes a snapshot in the recording.
pub(crate) fn note_snapshot(snapshot: Snapshot) {
    let Some(recorder) = own() else { return };
    fence::keeping_errno(|| {
        let Some(mut description) = recorder.description.lock_soon() else { return };
        let all = description.snapshots.get_or_insert_default();
        all.push(snapshot);
        all.sort_by_key(|snapshot| snapshot.number);
        // The snapshot itself is there, whether it is listed or not.
        let _ = description.save(&recorder.folder);
    });
}

/// Called by the flusher; false when there is nothing more to do.
pub(crate) fn flush_periodically() -> bool {
    let Some(recorder) = own() else { return false };
    if recorder.stopped.load(Relaxed) {
        return false;
    }
    recorder.flush();
    snapshot::collect_ended();
    true
}

/// Brings everything sampled so far to the file.
pub(crate) fn flush_now() {
    if let Some(recorder) = own() {
        fence::keeping_errno(|| recorder.flush());
    }
}

/// The process comes to its end.
pub(crate) fn end_of_process() {
    fence::keeping_errno(snapshot::end_of_process);
    if let Some(recorder) = own()
        && !recorder.stopped.load(Relaxed)
    {
        fence::keeping_errno(|| recorder.end(Outcome::Exited { code: None }));
    }
}

/// The process is about to become another program.
pub(crate) fn before_exec() {
    if let Some(recorder) = own() {
        fence::keeping_errno(|| {
            snapshot::before_exec();
            recorder.flush();
            recorder.note(Some(Outcome::Execed), FileState::Complete);
        });
    }
}

/// It did not.
pub(crate) fn after_failed_exec() {
    if let Some(recorder) = own() {
        fence::keeping_errno(|| recorder.note(None, FileState::Growing));
    }
}

/// The program samples by itself from now on.
pub(crate) fn give_way() {
    if let Some(recorder) = own() {
        fence::keeping_errno(|| recorder.end(Outcome::GaveWay));
    }
}

/// Tells the launcher what became of this process.
pub(crate) fn report(target: &Target, pid: u32, image: u32, state: State) {
    let program = describe::executable();
    // Without a session nobody listens.
    let _ = Status { pid, image, program, state }.save(&target.session);
}

fn make_folder(target: &Target, pid: u32, forked: bool) -> Result<(PathBuf, u32), String> {
    let name = describe::program_name();
    let mut last = String::new();
    for again in 0..100 {
        let folder = match &target.options.output {
            Some(named) if !forked && again == 0 => named.clone(),
            Some(named) => beside(named, &format!("{pid}-{again}")),
            None => target.options.base.join(folder_name(&name, pid, again)),
        };
        match std::fs::DirBuilder::new().mode(0o700).create(&folder) {
            Ok(()) => return Ok((folder, again)),
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {
                last = format!("{} exists already", folder.display());
            }
            Err(e) => return Err(format!("cannot make {}: {e}", folder.display())),
        }
    }
    Err(last)
}

/// `out.memtrail` and `12-0` make `out-12-0.memtrail`.
fn beside(named: &Path, suffix: &str) -> PathBuf {
    let stem = named.file_stem().unwrap_or_default().to_string_lossy();
    let extension = named.extension().map(|e| format!(".{}", e.to_string_lossy()));
    named.with_file_name(format!("{stem}-{suffix}{}", extension.unwrap_or_default()))
}
