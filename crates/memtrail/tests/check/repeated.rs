//! Two hundred runs of programs that pass and that fail: no verdict flips. They take minutes, and are run by name:
//! `cargo test -p memtrail --test check -- --ignored --nocapture`.

use serde_json::Value;

use crate::{check, code, table};

const RUNS: usize = 200;

/// How often runs of a program ended with code 0 and with 4, without a seed.
fn repeat(gates: &[&str], program: &[&str]) -> [usize; 2] {
    let folder = tempfile::tempdir().unwrap();
    let mut counts = [0; 2];
    for _ in 0..RUNS {
        let output = check(folder.path(), gates, program);
        match code(&output) {
            0 => counts[0] += 1,
            4 => counts[1] += 1,
            _ => panic!("{output:?}"),
        }
        for recording in folder.path().read_dir().unwrap() {
            std::fs::remove_dir_all(recording.unwrap().path()).unwrap();
        }
    }
    counts
}

#[test]
#[ignore = "800 runs"]
fn two_hundred_runs_have_the_same_verdict() {
    let program = table("system");
    let path = program.path.to_str().unwrap();
    let gates = ["--rate", "1e-3", "--no-leak", "--site", "Leak_table.load<=3M"];
    let passing = repeat(&gates, &[path, "bounded"]);
    let failing = repeat(&gates, &[path, "leak"]);
    println!(
        "limits far away: bounded passed {} of {RUNS}, leak failed {}",
        passing[0], failing[1]
    );
    assert_eq!((passing, failing), ([RUNS, 0], [0, RUNS]));

    // All that it allocates, exactly, is the limit; and what is a tenth below.
    let folder = tempfile::tempdir().unwrap();
    let exactly = ["--rate", "1", "--max-total", "1G", "--json"];
    let output = check(folder.path(), &exactly, &[path, "bounded"]);
    let answer: Value = serde_json::from_slice(&output.stderr).unwrap();
    let total = answer["gates"][0]["measured"]["value"].as_f64().unwrap();
    let limit = |part: f64| ((total * part) as u64).to_string();
    let at = repeat(&["--rate", "1e-3", "--max-total", &limit(1.0)], &[path, "bounded"]);
    let below = repeat(&["--rate", "1e-3", "--max-total", &limit(0.9)], &[path, "bounded"]);
    println!("at its limit: failed {} of {RUNS}; a tenth above: failed {}", at[1], below[1]);
    assert!(at[1] <= 3 && below[0] == 0, "{at:?} {below:?}");
}
