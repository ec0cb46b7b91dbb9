//! `memtrail demo` finds its three leaks in what it recorded.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use memtrail_test_support::contents::{read, recordings_in};

#[test]
fn demo_finds_its_three_leaks() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    let output = command.args(["demo", "--json"]).current_dir(folder.path()).output();
    let output = output.expect("memtrail starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let findings: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let found: Vec<_> = findings["findings"].as_array().expect("an array").iter().collect();
    assert_eq!(found.len(), 3);
    let number =
        |finding: &serde_json::Value, field: &str| finding[field].as_f64().expect("a number");
    for (finding, function, variable, bytes, kept, retained) in [
        // 40,000 sessions of 101 words for the history, 4 for the record.
        (
            found[0],
            "Leaks.Session_cache.load",
            "Session_cache.sessions",
            40_000.0 * 106.0 * 8.0,
            1.0,
            34e6..40e6,
        ),
        // 40,000 letters, a third unsent, of 188 words and a header, and 3 words for the record;
        // those sent last may not have been collected yet.
        (
            found[1],
            "Leaks.Outbox.compose",
            "Outbox.pending",
            13_333.0 * 192.0 * 8.0,
            1.0 / 3.0,
            20e6..22e6,
        ),
        // 10,000 buffers of 4 KiB.
        (
            found[2],
            "Leaks.Connection.open_",
            "Listeners.subscribed",
            10_000.0 * 514.0 * 8.0,
            1.0,
            41e6..43e6,
        ),
    ] {
        assert_eq!(finding["function"], function);
        assert!(finding["place"].as_str().is_some_and(|p| p.starts_with("leaks.ml:")), "{finding}");
        let (live, error) = (number(finding, "live_bytes"), number(finding, "live_bytes_stderr"));
        assert!(live > bytes - 5.0 * error, "{finding}");
        assert!(live < bytes * 1.4 + 5.0 * error, "{finding}");
        // All of it hangs from one block below a variable of the module.
        let holder = &finding["retained_by"];
        assert!(retained.contains(&number(holder, "retained")), "{finding}");
        assert_eq!(holder["root"], serde_json::json!(["Leaks", variable]), "{finding}");
        let share = number(finding, "share_kept");
        assert!(share >= kept - 0.1 && share <= kept + 0.15, "{finding}");
    }
    let recordings = recordings_in(folder.path());
    assert_eq!(recordings.len(), 1, "{recordings:?}");
    assert!(read(&recordings[0]).blocks.len() > 10_000);
}

#[test]
fn demo_prints_a_description_of_each_leak_and_what_to_type_next() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    let output = command.arg("demo").current_dir(folder.path()).output().expect("memtrail starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    for sentence in [
        "  1. A cache that never evicts: Session_cache.load (leaks.ml:",
        "  2. A queue that falls behind: Outbox.compose (leaks.ml:",
        "  3. A closure kept by a callback list: Connection.open_ (leaks.ml:",
    ] {
        assert!(text.contains(sentence), "{sentence:?} is not in\n{text}");
    }
    let recording = &recordings_in(folder.path())[0];
    let name = recording.file_name().and_then(|n| n.to_str()).expect("UTF-8");
    assert!(text.contains(&format!("memtrail report {name} ")), "{text}");
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for variable in [
        "Leaks.Session_cache.sessions : (string, session) Hashtbl.t (leaks.ml:",
        "Leaks.Outbox.pending : letter Queue.t (leaks.ml:",
        "Leaks.Listeners.subscribed : (int -> int) list ref (leaks.ml:",
    ] {
        assert!(flat.contains(&format!("Retained by the variable {variable}")), "{text}");
    }
    assert!(!text.contains('\u{1b}'), "no colour in a pipe");
    // The report's title may be longer where folders have long names.
    let long: Vec<_> = text.lines().skip(1).filter(|line| line.chars().count() > 80).collect();
    assert!(long.is_empty(), "{long:#?}");
}

#[test]
fn demo_reports_that_variables_have_no_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = std::env::var_os("PATH").expect("PATH");
    let real = std::env::split_paths(&path).map(|dir| dir.join("ocamlopt"));
    let real = real.into_iter().find(|file| file.is_file()).expect("ocamlopt on PATH");
    // The compiler, but without the files that have names and types.
    let script = format!(
        "#!/bin/sh\n{} \"$@\"\nended=$?\nrm -f leaks.cmi leaks.cmt\nexit $ended\n",
        real.display()
    );
    let wrapper = folder.path().join("ocamlopt");
    fs::write(&wrapper, script).expect("a script");
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).expect("its mode");
    let paths = [folder.path().to_owned()].into_iter().chain(std::env::split_paths(&path));
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    command.env("PATH", std::env::join_paths(paths).expect("a path"));
    let output = command.arg("demo").current_dir(folder.path()).output().expect("memtrail starts");
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("note: variables are shown by their numbers, not names: "), "{said}");
    assert!(said.contains("no .cmt or .cmi file"), "{said}");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("Retained by Leaks, field "), "{text}");
}
