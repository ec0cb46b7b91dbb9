//! Starts and stops profiles, of which there is one at a time.
//!
//! Threads use the current profile while they sample. One that stops waits until none does.

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

use crate::pending;
use crate::rate::{Rate, Unit};
use crate::table::TABLE;
use crate::thread::{Drawn, Suspension};
use crate::tracker::{Allocation, Tracker};
use crate::value::Value;
use crate::{fork, thread};

/// Between looks at whether callbacks have ended.
const PAUSE: Duration = Duration::from_millis(1);

/// A tracker of any type. Data that is not its own is dropped.
trait AnyTracker: Send + Sync {
    fn allocated(&self, allocation: &Allocation<'_>) -> Option<Value>;
    fn reallocated(&self, data: Value, allocation: &Allocation<'_>) -> Option<Value>;
    fn freed(&self, data: Value);
}

impl<T: Tracker> AnyTracker for T {
    fn allocated(&self, allocation: &Allocation<'_>) -> Option<Value> {
        Tracker::allocated(self, allocation).map(Value::new)
    }

    fn reallocated(&self, data: Value, allocation: &Allocation<'_>) -> Option<Value> {
        let data = data.downcast()?;
        Tracker::reallocated(self, data, allocation).map(Value::new)
    }

    fn freed(&self, data: Value) {
        if let Some(data) = data.downcast() {
            Tracker::freed(self, data);
        }
    }
}

/// A running profile, as threads see it.
pub(crate) struct Current {
    pub(crate) drawn: Drawn,
    pub(crate) callstack_size: usize,
    seed: u64,
    /// Threads that have drawn.
    threads: AtomicU64,
    tracker: *const dyn AnyTracker,
}

// SAFETY: the tracker is `Sync`, and lives until no thread uses the profile any more.
unsafe impl Sync for Current {}
// SAFETY: as above.
unsafe impl Send for Current {}

/// The current profile, or null.
static CURRENT: AtomicPtr<Current> = AtomicPtr::new(std::ptr::null_mut());
/// Uses of the current profile under way.
static IN_USE: AtomicUsize = AtomicUsize::new(0);
/// Whether there is a profile, or one that is not yet wholly stopped.
static TAKEN: AtomicBool = AtomicBool::new(false);
/// Profiles that were started.
static GENERATIONS: AtomicU64 = AtomicU64::new(0);

/// Whether the current profile is [kept](Profile::keep).
static KEPT: AtomicBool = AtomicBool::new(false);

/// The use of the current profile by a thread.
pub(crate) struct InUse {
    current: *const Current,
    /// Whether the profile may be stopped, which waits for this.
    is_counted: bool,
}

impl InUse {
    /// Whether there is a profile to use.
    pub(crate) fn is_possible() -> bool {
        !CURRENT.load(SeqCst).is_null()
    }

    /// Begins to use the current profile, if there is one.
    pub(crate) fn begin() -> Option<Self> {
        if KEPT.load(SeqCst) {
            return Some(Self { current: CURRENT.load(SeqCst), is_counted: false });
        }
        if !Self::is_possible() {
            return None;
        }
        IN_USE.fetch_add(1, SeqCst);
        thread::note_use(true);
        // Read again: from here on, who stops the profile waits for us.
        let in_use = Self { current: CURRENT.load(SeqCst), is_counted: true };
        (!in_use.current.is_null()).then_some(in_use)
    }

    pub(crate) fn profile(&self) -> &Current {
        // SAFETY: not null, and not freed while it is in use.
        unsafe { &*self.current }
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        if self.is_counted {
            thread::note_use(false);
            IN_USE.fetch_sub(1, SeqCst);
        }
    }
}

impl Current {
    /// The seed of the next thread that draws.
    pub(crate) fn next_seed(&self) -> u64 {
        let thread = self.threads.fetch_add(1, SeqCst);
        self.seed.wrapping_add(thread.wrapping_mul(0xD6E8_FEB8_6659_FD93))
    }

    fn tracker(&self) -> &dyn AnyTracker {
        // SAFETY: it lives as long as the profile.
        unsafe { &*self.tracker }
    }

    pub(crate) fn allocated(&self, allocation: &Allocation<'_>) -> Option<Value> {
        self.tracker().allocated(allocation)
    }

    pub(crate) fn reallocated(&self, data: Value, allocation: &Allocation<'_>) -> Option<Value> {
        self.tracker().reallocated(data, allocation)
    }

    pub(crate) fn freed(&self, data: Value) {
        self.tracker().freed(data);
    }
}

/// After a fork, in the child: of the uses under way, those of this thread are left, and it draws anew.
fn after_fork() {
    IN_USE.store(thread::uses() as usize, SeqCst);
    // SAFETY: there is one thread, which stops no profile meanwhile.
    if let Some(current) = unsafe { CURRENT.load(SeqCst).as_ref() } {
        current.threads.fetch_add(u64::from(std::process::id()) << 32, SeqCst);
    }
    thread::restart();
}

/// Why no profile was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// There is one profile at a time.
    #[error("a profile is running already")]
    Running,
}

/// A running profile. Dropping it stops it.
#[derive(Debug)]
pub struct Profile<T: Tracker> {
    current: *mut Current,
    tracker: *mut T,
    owned: PhantomData<T>,
}

// SAFETY: it owns a tracker, which is `Send`, and its settings.
unsafe impl<T: Tracker> Send for Profile<T> {}
// SAFETY: a shared profile gives access to the tracker alone, which is `Sync`.
unsafe impl<T: Tracker> Sync for Profile<T> {}

/// Starts to sample the allocations of all threads.
///
/// Each byte is sampled with the probability `rate`, independently of all others. The callstacks that the
/// tracker gets have at most `callstack_size` frames, and never more than
/// [`MAX_FRAMES`](crate::MAX_FRAMES). Threads that run already begin within 64 KiB of their allocation.
pub fn start<T: Tracker>(
    rate: Rate,
    callstack_size: usize,
    tracker: T,
) -> Result<Profile<T>, StartError> {
    start_seeded(rate, callstack_size, tracker, random_seed())
}

/// The same with a seed: a program that allocates the same in the same order is sampled in the same places.
pub fn start_seeded<T: Tracker>(
    rate: Rate,
    callstack_size: usize,
    tracker: T,
    seed: u64,
) -> Result<Profile<T>, StartError> {
    start_in(Unit::BYTE, rate, callstack_size, tracker, seed)
}

/// The same for a trace, which has sizes in words: each byte of these words is sampled with this probability. An estimate from
/// sizes that are rounded up has no bias then, however small the blocks are.
pub fn start_in_words<T: Tracker>(
    rate: Rate,
    callstack_size: usize,
    tracker: T,
    seed: u64,
) -> Result<Profile<T>, StartError> {
    start_in(Unit::WORD, rate, callstack_size, tracker, seed)
}

fn start_in<T: Tracker>(
    unit: Unit,
    rate: Rate,
    callstack_size: usize,
    tracker: T,
    seed: u64,
) -> Result<Profile<T>, StartError> {
    if TAKEN.swap(true, SeqCst) {
        return Err(StartError::Running);
    }
    fork::prepare(after_fork);
    let tracker = Box::into_raw(Box::new(tracker));
    let generation = GENERATIONS.fetch_add(1, SeqCst) + 1;
    let current = Box::into_raw(Box::new(Current {
        drawn: Drawn { rate, generation, unit },
        callstack_size,
        seed,
        threads: AtomicU64::new(0),
        tracker,
    }));
    CURRENT.store(current, SeqCst);
    thread::restart();
    Ok(Profile { current, tracker, owned: PhantomData })
}

impl<T: Tracker> Profile<T> {
    /// Stops sampling and gives the tracker back. Callbacks that are due are run before; what is tracked is
    /// dropped without one.
    ///
    /// # Panics
    /// In a callback, which would have to wait for itself.
    pub fn stop(self) -> T {
        assert!(thread::uses() == 0, "a profile cannot be stopped by a callback");
        let profile = ManuallyDrop::new(self);
        // SAFETY: the profile is not used again.
        unsafe { profile.end() }
    }

