//! Nobody else can read what is recorded, whatever the umask: a heap holds passwords.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use memtrail_test_support::compilers::named;
use memtrail_test_support::on_each;
use memtrail_test_support::programs::build;

use crate::asking::Running;

/// A folder and all that is in it, each with its mode.
fn modes(path: &Path) -> Vec<(PathBuf, u32)> {
    let metadata = fs::symlink_metadata(path).expect("it is there");
    let mut all = vec![(path.to_path_buf(), metadata.permissions().mode() & 0o7777)];
    if metadata.is_dir() {
        for entry in fs::read_dir(path).expect("a folder") {
            all.extend(modes(&entry.expect("an entry").path()));
        }
    }
    all
}

fn check(path: &Path) -> Vec<String> {
    let all = modes(path);
    for (path, mode) in &all {
        let expected = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(*mode, expected, "{}: {mode:o}", path.display());
    }
    let name = |(path, _): &(PathBuf, u32)| path.file_name().map(|n| n.to_string_lossy().into());
    all.iter().filter_map(name).collect()
}

/// Runs `memtrail` with umask 000.
fn memtrail(words: &[&str]) {
    let mut command = Command::new("bash");
    command.args(["-c", "umask 000; exec \"$@\"", "bash", env!("CARGO_BIN_EXE_memtrail")]);
    let output = command.args(words).output().expect("bash starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {said}");
}

on_each!(a_recording_is_private_under_any_umask, |compiler| {
    let program = build(&named(compiler), "heap_waits");
    let options = ["--rate", "1e-2", "--snapshot", "request", "--snapshot", "exit", "--contents"];
    let running = Running::start_after("umask 000", &program, &options);
    let recording = running.recording.clone();
    assert!(running.ask().status.success());
    let names = check(&recording);
    assert!(names.iter().any(|name| name == "0001.heap"), "{names:?}");
    let (_, ()) = running.end_with(|| {
        check(&recording);
        // What analysing it leaves behind, and what is made of it.
        let rec = recording.to_str().expect("a plain name");
        let made = tempfile::tempdir().expect("a folder");
        let private = fs::Permissions::from_mode(0o700);
        fs::set_permissions(made.path(), private).expect("it is ours");
        let out = |name: &str| made.path().join(name).display().to_string();
        memtrail(&["report", rec]);
        memtrail(&["heap", "roots", rec]);
        memtrail(&["heap", "growth", rec]);
        memtrail(&["html", "--contents", "-o", &out("it.html"), rec]);
        for format in ["folded", "speedscope", "pprof", "firefox", "json", "svg"] {
            memtrail(&["export", "--format", format, "-o", &out(format), rec]);
        }
        memtrail(&["trace", "strip", rec, &out("strip.ctf")]);
        memtrail(&["trace", "subsample", rec, &out("subsample.ctf"), "2"]);
        let names = check(&recording);
        assert!(names.iter().any(|name| name.contains(".heap.index")), "{names:?}");
        assert!(names.iter().any(|name| name == "0002.heap"), "{names:?}");
        assert_eq!(check(made.path()).len(), 1 + 1 + 6 + 2);
    });
});
