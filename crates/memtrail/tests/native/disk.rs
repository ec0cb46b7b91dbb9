//! Recordings with a limit to their disk space.

use std::fs;
use std::thread;
use std::time::Duration;

use memtrail_recording::{Outcome, Recording, TRACE_FILE, is_alive};
use memtrail_test_support::contents;
use memtrail_test_support::running::Case;

use super::compile;

/// The agent alone keeps to the limit: a trace that the launcher does not thin has fewer and fewer samples.
#[test]
fn a_recording_whose_launcher_was_killed_goes_on_within_its_limit() {
    const MILLIONS: u32 = 30;
    let program = compile("churns.c", &[]);
    for rate in ["0.01", "1"] {
        let options = ["--native", "--rate", rate, "--seed", "5", "--disk", "4MiB"];
        let case = Case::command(&program.path, &[&MILLIONS.to_string()]).options(&options);
        let (mut launcher, recording) = case.start_recorded();
        let described = || Recording::open(&recording).ok()?.description;
        while described().is_none() {
            thread::sleep(Duration::from_millis(1));
        }
        launcher.kill().unwrap();
        launcher.wait().unwrap();
        let pid = described().unwrap().pid;
        let size = || fs::metadata(recording.join(TRACE_FILE)).unwrap().len();
        while is_alive(pid) && described().unwrap().outcome.is_none() {
            assert!(size() <= 3 << 20, "{}", size());
            thread::sleep(Duration::from_millis(50));
        }
        let description = described().unwrap();
        assert_eq!(description.outcome, Some(Outcome::Exited { code: None }), "{rate}");
        let noted = |note: &String| note.contains("near the limit of --disk");
        assert!(description.notes.iter().any(noted), "{:?}", description.notes);
        let words = f64::from(MILLIONS) * 1e6 * 535.5 / 8.0;
        // Names are the launcher's to find.
        let counted: u64 =
            contents::read(&recording).blocks.iter().map(|block| block.samples).sum();
        let estimate = counted as f64 / rate.parse::<f64>().unwrap();
        // A sample stands for 2^12 at most, and most for less.
        assert!((estimate / words - 1.0).abs() < 0.2, "{rate}: {estimate} of {words}");
    }
}
