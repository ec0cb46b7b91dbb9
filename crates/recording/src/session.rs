//! The private folder that a launcher shares with the agents it starts.
//!
//! | file | writer | what |
//! |---|---|---|
//! | `options.json` | launcher | [`Options`], once, before the target starts |
//! | `detach` | `memtrail detach` | empty: the agent is to end its recording, and to leave no work behind |
//! | `claim` | agent | symbolic link to the pid of the process that is recorded, when only one is |
//! | `status-<pid>-<image>.json` | agent | [`Status`] of that process image; replaced whole |
//! | `tail-<pid>-<image>-<domain>` | agent | shared memory: the packet a domain is filling |
//! | `waiting-<pid>-<image>-<file>` | agent | shared memory: what waits for room on the disk ([`crate::waiting`]) |
//! | `relay` | both | shared memory: what the launcher is to write for an agent ([`crate::relay`]) |
//!
//! A tail's first bytes are a complete packet at every instant, so that after any death of the
//! target the launcher can append it to the trace and nothing is lost.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::folder::folder_name;

/// Environment variable that names the session folder.
pub const SESSION_VARIABLE: &str = "MEMTRAIL_SESSION";
/// Name of the file with the options.
pub const OPTIONS_FILE: &str = "options.json";
/// Name of the link that says which process is recorded.
const CLAIM_FILE: &str = "claim";
/// Name of the file by which `memtrail detach` asks the agent to end.
pub const DETACH_FILE: &str = "detach";

/// Makes process `pid` the one that is recorded, unless another one is.
///
/// A link, as a limit on the size of files (`ulimit -f 0`) does not concern links: a write would raise `SIGXFSZ`.
pub fn claim(session: &Path, pid: u32) -> io::Result<()> {
    std::os::unix::fs::symlink(pid.to_string(), session.join(CLAIM_FILE))
}

/// True if process `pid` is the one that is recorded.
pub fn is_claimed_by(session: &Path, pid: u32) -> bool {
    let holder = fs::read_link(session.join(CLAIM_FILE));
    holder.is_ok_and(|holder| holder.as_os_str() == pid.to_string().as_str())
}

/// A sampler of OCaml programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sampler {
    /// The runtime's, `Gc.Memprof`, where it has one.
    #[default]
    Memprof,
    /// The agent's. The runtime's is left to the program.
    Substitute,
}

/// What the user asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "one a switch of the command line")]
pub struct Options {
    /// Version of the launcher; agents of another version do nothing.
    pub memtrail: String,
    /// Samples per word, at most.
    pub rate: f64,
    /// Whether the rate is lowered where samples would cost too much.
    #[serde(default)]
    pub pace: Pace,
    /// Leave the runtime's rate as it is, and decline samples instead, as where it cannot be changed
    /// (slower; a check on the agent).
    #[serde(default)]
    pub decline_samples: bool,
    /// Whose sampler draws the samples of an OCaml program.
    #[serde(default)]
    pub sampler: Sampler,
    /// The version that a runtime newer than all known ones is taken for, such as `5.5`.
    #[serde(default)]
    pub assume_version: Option<String>,
    /// The recording's folder, if the user named one (absolute).
    pub output: Option<PathBuf>,
    /// Where recordings go otherwise (absolute).
    pub base: PathBuf,
    /// Record forked and started children too.
    pub children: bool,
    /// The agent is loaded into a process that runs, by `memtrail attach`.
    #[serde(default)]
    pub attached: bool,
    /// Process id of the launcher.
    #[serde(default)]
    pub launcher: u32,
    /// Let the runtime capture callstacks instead of the agent (slower; a check on the agent).
    #[serde(default)]
    pub runtime_callstacks: bool,
    /// The depth up to which callstacks are recorded as a whole.
    #[serde(default = "default_callstack_depth")]
    pub callstack_depth: u32,
    /// Walk every stack a second time, from scratch, and count how often the two walks differ.
    #[serde(default)]
    pub check_callstacks: bool,
    /// Where the sampler's random numbers come from; the agent chooses if it is not given.
    #[serde(default)]
    pub seed: Option<u64>,
    /// The user's name for the run, kept in the trace.
    #[serde(default)]
    pub context: Option<String>,
    /// The user's labels, kept in the description.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Bytes that all recordings of the session may have together; absent: any number.
    #[serde(default)]
    pub disk: Option<u64>,
    /// Notes of each recording: the user asked for something that cannot be done.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Record the calls of `malloc` of an OCaml program, too.
    #[serde(default)]
    pub malloc: bool,
    /// Record the mappings of a native program, too.
    #[serde(default)]
    pub mappings: bool,
    /// When the heap is written down; absent: never, whoever asks.
    #[serde(default)]
    pub snapshots: Option<SnapshotOptions>,
}

