//! Recordings whose history is thinned while they are shipped: no window is lost, none is sent twice, and sums stay right.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use memtrail_profile::Profile;
use memtrail_profile::time::Elapsed;
use memtrail_test_support::compilers::named;
use memtrail_test_support::programs::build;
use memtrail_test_support::running::Case;
use memtrail_trace::rates::RateChanges;
use memtrail_trace::thin::{Thinning, plan, write};
use memtrail_trace::write::{AllocEvent, StreamWriter, Version, info_packet};
use memtrail_trace::{
    BlockId, Bytes, Code, DomainId, Location, SampleRate, Source, Timestamp, TraceInfo, Words,
};
use serde_json::Value;
use tempfile::TempDir;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::receiver::{Received, Receiver};
use crate::recordings::{json, memtrail, recording, revive, text};
use crate::running::{interrupt, start, wait_until};

const RATE: f64 = 1e-2;
const START: u64 = 1_700_000_000_000_000;
const MILLISECOND: u64 = 1_000;
const SECOND: u64 = 1_000 * MILLISECOND;
/// Bytes between two restarts.
const SEGMENT: usize = 4_000;

/// A recorder and its trace, and what the trace would be if nobody had thinned it.
struct Recorder {
    path: PathBuf,
    trace: Vec<u8>,
    whole: Vec<u8>,
    stream: StreamWriter<Vec<u8>>,
    /// Ends of blocks that are alive.
    ends: BTreeMap<(u64, u64), BlockId>,
    now: u64,
    segment: usize,
    thinnings: u64,
}

impl Recorder {
    fn new(path: &Path) -> Self {
        for entry in fs::read_dir(path).unwrap().flatten() {
            if entry.file_name() != "recording.json" {
                fs::remove_file(entry.path()).unwrap();
            }
        }
        let info = TraceInfo {
            sample_rate: SampleRate(RATE),
            word_bits: 64,
            executable: "shop".into(),
            host: "server".into(),
            runtime_params: String::new(),
            pid: 4711,
            start: Timestamp(START),
            context: None,
        };
        let mut trace = vec![0; 1 << 15];
        let length = info_packet(&mut trace, &info, Version::V2).unwrap();
        trace.truncate(length);
        let (buffer, domain, first) = (vec![0; 1 << 15], DomainId(0), BlockId(0));
        let stream = StreamWriter::new(buffer, Version::V2, 4711, domain, info.start, first);
        Self {
            path: path.to_owned(),
            whole: trace.clone(),
            trace,
            stream: stream.unwrap(),
            ends: BTreeMap::new(),
            now: 0,
            segment: 0,
            thinnings: 0,
        }
    }

    /// Goes on until a moment: a sampled block each millisecond, of which one in two hundred stays.
    fn run(&mut self, until: u64) {
        while self.now < until {
            let (now, number) = (self.now, self.now / MILLISECOND);
            while let Some(entry) = self.ends.first_entry().filter(|entry| entry.key().0 <= now) {
                let ((end, _), id) = entry.remove_entry();
                self.stream.collect(Timestamp(START + end), id).unwrap();
            }
            let chosen = |name: &str, end| xxh3_64_with_seed(name.as_bytes(), number) % end;
            let code = Code(1 + chosen("site", 5));
            let time = Timestamp(START + now);
            if !self.stream.knows(code) {
                let function = format!("Shop.f{}", code.0);
                let (function, file) = (function.as_bytes(), b"shop.ml");
                let at = Location { function, file, line: 1, start_col: 0, end_col: 1 };
                self.stream.define(time, code, &[at]).unwrap();
            }
            let event = AllocEvent { length: Words(11), samples: 1, source: Source::Minor };
            let id = self.stream.alloc(time, &event, &[code], 0).unwrap();
            if chosen("stays", 200) > 0 {
                self.ends.insert((now + chosen("lifetime", SECOND / 5), number), id);
            }
            if number % 100 == 99 {
                self.flush();
            }
            self.now += MILLISECOND;
        }
        self.flush();
        self.save();
    }

