//! Debian's ocsigenserver (systhreads, Lwt, native plugins) under load, written down again and again.
//!
//! `MEMTRAIL_SERVER_SECONDS=600 cargo test -p memtrail --test snapshot server_at_work -- --nocapture`
//! runs it for ten minutes, with a snapshot every ten seconds, and prints figures.

use std::collections::HashMap;
use std::fs;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use memtrail_recording::{Snapshot, SnapshotOutcome};
use memtrail_test_support::site::{PAGES, Site, free_port};
use memtrail_test_support::snapshot::Heap;

use crate::asking::{ask, children, snapshots_of};

const PATIENCE: Duration = Duration::from_secs(120);

/// How long it is under load.
fn duration() -> Duration {
    let asked = std::env::var("MEMTRAIL_SERVER_SECONDS").ok().and_then(|text| text.parse().ok());
    Duration::from_secs(asked.unwrap_or(6))
}

/// Kilobytes of memory that a process has.
fn resident(pid: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a figure");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

/// Asks for pages until told to stop. Every answer must be the page's.
fn visit(site: &Site, pages: &HashMap<u64, String>, stop: &AtomicBool, answers: &AtomicU64) {
    for page in (0..PAGES).cycle().take_while(|_| !stop.load(Relaxed)) {
        let answer = site.get(&format!("/{page}.html")).unwrap_or_default();
        assert_eq!(answer, pages[&page], "page {page}");
        answers.fetch_add(1, Relaxed);
    }
}

/// The server, with `memtrail run`: a group of processes that does not outlive the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(None)) {
            let _ = Command::new("kill").args(["-9", "--", &format!("-{}", self.0.id())]).status();
            let _ = self.0.wait();
        }
    }
}

#[test]
fn ocsigenserver() {
    let site = Site::new(free_port());
    let case = site.case().options(&["--snapshot", "request"]);
    let (launcher, recording) = case.start_recorded();
    let mut server = Server(launcher);
    let launcher = server.0.id().to_string();
    site.wait();
    let pages: HashMap<_, _> = (0..PAGES)
        .map(|page| (page, site.get(&format!("/{page}.html")).expect("an answer")))
        .collect();

    let (stop, answers) = (AtomicBool::new(false), AtomicU64::new(0));
    let duration = duration();
    let interval = (duration / 6).min(Duration::from_secs(10));
    let (mut pid, mut memory) = (String::new(), Vec::new());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| visit(&site, &pages, &stop, &answers));
        }
        let begun = Instant::now();
        while begun.elapsed() < duration {
            let output = ask(&launcher);
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            if !output.status.success() {
                stop.store(true, Relaxed);
                panic!("{output:?}");
            }
            let answer: serde_json::Value = serde_json::from_str(&text).expect("JSON");
            pid = answer["pid"].to_string();
            memory.push(resident(&pid));
            thread::sleep(interval);
        }
        stop.store(true, Relaxed);
    });
    let begun = Instant::now();
    while !children(&pid).is_empty() {
        assert!(begun.elapsed() < PATIENCE, "nobody waits for {:?}", children(&pid));
        thread::sleep(Duration::from_millis(50));
    }
    let status = Command::new("kill").arg(&launcher).status();
    assert!(status.expect("kill").success());
    server.0.wait().expect("its end");

    let all = snapshots_of(&recording);
    assert_eq!(all.len(), memory.len());
    let pause = |snapshot: &Snapshot| match snapshot.outcome {
        SnapshotOutcome::Complete { pause_ns, .. } => pause_ns,
        SnapshotOutcome::Failed { .. } => panic!("{snapshot:?}"),
    };
    let mut pauses: Vec<_> = all.iter().map(pause).collect();
    pauses.sort_unstable();
    let heap = Heap::read(&recording.join(&all.last().expect("one").file));
    heap.expect_names();
    let milliseconds = |ns: u64| ns as f64 / 1e6;
    let (first, last) = (memory[0], memory[memory.len() - 1]);
    println!(
        "{} s: {} snapshots of {} blocks, pauses of {:.1} ms (median) to {:.1} ms, {} requests \
         answered, 0 failed, memory {first} kB after the first snapshot and {last} kB after the last",
        duration.as_secs(),
        all.len(),
        heap.blocks.len(),
        milliseconds(pauses[pauses.len() / 2]),
        milliseconds(pauses[pauses.len() - 1]),
        answers.load(Relaxed),
    );
    assert!(answers.load(Relaxed) > 0);
    assert!(last < first + 65_536, "from {first} kB to {last} kB");
}
