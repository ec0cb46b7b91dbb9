//! Print where the time of a run went.

use super::steps::Steps;

/// Tests printed at the end of a run.
const TESTS: usize = 30;
/// Limit of a test of the run of each change, in seconds. A longer one needs a reason in `tests/slow.txt`.
const LIMIT: f64 = 20.0;
const REASONS: &str = include_str!("../../../tests/slow.txt");

/// Prints the steps and the slowest tests, with a mark at those over the limit that have no reason.
pub(super) fn print(steps: &Steps) {
    let mut times = steps.times.clone();
    times.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    if !times.is_empty() {
        println!("--- slowest tests");
    }
    for time in times.iter().take(TESTS) {
        let mark = match reason(&time.name) {
            None if time.seconds > LIMIT => "  over the limit, without a reason in tests/slow.txt",
            _ => "",
        };
        println!("{:7.1} s  {}{mark}", time.seconds, time.name);
    }
    println!("--- steps");
    for (name, seconds) in &steps.took {
        println!("{seconds:5} s  {name}");
    }
}

/// The reason listed for a test's name or for the beginning of it.
fn reason(name: &str) -> Option<&'static str> {
    listed().find(|(listed, _)| name.starts_with(listed)).map(|(_, reason)| reason)
}

fn listed() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = REASONS.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| line.rsplit_once(": ").unwrap_or((line, "")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_slow_test_has_a_reason() {
        for (name, reason) in listed() {
            assert!(!reason.trim().is_empty(), "{name}");
        }
    }
}
