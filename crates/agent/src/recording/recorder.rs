//! One recording: the streams of its domains, and what its description says.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicPtr};

use memtrail_recording::session::live_packet_name;
use memtrail_recording::{Description, FileState, Outcome};
use memtrail_trace::write::Version;
use memtrail_trace::{DomainId, malloc};

use crate::os::errno::keeping_errno;
use crate::os::lock::{self, Lock, LockGuard};
use crate::recording::collections::CollectionLog;
use crate::recording::files::{CHUNK, RecordingFiles};
use crate::recording::live_packet;
use crate::recording::memory::MemoryLog;
use crate::recording::output::Output;
use crate::recording::small_heap::SmallHeap;
use crate::recording::stream::Stream;

/// As many domains as a runtime can be built for, with room to spare (`Max_domains`).
const DOMAINS: usize = 1024;

/// One recording.
pub(crate) struct Recorder {
    pub(crate) files: RecordingFiles,
    streams: Box<[AtomicPtr<Lock<Stream>>]>,
    creating: Lock<()>,
    several: AtomicBool,
    pub(crate) description: Lock<Description>,
    small_heap: SmallHeap,
    pub(crate) memory: MemoryLog,
    pub(crate) collections: CollectionLog,
}

impl Recorder {
    pub(crate) fn new(
        files: RecordingFiles,
        description: Description,
        small_heap: SmallHeap,
        memory: MemoryLog,
        collections: CollectionLog,
    ) -> Self {
        Self {
            files,
            streams: (0..DOMAINS).map(|_| AtomicPtr::default()).collect(),
            creating: Lock::new(()),
            several: AtomicBool::new(false),
            description: Lock::new(description),
            small_heap,
            memory,
            collections,
        }
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

    /// The part of the trace that has memory from `malloc`.
    pub(crate) fn malloc_stream(&self) -> Option<&Lock<Stream>> {
        self.stream(malloc::DOMAIN, 0)
    }

    #[cold]
    fn make_stream(
        &self,
        domain: DomainId,
        state: u64,
        place: &AtomicPtr<Lock<Stream>>,
    ) -> Option<&Lock<Stream>> {
        let held = self.creating.lock_unless_ending()?;
        let is_of_runtime = domain != malloc::DOMAIN;
        if is_of_runtime {
            self.memory.domains.found(domain.0, state);
        }
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
                self.files.next_ids.store(main.next_id().0.next_multiple_of(CHUNK), Release);
                main.become_one_of_several(&self.files);
            }
        }
        let version = if alone { Version::V2 } else { Version::V3 };
        if domain != DomainId(0) && is_of_runtime {
            // SAFETY: blocks are sampled first by the domain that allocates them, in a callback on its thread.
            unsafe { (self.files.hooks.domain_found)(self.files.target, state, domain.0) };
        }
        let files = &self.files;
        let name = live_packet_name(files.pid, files.folder.image(), domain.0);
        let file = files.target.session.join(name);
        let memory = keeping_errno(|| live_packet::map(Some(&file)))?;
        let stream = Stream::new(&self.files, domain, version, memory)?;
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
            self.files.missed.fetch_add(1, Relaxed);
        }
        held
    }

    fn all_streams(&self) -> impl Iterator<Item = &Lock<Stream>> {
        // SAFETY: as in `stream`.
        self.streams.iter().filter_map(|place| unsafe { place.load(Acquire).as_ref() })
    }

    /// Sends everything sampled so far to the file. A stream that is in use for long (this may be
    /// its own thread, interrupted by a signal) is passed over: its packet is in the session. So are
    /// all if it is the file that is in use. Gives how many were passed over.
    pub(crate) fn flush(&self) -> usize {
        if self.files.output.lock_unless_ending().is_none() {
            return self.all_streams().count();
        }
        self.files.append_waiting();
        let now = self.files.clock.now();
        let in_use = |stream: &&Lock<Stream>| match stream.try_lock_for() {
            Some(mut stream) => {
                stream.flush_between_events(&self.files, now);
                false
            }
            None => true,
        };
        self.all_streams().filter(in_use).count()
    }

    /// Ends the recording. Further samples are ignored.
    pub(crate) fn end(&self, outcome: Outcome) {
        self.files.stopped.store(true, Release);
        lock::while_ending(|| {
            let passed_over = self.flush();
            self.note(Some(outcome), FileState::Complete, passed_over);
        });
    }

    /// Ends the recording of a process that goes on. Further samples are ignored.
    pub(crate) fn complete(&self) {
        self.end_without_outcome(FileState::Complete);
    }

    /// Brings all to the file. Further samples are ignored; how the process ends is for others to see.
    pub(crate) fn stop(&self) {
        self.end_without_outcome(FileState::Growing);
    }

    fn end_without_outcome(&self, state: FileState) {
        self.files.stopped.store(true, Release);
        lock::while_ending(|| {
            let passed_over = self.flush();
            self.note(None, state, passed_over);
            if let Some(mut description) = self.description.try_lock_for() {
                description.ended_unix_us = Some(self.files.clock.now().0);
                let _ = self.files.folder.save(&description);
            }
        });
    }

    /// Looks at the minor heap of a domain that was sampled.
    #[inline]
    pub(crate) fn look_at_minor_heap(&self, state: u64) {
        let target = self.files.target;
        self.small_heap.look(&target.runtime, &target.memory, state);
    }

    /// Notes what was seen of minor heaps since the recording began.
    pub(crate) fn note_small_heap(&self) {
        if self.small_heap.is_news()
            && let Some(mut description) = self.description.try_lock_for()
        {
            self.small_heap.note(&mut description);
            let _ = self.files.folder.save(&description);
        }
    }

    /// Notes that the disk was full, or that samples were declined because little room was left.
    pub(crate) fn note_room(&self) {
        let news = self.files.room.news();
        if !news.is_empty()
            && let Some(mut description) = self.description.try_lock_for()
        {
            description.notes.extend(news);
            let _ = self.files.folder.save(&description);
        }
    }

    /// `passed_over` tells how many streams could not be brought to the file.
    pub(crate) fn note(&self, outcome: Option<Outcome>, state: FileState, passed_over: usize) {
        let Some(mut description) = self.description.try_lock_for() else { return };
        self.small_heap.note(&mut description);
        description.notes.extend(self.files.room.news());
        if passed_over > 0 {
            description.notes.push(format!(
                "the process ended in the midst of writing a sample: the last packet of {passed_over} of \
                 its domains was left to `memtrail run`"
            ));
        }
        let (mut blocks, mut lost) = (0, self.files.missed.load(Relaxed));
        for stream in self.all_streams().filter_map(Lock::try_lock_for) {
            blocks += stream.blocks;
            lost += stream.lost;
        }
        if let Some(output) = self.files.output.try_lock_for() {
            description.trace.bytes = output.total();
        }
        if outcome.is_some() && self.files.target.options.disk.is_some() {
            Output::remove_thinned(&self.files.folder);
        }
        let failure = self.files.failure.load(Acquire);
        // A program that samples by itself from now on has not ended.
        let outcome_time = outcome
            .as_ref()
            .filter(|&outcome| *outcome != Outcome::GaveWay)
            .map(|_| self.files.clock.now().0);
        (description.outcome, description.trace.state) = match failure {
            0 => (outcome, state),
            errno => (Some(Outcome::WriteFailed { errno }), FileState::Cut),
        };
        description.ended_unix_us = outcome_time;
        description.trace.blocks = blocks;
        description.trace.lost = lost;
        description.sampling.checked = self.files.target.checked();
        if failure != 0 {
            self.files.report_failure(lost);
        }
        // Nobody is there to be told if this fails; the trace itself is whole.
        let _ = self.files.folder.save(&description);
    }
}
