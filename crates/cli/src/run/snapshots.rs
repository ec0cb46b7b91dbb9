//! When the heap is to be written down, as people say it.

use memtrail_recording::session::SnapshotOptions;
use memtrail_text::Size;

use crate::error::{Failure, Kind};

/// Options about heap snapshots.
#[derive(Clone, clap::Args)]
#[command(next_help_heading = "Heap snapshots")]
#[group(id = "snapshots")]
pub(crate) struct Args {
    /// When to take heap snapshots; several may be given. Without this, --above and --every it is auto. OCaml programs
    /// also take those that are asked for, unless it is off. C, C++ and Rust have exit, request (of --every, too), off,
    /// and auto. `memtrail attach` has no exit, signal and out-of-memory
    #[arg(long = "snapshot", value_name = "WHEN", value_enum, value_delimiter = ',')]
    moments: Vec<When>,

    /// The signal that asks for a snapshot; one that the program itself uses is left to it. Like
    /// any signal it interrupts what waits in select, poll or a sleep; `memtrail snapshot PID` does
    /// not
    #[arg(long, value_name = "SIG", default_value = "USR1", value_parser = signal)]
    signal: i32,

    /// Take a snapshot when the heap has grown beyond this, e.g. 2GiB, and again each time that it
    /// has doubled
    #[arg(long, value_name = "SIZE", value_parser = memtrail_text::some_size)]
    above: Option<Size>,

    /// Maximum number of snapshots, requested ones not counted; of a native program, of those of --every
    #[arg(long, value_name = "N")]
    at_most: Option<u64>,

    /// Minimum time between snapshots, except for requested ones: 10s, 5m. Without --snapshot and --above, one is taken
    /// as the next major collection ends after this time; of a native program, as soon as it has passed
    #[arg(long, value_name = "TIME", value_parser = milliseconds)]
    every: Option<u64>,

    /// Include string contents: a snapshot then contains all secrets that are in the program's memory
    #[arg(long)]
    contents: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum When {
    /// At even steps of the work, at most 24, for 1 % of the CPU time, and at the end, also by INT, TERM or HUP. None while
    /// the heap is below 16 MiB and the program has used less than 2 s of CPU time. Of C, C++ and Rust: at the end alone, if
    /// the search takes less than a hundredth of the program's time
    Auto,
    /// As each major collection ends
    EveryMajor,
    /// At the end
    Exit,
    /// When the signal of --signal arrives
    Signal,
    /// As ulimit -v, the container's memory or the machine's runs low, and before that exception is raised
    OutOfMemory,
    /// When `memtrail snapshot PID` asks, and at no other time
    Request,
    /// Never, not even if asked
    Off,
}

impl Args {
    /// Returns a moment that a program which runs already cannot have, as the command line names it.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn only_from_the_start(&self) -> Option<&'static str> {
        let known =
            [(When::Exit, "exit"), (When::Signal, "signal"), (When::OutOfMemory, "out-of-memory")];
        known.into_iter().find(|(when, _)| self.moments.contains(when)).map(|(_, name)| name)
    }

    /// Refuses moments of snapshots that native programs do not have. The hint names those that they have.
    pub(crate) fn check_native(&self, hint: &str) -> Result<(), Failure> {
        if !self.is_of_ocaml() {
            return Ok(());
        }
        let message =
            "snapshots of native programs are taken at the end, on request or at intervals";
        Err(Failure::new(Kind::Usage, message).hint(hint))
    }

    /// Whether something is wanted that only OCaml programs have.
    fn is_of_ocaml(&self) -> bool {
        let Self { moments, signal: _, above, at_most: _, every: _, contents } = self;
        let is_of_all =
            |when: &When| matches!(when, When::Auto | When::Exit | When::Request | When::Off);
        !moments.iter().all(is_of_all) || above.is_some() || *contents
    }

    /// One more, at the program's end.
    #[must_use]
    pub(super) fn with_exit(mut self) -> Self {
        if !self.moments.contains(&When::Off) && !self.moments.contains(&When::Exit) {
            self.moments.push(When::Exit);
        }
        self
    }

