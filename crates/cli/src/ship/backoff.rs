//! Time between retries: doubled after each failure, up to a limit, with jitter.

use std::time::{Duration, Instant};

/// First pause.
const FIRST: Duration = Duration::from_secs(1);

/// Pauses of one destination.
#[derive(Debug)]
pub(super) struct Backoff {
    longest: Duration,
    failures: u32,
    until: Option<Instant>,
}

impl Backoff {
    pub(super) fn new(longest: Duration) -> Self {
        Self { longest, failures: 0, until: None }
    }

    /// Time that is left of a pause.
    pub(super) fn left(&self) -> Option<Duration> {
        let left = self.until?.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }

    /// Begins a pause: the one that the server asks for, or longer. True for the first failure in a row.
    pub(super) fn fail(&mut self, asked: Option<Duration>) -> bool {
        self.failures = self.failures.saturating_add(1);
        let pause = pause(self.failures, self.longest, jitter()).max(asked.unwrap_or_default());
        self.until = Some(Instant::now() + pause);
        self.failures == 1
    }

    /// Notes a success. True if failures were before it.
    pub(super) fn succeed(&mut self) -> bool {
        self.until = None;
        std::mem::take(&mut self.failures) > 0
    }
}

/// Pause after so many failures. The jitter, of 0 to 1, keeps many machines from coming back at once.
fn pause(failures: u32, longest: Duration, jitter: f64) -> Duration {
    let doubled = FIRST.saturating_mul(1 << failures.saturating_sub(1).min(16));
    doubled.min(longest).mul_f64(0.5 + jitter / 2.0)
}

fn jitter() -> f64 {
    getrandom::u32().map_or(0.5, |random| f64::from(random) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_limit() {
        let longest = Duration::from_secs(60);
        let pauses = [1, 2, 3, 7, 1000].map(|failures| pause(failures, longest, 1.0).as_secs());
        assert_eq!(pauses, [1, 2, 4, 60, 60]);
        assert_eq!(pause(7, longest, 0.0).as_secs(), 30);
    }
}