/// The depth up to which callstacks are recorded as a whole, unless the user says another.
pub const CALLSTACK_DEPTH: u32 = 4096;

fn default_callstack_depth() -> u32 {
    CALLSTACK_DEPTH
}

/// What the sampling rate does while the program runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pace {
    /// It stays.
    #[default]
    Constant,
    /// It is halved while samples cost more CPU time than they may.
    Adaptive,
    /// It is changed at random, all the time: for tests.
    Varying,
}

/// When and how the heap is written down.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "one a moment")]
pub struct SnapshotOptions {
    /// At the end of every major collection.
    #[serde(default)]
    pub every_major: bool,
    /// At even steps of the work, within a budget, and when the program comes to its end, if it was worth one.
    #[serde(default)]
    pub auto: bool,
    /// When the program comes to its end.
    #[serde(default)]
    pub exit: bool,
    /// When memory is about to run out, and when it has, before the program gets the exception.
    #[serde(default)]
    pub out_of_memory: bool,
    /// When `memtrail snapshot` asks. Of OCaml programs that is always so, of native ones with `every_ms`, too.
    #[serde(default)]
    pub request: bool,
    /// When this signal arrives, unless the program uses it.
    #[serde(default)]
    pub signal: Option<i32>,
    /// When the heap grows beyond so many bytes, and each time that it has doubled since.
    #[serde(default)]
    pub above: Option<u64>,
    /// At most this many that nobody asked for, one by one.
    #[serde(default)]
    pub at_most: Option<u64>,
    /// At least so many milliseconds from one to the next that nobody asked for.
    #[serde(default)]
    pub every_ms: u64,
    /// With the contents of strings.
    #[serde(default)]
    pub contents: bool,
}

impl SnapshotOptions {
    /// Whether there will be snapshots without anybody asking while the program runs.
    pub fn has_moments(&self) -> bool {
        let Self { every_major, exit, out_of_memory, signal, above, .. } = self;
        *every_major || *exit || *out_of_memory || signal.is_some() || above.is_some()
    }

    /// True if a native program gets a thread that takes snapshots while it runs: at intervals, and when
    /// `memtrail snapshot` asks.
    pub fn has_thread(&self) -> bool {
        self.request || self.every_ms > 0
    }
}

/// What an agent reports of its process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// Process id.
    pub pid: u32,
    /// Counts the programs that a process has been, by `exec`.
    pub image: u32,
    /// Path of the executable.
    pub program: String,
    /// What became of it.
    pub state: State,
}

/// What became of a process with the agent inside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It is, or was, recorded here.
    Recording {
        /// The recording's folder.
        folder: PathBuf,
        /// What ended writing the trace, if something did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<WriteFailure>,
    },
    /// It is an OCaml program that cannot be recorded.
    Refused {
        /// Why, as a fragment.
        reason: String,
        /// What the user can do, if anything.
        hint: Option<String>,
    },
    /// An OCaml program, but another one is recorded and `--children` was not given.
    Passed,
    /// A forked child of the recorded process that runs on.
    Forked,
    /// It was started without the launcher's `LD_PRELOAD`, which the process that started it had: nothing more is known of
    /// the program.
    WithoutAgent,
}

/// The trace could not be written any more: it ends with the last whole packet before that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriteFailure {
    /// The system's error number.
    pub errno: i32,
    /// Sampled blocks that are missing since, as far as they were counted.
    pub lost: u64,
}

