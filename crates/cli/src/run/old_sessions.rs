//! Removes the session folders of launchers that were killed, and what these have left in recordings.
//!
//! In memory, the kernel tells if any process has a file of a session open or mapped, as launchers and agents have, those in
//! other containers too. Elsewhere a session is removed that has not changed for a week. None is removed that a process was
//! started with. A session that has the last samples of a recording is left to a process that completes the recording.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use memtrail_recording::relay::RELAY_FILE;
use memtrail_recording::session::{OPTIONS_FILE, State, Status};
use memtrail_recording::thinned::{THINNED_FILE, UNFINISHED_FILE};
use memtrail_recording::{Description, MODULES_FILE, Recording};

use super::in_use::in_use;
use super::process::{nobody_else_has, start_alone};

const PREFIX: &str = "memtrail-";
/// Age of a session that is removed where the kernel does not tell who uses it: its processes may be in another container.
const UNCHANGED: Duration = Duration::from_secs(7 * 24 * 3600);
/// Time in which a launcher maps a file of the folder that it made.
const BEGINNING: Duration = Duration::from_secs(60);
/// The times of files may be behind the clock by so much.
const CLOCK_STEP: Duration = Duration::from_secs(1);
/// Sessions of which the recordings are completed at a time: each takes a process.
const COMPLETED: usize = 4;

/// Name of a session's folder.
pub(super) fn folder_name(pid: u32, unique: &str) -> String {
    format!("{PREFIX}{pid}-{unique}")
}

/// The launcher that made a session.
pub(crate) fn launcher_of(session: &Path) -> Option<u32> {
    let name = session.file_name()?.to_str()?.strip_prefix(PREFIX)?;
    name.split_once('-')?.0.parse().ok()
}

/// Removes this user's from the folder that sessions are made in. Failures are nobody's concern: the next run tries
/// again.
pub(super) fn remove(folder: &Path) {
    for session in remove_finished(folder).into_iter().take(COMPLETED) {
        if let Ok(claimed) = claim(&session) {
            let _ = complete(&claimed);
        }
    }
}

/// Removes sessions that nobody uses, and returns those among them with recordings that are to be completed first.
fn remove_finished(folder: &Path) -> Vec<PathBuf> {
    let mut unfinished = Vec::new();
    let Ok(old) = abandoned(folder, SystemTime::now()) else { return unfinished };
    let Ok(in_use) = in_use(&old) else { return unfinished };
    for (session, _) in old.into_iter().zip(in_use).filter(|(_, is_used)| !is_used) {
        let left = recordings(&session);
        // An agent that ended with its program has described the end, and named no function.
        let is_unfinished = |(folder, description): &(PathBuf, Description)| {
            description.outcome.is_none() || folder.join(MODULES_FILE).exists()
        };
        if left.iter().any(is_unfinished) {
            unfinished.push(session);
            continue;
        }
        for (folder, _) in left {
            remove_thinned(&folder);
        }
        let _ = fs::remove_dir_all(session);
    }
    unfinished
}

/// Takes a session on, under another name: another launcher may have found it at the same time.
fn claim(session: &Path) -> io::Result<PathBuf> {
    fs::File::open(session)?.set_modified(SystemTime::now())?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let name = folder_name(std::process::id(), &format!("{:x}", now.as_nanos()));
    let claimed = session.with_file_name(name);
    fs::rename(session, &claimed)?;
    Ok(claimed)
}

/// Starts the process that completes the recordings of a session and removes it, as after the end of a daemon.
fn complete(session: &Path) -> io::Result<()> {
    let mut command = Command::new("/proc/self/exe");
    command.arg("keep-session").arg(session).current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    start_alone(&mut command)
}

/// The recordings of a session that are still there. The session forgets the others: after an `rm`, another process may have
/// made its recording in the same place.
fn recordings(session: &Path) -> Vec<(PathBuf, Description)> {
    let all = Status::load_all(session).unwrap_or_default().into_iter();
    let recordings = all.filter_map(|status| {
        let State::Recording { folder, .. } = &status.state else { return None };
        let found = description(&status, session, folder);
        if found.is_none() {
            let _ = Status::remove(session, status.pid, status.image);
        }
        Some((folder.clone(), found?))
    });
    recordings.collect()
}

