//! Folders as `memtrail run --children` leaves them, and damaged ones.

use super::*;

fn description(pid: u32, start: u64, blocks: u64) -> serde_json::Value {
    serde_json::json!({
        "format": 1, "memtrail": "0", "program": "/usr/bin/worker", "arguments": [], "pid": pid,
        "host": "h",
        "runtime": { "language": "OCaml", "version": "5.3", "word_bits": 64, "parameters": "" },
        "sampling": { "rate": 1e-4, "callstacks": "incremental" },
        "clock": { "start_unix_us": start, "start_monotonic_ns": 1 },
        "trace": {
            "file": "trace.ctf", "state": "complete", "bytes": 1, "blocks": blocks, "lost": 0
        }
    })
}

fn add(family: &Path, name: &str, text: &str) {
    let folder = family.join(name);
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join(DESCRIPTION_FILE), text).unwrap();
}

#[test]
fn members_are_in_the_order_in_which_they_began() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = description(5, 300, 0);
    child["forked_from"] = 7.into();
    add(dir.path(), "a-5.memtrail", &child.to_string());
    add(dir.path(), "b-7.memtrail", &description(7, 200, 12).to_string());
    let family = Family::open(dir.path()).unwrap().unwrap();
    let seen: Vec<_> = (family.members.iter())
        .map(|m| (m.label(), m.pid(), m.parent, m.origin, m.generation, m.did_nothing()))
        .collect();
    assert_eq!(
        seen,
        [
            ("b-7", Some(7), None, Origin::First, 0, false),
            ("a-5", Some(5), Some(0), Origin::Forked, 1, true),
        ]
    );
    assert_eq!(family.members[0].program(), "worker");
    assert_eq!(family.of_process(5).count(), 1);
}

#[test]
fn a_member_that_cannot_be_read_is_listed_with_the_reason() {
    let dir = tempfile::tempdir().unwrap();
    add(dir.path(), "good-7.memtrail", &description(7, 200, 12).to_string());
    add(dir.path(), "bad-8.memtrail", "{");
    fs::create_dir(dir.path().join("empty-9.memtrail")).unwrap();
    fs::write(dir.path().join("notes.txt"), "mine").unwrap();
    let family = Family::open(dir.path()).unwrap().unwrap();
    let names: Vec<&str> = family.members.iter().map(Member::program).collect();
    assert_eq!(names, ["worker", "bad-8.memtrail"]);
    let error = family.members[1].recording.as_ref().unwrap_err().to_string();
    assert!(error.contains("malformed"), "{error}");
    assert!(!family.members[1].did_nothing());
}

#[test]
fn recordings_files_and_other_folders_are_no_families() {
    let dir = tempfile::tempdir().unwrap();
    assert!(Family::open(dir.path()).unwrap().is_none());
    assert!(Family::open(&dir.path().join("absent")).unwrap().is_none());
    add(dir.path(), "good-7.memtrail", &description(7, 200, 12).to_string());
    let recording = dir.path().join("good-7.memtrail");
    assert!(Family::open(&recording).unwrap().is_none());
    assert!(Family::open(&recording.join(DESCRIPTION_FILE)).unwrap().is_none());
    assert!(Family::open(dir.path()).unwrap().is_some());
}

#[test]
fn what_is_still_written_may_have_done_something() {
    let dir = tempfile::tempdir().unwrap();
    let mut growing = description(7, 200, 0);
    growing["trace"]["state"] = "growing".into();
    add(dir.path(), "a-7.memtrail", &growing.to_string());
    let family = Family::open(dir.path()).unwrap().unwrap();
    assert!(!family.members[0].did_nothing());
}
