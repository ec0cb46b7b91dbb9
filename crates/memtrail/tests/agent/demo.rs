//! `memtrail demo` describes its three leaks; `leaks/server.rs` tests its findings.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use memtrail_test_support::contents::recordings_in;

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
