//! A program that runs and allocates nothing for a while, looked at meanwhile.

use std::process::Command;

use memtrail_test_support::contents;
use serde_json::Value;

use super::compile;
use super::names_while_it_runs::{end, start};

/// Its samples are in a packet that it does not write until it allocates again. They were not counted: it "allocated little, most
/// likely less than 1.50 MiB".
#[test]
fn samples_of_a_quiet_program_are_counted_while_it_runs() {
    let (folder, program) = (tempfile::tempdir().unwrap(), compile("quiet.c", &[]));
    let recording = folder.path().join("r.memtrail");
    let memtrail = start(&program.path, &recording, &[]);
    let asked = |arguments: &[&str]| -> Value {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
        let output = command.args(arguments).arg(&recording).arg("--json").output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
    };
    let report = asked(&["report"]);
    let blocks = report["report"]["totals"]["allocated"]["samples"].as_u64().expect("a number");
    let leaks = asked(&["leaks"]);
    let alive = leaks["alive"].as_u64().expect("a number");
    end(memtrail);
    // 30 MB, one sample for 512 KiB.
    assert!((20..200).contains(&blocks), "{report:#}");
    assert!((15_000_000..60_000_000).contains(&alive), "{leaks:#}");
    let written = contents::read(&recording);
    assert!(written.inside("at_start").count() > 0);
}
