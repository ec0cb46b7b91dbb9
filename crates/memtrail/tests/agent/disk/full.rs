//! A disk that has less room than `--disk` allows.

use std::process::Command;

use memtrail_recording::{Outcome, Recording};
use memtrail_test_support::compilers::named;
use memtrail_test_support::programs::build;

use super::look;
use super::watch::Watch;
use crate::failing_writes::SmallDisk;

/// The oldest history goes: recording ended when the disk was full, long before the trace had what it may have.
#[test]
fn history_is_thinned_to_what_the_disk_has_room_for() {
    const SIZE: u64 = 8 << 20;
    let program = build(&named("system"), "churn");
    let disk = SmallDisk::mount("8m");
    let recording = disk.path().join("it.memtrail");
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    command.args(["run", "--rate", "1e-2", "--seed", "1", "--disk", "1GiB", "-o"]);
    command.arg(&recording).arg("--").arg(&program.path).arg("25");
    let watch = Watch::start(recording.clone());
    let output = command.output().expect("memtrail run");
    let seen = watch.finish();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{text}");
    let description = Recording::open(&recording).unwrap().description.unwrap();
    assert_eq!(description.outcome, Some(Outcome::Exited { code: Some(0) }), "{text}");
    assert!(look(&recording, SIZE), "its history is thinned");
    assert!(seen.thinning > 0 && seen.most < SIZE, "{seen:?}");
}
