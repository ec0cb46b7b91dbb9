//! Files that are missing, damaged or no trace: a message, exit code 3, and all that can be read.

use std::fs;

use crate::{complaint, fixtures, trace};

const COMMANDS: [&str; 4] = ["info", "hotspots", "folded", "dump"];

#[test]
fn no_such_file() {
    for name in COMMANDS {
        let output = trace([name, "nowhere.ctf"]);
        let (code, message) = complaint(&output);
        assert_eq!(code, Some(3), "{message}");
        assert!(message.contains("nowhere.ctf") && message.contains("hint: "), "{message}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn not_a_trace() {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in [("empty", ""), ("text", "Hello"), ("long", &"Hello\n".repeat(9_999))] {
        let path = folder.path().join(name);
        fs::write(&path, content).unwrap();
        for command in COMMANDS {
            let output = trace([command.as_ref(), path.as_os_str()]);
            let (code, message) = complaint(&output);
            assert_eq!(code, Some(3), "{message}");
            assert!(message.contains(name) && message.contains("hint: "), "{message}");
            assert!(output.stdout.is_empty());
        }
    }
}

#[test]
fn an_empty_folder() {
    let folder = tempfile::tempdir().unwrap();
    for command in COMMANDS {
        let (code, message) = complaint(&trace([command.as_ref(), folder.path().as_os_str()]));
        assert_eq!(code, Some(3), "{message}");
        assert!(message.contains("not a recording"), "{message}");
    }
}

#[test]
fn a_truncated_trace_is_read_as_far_as_it_goes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.ctf");
    let whole = fs::read(fixtures().join("cache-v2.ctf")).unwrap();
    fs::write(&path, &whole[..whole.len() - 1_000]).unwrap();
    let events = crate::printed(["dump", "cache-v2.ctf"]);
    let output = trace(["dump".as_ref(), path.as_os_str()]);
    let (code, message) = complaint(&output);
    assert_eq!(code, Some(3), "{message}");
    assert!(message.contains("cut.ctf is damaged\n  at byte "), "{message}");
    assert!(message.contains("the file ends inside a packet"), "{message}");
    let read = String::from_utf8(output.stdout).unwrap();
    assert!(events.starts_with(&read));
    assert!(read.lines().count() > events.lines().count() - 300, "all but the last events");
    for command in COMMANDS {
        let output = trace([command.as_ref(), path.as_os_str()]);
        assert_eq!(output.status.code(), Some(3));
        assert!(!output.stdout.is_empty(), "{command}");
    }
}

#[test]
fn wrong_command_lines() {
    for args in [
        &["info"][..],
        &["nothing", "cache-v2.ctf"],
        &["dump", "--colour", "cache-v2.ctf"],
        &["subsample", "cache-v2.ctf", "out.ctf"],
        &["subsample", "cache-v2.ctf", "out.ctf", "potato"],
        &["subsample", "cache-v2.ctf", "out.ctf", "0.5"],
        &["subsample", "cache-v2.ctf", "out.ctf", "nan"],
        &["subsample", "cache-v2.ctf", "out.ctf", "2", "--from", "3", "--to", "3"],
    ] {
        let output = trace(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {output:?}");
        assert!(!output.stderr.is_empty());
    }
    assert!(!fixtures().join("out.ctf").exists());
}
