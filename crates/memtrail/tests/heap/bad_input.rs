//! Files that are missing, damaged or no snapshots, and arguments that make no sense: a message, an
//! exit code, something to do about it.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{Held, complaint, heap, printed};

/// All commands that read one snapshot, with what they need besides.
const COMMANDS: [&[&str]; 11] = [
    &["info"],
    &["roots"],
    &["joint"],
    &["stack"],
    &["dominators"],
    &["histogram"],
    &["containers"],
    &["path", "--kind", "string"],
    &["retained", "--kind", "string"],
    &["strings"],
    &["shared", "global", "stack"],
];

/// Exit code 3, a message with this in it, a hint, and nothing on standard output.
fn refused(command: &[&str], path: &Path, part: &str) {
    let mut words = command.to_vec();
    words.insert(1, path.to_str().unwrap());
    let output = heap(&words);
    let (code, message) = complaint(&output);
    assert_eq!(code, Some(3), "{words:?}: {message}");
    assert!(message.starts_with("memtrail: ") && message.contains(part), "{words:?}: {message}");
    assert!(output.stdout.is_empty());
}

#[test]
fn no_such_file() {
    for command in COMMANDS {
        refused(command, Path::new("nowhere.heap"), "nowhere.heap");
    }
    refused(&["growth"], Path::new("nowhere.memtrail"), "nowhere.memtrail");
    refused(&["diff"], Path::new("nowhere.memtrail"), "nowhere.memtrail");
}

#[test]
fn not_a_snapshot() {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in
        [("empty.heap", ""), ("text.heap", "Hello"), ("long.heap", &"Hello\n".repeat(9_999))]
    {
        let path = folder.path().join(name);
        fs::write(&path, content).unwrap();
        for command in COMMANDS {
            refused(command, &path, "not a heap snapshot");
        }
    }
}

#[test]
fn a_folder_without_snapshots() {
    let folder = tempfile::tempdir().unwrap();
    for command in COMMANDS {
        refused(
            command,
            folder.path(),
            "has no heap snapshots\nhint: take some: memtrail run --snapshot",
        );
    }
}