    fn flush(&mut self) {
        if !self.stream.is_empty() {
            self.trace.extend_from_slice(self.stream.packet());
            self.whole.extend_from_slice(self.stream.packet());
            self.segment += self.stream.packet_len();
        }
        self.stream.next_packet(Timestamp(START + self.now));
        if self.segment > SEGMENT {
            self.segment = 0;
            self.stream.restart().unwrap();
        }
    }

    /// Writes the trace as the agent does that takes a thinned one: as another file.
    fn save(&self) {
        let fresh = self.path.join("fresh");
        fs::write(&fresh, &self.trace).unwrap();
        fs::rename(fresh, self.path.join("trace.ctf")).unwrap();
    }

    /// Thins the trace to a part of its size, if all up to an age in seconds can stay as it is.
    fn thin(&mut self, part: f64, age: f64) -> bool {
        let bytes = (self.trace.len() as f64 * part) as u64;
        let how = Thinning {
            rates: &RateChanges::default(),
            stretches: &BTreeMap::new(),
            moments: &[],
            bytes: Bytes(bytes),
            seed: self.thinnings,
        };
        self.thinnings += 1;
        let mut planned = plan(&self.trace, &how).unwrap();
        let thinned = loop {
            let thinned = write(&self.trace, &how, &planned, Vec::new()).unwrap();
            if thinned.len() as u64 <= bytes {
                break thinned;
            }
            planned = planned.stricter(thinned.len() as u64).unwrap();
        };
        let is_done = planned.whole_seconds() >= age;
        if is_done {
            self.trace = thinned;
            self.save();
        }
        is_done
    }

    /// The program has ended.
    fn end(&self) {
        let file = self.path.join("recording.json");
        let mut description: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        description["trace"]["state"] = "complete".into();
        fs::write(&file, description.to_string()).unwrap();
    }
}

/// A recording that grows.
fn growing() -> (TempDir, PathBuf, Recorder) {
    let (folder, path) = recording();
    revive(&path);
    let recorder = Recorder::new(&path);
    (folder, path, recorder)
}

/// Ships the windows that are settled by now.
fn ship(path: &Path, receiver: &Receiver) -> Output {
    let path = path.to_str().unwrap();
    let to = ["--to", &receiver.url, "--every", "1s", "--retry-at-most", "100ms", "--once"];
    memtrail(&["ship", path]).args(to).output().unwrap()
}

/// Windows of the recording as it would be if nobody had thinned it.
fn unthinned(recorder: &Recorder) -> Vec<Received> {
    let (_folder, path, mut copy) = growing();
    copy.trace.clone_from(&recorder.whole);
    copy.save();
    copy.end();
    let receiver = Receiver::start(&[]);
    assert!(ship(&path, &receiver).status.success());
    receiver.received()
}

/// Windows that were shipped before their time was thinned are those of the recording that nobody thinned.
#[test]
fn windows_of_a_recording_that_is_thinned_behind_them_are_the_same() {
    let (_folder, path, mut recorder) = growing();
    let receiver = Receiver::start(&[]);
    for until in [9, 15, 21, 27] {
        recorder.run(until * SECOND);
        let output = ship(&path, &receiver);
        assert!(output.status.success(), "{output:?}");
        // A window is shipped three seconds after its end.
        let mut parts = [0.7, 0.8, 0.9, 0.95].into_iter();
        assert!(parts.any(|part| recorder.thin(part, 4.0)), "at {until} s");
    }
    assert!(recorder.trace.len() * 10 < recorder.whole.len() * 8, "much was thinned");
    recorder.end();
    assert!(ship(&path, &receiver).status.success());
    let (received, expected) = (receiver.received(), unthinned(&recorder));
    assert_eq!(received.len(), 27);
    let allocated = |windows: &[Received]| -> Vec<(String, i64, i64)> {
        let figures = windows.iter().map(|one| (one.id.clone(), one.totals()));
        figures.map(|(id, of)| (id, of["alloc_space"], of["alloc_objects"])).collect()
    };
    assert_eq!(allocated(&received), allocated(&expected));
    for (one, other) in received.iter().zip(&expected) {
        let [one, other] = [one, other].map(|window| window.totals()["inuse_space"] as f64);
        // A block may have died when it was thinned, and be alive at the end of a window to come.
        assert!((one / other - 1.0).abs() < 0.1, "{one}, not {other}");
    }
    let last = |windows: &[Received]| windows.last().unwrap().totals()["inuse_space"];
    assert_eq!(last(&received), last(&expected));
}

