//! `memtrail check`: what fails, with which code, and what is written of it.
#![forbid(unsafe_code)]

mod family;

use std::path::Path;
use std::process::{Command, Output};

use memtrail_test_support::compilers::named;
use memtrail_test_support::on_each;
use memtrail_test_support::programs::{Program, build};
use serde_json::Value;

/// What a table of `leak_table` has that only grows is 4.6 MiB; what is bounded, and its garbage, is a third of it.
const SITE: &str = "Leak_table.lo*<=3M";
/// So much detail that chance is far from all limits.
const RATE: [&str; 2] = ["--rate", "1e-2"];

/// Runs `memtrail check` in a folder.
fn check(folder: &Path, arguments: &[&str], program: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    command.arg("check").args(arguments).current_dir(folder).env_remove("COLUMNS");
    if !program.is_empty() {
        command.arg("--").args(program);
    }
    command.output().unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or_else(|| panic!("{output:?}"))
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The recordings that are there.
fn recordings(folder: &Path) -> Vec<String> {
    let names = folder.read_dir().unwrap().map(|entry| entry.unwrap().file_name());
    let names = names.map(|name| name.into_string().unwrap());
    names.filter(|name| name.ends_with(".memtrail")).collect()
}

fn table(compiler: &str) -> Program {
    build(&named(compiler), "leak_table")
}

fn verdicts(compiler: &str) {
    let (folder, program) = (tempfile::tempdir().unwrap(), table(compiler));
    let (folder, path) = (folder.path(), program.path.to_str().unwrap());
    let gates = [&RATE[..], &["--no-leak", "--site", SITE]].concat();
    let sound = check(folder, &gates, &[path, "bounded"]);
    assert_eq!(code(&sound), 0, "{sound:?}");
    assert!(String::from_utf8_lossy(&sound.stdout).ends_with(" 1200\n"), "{sound:?}");
    assert_eq!(recordings(folder), [""; 0], "passed, so nothing is kept");

    let leaking = check(folder, &[&gates[..], &["--json"]].concat(), &[path, "leak"]);
    assert_eq!(code(&leaking), 4, "{leaking:?}");
    let answer: Value = serde_json::from_slice(&leaking.stderr).unwrap();
    assert_eq!(answer["verdict"], "failed");
    let [leak, site] = &answer["gates"].as_array().unwrap()[..] else { panic!("{answer}") };
    assert_eq!((&leak["gate"], &leak["verdict"]), (&"--no-leak".into(), &"failed".into()));
    assert!(leak["details"].to_string().contains("allocated in Leak_table.load"), "{leak}");
    assert_eq!((&site["measure"], &site["verdict"]), (&"bytes".into(), &"failed".into()));
    assert!(site["confidence"].as_f64().unwrap() > 0.999, "{site}");
    let [kept] = &recordings(folder)[..] else { panic!("{:?}", recordings(folder)) };
    assert_eq!(Path::new(answer["recording"].as_str().unwrap()).file_name().unwrap(), &kept[..]);

    // The recording that was kept gets the same verdicts.
    let again = check(folder, &["--no-leak", "--site", SITE, "--recording", kept, "--json"], &[]);
    assert_eq!(code(&again), 4, "{again:?}");
    let again: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(again["gates"], answer["gates"]);
}

on_each!(a_leak_fails_and_what_looks_like_one_passes, verdicts);

/// `leaks` listed the suspect, and `check` passed.
#[test]
fn a_leak_before_a_long_wait_fails_as_leaks_lists_it() {
    let (folder, program) = (tempfile::tempdir().unwrap(), table("system"));
    let path = program.path.to_str().unwrap();
    let gates = [&RATE[..], &["--no-leak", "--json"]].concat();
    let output = check(folder.path(), &gates, &[path, "leak", "1", "2"]);
    assert_eq!(code(&output), 4, "{output:?}");
    let answer: Value = serde_json::from_slice(&output.stderr).unwrap();
    let gate = &answer["gates"][0];
    assert_eq!(gate["verdict"], "failed", "{answer}");
    assert_eq!(gate["reason"], "1 leak suspect", "{answer}");
    assert!(gate["details"].to_string().contains("Leak_table.load"), "{answer}");
}

/// Of a leak of which too few blocks were sampled it was said that there was no suspect: it passed.
#[test]
fn too_little_evidence_could_not_be_judged_unless_that_is_allowed() {
    let (folder, program) = (tempfile::tempdir().unwrap(), table("system"));
    let path = program.path.to_str().unwrap();
    let gates = ["--rate", "1e-7", "--no-leak", "--json"];
    for (more, expected, verdict) in
        [(&[][..], 6, "unknown"), (&["--allow-undecided"][..], 0, "undecided")]
    {
        let output = check(folder.path(), &[&gates[..], more].concat(), &[path, "leak"]);
        assert_eq!(code(&output), expected, "{output:?}");
        let answer: Value = serde_json::from_slice(&output.stderr).unwrap();
        let gate = &answer["gates"][0];
        assert_eq!(gate["verdict"], verdict, "{answer}");
        assert!(gate["reason"].as_str().unwrap().contains("too little evidence"), "{answer}");
    }
}

#[test]
fn a_snapshot_shows_exactly_what_is_too_much() {
    let (folder, program) = (tempfile::tempdir().unwrap(), table("system"));
    let path = program.path.to_str().unwrap();
    // At this rate no sample tells anything.
    let gates = ["--rate", "1e-7", "--max-live", "4M"];
    let output = check(folder.path(), &gates, &[path, "leak"]);
    assert_eq!(code(&output), 4, "{output:?}");
    assert!(stderr(&output).contains("were reachable in the snapshot at "), "{output:?}");
}

/// 9 MB of bigarrays were left out: the limit was "undecided".
#[test]
fn memory_outside_the_heap_counts_in_a_snapshot_too() {
    let (folder, program) =
        (tempfile::tempdir().unwrap(), build(&named("system"), "heap_off_heap"));
    let gates = ["--rate", "1e-8", "--snapshot", "exit", "--max-live", "8M"];
    let output = check(folder.path(), &gates, &[program.path.to_str().unwrap()]);
    assert_eq!(code(&output), 4, "{output:?}");
    assert!(stderr(&output).contains("were reachable in the snapshot at "), "{output:?}");
}

#[test]
fn each_way_to_fail_has_its_code() {
    let (folder, program) = (tempfile::tempdir().unwrap(), table("system"));
    let (folder, path) = (folder.path(), program.path.to_str().unwrap());
    let gate = ["--max-live", "1G", "--junit", "junit.xml"];
    let junit = || std::fs::read_to_string(folder.join("junit.xml")).unwrap();

    let failed = check(folder, &gate, &[path, "no such mode"]);
    assert_eq!(code(&failed), 5, "{failed:?}");
    assert!(stderr(&failed).contains("leak_table failed: exit code 2"), "{failed:?}");
    assert!(junit().contains("<error message=\"leak_table failed: exit code 2\"/>"), "{}", junit());
    assert_eq!(recordings(folder).len(), 1, "kept");
    let killed = check(folder, &gate, &["sh", "-c", "kill -9 $$"]);
    assert_eq!(code(&killed), 5, "{killed:?}");
    assert!(stderr(&killed).contains("sh failed: killed by signal 9"), "{killed:?}");

    let not_ocaml = check(folder, &gate, &["true"]);
    assert_eq!(code(&not_ocaml), 6, "{not_ocaml:?}");
    assert!(stderr(&not_ocaml).contains("could not be judged"), "{not_ocaml:?}");
    assert!(junit().contains("errors=\"1\""), "{}", junit());

    for (gates, program, expected, message) in [
        (&[][..], "true", 2, "there is no gate to judge by"),
        (&["--site", "Foo"], "true", 2, "has no limit"),
        (&["--max-growth", "1%"], "true", 2, "has no time"),
        (&["--max-live", "1G", "--baseline", "nowhere"], path, 3, "nowhere"),
        (&gate, "./nowhere", 127, "no such program"),
    ] {
        let output = check(folder, gates, &[program, "bounded"]);
        assert_eq!(code(&output), expected, "{gates:?}: {output:?}");
        assert!(stderr(&output).contains(message), "{gates:?}: {output:?}");
    }
}

/// The line break of what is wrong with a trace was shown as a character that cannot be.
#[test]
fn a_damaged_recording_is_not_judged_and_said_on_one_line() {
    let (folder, program) = (tempfile::tempdir().unwrap(), table("system"));
    let (folder, path) = (folder.path(), program.path.to_str().unwrap());
    let kept = check(folder, &["--max-live", "1G", "-o", "kept.memtrail"], &[path, "bounded"]);
    assert_eq!(code(&kept), 0, "{kept:?}");
    let trace = folder.join("kept.memtrail/trace.ctf");
    let bytes = std::fs::read(&trace).unwrap();
    std::fs::write(&trace, &bytes[..bytes.len() / 2]).unwrap();
    let output =
        check(folder, &["--max-live", "1G", "--recording", "kept.memtrail", "--json"], &[]);
    assert_eq!(code(&output), 6, "{output:?}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let reason = answer["reason"].as_str().unwrap();
    assert!(reason.contains("trace.ctf is damaged; at byte "), "{reason}");
    assert!(!reason.contains('\n'), "{reason}");
}

#[test]
fn results_are_written_as_junit_markdown_and_a_page() {
    let (folder, program) = (tempfile::tempdir().unwrap(), table("system"));
    let (folder, path) = (folder.path(), program.path.to_str().unwrap());
    let files = ["--junit", "a.xml", "--markdown", "a.md", "--html", "a.html"];
    let gates = [&RATE[..], &["--site", SITE, "--max-total", "10G"], &files].concat();
    let output = check(folder, &gates, &[path, "leak"]);
    assert_eq!(code(&output), 4, "{output:?}");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let junit = read("a.xml");
    assert!(junit.contains("tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\""), "{junit}");
    let name = "name=\"--site &#39;Leak_table.lo*&lt;=3M&#39;\"";
    assert!(junit.contains(name), "{junit}");
    assert!(
        junit.contains("<failure message=\"") && junit.contains("[[ATTACHMENT|a.html]]"),
        "{junit}"
    );
    let markdown = read("a.md");
    assert!(markdown.starts_with("## Memory of leak\\_table: failed\n"), "{markdown}");
    assert!(markdown.contains("| --max-total 10G | passed | "), "{markdown}");
    assert!(markdown.contains("[The recording in the viewer](<a.html>)"), "{markdown}");
    assert!(read("a.html").contains("application/x-memtrail-trace"), "the page has the recording");
}

#[test]
fn a_baseline_is_compared_with() {
    let (folder, program) = (tempfile::tempdir().unwrap(), table("system"));
    let (folder, path) = (folder.path(), program.path.to_str().unwrap());
    let gates = |more: &[&'static str]| [&RATE[..], more].concat();
    let first = check(folder, &gates(&["--max-live", "1G", "-o", "base"]), &[path, "bounded"]);
    assert_eq!(code(&first), 0, "{first:?}");
    // What is alive at the peak depends on when it is collected: by more than chance, as the case may be.
    let base = ["--baseline", "base", "--max-increase", "60%"];
    let same = check(folder, &gates(&base), &[path, "bounded"]);
    assert_eq!(code(&same), 0, "{same:?}");
    let more = check(folder, &gates(&["--baseline", "base", "--json"]), &[path, "bounded", "3"]);
    assert_eq!(code(&more), 4, "{more:?}");
    let answer: Value = serde_json::from_slice(&more.stderr).unwrap();
    let total = &answer["gates"][1];
    assert_eq!(
        (&total["gate"], &total["verdict"]),
        (&"--baseline base: allocated".into(), &"failed".into())
    );
    assert!(total["details"].to_string().contains("Stdlib"), "{total}");
}

/// The hint is the command that was meant.
#[test]
fn a_recording_in_place_of_a_program_has_a_hint() {
    let recordings = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/recordings");
    for (named, expected) in [("leaks-4711.memtrail", 127), ("./leaks-4711.memtrail", 126)] {
        let output = check(&recordings, &["--no-leak", "--max-live", "2G"], &[named]);
        assert_eq!(code(&output), expected, "{output:?}");
        let hint = format!(
            "hint: it is a recording: memtrail check --no-leak --max-live 2G --recording {named}\n"
        );
        assert!(stderr(&output).ends_with(&hint), "{output:?}");
    }
    let output = check(&recordings, &["--no-leak"], &["./nowhere"]);
    assert!(!stderr(&output).contains("hint: "), "{output:?}");
}

/// "undecided": a name that was mistyped passed for ever.
#[test]
fn a_site_that_no_call_site_matches_could_not_be_judged() {
    let (folder, program) = (tempfile::tempdir().unwrap(), table("system"));
    let (folder, path) = (folder.path(), program.path.to_str().unwrap());
    for pattern in ["nosuch", "in:Nosuch.*"] {
        let site = format!("{pattern}<=1M");
        let gates = [&RATE[..], &["--site", SITE, "--site", &site]].concat();
        let output = check(folder, &gates, &[path, "bounded"]);
        assert_eq!(code(&output), 6, "{output:?}");
        let text = stderr(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(&format!("no call site matches {pattern}: ")), "{text}");
    }
}