impl Status {
    /// Path of this image's status file.
    #[must_use]
    pub fn path(&self, session: &Path) -> PathBuf {
        session.join(format!("status-{}-{}.json", self.pid, self.image))
    }

    /// Replaces this image's status file as a whole.
    pub fn save(&self, session: &Path) -> io::Result<()> {
        let file = self.path(session);
        let fresh = session.join(format!(".status-{}-{}.new", self.pid, self.image));
        fs::write(&fresh, self.to_json())?;
        fs::rename(fresh, file)
    }

    /// Removes the status file of an image.
    pub fn remove(session: &Path, pid: u32, image: u32) -> io::Result<()> {
        fs::remove_file(session.join(format!("status-{pid}-{image}.json")))
    }

    /// The text of the status file.
    pub fn to_json(&self) -> Vec<u8> {
        // Maps with keys that are no strings could fail; there are none.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Reads the text of a status file.
    pub fn parse(text: &[u8]) -> io::Result<Self> {
        Ok(serde_json::from_slice(text)?)
    }

    /// All that agents of this session have reported, by pid and image.
    pub fn load_all(session: &Path) -> io::Result<Vec<Self>> {
        let mut found: Vec<Self> = Vec::new();
        for entry in fs::read_dir(session)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with("status-") {
                found.push(load(&path)?);
            }
        }
        found.sort_by_key(|status| (status.pid, status.image));
        Ok(found)
    }
}

impl Options {
    /// Bytes after which a stream of the trace begins anew, so that what is before can be thinned.
    pub fn segment(&self) -> Option<u64> {
        /// Beginning anew costs some 50 KB, for names that are written again.
        const LARGEST: u64 = 4 << 20;
        const SMALLEST: u64 = 256 << 10;
        self.disk.map(|bytes| (bytes / 64).clamp(SMALLEST, LARGEST))
    }

    /// Bytes that one trace may have whether or not anybody thins it. The rest is for what it is thinned to beside it, and
    /// for snapshots.
    pub fn largest_trace(&self) -> u64 {
        self.disk.map_or(u64::MAX, |bytes| bytes / 2)
    }

    /// Bytes that the list of threads may have.
    pub fn largest_threads(&self) -> u64 {
        self.disk.map_or(u64::MAX, |bytes| bytes / 32)
    }

    /// Writes the options into a fresh session.
    pub fn save(&self, session: &Path) -> io::Result<()> {
        fs::write(session.join(OPTIONS_FILE), serde_json::to_vec(self)?)
    }

    /// Makes the folder of a new recording, and gives the number of the process's image. `forked`:
    /// the process was forked from one that is recorded, and the folder that the user named is
    /// that one's. An error comes with the folder that could not be made.
    pub fn make_folder(
        &self,
        program: &str,
        pid: u32,
        forked: bool,
    ) -> Result<(PathBuf, u32), (PathBuf, io::Error)> {
        let mut last = (PathBuf::new(), io::ErrorKind::AlreadyExists.into());
        for again in 0..100 {
            if self.output.is_none() && self.has_another_program(pid, again) {
                continue;
            }
            let folder = match &self.output {
                Some(named) if !forked && again == 0 => named.clone(),
                Some(named) => beside(named, &format!("{pid}-{again}")),
                None => self.base.join(folder_name(program, pid, again)),
            };
            match fs::DirBuilder::new().mode(0o700).create(&folder) {
                Ok(()) => return Ok((folder, again)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    last = (folder, error);
                }
                Err(error) => return Err((folder, error)),
            }
        }
        Err(last)
    }

    /// The folder that the recording of a process is going to have that was forked from one that is recorded.
    #[must_use]
    pub fn folder_of_fork(&self, program: &str, pid: u32) -> PathBuf {
        match &self.output {
            Some(named) => beside(named, &format!("{pid}-0")),
            None => self.base.join(folder_name(program, pid, 0)),
        }
    }