/// A destination was away, and windows that waited were thinned: they count for as much as before, within their errors.
#[test]
fn windows_that_waited_while_they_were_thinned_are_not_lost() {
    let (_folder, path, mut recorder) = growing();
    let answers: Vec<(u16, &str)> = [(200, ""); 5].into_iter().chain([(503, "")]).collect();
    let receiver = Receiver::start(&answers);
    recorder.run(20 * SECOND);
    let output = ship(&path, &receiver);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(recorder.thin(0.5, 0.0));
    recorder.run(25 * SECOND);
    assert!(recorder.thin(0.5, 0.0));
    recorder.run(30 * SECOND);
    recorder.end();
    let output = ship(&path, &receiver);
    assert!(output.status.success(), "{}", text(&output));
    let (received, expected) = (receiver.received(), unthinned(&recorder));
    let ids = |windows: &[Received]| windows.iter().map(|one| one.id.clone()).collect::<Vec<_>>();
    assert_eq!((ids(&received), received.len()), (ids(&expected), 30));
    let sum = |windows: &[Received]| -> i64 {
        windows.iter().map(|one| one.totals()["alloc_space"]).sum()
    };
    let (before, after) = received.split_at(5);
    assert_eq!(sum(before), sum(&expected[..5]));
    // The others are those of the thinned trace, and none is counted twice.
    let profile = Profile::read(&recorder.trace, &mut |_| ()).unwrap();
    let (blocks, mut samples, mut excess) = (&profile.blocks, 0, 0.0);
    for row in blocks.rows().filter(|row| blocks.allocated(*row) >= Elapsed(5 * SECOND)) {
        samples += blocks.samples(row);
        excess += (blocks.samples(row) << blocks.halvings(row)) as f64;
    }
    let unit = profile.estimator.bytes_per_sample();
    let difference = sum(after) as f64 - samples as f64 * unit;
    assert!(difference.abs() <= after.len() as f64, "{difference}");
    let error = (sum(after) - sum(&expected[5..])) as f64;
    assert!(error != 0.0 && error.abs() < 5.0 * unit * excess.sqrt(), "{error}");
}

/// A program allocates much faster than its recording can hold, and `ship` follows it.
#[test]
fn a_recording_is_shipped_while_the_launcher_thins_it() {
    let program = build(&named("system"), "churn");
    let options = ["--rate", "1e-2", "--disk", "4MiB", "--seed", "1"];
    let (mut launcher, path) = Case::new(&program, &["120"]).options(&options).start_recorded();
    wait_until(|| path.join("trace.ctf").exists());
    let receiver = Receiver::start(&[]);
    let shipping = start(&path, &["--to", &receiver.url]);
    assert!(launcher.wait().unwrap().success());
    let is_over = || {
        let status = json(&["ship", "--status", "--json", path.to_str().unwrap()]);
        status["recordings"][0]["destinations"][0]["is_over"] == true
    };
    wait_until(is_over);
    let output = interrupt(shipping);
    assert!(output.status.success(), "{output:?}");
    let received = receiver.received();
    for pair in received.windows(2) {
        let end = pair[0].profile.time_nanos + pair[0].profile.duration_nanos;
        assert!(end < pair[1].profile.time_nanos, "{end}");
    }
    let report = json(&["report", "--json", path.to_str().unwrap()]);
    let allocated = &report["report"]["totals"]["allocated"];
    let [bytes, error] = ["bytes", "bytes_stderr"].map(|name| allocated[name].as_f64().unwrap());
    let shipped: i64 = received.iter().map(|one| one.totals()["alloc_space"]).sum();
    // Windows were thinned less when they were shipped than they are now.
    let difference = shipped as f64 - bytes;
    assert!(difference.abs() < 5.0 * error, "{shipped}, {bytes} ± {error}");
    // On an idle machine it is 1 %. A launcher that gets little time leaves fewer samples.
    assert!(error < 0.1 * bytes, "{error} of {bytes}");
}
