//! `memtrail check --no-leak` on native programs that were looked at for references.

use std::path::Path;
use std::process::{Command, Output};

use super::{Program, compile};

fn check(folder: &Path, options: &[&str], program: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_memtrail"))
        .args(["check", "--native", "--rate", "1", "--no-leak"])
        .args(options)
        .arg("--")
        .arg(program)
        .current_dir(folder)
        .env_remove("COLUMNS")
        .output()
        .unwrap()
}

fn leaking() -> Program {
    compile("references.c", &["-pthread"])
}

#[test]
fn blocks_to_which_nothing_refers_fail_in_all_results() {
    let (folder, program) = (tempfile::tempdir().unwrap(), leaking());
    let files = ["--junit", "a.xml", "--markdown", "a.md"];
    let options = [&["--snapshot", "exit"], &files[..]].concat();
    let output = check(folder.path(), &options, &program.path);
    let stderr = String::from_utf8_lossy(&output.stderr);
    let text = stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(output.status.code(), Some(4), "{stderr}");
    assert!(text.contains("nothing refers to ") && text.contains("(conservative scan)"), "{text}");
    assert!(text.contains("allocated in by_lost (references.c:"), "{text}");
    for (file, words) in
        [("a.xml", "<failure message=\"nothing refers to "), ("a.md", "**failed**")]
    {
        let text = std::fs::read_to_string(folder.path().join(file)).unwrap();
        assert!(text.contains(words), "{text}");
        assert!(text.contains("conservative scan") && text.contains("references.c:"), "{text}");
    }
}

/// Without a snapshot growth alone is judged, and of this program too little grows.
#[test]
fn without_a_snapshot_nothing_is_told_of_references() {
    let (folder, program) = (tempfile::tempdir().unwrap(), leaking());
    let output = check(folder.path(), &[], &program.path);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("conservative"), "{output:?}");
}

#[test]
fn a_program_that_frees_its_blocks_passes() {
    let (folder, program) = (tempfile::tempdir().unwrap(), compile("null.c", &[]));
    let output = check(folder.path(), &["--snapshot", "exit"], &program.path);
    let stderr = String::from_utf8_lossy(&output.stderr);
    let text = stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(text.contains("no unreachable block was sampled (conservative scan)"), "{text}");
}

/// A wrapper script became the program: 0 B were alive in the shell, and the check passed.
#[test]
fn the_program_that_a_script_becomes_is_judged() {
    let (folder, program) = (tempfile::tempdir().unwrap(), leaking());
    let script = folder.path().join("start.sh");
    std::fs::write(&script, format!("#!/bin/sh\nexec {}\n", program.path.display())).unwrap();
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let output = check(folder.path(), &["--snapshot", "exit", "--keep"], &script);
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    // So it is where the recording of the shell is named.
    let shell = std::fs::read_dir(folder.path()).unwrap().flatten();
    let shell = shell
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|end| end == "memtrail") && is_of_shell(path));
    let output = Command::new(env!("CARGO_BIN_EXE_memtrail"))
        .args(["check", "--no-leak", "--recording"])
        .arg(shell.unwrap())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(4), "{output:?}");
}

/// True if a recording's name says that it is of a shell.
fn is_of_shell(recording: &Path) -> bool {
    let name = recording.file_name().unwrap().to_string_lossy().into_owned();
    ["sh-", "dash-", "bash-", "start"].iter().any(|shell| name.starts_with(shell))
}

