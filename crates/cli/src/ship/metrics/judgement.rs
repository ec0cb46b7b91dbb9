//! Suspects and owners of a recording: the answers of `memtrail leaks` and `memtrail heap roots`.
//!
//! They need all of the trace and a snapshot, so processes of their own ask, one after the other, at a low priority, and
//! give the memory back. They are asked again when there is a new snapshot, or a quarter more of the trace.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::Deserialize;

/// The first judgement needs so much of a trace, and a later one so much more, in microseconds.
const LEAST: u64 = 60_000_000;
/// Time between two judgements, and how many times as long as the last one took: so they take a hundredth of a CPU at most.
const PAUSE: Duration = Duration::from_secs(60);
const TIMES: u32 = 100;
/// The largest answer that is read.
const MAX_ANSWER: u64 = 64 << 20;
/// Name of a root without one, as `memtrail heap roots` has it.
const STATIC: &str = "static data that no variable reaches";

/// A suspect.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Suspect {
    pub(super) owner: String,
    pub(super) class: String,
    pub(super) rule: String,
    owned: u64,
    owned_external: u64,
}

impl Suspect {
    pub(super) fn bytes(&self) -> u64 {
        self.owned.saturating_add(self.owned_external)
    }
}

/// An owner in the latest snapshot.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Owner {
    pub(super) kind: String,
    variable: Option<String>,
    path: Vec<String>,
    owned: u64,
    owned_external: u64,
}

impl Owner {
    pub(super) fn name(&self) -> String {
        match &self.variable {
            Some(variable) => variable.clone(),
            None if self.path.is_empty() => STATIC.to_owned(),
            None => self.path.join(" / "),
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.owned.saturating_add(self.owned_external)
    }
}

#[derive(Deserialize)]
struct Leaks {
    suspects: Vec<Suspect>,
}

/// The owners of most, and all together.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Owners {
    pub(super) rows: Vec<Owner>,
    owned: u64,
    owned_external: u64,
}

impl Owners {
    /// Bytes of the owners that are not listed.
    pub(super) fn others(&self) -> u64 {
        let all = self.owned.saturating_add(self.owned_external);
        self.rows.iter().fold(all, |left, row| left.saturating_sub(row.bytes()))
    }
}

/// Suspects and owners, and when they were determined.
#[derive(Clone, Debug)]
pub(super) struct Judged {
    pub(super) suspects: Vec<Suspect>,
    /// None without snapshots.
    pub(super) owners: Option<Owners>,
    pub(super) unix_seconds: f64,
}

/// A part of a recording that is judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Extent {
    /// Number of the latest snapshot.
    pub(super) snapshot: Option<u64>,
    /// Time of the trace, in microseconds.
    pub(super) end: u64,
}

/// Judges a recording again and again.
#[derive(Default)]
pub(super) struct Judgement {
    pub(super) judged: Option<Judged>,
    of: Option<Extent>,
    running: Option<Running>,
    /// The earliest moment of the next judgement.
    not_before: Option<Instant>,
    /// True if a failure was reported.
    has_failed: bool,
}

impl Judgement {
    /// Asks if there is reason to, and takes an answer that has come. `is_patient`: waits for it.
    pub(super) fn update(&mut self, path: &Path, present: Extent, top: usize, is_patient: bool) {
        let is_early = self.not_before.is_some_and(|until| Instant::now() < until);
        if self.running.is_none() && !is_early && self.is_due(present, is_patient) {
            self.of = Some(present);
            self.running = Some(Running::start(path, present, top));
        }
        let Some(running) =
            self.running.take_if(|running| is_patient || running.thread.is_finished())
        else {
            return;
        };
        self.not_before = Some(Instant::now() + pause(running.start.elapsed()));
        match running.thread.join() {
            Ok(Some(judged)) => self.judged = Some(judged),
            _ if self.has_failed => {}
            _ => {
                self.has_failed = true;
                let path = crate::shell_quote::path(path);
                message!("memtrail: metrics have no suspects\nhint: memtrail leaks {path}");
            }
        }
    }