    /// Whether a process has been another program, with a recording of this number.
    fn has_another_program(&self, pid: u32, again: u32) -> bool {
        let name = folder_name("x", pid, again);
        let suffix = name.trim_start_matches('x');
        let entries = fs::read_dir(&self.base).into_iter().flatten().flatten();
        entries.into_iter().any(|entry| entry.file_name().to_string_lossy().ends_with(suffix))
    }

    /// Reads a session's options.
    pub fn load(session: &Path) -> io::Result<Self> {
        load(&session.join(OPTIONS_FILE))
    }
}

/// `out.memtrail` and `12-0` make `out-12-0.memtrail`.
fn beside(named: &Path, suffix: &str) -> PathBuf {
    let stem = named.file_stem().unwrap_or_default().to_string_lossy();
    let extension = named.extension().map(|e| format!(".{}", e.to_string_lossy()));
    named.with_file_name(format!("{stem}-{suffix}{}", extension.unwrap_or_default()))
}

fn load<T: DeserializeOwned>(file: &Path) -> io::Result<T> {
    Ok(serde_json::from_slice(&fs::read(file)?)?)
}

/// Name of the shared memory in which a domain's packet grows.
pub fn live_packet_name(pid: u32, image: u32, domain: u16) -> String {
    format!("tail-{pid}-{image}-{domain}")
}

/// The process and image in the name of a live packet's file.
pub fn owner_of_live_packet(name: &str) -> Option<(u32, u32)> {
    let mut parts = name.strip_prefix("tail-")?.split('-');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_come_back_in_the_order_of_processes_and_images() {
        let dir = tempfile::tempdir().unwrap();
        let status = |pid, image, state| Status { pid, image, program: "/bin/x".into(), state };
        let folder = |n: &str| State::Recording { folder: PathBuf::from(n), failure: None };
        status(900, 0, State::Passed).save(dir.path()).unwrap();
        status(50, 1, folder("b")).save(dir.path()).unwrap();
        status(50, 0, folder("a")).save(dir.path()).unwrap();
        let all = Status::load_all(dir.path()).unwrap();
        assert_eq!(all.iter().map(|s| s.pid).collect::<Vec<_>>(), [50, 50, 900]);
        assert_eq!(all[0].state, folder("a"));
        assert_eq!(all[1].state, folder("b"));
    }

    #[test]
    fn names_of_live_packets_have_their_process() {
        assert_eq!(owner_of_live_packet(&live_packet_name(4711, 2, 127)), Some((4711, 2)));
        assert_eq!(owner_of_live_packet("tail-x-2-0"), None);
        assert_eq!(owner_of_live_packet("options.json"), None);
    }

    /// Both were image 0, so the second one's status took the place of the first one's.
    #[test]
    fn a_process_that_becomes_a_program_of_another_name_has_another_image() {
        let dir = tempfile::tempdir().unwrap();
        let options = Options { base: dir.path().into(), ..options() };
        let image = |program| options.make_folder(program, 12, false).unwrap().1;
        assert_eq!([image("sh"), image("prog"), image("prog"), image("sh")], [0, 1, 2, 3]);
        assert_eq!(options.make_folder("sh", 112, false).unwrap().1, 0);
    }

    fn options() -> Options {
        Options {
            memtrail: "0.1.0".into(),
            rate: 1e-4,
            pace: Pace::Adaptive,
            decline_samples: false,
            assume_version: None,
            sampler: Sampler::Substitute,
            output: None,
            base: "/tmp".into(),
            children: false,
            attached: true,
            launcher: 4700,
            runtime_callstacks: false,
            callstack_depth: CALLSTACK_DEPTH,
            check_callstacks: false,
            seed: Some(7),
            context: Some("été".into()),
            labels: BTreeMap::from([("service.name".into(), "shop".into())]),
            disk: Some(1 << 30),
            notes: Vec::new(),
            malloc: true,
            mappings: false,
            snapshots: Some(SnapshotOptions { signal: Some(10), ..SnapshotOptions::default() }),
        }
    }

    #[test]
    fn options_come_back() {
        let dir = tempfile::tempdir().unwrap();
        let options = options();
        options.save(dir.path()).unwrap();
        assert_eq!(Options::load(dir.path()).unwrap(), options);
    }
}
