//! When resident memory is measured.

use std::time::Duration;

/// When it is measured for the first time, and then at least this long apart.
pub(crate) const FIRST: Duration = Duration::from_millis(250);
const SHORTEST: Duration = Duration::from_secs(1);
/// The time between two is at least so many times the processor time of the last one,
const COST: u32 = 500;
/// and grows with the recording's age, of which it is this part, so that files of long recordings stay small.
const AGE: u32 = 250;

/// How long it is until the next time, by what the last one took and by the age of the recording.
pub(crate) fn next(cost: Duration, age: Duration) -> Duration {
    SHORTEST.max(cost.saturating_mul(COST)).max(age / AGE)
}
