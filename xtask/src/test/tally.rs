//! Count tests by what `cargo test` and Node's test runner print.

/// Wall time of one test.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TestTime {
    pub(crate) name: String,
    pub(crate) seconds: f64,
}

/// Tests that passed and failed, over all test programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
}

impl Tally {
    /// Take one line of output; only `test result:` lines count, of which each test program
    /// prints one, and the `# pass` and `# fail` lines of Node's TAP. Ignored tests are neither
    /// passed nor failed.
    pub(crate) fn read(&mut self, line: &str) {
        for (heading, count) in [("# pass ", &mut self.passed), ("# fail ", &mut self.failed)] {
            *count += line.strip_prefix(heading).and_then(|n| n.trim().parse().ok()).unwrap_or(0);
        }
        let Some(result) = line.trim_start().strip_prefix("test result: ") else { return };
        for part in result.split(['.', ';']) {
            let mut words = part.split_whitespace();
            let (Some(number), Some(kind)) = (words.next(), words.next()) else { continue };
            let Ok(number) = number.parse::<u64>() else { continue };
            match kind {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                _ => {}
            }
        }
    }

    /// Add the results of another step.
    pub(crate) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }

    /// Count a failure where the runner failed and no test did: code that does not compile has no result.
    pub(crate) fn failed_unless(mut self, success: bool) -> Self {
        if !success && self.failed == 0 {
            self.failed = 1;
        }
        self
    }
}

/// Reader of the times in Node's TAP: `ok 3 - NAME`, then `duration_ms: 12.5` below it.
#[derive(Debug, Default)]
pub(crate) struct Tap {
    name: Option<String>,
}

impl Tap {
    /// Take one line of output; gives a test's time when its last line is read.
    pub(crate) fn read(&mut self, line: &str) -> Option<TestTime> {
        let line = line.trim_start();
        let result = line.strip_prefix("not ok ").or_else(|| line.strip_prefix("ok "));
        if let Some((_, name)) = result.and_then(|rest| rest.split_once(" - ")) {
            self.name = Some(name.to_owned());
        }
        let milliseconds: f64 = line.strip_prefix("duration_ms: ")?.parse().ok()?;
        Some(TestTime { name: self.name.take()?, seconds: milliseconds / 1000.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_test_results_and_nothing_else() {
        let mut tally = Tally::default();
        for line in [
            "running 3 tests",
            "test a ... ok",
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.02s",
            "5 passed; 5 failed",
            "# pass 7",
            "# fail 1",
            "# cancelled 3",
            "test result: FAILED. 10 passed; 2 failed; 0 ignored; 0 measured; 4 filtered out; finished in 1.50s",
        ] {
            tally.read(line);
        }
        assert_eq!(tally, Tally { passed: 20, failed: 3 });
    }

    #[test]
    fn a_time_belongs_to_the_test_above_it() {
        let mut tap = Tap::default();
        let text = "    ok 1 - a tab opens\n      ---\n      duration_ms: 1500.5\n      ...\n# duration_ms 7";
        let times: Vec<_> = text.lines().filter_map(|line| tap.read(line)).collect();
        assert_eq!(times, [TestTime { name: "a tab opens".to_owned(), seconds: 1.5005 }]);
    }

    #[test]
    fn a_runner_that_fails_without_a_result_counts_as_a_failure() {
        let passed = Tally { passed: 3, failed: 0 };
        assert_eq!(passed.failed_unless(false), Tally { passed: 3, failed: 1 });
        assert_eq!(passed.failed_unless(true), passed);
    }
}