    fn is_due(&self, present: Extent, is_patient: bool) -> bool {
        let Some(of) = self.of else {
            return is_patient || present.snapshot.is_some() || present.end >= LEAST;
        };
        let enough = (of.end + of.end / 4).max(of.end + LEAST);
        present.snapshot != of.snapshot || present.end >= enough
    }

    /// Ends a process that is asked.
    pub(super) fn stop(&mut self) {
        if let Some(running) = self.running.take()
            && let Ok(mut query) = running.query.lock()
        {
            query.is_over = true;
            if let Some(child) = &mut query.child {
                let _ = child.kill();
            }
        }
    }
}

/// Time until the next judgement, after one that took so long.
fn pause(took: Duration) -> Duration {
    took.saturating_mul(TIMES).max(PAUSE)
}

/// Questions under way.
struct Running {
    start: Instant,
    thread: JoinHandle<Option<Judged>>,
    query: Arc<Mutex<QueryProcess>>,
}

/// The process that is asked.
#[derive(Default)]
struct QueryProcess {
    child: Option<Child>,
    is_over: bool,
}

impl Running {
    fn start(path: &Path, of: Extent, top: usize) -> Self {
        let query = Arc::<Mutex<QueryProcess>>::default();
        let (path, shared) = (path.to_path_buf(), Arc::clone(&query));
        let thread = std::thread::spawn(move || {
            let leaks = ask::<Leaks>(&["leaks", "--json", "--limit", "0"], &path, &shared)?;
            let roots = ["heap", "roots", "--json", "--limit", &top.to_string()];
            let owners = match of.snapshot {
                Some(_) => Some(ask::<Owners>(&roots, &path, &shared)?),
                None => None,
            };
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let unix_seconds = now.as_secs_f64();
            Some(Judged { suspects: leaks.suspects, owners, unix_seconds })
        });
        Self { start: Instant::now(), thread, query }
    }
}

/// The answer to a question. One about a damaged recording comes with an exit code, and is right as far as it goes.
fn ask<T: for<'de> Deserialize<'de>>(
    question: &[&str],
    path: &Path,
    query: &Mutex<QueryProcess>,
) -> Option<T> {
    let out = {
        let mut query = query.lock().ok()?;
        if query.is_over {
            return None;
        }
        let mut child = spawn(question, path).ok()?;
        let out = child.stdout.take();
        query.child = Some(child);
        out?
    };
    let mut bytes = Vec::new();
    let _ = out.take(MAX_ANSWER).read_to_end(&mut bytes);
    if let Some(mut child) = query.lock().ok()?.child.take() {
        let _ = child.wait();
    }
    serde_json::from_slice(&bytes).ok()
}

/// Starts a process that answers, behind all else that the machine has to do if there is `nice`.
fn spawn(question: &[&str], path: &Path) -> io::Result<Child> {
    let own: PathBuf = std::env::current_exe()?;
    let mut nice = Command::new("nice");
    nice.args(["-n", "19"]).arg(&own);
    for mut command in [nice, Command::new(&own)] {
        command.args(question).arg(path);
        for secret in ["MEMTRAIL_SHIP_TOKEN", "MEMTRAIL_SHIP_USER", "MEMTRAIL_SHIP_PASSWORD"] {
            command.env_remove(secret);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        match command.spawn() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            spawned => return spawned,
        }
    }
    Err(io::ErrorKind::NotFound.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_judged_again_for_a_snapshot_or_a_quarter_more() {
        let mut judgement = Judgement::default();
        let at = |snapshot, seconds: u64| Extent { snapshot, end: seconds * 1_000_000 };
        assert!(!judgement.is_due(at(None, 59), false));
        assert!(judgement.is_due(at(None, 59), true));
        assert!(judgement.is_due(at(None, 60), false) && judgement.is_due(at(Some(1), 1), false));
        judgement.of = Some(at(Some(1), 1000));
        assert!(!judgement.is_due(at(Some(1), 1249), false));
        assert!(judgement.is_due(at(Some(1), 1250), false));
        assert!(judgement.is_due(at(Some(2), 1001), false));
        let pauses = [0, 10].map(|took| pause(Duration::from_secs(took)).as_secs());
        assert_eq!(pauses, [60, 1000]);
    }
}
