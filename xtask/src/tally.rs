//! Count tests by what `cargo test` and Node's test runner print.

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

    /// Count one check that is not a test program of cargo's.
    pub(crate) fn check(&mut self, passed: bool) {
        if passed {
            self.passed += 1;
        } else {
            self.failed += 1;
        }
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
}
