//! Removes agents of other versions from the folder that agents are unpacked into.
//!
//! Each version has an agent of its own there, named by its content. One that nobody has used for a
//! week is removed. If younger ones take more than [`MAX_BYTES`], those unused for longest are removed, too. An agent
//! stays while a process has it mapped or would hand it on to its children: its
//! `LD_PRELOAD` must not name a file that is gone. When an agent was last used is the time of its
//! file's last modification, which every `memtrail run` sets anew.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use memtrail_recording::preload::AGENT_PREFIX;

use super::in_use::in_use;

const SUFFIX: &str = ".so";
/// How long an agent must have been unused. A launcher may be about to start a program with it.
const UNUSED: Duration = Duration::from_secs(7 * 24 * 3600);

/// Bytes of agents that are kept.
const MAX_BYTES: u64 = 32 << 20;
/// One that was used since stays in any case: a launcher may be about to start a program with it.
const USED: Duration = Duration::from_secs(3600);

/// Name of the agent with this hash.
pub(super) fn file_name(hash: u128) -> String {
    format!("{AGENT_PREFIX}{hash:032x}{SUFFIX}")
}

/// Notes that `current` is in use, with these nanoseconds in the time, and removes what other versions have left beside
/// it; neither if that was done a short time ago. Failures are nobody's concern: a later run tries again.
pub(super) fn remove(current: &Path, mark: Option<u32>) {
    let now = SystemTime::now();
    if let Some(time) = mark.and_then(|mark| marked(now, mark)) {
        if was_noted(current, now, time) {
            return;
        }
        used(current, time);
    }
    let Some(unused) = current.parent().and_then(|folder| unused(folder, current, now).ok()) else {
        return;
    };
    let Ok(in_use) = in_use(&unused) else { return };
    for (agent, in_use) in unused.iter().zip(in_use) {
        if in_use {
            used(agent, now);
        } else {
            let _ = fs::remove_file(agent);
        }
    }
}

/// This second, with such nanoseconds.
fn marked(now: SystemTime, mark: u32) -> Option<SystemTime> {
    let since = now.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::new(since.as_secs(), mark))
}

/// True if a use with the same nanoseconds was noted a short time ago.
fn was_noted(agent: &Path, now: SystemTime, time: SystemTime) -> bool {
    let nanoseconds = |time: SystemTime| {
        time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.subsec_nanos())
    };
    let before = fs::metadata(agent).and_then(|metadata| metadata.modified());
    before.is_ok_and(|before| {
        let age = now.duration_since(before).unwrap_or_default();
        age < USED / 2 && nanoseconds(before) == nanoseconds(time)
    })
}

fn used(agent: &Path, now: SystemTime) {
    let _ = File::open(agent).and_then(|file| file.set_modified(now));
}

/// Agents other than `current`, and what interrupted unpackings left, that are old enough or too many.
fn unused(folder: &Path, current: &Path, now: SystemTime) -> io::Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if entry.path() == current || !name.to_str().is_some_and(is_agent) {
            continue;
        }
        let Ok(metadata) = entry.metadata() else { continue };
        let age = metadata.modified().ok().and_then(|then| now.duration_since(then).ok());
        if let Some(age) = age.filter(|_| metadata.is_file()) {
            all.push((age, metadata.len(), entry.path()));
        }
    }
    all.sort_unstable();
    let mut bytes = 0;
    let mut found = Vec::new();
    for (age, size, agent) in all {
        bytes += size;
        if age > UNUSED || (bytes > MAX_BYTES && age > USED) {
            found.push(agent);
        }
    }
    Ok(found)
}