/// The description of the recording that a process reported, if the folder still has that recording.
fn description(status: &Status, session: &Path, folder: &Path) -> Option<Description> {
    let description = Recording::open(folder).ok()?.description?;
    let reported = fs::metadata(status.path(session)).and_then(|file| file.modified()).ok()?;
    let begun = UNIX_EPOCH + Duration::from_micros(description.clock.start_unix_us);
    (description.pid == status.pid && begun <= reported + CLOCK_STEP).then_some(description)
}

/// Removes a thinned trace that no agent has taken.
pub(super) fn remove_thinned(recording: &Path) {
    for left in [THINNED_FILE, UNFINISHED_FILE] {
        let _ = fs::remove_file(recording.join(left));
    }
}

/// Sessions of this user that no process has mapped.
fn abandoned(folder: &Path, now: SystemTime) -> io::Result<Vec<PathBuf>> {
    let (mut found, user) = (Vec::new(), fs::metadata("/proc/self")?.uid());
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if !entry.file_name().to_str().is_some_and(is_session) {
            continue;
        }
        // Not of what a link leads to.
        let Ok(metadata) = entry.metadata() else { continue };
        let age = metadata.modified().ok().and_then(|then| now.duration_since(then).ok());
        let Some(age) = age.filter(|&age| age > BEGINNING) else { continue };
        let is_ours = metadata.is_dir() && metadata.uid() == user;
        if is_ours && is_unmapped(&entry.path()).unwrap_or(age > UNCHANGED) {
            found.push(entry.path());
        }
    }
    Ok(found)
}

/// True if no process has a file of a session open or mapped; nothing if the kernel does not tell.
fn is_unmapped(session: &Path) -> Option<bool> {
    let files = [RELAY_FILE, OPTIONS_FILE].map(|name| fs::File::open(session.join(name)));
    let mut files = files.into_iter().filter_map(Result::ok).peekable();
    files.peek()?;
    for file in files {
        if !nobody_else_has(&file)? {
            return Some(false);
        }
    }
    Some(true)
}

