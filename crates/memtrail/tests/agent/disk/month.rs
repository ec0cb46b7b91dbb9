//! A service that is left on for a month of work, within a few megabytes. Its leaks are found after an hour, a day and the
//! month, with the moments at which they began.
//!
//! Leaks are judged by the clock of allocation, so an hour is a number of requests.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use memtrail_recording::{Outcome, Recording};
use memtrail_test_support::compilers::named;
use memtrail_test_support::is_whole_run;
use memtrail_test_support::programs::build;
use serde_json::Value;

use super::look;
use super::watch::{Watch, is_being_thinned};

const HOUR: u64 = 3_000;
const DAY: u64 = 24 * HOUR;
/// Requests after which snapshots are asked for: within the first hour.
const SNAPSHOTS: [u64; 6] = [500, 1_000, 1_500, 2_000, 2_500, HOUR];

/// The service, which waits after each of its stops.
struct Service {
    launcher: Child,
    lines: BufReader<ChildStdout>,
    recording: PathBuf,
}

impl Service {
    fn start(folder: &Path, limit: u64, stops: &[u64]) -> Self {
        let program = build(&named("system"), "month");
        let recording = folder.join("it.memtrail");
        let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
        command.args([
            "run",
            "-q",
            "--rate",
            "1e-2",
            "--seed",
            "1",
            "--disk",
            &limit.to_string(),
            "-o",
        ]);
        command.arg(&recording).arg("--").arg(&program.path);
        command.args(stops.iter().map(u64::to_string));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut launcher = command.spawn().expect("memtrail run");
        let lines = BufReader::new(launcher.stdout.take().expect("piped"));
        Self { launcher, lines, recording }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).expect("a line");
        line
    }

    fn stops_at(&mut self, requests: u64) {
        assert_eq!(self.line(), format!("{requests}\n"));
    }

    fn goes_on(&mut self) {
        self.launcher.stdin.as_mut().expect("piped").write_all(b"\n").expect("written");
    }

    /// Seconds since the recording began.
    fn seconds(&self) -> f64 {
        let description = Recording::open(&self.recording).unwrap().description.unwrap();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        now.as_secs_f64() - description.clock.start_unix_us as f64 / 1e6
    }

    fn memtrail(&self, arguments: &[&str]) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
        let output = command.args(arguments).arg(&self.recording).output().expect("memtrail");
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).expect("text")
    }

    /// Suspects by the function that allocated them, with the second at which each began to grow.
    fn suspects(&self) -> Vec<(String, f64)> {
        let found: Value = serde_json::from_str(&self.memtrail(&["leaks", "--json"])).unwrap();
        let suspects = found["suspects"].as_array().expect("an array");
        let mut named: Vec<_> = suspects
            .iter()
            .map(|suspect| {
                let function = suspect["allocated"][0]["function"].as_str();
                let since = suspect["growth"]["since"].as_f64().expect("a number");
                (function.unwrap_or_else(|| panic!("{found:#}")).to_owned(), since)
            })
            .collect();
        named.sort_by(|a, b| a.0.cmp(&b.0));
        named
    }
}

#[test]
fn a_month_fits_the_disk_and_leaks_are_found_with_their_start() {
    let (month, limit) = if is_whole_run() { (30 * DAY, 64 << 20) } else { (4 * DAY, 16 << 20) };
    let stops: Vec<u64> = SNAPSHOTS.into_iter().chain([DAY, month / 3, month]).collect();
    let folder = tempfile::tempdir().unwrap();
    let mut service = Service::start(folder.path(), limit, &stops);
    let watch = Watch::start(service.recording.clone());
    for requests in SNAPSHOTS {
        service.stops_at(requests);
        service.memtrail(&["snapshot"]);
        if requests < HOUR {
            service.goes_on();
        }
    }
    let sessions = "Month.Sessions.open_";
    let found = service.suspects();
    assert!(matches!(&found[..], [(function, 0.0)] if function == sessions), "hour: {found:?}");
    service.goes_on();
    service.stops_at(DAY);
    service.memtrail(&["snapshot"]);
    let found = service.suspects();
    assert!(matches!(&found[..], [(function, 0.0)] if function == sessions), "day: {found:?}");
    service.goes_on();
    service.stops_at(month / 3);
    let second_began = service.seconds();
    service.goes_on();
    service.stops_at(month);
    service.memtrail(&["snapshot"]);
    let (found, now) = (service.suspects(), service.seconds());
    let [(first, since_first), (second, since_second)] = &found[..] else { panic!("{found:?}") };
    assert_eq!([&**first, &**second], ["Month.Audit.note", sessions]);
    let near = (since_first - second_began).abs() < 0.15 * now;
    assert!(near, "it began at {second_began} of {now} s: {found:?}");
    assert!(*since_second <= 0.0, "{found:?}");
    service.goes_on();
    assert!(service.line().contains(" sessions, "));
    assert!(service.launcher.wait().expect("gone").success());
    let seen = watch.finish();
    assert!(seen.most <= limit && seen.looks > 100 && seen.thinning > 0, "{seen:?}");
    assert!(look(&service.recording, limit), "its history is thinned");
    assert!(!is_being_thinned(&service.recording));
    let description = Recording::open(&service.recording).unwrap().description.unwrap();
    assert_eq!(description.outcome, Some(Outcome::Exited { code: Some(0) }));
}