/// `libmemtrail-agent-<hash>.so`, or `.libmemtrail-agent-<hash>.so.<pid>` while it is written.
pub(super) fn is_agent(name: &str) -> bool {
    let whole = match name.strip_prefix('.').and_then(|name| name.rsplit_once('.')) {
        Some((name, pid)) if !pid.is_empty() && pid.bytes().all(|b| b.is_ascii_digit()) => name,
        Some(_) => return false,
        None => name,
    };
    whole
        .strip_prefix(AGENT_PREFIX)
        .and_then(|rest| rest.strip_suffix(SUFFIX))
        .is_some_and(|hash| hash.len() == 32 && hash.bytes().all(|b| b.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;
    use std::process::{Child, Command};

    use super::super::in_use::names;
    use super::*;

    /// A folder with agents; the first is this version's.
    fn folder_with(agents: &[(&str, Duration)]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        for (name, age) in agents {
            let file = File::create(folder.path().join(name)).unwrap();
            file.set_modified(SystemTime::now() - *age).unwrap();
        }
        let current = folder.path().join(agents[0].0);
        (folder, current)
    }

    fn names_in(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    const OLD: Duration = Duration::from_secs(8 * 24 * 3600);
    const YOUNG: Duration = Duration::from_secs(6 * 24 * 3600);

    #[test]
    fn unused_agents_of_other_versions_are_removed_and_nothing_else() {
        let (ours, old, young) = (file_name(0xa1), file_name(0xa2), file_name(0xa3));
        let interrupted = format!(".{}.4711", file_name(0xa4));
        let other = ["setup.lock", "libmemtrail-agent-new.so", "libother.so"];
        let mut files = vec![(ours.as_str(), OLD), (&old, OLD), (&young, YOUNG)];
        files.push((&interrupted, OLD));
        files.extend(other.map(|name| (name, OLD)));
        let (folder, current) = folder_with(&files);
        fs::create_dir(folder.path().join(file_name(0xa5))).unwrap();
        remove(&current, Some(7));
        let mut left = vec![ours.clone(), young.clone(), file_name(0xa5)];
        left.extend(other.map(str::to_owned));
        left.sort();
        assert_eq!(names_in(folder.path()), left);
        let age = current.metadata().unwrap().modified().unwrap().elapsed().unwrap();
        assert!(age < YOUNG, "this run has used it: {age:?}");
        assert_eq!(current.metadata().unwrap().mtime_nsec(), 7);
        // A library whose content was not compared has no mark.
        File::open(&current).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        remove(&current, None);
        assert_eq!(current.metadata().unwrap().mtime(), 0);
    }

    #[test]
    fn those_unused_for_longest_are_removed_if_all_take_too_much() {
        let hours = |hours: u64| Duration::from_secs(hours * 3600);
        let names: Vec<String> = (0..6).map(file_name).collect();
        let ages = [0, 0, 2, 3, 4, 5];
        let files: Vec<_> =
            names.iter().zip(ages).map(|(name, age)| (name.as_str(), hours(age))).collect();
        let (folder, current) = folder_with(&files);
        for (name, age) in &files {
            let file = File::options().write(true).open(folder.path().join(name)).unwrap();
            file.set_len(MAX_BYTES / 3).unwrap();
            file.set_modified(SystemTime::now() - *age).unwrap();
        }
        remove(&current, Some(7));
        assert_eq!(names_in(folder.path()), names[..4]);
    }

    struct Running(Child);

    impl Drop for Running {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    /// Runs a command that has `agent` in use, and looks when it shows in `/proc/<pid>/<file>`.
    fn kept_while(command: &mut Command, file: &str, current: &Path, agent: &Path) {
        let mut running = Running(command.spawn().unwrap());
        let shown = format!("/proc/{}/{file}", running.0.id());
        while !names(&fs::read(&shown).unwrap(), agent) {
            assert_eq!(running.0.try_wait().unwrap(), None, "it runs");
            std::thread::yield_now();
        }
        remove(current, None);
        assert!(agent.exists(), "{file}");
        drop(running);
        // Whoever uses it now has used it just now.
        remove(current, None);
        assert!(agent.exists(), "{file}");
        File::open(agent).unwrap().set_modified(SystemTime::now() - OLD).unwrap();
        remove(current, None);
        assert!(!agent.exists(), "{file}");
    }

    #[test]
    fn what_a_process_has_mapped_stays() {
        let (ours, old) = (file_name(1), file_name(2));
        let (folder, current) = folder_with(&[(&ours, OLD)]);
        let agent = folder.path().join(old);
        fs::write(&agent, super::super::agent::OCAML.unpack().unwrap()).unwrap();
        File::open(&agent).unwrap().set_modified(SystemTime::now() - OLD).unwrap();
        let maps = fs::read_to_string("/proc/self/maps").unwrap();
        let loader = maps.split_whitespace().find(|word| word.contains("/ld-linux")).unwrap();
        let mut command = Command::new(loader);
        command.arg("--preload").arg(&agent).args(["/bin/sleep", "600"]);
        kept_while(&mut command, "maps", &current, &agent);
    }

    #[test]
    fn what_a_process_hands_on_to_its_children_stays() {
        // Agents in use are known by their names, also by those of the test above, which may run beside this one.
        let (ours, old) = (file_name(3), file_name(4));
        let (folder, current) = folder_with(&[(&ours, OLD), (&old, OLD)]);
        let agent = folder.path().join(old);
        let mut command = Command::new("/bin/sleep");
        command.arg("600").env("PASSED_ON", &agent);
        kept_while(&mut command, "environ", &current, &agent);
    }
}
