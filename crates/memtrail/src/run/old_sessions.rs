//! Removes the session folders of launchers that were killed, and what these have left in recordings.
//!
//! A session that has not changed for a week is removed, unless a process has a file of it mapped, as launchers and agents
//! have, or was started with it.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use memtrail_recording::session::{State, Status};
use memtrail_recording::thinned::{THINNED_FILE, UNFINISHED_FILE};

use super::in_use::in_use;

const PREFIX: &str = "memtrail-";
/// How long a session must have been unchanged. One whose processes cannot be seen, as they are in another container, may be
/// in use.
const UNCHANGED: Duration = Duration::from_secs(7 * 24 * 3600);

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
    let Ok(old) = unchanged(folder, SystemTime::now()) else { return };
    let Ok(in_use) = in_use(&old) else { return };
    for (session, _) in old.iter().zip(in_use).filter(|(_, is_used)| !is_used) {
        for status in Status::load_all(session).unwrap_or_default() {
            if let State::Recording { folder, .. } = status.state {
                remove_thinned(&folder);
            }
        }
        let _ = fs::remove_dir_all(session);
    }
}

/// Removes a thinned trace that no agent has taken.
pub(super) fn remove_thinned(recording: &Path) {
    for left in [THINNED_FILE, UNFINISHED_FILE] {
        let _ = fs::remove_file(recording.join(left));
    }
}

fn unchanged(folder: &Path, now: SystemTime) -> io::Result<Vec<PathBuf>> {
    let (mut found, user) = (Vec::new(), fs::metadata("/proc/self")?.uid());
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if !entry.file_name().to_str().is_some_and(is_session) {
            continue;
        }
        // Not of what a link leads to.
        let Ok(metadata) = entry.metadata() else { continue };
        let age = metadata.modified().ok().and_then(|then| now.duration_since(then).ok());
        let is_old = age.is_some_and(|age| age > UNCHANGED);
        if metadata.is_dir() && metadata.uid() == user && is_old {
            found.push(entry.path());
        }
    }
    Ok(found)
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
        let state = State::Recording { folder: recording.clone(), failure: None };
        let status = Status { pid: 4712, image: 0, program: "it".into(), state };
        status.save(&session).unwrap();
        let old = SystemTime::now() - Duration::from_secs(8 * 24 * 3600);
        File::open(&session).unwrap().set_modified(old).unwrap();
        remove(folder.path());
        assert!(!session.exists());
        let names = fs::read_dir(&recording).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(names.collect::<Vec<_>>(), ["trace.ctf"]);
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
