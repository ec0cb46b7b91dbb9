//! The recording's clock: monotonic, tied once to the world's.

use std::time::Duration;

use memtrail_trace::Timestamp;

#[derive(Clone, Copy)]
pub(crate) struct Clock {
    /// Wall time at the start, microseconds since the epoch.
    pub(crate) start: Timestamp,
    /// Monotonic time at the start, nanoseconds.
    pub(crate) monotonic: u64,
    /// CPU time of the process at the start, nanoseconds: an attached program has worked before.
    cpu: u64,
}

fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a valid out-pointer. glibc answers from the vDSO without a system call.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// `CLOCK_MONOTONIC` in nanoseconds.
pub(crate) fn monotonic() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// The same as it was at the last tick, some milliseconds ago, at a fraction of the cost.
pub(crate) fn coarse() -> u64 {
    read(libc::CLOCK_MONOTONIC_COARSE)
}

/// Processor time that this thread has used, in nanoseconds.
pub(crate) fn thread_cpu_time() -> u64 {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// Processor time that another process has used, in nanoseconds; 0 if it is gone.
pub(crate) fn cpu_time(pid: libc::pid_t) -> u64 {
    let mut clock = 0;
    // SAFETY: a valid out-pointer.
    match unsafe { libc::clock_getcpuclockid(pid, &raw mut clock) } {
        0 => read(clock),
        _ => 0,
    }
}

/// CPU time of this process, all its threads, in nanoseconds. A system call, unlike the others.
pub(crate) fn of_process() -> u64 {
    read(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// Lets this thread sleep, less if a signal comes.
pub(crate) fn pause(nanoseconds: u32) {
    let time = libc::timespec { tv_sec: 0, tv_nsec: nanoseconds.into() };
    // SAFETY: a valid duration, no remainder wanted.
    unsafe { libc::nanosleep(&raw const time, std::ptr::null_mut()) };
}

/// The time as it was read last. Where events come every few hundred nanoseconds, as they do when each allocation is one,
/// reading the clock for each would be a sixth of all time.
pub(crate) struct RecentTime {
    time: Timestamp,
    /// The processor's counter at that time.
    ticks: u64,
    uses: u32,
}

/// The time is read again after so many ticks: a microsecond or less.
const TICKS: u64 = 2048;
/// And after so many uses, should the counter not go on.
const USES: u32 = 64;

impl RecentTime {
    /// The time now.
    pub(crate) fn read(clock: &Clock) -> Self {
        Self { time: clock.now(), ticks: ticks(), uses: 0 }
    }

    /// The time, to about a microsecond. It does not go back.
    #[inline]
    pub(crate) fn now(&mut self, clock: &Clock) -> Timestamp {
        // Another processor's counter may be behind: then it is as if much time had passed.
        if ticks().wrapping_sub(self.ticks) >= TICKS || self.uses >= USES {
            *self = Self::read(clock);
        }
        self.uses += 1;
        self.time
    }
}

/// The processor's counter of time.
#[cfg(target_arch = "x86_64")]
#[inline]
fn ticks() -> u64 {
    // SAFETY: all processors of this kind have it.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// There is none: the clock is read each time.
#[cfg(not(target_arch = "x86_64"))]
fn ticks() -> u64 {
    static TICKED: core::sync::atomic::AtomicU64 = core::sync::atomic::AtomicU64::new(0);
    TICKED.fetch_add(TICKS, core::sync::atomic::Ordering::Relaxed)
}

impl Clock {
    /// Ties the two clocks together, now.
    pub(crate) fn start() -> Self {
        let monotonic = monotonic();
        let start = Timestamp(read(libc::CLOCK_REALTIME) / 1000);
        Self { start, monotonic, cpu: of_process() }
    }

    /// CPU time that the process has used since the start.
    pub(crate) fn cpu(&self) -> Duration {
        Duration::from_nanos(of_process().saturating_sub(self.cpu))
    }

    #[inline]
    pub(crate) fn now(&self) -> Timestamp {
        let passed = monotonic().saturating_sub(self.monotonic);
        Timestamp(self.start.0 + passed / 1000)
    }
}
