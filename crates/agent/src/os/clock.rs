//! The recording's clock: monotonic, tied once to the world's.

use memtrail_trace::Timestamp;

#[derive(Clone, Copy)]
pub(crate) struct Clock {
    /// Wall time at the start, microseconds since the epoch.
    pub(crate) start: Timestamp,
    /// Monotonic time at the start, nanoseconds.
    pub(crate) monotonic: u64,
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

impl Clock {
    /// Ties the two clocks together, now.
    pub(crate) fn start() -> Self {
        let monotonic = monotonic();
        Self { start: Timestamp(read(libc::CLOCK_REALTIME) / 1000), monotonic }
    }

    #[inline]
    pub(crate) fn now(&self) -> Timestamp {
        let passed = monotonic().saturating_sub(self.monotonic);
        Timestamp(self.start.0 + passed / 1000)
    }
}
