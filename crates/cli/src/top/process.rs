//! What the system says of a process (`proc(5)`).

use std::fs;

use serde::Serialize;

/// A process's memory and threads. Bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct ProcessFigures {
    /// Resident memory.
    pub(super) rss: Option<u64>,
    /// The most there was of it.
    pub(super) peak_rss: Option<u64>,
    /// What of the process is in swap space.
    pub(super) swap: Option<u64>,
    /// How many threads it has.
    pub(super) threads: Option<u64>,
}

impl ProcessFigures {
    /// Nothing if there is no such process.
    pub(super) fn read(pid: u32) -> Option<Self> {
        Some(Self::parse(&fs::read_to_string(format!("/proc/{pid}/status")).ok()?))
    }

    /// The sum over several processes. Memory that they share is counted in each.
    pub(super) fn sum(parts: impl Iterator<Item = Self>) -> Option<Self> {
        let both =
            |a: Option<u64>, b: Option<u64>| a.zip(b).map(|(a, b)| a.saturating_add(b)).or(a).or(b);
        parts.reduce(|a, b| Self {
            rss: both(a.rss, b.rss),
            // They had their most at different times.
            peak_rss: None,
            swap: both(a.swap, b.swap),
            threads: both(a.threads, b.threads),
        })
    }

    /// From the text of `status`. What is missing there is unknown.
    fn parse(status: &str) -> Self {
        let number = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.strip_prefix(':')?.split_whitespace().next()?.parse::<u64>().ok()
        };
        let bytes = |name: &str| number(name)?.checked_mul(1024);
        Self {
            rss: bytes("VmRSS"),
            peak_rss: bytes("VmHWM"),
            swap: bytes("VmSwap"),
            threads: number("Threads"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_and_what_is_missing_is_unknown() {
        let status = "Name:\tVmRSS: 7\nVmHWM:\t    2048 kB\nVmRSS:\t 1024 kB\nThreads:\t3\n";
        let figures = ProcessFigures::parse(status);
        assert_eq!((figures.rss, figures.peak_rss), (Some(1 << 20), Some(2 << 20)));
        assert_eq!((figures.swap, figures.threads), (None, Some(3)));
        assert_eq!(ProcessFigures::parse("VmRSS: x\nVmHWM"), ProcessFigures::default());
        let me = ProcessFigures::read(std::process::id()).unwrap();
        assert!(me.rss > Some(1 << 16) && me.peak_rss >= me.rss && me.threads > Some(0), "{me:?}");
        assert_eq!(ProcessFigures::read(u32::MAX), None);
    }

    #[test]
    fn sums_are_of_what_is_known() {
        let of = |rss, peak_rss| ProcessFigures { rss, peak_rss, swap: None, threads: Some(2) };
        let sum = ProcessFigures::sum(
            [of(Some(1), Some(3)), of(None, None), of(Some(4), Some(4))].into_iter(),
        );
        let expected =
            ProcessFigures { rss: Some(5), peak_rss: None, swap: None, threads: Some(6) };
        assert_eq!(sum, Some(expected));
        assert_eq!(ProcessFigures::sum(std::iter::empty()), None);
    }
}
