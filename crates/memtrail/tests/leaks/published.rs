//! Programs that were not made for these tests, as published, at the default rate: they work on one task and do not leak.
//! And Debian's ocsigenserver, with an extension that does.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use memtrail_test_support::compilers::cached_program;
use memtrail_test_support::inputs;
use memtrail_test_support::programs::build_server_extension;
use memtrail_test_support::running::Case;
use memtrail_test_support::site::{Extension, Site, free_port};
use serde_json::Value;

use crate::{response, suspects};

/// Records it at the default rate, with these files to work on.
fn has_no_suspect(program: impl Into<PathBuf>, arguments: &[&str], files: &[(&str, &str)]) {
    let case = Case::command(program.into(), arguments).options(&["--snapshot", "exit"]);
    for (name, text) in files {
        fs::write(case.folder.path().join(name), text).unwrap();
    }
    let run = case.recorded();
    assert!(run.seen.status.success(), "{:?}", run.seen);
    let found = response(&run.recording);
    assert!(suspects(&found).is_empty(), "{found:#}");
    is_explained(&found);
}

/// Each owner that is no suspect has a reason, and what cannot be judged is said to be so.
fn is_explained(found: &Value) {
    for owner in found["cleared"].as_array().unwrap() {
        let reason = owner["reason"].as_str().unwrap();
        assert!(!reason.is_empty() && !reason.starts_with("1 of its"), "{owner}");
    }
    let size = |name: &str| found[name].as_f64().unwrap();
    let summary = found["summary"].to_string();
    let has_no_measure = summary.contains("growth cannot be judged");
    let is_unjudged = summary.contains("of the heap cannot be judged");
    assert_eq!(
        is_unjudged,
        !has_no_measure && size("unjudged") >= size("alive") / 10.0,
        "{found:#}"
    );
}

#[test]
fn ocamlopt_does_not_leak() {
    let arguments = ["-c", "-S", "-g", "big.ml"];
    has_no_suspect("ocamlopt.opt", &arguments, &[("big.ml", &inputs::ocaml())]);
}

/// With no library but the one that is always loaded.
#[test]
fn coqc_does_not_leak() {
    has_no_suspect("coqc", &["-q", "theory.v"], &[("theory.v", &inputs::coq_alone())]);
}

/// Of OCaml 5.4.
#[test]
fn semgrep_does_not_leak() {
    let semgrep = cached_program("semgrep==1.185.0/semgrep-core");
    let arguments = ["-rules", "rules.yaml", "-lang", "python", "-j", "1", "big.py"];
    let files = [("rules.yaml", inputs::RULES), ("big.py", &inputs::python())];
    has_no_suspect(semgrep, &arguments, &files);
}

/// Of OCaml 4.14.
#[test]
fn flow_does_not_leak() {
    let flow = cached_program("flow-bin@0.200.1/flow");
    has_no_suspect(flow, &["ast", "big.js"], &[("big.js", &inputs::javascript())]);
}

/// A server that is visited, with an extension that notes each visit; what is found.
fn visited(element: &str) -> Value {
    let module = build_server_extension("leak_visits");
    let module: &Path = &module;
    let site = Site::with(free_port(), Some(&Extension { module, element }));
    let case = site.case().options(&["--rate", "1e-3", "--snapshot", "exit"]);
    let run = thread::scope(|scope| {
        let visitor = scope.spawn(|| {
            site.wait();
            for _ in 0..500 {
                assert!(site.get("/0.html").is_some_and(|answer| answer.contains("page 0")));
                thread::sleep(Duration::from_millis(3));
            }
            site.shut_down();
        });
        let run = case.recorded();
        visitor.join().unwrap();
        run
    });
    assert!(run.seen.status.success(), "{:?}", run.seen);
    response(&run.recording)
}

#[test]
fn an_extension_of_ocsigenserver_that_forgets_no_visit_is_the_first_suspect() {
    let found = visited("<visits/>");
    let first = suspects(&found).first().unwrap_or_else(|| panic!("{found:#}"));
    assert_eq!(first["rule"], "growing container", "{found:#}");
    assert_eq!(first["owner"], "Leak_visits / field 0", "{found:#}");
    assert_eq!(first["allocated"][0]["file"], "leak_visits.ml", "{found:#}");
    assert_eq!(first["allocated"][0]["line"], 10, "{found:#}");
    // Where entries are added is known if one of the table's few cells was sampled.
}

#[test]
fn an_extension_of_ocsigenserver_that_keeps_fifty_visits_is_none() {
    let found = visited("<visits keep='50'/>");
    assert!(suspects(&found).is_empty(), "{found:#}");
    is_explained(&found);
}