#[test]
fn a_truncated_snapshot_is_refused_or_read_as_far_as_it_is_whole() {
    let held = Held::new("system", &[]);
    let whole = fs::read(held.last()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for part in [1, 10, 30, 50, 70, 90, 99] {
        let path = folder.path().join(format!("{part}.heap"));
        fs::write(&path, &whole[..whole.len() * part / 100]).unwrap();
        let output = heap(["info".as_ref(), path.as_os_str()]);
        let (code, message) = complaint(&output);
        assert_eq!(code, Some(3), "{part} %: {message}");
        assert!(message.contains("at byte "), "{part} %: {message}");
        assert!(message.contains(&format!("{part}.heap")), "{message}");
    }
}

#[test]
fn figures_of_a_damaged_snapshot_are_marked_as_partial() {
    let held = Held::new("system", &[]);
    let whole = fs::read(held.last()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("held.memtrail");
    fs::create_dir(&recording).unwrap();
    for file in ["trace.ctf", "recording.json"] {
        fs::copy(held.recording().join(file), recording.join(file)).unwrap();
    }
    let (first, cut) = (recording.join("0001.heap"), recording.join("0002.heap"));
    fs::write(&first, &whole).unwrap();
    fs::write(&cut, &whole[..whole.len() - 60]).unwrap();
    let check = |words: &[&str]| {
        let output = heap(words);
        let (code, message) = complaint(&output);
        assert_eq!(code, Some(3), "{words:?}: {message}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.starts_with("partial: ") && text.contains("0002.heap"), "{words:?}: {text}");
        let json = heap(words.iter().chain(&["--json"]));
        let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
        assert!(json["partial"].as_str().unwrap().contains("at byte "), "{words:?}: {json}");
        json
    };
    let (cut, first) = (cut.to_str().unwrap(), first.to_str().unwrap());
    for command in COMMANDS.iter().filter(|command| command[0] != "strings") {
        let mut words = command.to_vec();
        words.insert(1, cut);
        check(&words);
    }
    let recording = recording.to_str().unwrap();
    check(&["diff", first, cut]);
    check(&["growth", recording]);
    check(&["sites", recording]);
    check(&["block", recording, "1"]);
    // What keeps a block may be in the part that is missing.
    for command in ["info", "histogram"] {
        let json = check(&[command, cut]);
        assert_eq!(json["unreachable_bytes"], serde_json::Value::Null);
        let text = heap([command, cut]).stdout;
        let text = String::from_utf8(text).unwrap();
        let dead = text.lines().find(|line| line.contains("dead, not yet freed")).unwrap();
        assert!(dead.contains("unknown"), "{text}");
    }
    let info = check(&["info", cut]);
    assert_eq!(info["pause"], serde_json::Value::Null);
}

#[test]
fn a_byte_that_has_changed_is_found() {
    let held = Held::new("system", &[]);
    let mut bytes = fs::read(held.last()).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x55;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("changed.heap");
    fs::write(&path, bytes).unwrap();
    let (code, message) = complaint(&heap(["roots".as_ref(), path.as_os_str()]));
    assert_eq!(code, Some(3), "{message}");
    assert!(message.contains("at byte "), "{message}");
}

#[test]
fn arguments_that_make_no_sense() {
    let held = Held::new("system", &[]);
    let file = held.last();
    let file = file.to_str().unwrap();
    let recording = held.recording().to_str().unwrap();
    for (words, part) in [
        (&["path", file, "--block", "4294967295"][..], "no block 4294967295"),
        (&["path", file, "--kind", "tag 7, 999 fields"], "nothing alive is a `tag 7, 999 fields`"),
        (&["path", file], "--block"),
        (&["path", file, "--block", "1", "--kind", "string"], "cannot be used with"),
        (&["retained", file], "retained by what?"),
        (&["retained", file, "--kind", "nonsense"], "nothing alive is a `nonsense`"),
        (&["retained", file, "--block", "4294967295"], "no block 4294967295"),
        (&["dominators", file, "--block", "4294967295"], "no block 4294967295"),
        (&["dominators", file, "--root", "4294967295"], "no root 4294967295"),
        (&["dominators", file, "--root", "Nowhere"], "no root has `Nowhere` in its name"),
        (&["shared", file, "Heap_held / field", "global"], "roots have `Heap_held / field` in"),
        (&["roots", file, "--min", "lots"], "\"lots\" is not a size"),
        (&["roots", file, "--min", "every 2GiB"], "\"every 2GiB\" is not a size"),
        (&["roots", file, "--kind", "nonsense"], "there are global, stack"),
        (&["roots", file, "--width", "7"], "--width"),
        (&["diff", file], "one snapshot only"),
        (&["growth", file], "needs two snapshots at least"),
        (&["growth", recording, "--skip", "99"], "needs two snapshots at least"),
    ] {
        let output = heap(words);
        let (code, message) = complaint(&output);
        assert_eq!(code, Some(2), "{words:?}: {message}");
        assert!(message.contains(part), "{words:?}: {message}");
        assert!(output.stdout.is_empty());
    }
    let (code, message) = complaint(&heap(["info", recording, "--snapshot", "99"]));
    assert_eq!(code, Some(3), "{message}");
    assert!(
        message.contains("no snapshot 99 in ") && message.contains("hint: there is 1, 2"),
        "{message}"
    );
}

#[test]
fn strings_need_contents() {
    let held = Held::new("system", &[]);
    let (code, message) = complaint(&heap(["strings".as_ref(), held.last().as_os_str()]));
    assert_eq!(code, Some(3), "{message}");
    assert!(message.contains("no contents"), "{message}");
    assert!(message.contains("hint: ") && message.contains("--contents"), "{message}");
}

#[test]
fn a_recording_that_cannot_be_written_to_is_read_all_the_same() {
    let held = Held::new("system", &[]);
    let file = held.last();
    let text = printed(["roots".as_ref(), file.as_os_str()]);
    let index = format!("{}.index", file.display());
    fs::remove_file(&index).unwrap();
    // Root may write everywhere, so a folder stands where the index should be.
    fs::create_dir(&index).unwrap();
    assert_eq!(printed(["roots".as_ref(), file.as_os_str()]), text);
}

#[test]
fn a_path_to_nothing_says_what_it_may_lead_to() {
    let (code, said) = complaint(&heap(["path", "some.memtrail"]));
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("--block") && said.contains("--kind"), "{said}");
    let (code, said) = complaint(&heap(["path", "some.memtrail", "--block", "1", "--kind", "x"]));
    assert_eq!(code, Some(2), "{said}");
}

/// `leaks` named no file and ended with the code of a wrong command line.
#[test]
fn leaks_and_roots_say_the_same_of_a_last_snapshot_that_is_cut_off() {
    let held = Held::new("system", &[]);
    let last = held.last();
    let recording = last.parent().unwrap();
    let whole = fs::read(&last).unwrap();
    for length in [0, 10, 1000] {
        fs::write(&last, &whole[..length]).unwrap();
        let of_roots = heap(["roots".as_ref(), recording.as_os_str()]);
        let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
        let of_leaks = command.arg("leaks").arg(recording).output().unwrap();
        let (code, message) = complaint(&of_leaks);
        assert_eq!((code, &*message), (Some(3), &*complaint(&of_roots).1), "{length} bytes");
        assert!(message.contains(last.file_name().unwrap().to_str().unwrap()), "{message}");
    }
}

/// "has no heap snapshots", and how to take some.
#[test]
fn leaks_of_a_file_that_is_no_trace() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("junk.ctf");
    fs::write(&path, "Hello\n".repeat(99)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    let (code, message) = complaint(&command.arg("leaks").arg(&path).output().unwrap());
    assert_eq!(code, Some(3), "{message}");
    assert!(message.contains("not a memtrace trace"), "{message}");
    assert!(!message.contains("heap snapshots"), "{message}");
}

/// "has no heap snapshots", and how to take some.
#[test]
fn a_damaged_description_is_named_where_there_are_no_snapshots() {
    let held = Held::new("system", &[]);
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("held.memtrail");
    fs::create_dir(&recording).unwrap();
    fs::copy(held.recording().join("trace.ctf"), recording.join("trace.ctf")).unwrap();
    for text in ["", "{ \"format\": 1", "Hello"] {
        fs::write(recording.join("recording.json"), text).unwrap();
        for command in COMMANDS {
            refused(command, &recording, "recording.json is damaged: malformed ");
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
        let (code, message) = complaint(&command.arg("leaks").arg(&recording).output().unwrap());
        assert_eq!(code, Some(3), "{message}");
        assert!(message.contains("recording.json is damaged"), "{message}");
        assert!(!message.contains("heap snapshots"), "{message}");
    }
}
