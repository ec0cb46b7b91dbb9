//! Tests that run beside other steps: those of the page and those of Rust code wait for programs half of their time.

use std::process::Command;
use std::thread::JoinHandle;
use std::time::Instant;

use super::steps::{Steps, TestTime, count};
use super::tally::Tally;

/// Runners of tests, one after the other, beside the thread that started them.
pub(crate) struct Beside(Option<JoinHandle<Vec<Ended>>>);

/// A runner that has ended.
struct Ended {
    name: &'static str,
    tally: Tally,
    times: Vec<TestTime>,
    printed: Vec<u8>,
    seconds: u64,
}

impl Beside {
    /// Start them.
    pub(super) fn start(commands: Vec<(&'static str, Command)>) -> Self {
        let run = |(name, mut command): (&'static str, Command)| {
            let start = Instant::now();
            let (mut times, mut printed) = (Vec::new(), Vec::new());
            let tally = count(&mut command, &mut times, &mut printed);
            Ended { name, tally, times, printed, seconds: start.elapsed().as_secs() }
        };
        Self(Some(std::thread::spawn(move || commands.into_iter().map(run).collect())))
    }

    /// Nothing to wait for.
    pub(super) fn nothing() -> Self {
        Self(None)
    }

    /// Wait for their end, and print and count what they found.
    pub(super) fn finish(self, steps: &mut Steps) {
        let Some(thread) = self.0 else { return };
        match thread.join() {
            Ok(all) => {
                for ended in all {
                    println!("--- {}", ended.name);
                    print!("{}", String::from_utf8_lossy(&ended.printed));
                    println!("--- took {} s, beside the tests of Rust code", ended.seconds);
                    steps.times.extend(ended.times);
                    steps.took.push((ended.name.to_owned(), ended.seconds));
                    steps.tally.add(ended.tally);
                }
            }
            Err(_) => steps.check("tests of the page", || Err("the thread panicked".into())),
        }
    }
}