/// `memtrail-<pid>-<hexadecimal digits>`.
fn is_session(name: &str) -> bool {
    let parts = name.strip_prefix(PREFIX).and_then(|rest| rest.split_once('-'));
    parts.is_some_and(|(pid, unique)| {
        let is = |text: &str, digit: fn(&u8) -> bool| {
            !text.is_empty() && text.bytes().all(|b| digit(&b))
        };
        is(pid, u8::is_ascii_digit) && is(unique, u8::is_ascii_hexdigit)
    })
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn old_sessions_are_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let old = SystemTime::now() - Duration::from_secs(8 * 24 * 3600);
        let names = ["memtrail-1-a0", "memtrail-2-b0", "memtrail-x-1", "memtrail-3", "other-1-a0"];
        for name in names {
            let path = folder.path().join(name);
            fs::create_dir(&path).unwrap();
            fs::write(path.join("options.json"), "{}").unwrap();
            if name != "memtrail-2-b0" {
                File::open(&path).unwrap().set_modified(old).unwrap();
            }
        }
        // A file of that name, and a link.
        fs::write(folder.path().join("memtrail-4-a0"), "").unwrap();
        std::os::unix::fs::symlink(folder.path(), folder.path().join("memtrail-5-a0")).unwrap();
        remove(folder.path());
        let mut left: Vec<String> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        let expected = [
            "memtrail-2-b0",
            "memtrail-3",
            "memtrail-4-a0",
            "memtrail-5-a0",
            "memtrail-x-1",
            "other-1-a0",
        ];
        assert_eq!(left, expected);
    }

    /// A folder in memory with a session that has not changed for two minutes.
    fn in_memory() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir_in("/dev/shm").unwrap();
        // Processes of the other tests, which run at the same time, are looked at by the session's name.
        let session = folder.path().join(folder_name(std::process::id(), "abc0"));
        fs::create_dir(&session).unwrap();
        for name in [OPTIONS_FILE, RELAY_FILE] {
            fs::write(session.join(name), "{}").unwrap();
        }
        age(&session);
        (folder, session)
    }

    fn age(session: &Path) {
        let old = SystemTime::now() - 2 * BEGINNING;
        File::open(session).unwrap().set_modified(old).unwrap();
    }

    /// A launcher's end by SIGKILL cost 172 KB of memory for a week.
    #[test]
    fn a_session_in_memory_is_removed_once_no_process_has_it() {
        let (folder, session) = in_memory();
        for name in [OPTIONS_FILE, RELAY_FILE] {
            let mapped = memtrail_map::MappedFile::open(&session.join(name)).unwrap();
            assert!(remove_finished(folder.path()).is_empty());
            assert!(session.exists(), "{name} is mapped");
            drop(mapped);
        }
        File::open(&session).unwrap().set_modified(SystemTime::now()).unwrap();
        assert!(remove_finished(folder.path()).is_empty());
        assert!(session.exists(), "its launcher is about to map it");
        age(&session);
        assert!(remove_finished(folder.path()).is_empty());
        assert!(!session.exists());
    }

    #[test]
    fn a_session_with_a_recording_to_complete_is_claimed_once() {
        let (folder, session) = in_memory();
        let recording = folder.path().join("it.memtrail");
        let description =
            include_str!("../../../../tests/recordings/leaks-4711.memtrail/recording.json");
        let mut description: serde_json::Value = serde_json::from_str(description).unwrap();
        let mut write = |outcome: serde_json::Value, pid: u32, start: u64| {
            description["outcome"] = outcome;
            description["pid"] = pid.into();
            description["clock"]["start_unix_us"] = start.into();
            fs::create_dir_all(&recording).unwrap();
            fs::write(recording.join("recording.json"), description.to_string()).unwrap();
            fs::write(recording.join("trace.ctf"), "").unwrap();
        };
        let state = State::Recording { folder: recording.clone(), failure: None };
        let status = Status { pid: 4712, image: 0, program: "it".into(), state };
        status.save(&session).unwrap();
        age(&session);
        write(serde_json::Value::Null, 4712, 0);
        assert_eq!(remove_finished(folder.path()), std::slice::from_ref(&session));
        let claimed = claim(&session).unwrap();
        assert!(claim(&session).is_err());
        assert!(remove_finished(folder.path()).is_empty(), "somebody is about to complete it");
        age(&claimed);
        assert_eq!(remove_finished(folder.path()), std::slice::from_ref(&claimed));
        // Another process of the same number began its recording there later.
        write(serde_json::Value::Null, 4712, 1 << 52);
        assert!(remove_finished(folder.path()).is_empty());
        assert!(!claimed.exists());
        assert!(recording.exists());
    }

    /// Launcher and program were killed while a trace was thinned.
    #[test]
    fn thinned_traces_of_old_sessions_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let recording = folder.path().join("it.memtrail");
        let session = folder.path().join(folder_name(4711, "abc0"));
        for path in [&recording, &session] {
            fs::create_dir(path).unwrap();
        }
        for name in [THINNED_FILE, UNFINISHED_FILE, "trace.ctf"] {
            fs::write(recording.join(name), "").unwrap();
        }
        let description =
            include_str!("../../../../tests/recordings/leaks-4711.memtrail/recording.json");
        let mut description: serde_json::Value = serde_json::from_str(description).unwrap();
        description["pid"] = 4712.into();
        fs::write(recording.join("recording.json"), description.to_string()).unwrap();
        let state = State::Recording { folder: recording.clone(), failure: None };
        let status = Status { pid: 4712, image: 0, program: "it".into(), state };
        status.save(&session).unwrap();
        let old = SystemTime::now() - Duration::from_secs(8 * 24 * 3600);
        File::open(&session).unwrap().set_modified(old).unwrap();
        remove(folder.path());
        assert!(!session.exists());
        let names = fs::read_dir(&recording).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = names.collect();
        names.sort();
        assert_eq!(names, ["recording.json", "trace.ctf"]);
    }

    #[test]
    fn a_session_of_a_running_process_stays() {
        let folder = tempfile::tempdir().unwrap();
        let session = folder.path().join(folder_name(4711, "abc0"));
        fs::create_dir(&session).unwrap();
        let mut running = std::process::Command::new("sleep")
            .arg("1000")
            .env("MEMTRAIL_SESSION", &session)
            .spawn()
            .unwrap();
        let age = || {
            let old = SystemTime::now() - Duration::from_secs(8 * 24 * 3600);
            File::open(&session).unwrap().set_modified(old).unwrap();
        };
        age();
        let shown = format!("/proc/{}/environ", running.id());
        let is_shown = || {
            let text = fs::read(&shown).unwrap();
            text.windows(4).any(|part| part == b"4711")
        };
        while !is_shown() {
            std::thread::yield_now();
        }
        remove(folder.path());
        assert!(session.exists());
        running.kill().unwrap();
        running.wait().unwrap();
        remove(folder.path());
        assert!(!session.exists());
    }
}