/// `check` could not judge a program that had ended before its first snapshot, of which `leaks` said "no leak found".
#[test]
fn a_program_that_ends_before_its_first_snapshot_is_judged_as_without() {
    let (folder, program) = (tempfile::tempdir().unwrap(), compile("null.c", &[]));
    let output = check(folder.path(), &["--every", "1h", "-o", "short.memtrail"], &program.path);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let leaks = Command::new(env!("CARGO_BIN_EXE_memtrail"))
        .args(["leaks", "--json", "short.memtrail"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let leaks: serde_json::Value = serde_json::from_slice(&leaks.stdout).unwrap();
    assert_eq!(leaks["conclusion"]["verdict"], "no_leak", "{leaks}");
}

/// A program that ends by a system call leaves no moment for the snapshot: whether something leaks is not known.
#[test]
fn a_snapshot_that_is_missing_is_not_a_pass() {
    let program = compile("references.c", &["-pthread", "-DWITHOUT_EXIT"]);
    let folder = tempfile::tempdir().unwrap();
    let options = ["--snapshot", "exit", "-o", "cut.memtrail"];
    let output = check(folder.path(), &options, &program.path);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(6), "{stderr}");
    let leaks = Command::new(env!("CARGO_BIN_EXE_memtrail"))
        .args(["leaks", "--json", "cut.memtrail"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let leaks: serde_json::Value = serde_json::from_slice(&leaks.stdout).unwrap();
    assert_eq!(leaks["conclusion"]["verdict"], "undecided", "{leaks}");
    let text = stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("ended without the agent being told: by a system call"), "{text}");
}

/// Destructors of global variables freed it, so nothing was said of it, and the check passed.
#[test]
fn what_grew_until_exit_handlers_freed_it_fails() {
    let program = compile("freed_at_exit.cc", &[]);
    let folder = tempfile::tempdir().unwrap();
    let output = check(folder.path(), &["-o", "leak.memtrail"], &program.path);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{stderr}");
    let leaks = Command::new(env!("CARGO_BIN_EXE_memtrail"))
        .args(["leaks", "--json", "leak.memtrail"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let found: serde_json::Value = serde_json::from_slice(&leaks.stdout).unwrap();
    let first = &found["suspects"][0];
    let places = first["allocated"].as_array().unwrap();
    let is_handle = |place: &serde_json::Value| {
        place["function"].as_str().is_some_and(|name| name.starts_with("handle"))
    };
    assert!(places.iter().any(is_handle), "{found:#}");
    let description = first["descriptions"][0].as_str().unwrap();
    assert!(description.ends_with("kept until the program ended"), "{description}");
    assert!(found["teardown"]["freed"].as_u64().unwrap() > 4_000_000, "{found:#}");
}

/// With a bound the same program frees its last sessions at the exit, too, and passes.
#[test]
fn what_came_and_went_until_the_exit_passes() {
    let program = compile("freed_at_exit.cc", &[]);
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_memtrail"))
        .args(["check", "--native", "--rate", "1", "--no-leak", "--"])
        .args([program.path.as_os_str(), "bounded".as_ref()])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
}

/// Known leaks were taken out of the suspects alone: blocks to which nothing refers failed every check.
#[test]
fn known_call_sites_of_unreachable_blocks_are_not_counted() {
    let (folder, program) = (tempfile::tempdir().unwrap(), leaking());
    let output =
        check(folder.path(), &["--snapshot", "exit", "-o", "known.memtrail"], &program.path);
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    let of = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
        command.args(arguments).current_dir(folder.path()).output().unwrap()
    };
    let leaks = |more: &[&str]| -> serde_json::Value {
        let arguments = [&["leaks", "known.memtrail", "--json", "--limit", "0"], more].concat();
        serde_json::from_slice(&of(&arguments).stdout).unwrap()
    };
    let found = leaks(&[]);
    let sites = found["unreachable"]["sites"].as_array().unwrap();
    let functions: Vec<&str> =
        sites.iter().map(|site| site["allocated"][0]["function"].as_str().unwrap()).collect();
    assert!(functions.len() > 1, "{found:#}");
    let known = |patterns: &[&str]| {
        std::fs::write(folder.path().join("known"), patterns.join("\n")).unwrap();
        let check = ["check", "--no-leak", "--recording", "known.memtrail", "--suppress", "known"];
        (leaks(&["--suppress", "known"]), of(&check))
    };
    let bytes = |found: &serde_json::Value| {
        found["unreachable"]["unreachable"]["bytes"]["value"].as_f64().unwrap()
    };

    let (rest, checked) = known(&functions[..1]);
    assert_eq!(checked.status.code(), Some(4), "{checked:?}");
    let first = sites[0]["unreachable"]["bytes"]["value"].as_f64().unwrap();
    assert!((bytes(&found) - first - bytes(&rest)).abs() < 1.0, "{rest:#}");

    let (none, checked) = known(&[&functions[..], &["nobody"]].concat());
    let stderr = String::from_utf8_lossy(&checked.stderr);
    assert_eq!(checked.status.code(), Some(0), "{stderr}");
    assert_eq!(none["conclusion"]["verdict"], "no_leak", "{none:#}");
    let summary = none["summary"].to_string();
    assert!(summary.contains("are not listed, as --suppress has them"), "{summary}");
    assert!(summary.contains("matched nothing: nobody"), "{summary}");
}

/// Work was counted by calls of `malloc` alone: a program that fills a pool, and then works with it, failed as one that leaked
/// "until the program began to wait".
#[test]
fn a_program_that_works_with_what_it_allocated_does_not_leak() {
    let (folder, program) = (tempfile::tempdir().unwrap(), compile("pool.c", &[]));
    let check = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
        command.args(["check", "--native", "--rate", "1e-2", "--no-leak", "--"]);
        command.arg(&program.path).args(arguments).current_dir(folder.path());
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, text) = check(&[]);
    assert_eq!(code, Some(0), "{text}");
    let (code, text) = check(&["waits"]);
    assert_eq!(code, Some(4), "{text}");
}

/// Growth was judged to the end, where destructors free all, and "the collector" had to free something first.
#[test]
fn growth_is_judged_before_the_program_frees_its_memory_at_the_end() {
    let (folder, program) = (tempfile::tempdir().unwrap(), compile("freed_at_exit.cc", &[]));
    for (argument, code) in [(None, 4), (Some("bounded"), 0)] {
        let output = Command::new(env!("CARGO_BIN_EXE_memtrail"))
            .args(["check", "--native", "--rate", "1", "--max-growth", "50%/min", "--"])
            .arg(&program.path)
            .args(argument)
            .current_dir(folder.path())
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{argument:?}: {stderr}");
        assert!(!stderr.contains("collector"), "{stderr}");
    }
}
