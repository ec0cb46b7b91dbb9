//! Judges if a program that ends is worth a search for references that nobody asked for.

use std::time::Duration;

use crate::snapshot::memory_pressure::{available, resident};

/// The search may take one part in so many of the time that the program ran.
const PARTS: u32 = 100;
/// No process is so small that it is worth one before this age: nothing is asked of the system for it.
const SHORTEST: Duration = Duration::from_millis(100);
/// Nanoseconds that it takes for a thousand bytes of resident memory.
const COST: u64 = 1_500;
/// Copies of pages and lists of blocks take less than one part in so many of resident memory.
const COPIED: u64 = 4;

/// Why there is none, where that is to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::native) enum Refused {
    /// The program is short.
    Short,
    For(&'static str),
}

/// After this time, and within this time from now.
pub(in crate::native) fn is_worth_a_last_one(
    age: Duration,
    within: Option<Duration>,
) -> Result<(), Refused> {
    if age < SHORTEST {
        return Err(Refused::Short);
    }
    judge(age, within, resident().ok_or(Refused::Short)?, available)
}

fn judge(
    age: Duration,
    within: Option<Duration>,
    resident: u64,
    available: impl FnOnce() -> Option<u64>,
) -> Result<(), Refused> {
    let cost = Duration::from_nanos((resident / 1000).saturating_mul(COST));
    if cost > age / PARTS {
        return Err(Refused::Short);
    }
    if within.is_some_and(|within| cost > within) {
        return Err(Refused::For(
            "a signal ended the program, and left too little time to find what refers to its memory",
        ));
    }
    if available().is_some_and(|available| available < resident / COPIED) {
        return Err(Refused::For(
            "there was too little memory to find what refers to the program's at its end",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_mins(1);

    #[test]
    fn it_takes_one_part_in_a_hundred_of_the_time_at_most() {
        assert_eq!(judge(MINUTE, None, 300 << 20, || None), Ok(()));
        assert_eq!(judge(MINUTE, None, 600 << 20, || None), Err(Refused::Short));
        assert_eq!(judge(Duration::from_millis(100), None, 10 << 20, || None), Err(Refused::Short));
    }

    #[test]
    fn what_is_missing_is_told() {
        let second = Some(Duration::from_secs(1));
        let refused = |result| matches!(result, Err(Refused::For(_)));
        assert!(refused(judge(60 * MINUTE, second, 1 << 30, || None)));
        assert_eq!(judge(60 * MINUTE, second, 100 << 20, || None), Ok(()));
        assert!(refused(judge(60 * MINUTE, None, 1 << 30, || Some(1 << 27))));
    }
}