    /// Stops sampling, and waits for callbacks under way, but no longer than this. False if some go on: a signal handler may have left
    /// one for good. Then the tracker stays, and no other profile can be started.
    ///
    /// # Panics
    /// In a callback.
    pub fn stop_within(self, patience: Duration) -> bool {
        assert!(thread::uses() == 0, "a profile cannot be stopped by a callback");
        let profile = ManuallyDrop::new(self);
        CURRENT.store(std::ptr::null_mut(), SeqCst);
        let begun = Instant::now();
        while IN_USE.load(SeqCst) != 0 {
            if begun.elapsed() > patience {
                return false;
            }
            std::thread::sleep(PAUSE);
        }
        // SAFETY: the profile is not used again.
        drop(unsafe { profile.end() });
        true
    }

    /// Keeps the profile until the process's end. Its uses cost less, as nothing has to wait for them.
    pub fn keep(self) {
        let _profile = ManuallyDrop::new(self);
        KEPT.store(true, SeqCst);
    }

    /// The tracker. To share a lock with its callbacks, see [`suspended`](crate::suspended).
    pub fn tracker(&self) -> &T {
        // SAFETY: it is freed with the profile.
        unsafe { &*self.tracker }
    }

    /// # Safety
    /// Called once, and nothing of the profile is used afterwards.
    unsafe fn end(&self) -> T {
        CURRENT.store(std::ptr::null_mut(), SeqCst);
        while IN_USE.load(SeqCst) != 0 {
            std::thread::yield_now();
        }
        let tracker = {
            let _suspended = Suspension::begin();
            // SAFETY: both came from boxes, and no thread uses them: none did, and none can begin to.
            let (current, tracker) =
                unsafe { (Box::from_raw(self.current), *Box::from_raw(self.tracker)) };
            for freed in pending::take() {
                if freed.generation == current.drawn.generation {
                    AnyTracker::freed(&tracker, freed.data);
                }
            }
            TABLE.clear();
            tracker
        };
        TAKEN.store(false, SeqCst);
        tracker
    }
}

impl<T: Tracker> Drop for Profile<T> {
    /// Stops the profile; one that is dropped by a callback goes on for ever.
    fn drop(&mut self) {
        if thread::uses() == 0 {
            // SAFETY: the profile is not used again.
            drop(unsafe { self.end() });
        }
    }
}

fn random_seed() -> u64 {
    let mut bytes = [0; 8];
    // SAFETY: the buffer has as many bytes.
    let got =
        unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), libc::GRND_NONBLOCK) };
    if got == bytes.len() as isize {
        return u64::from_ne_bytes(bytes);
    }
    let elapsed = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    elapsed.as_nanos() as u64 ^ u64::from(std::process::id()) << 32
}