    /// What is passed to the agent; nothing if there are to be no snapshots, whoever asks.
    pub(crate) fn resolve(&self) -> Option<SnapshotOptions> {
        let wants = |when| self.moments.contains(&when);
        if wants(When::Off) {
            return None;
        }
        let is_open = self.moments.is_empty() && self.above.is_none() && self.every.is_none();
        // An interval alone asks for snapshots. A native program has a clock for them.
        let is_paced = self.every.is_some() && self.above.is_none();
        let is_paced = is_paced && self.moments.iter().all(|when| *when == When::Exit);
        Some(SnapshotOptions {
            auto: wants(When::Auto) || is_open,
            every_major: wants(When::EveryMajor) || is_paced,
            exit: wants(When::Exit),
            request: wants(When::Request),
            out_of_memory: wants(When::OutOfMemory),
            signal: wants(When::Signal).then_some(self.signal),
            above: self.above.map(|size| size.0),
            at_most: self.at_most,
            every_ms: self.every.unwrap_or(0),
            contents: self.contents,
        })
    }
}

/// Signals that can ask: those that no kernel sends by itself.
const SIGNALS: [(&str, i32); 8] = [
    ("USR1", libc::SIGUSR1),
    ("USR2", libc::SIGUSR2),
    ("HUP", libc::SIGHUP),
    ("URG", libc::SIGURG),
    ("WINCH", libc::SIGWINCH),
    ("IO", libc::SIGIO),
    ("PWR", libc::SIGPWR),
    ("QUIT", libc::SIGQUIT),
];

fn signal(text: &str) -> Result<i32, String> {
    let upper = text.to_ascii_uppercase();
    let name = upper.strip_prefix("SIG").unwrap_or(&upper);
    let found = SIGNALS
        .iter()
        .find(|(known, number)| *known == name || number.to_string() == name)
        .map(|&(_, number)| number);
    found.ok_or_else(|| {
        let names: Vec<_> = SIGNALS.iter().map(|(name, _)| *name).collect();
        format!("a signal to ask with is one of {}", names.join(", "))
    })
}

/// A pause is not shorter than was asked for.
fn milliseconds(text: &str) -> Result<u64, String> {
    let micros = memtrail_text::duration(text)?.as_micros();
    if micros == 0 {
        return Err("the least time between snapshots is 1ms".to_owned());
    }
    u64::try_from(micros.div_ceil(1000)).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::{Args, milliseconds, signal};

    #[derive(clap::Parser)]
    struct Given {
        #[command(flatten)]
        snapshots: Args,
    }

    /// With `--every` alone there were none.
    #[test]
    fn an_interval_alone_asks_for_snapshots() {
        let resolve = |options: &[&str]| {
            let given = Given::try_parse_from([&["x"], options].concat()).unwrap();
            given.snapshots.resolve().unwrap()
        };
        let paced = resolve(&["--every", "1s"]);
        assert!(paced.every_major && !paced.auto && paced.every_ms == 1_000);
        assert!(!resolve(&["--every", "1s", "--above", "1G"]).every_major);
        assert!(!resolve(&["--every", "1s", "--snapshot", "request"]).every_major);
        assert!(resolve(&[]).auto);
    }

    #[test]
    fn signals_have_names_and_numbers() {
        for text in ["USR1", "sigusr1", "10"] {
            assert_eq!(signal(text), Ok(10), "{text}");
        }
        for text in ["KILL", "9", "TERM", "", "USR3"] {
            assert!(signal(text).is_err(), "{text}");
        }
    }

    #[test]
    fn pauses_are_not_shorter_than_was_asked_for() {
        for (text, expected) in
            [("10s", 10_000), ("1.5m", 90_000), ("5min", 300_000), ("250ms", 250), ("1us", 1)]
        {
            assert_eq!(milliseconds(text), Ok(expected), "{text}");
        }
        for text in ["", "x", "10 parsecs", "-1s", "inf", "0", "0s"] {
            assert!(milliseconds(text).is_err(), "{text}");
        }
    }
}
