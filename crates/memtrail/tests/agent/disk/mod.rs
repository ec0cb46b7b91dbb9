//! Recordings with a limit to their disk space: at each moment they are within it, and readable.

mod full;
mod killed;
mod month;
mod snapshots;
mod threads;
mod waiting;
mod watch;

use std::fs;
use std::path::Path;
use std::process::Child;
use std::thread;
use std::time::Duration;

use memtrail_profile::Profile;
use memtrail_profile::estimate::{Adapted, Estimate, Estimator, Sum};
use memtrail_recording::{Outcome, Recording, TRACE_FILE, is_alive};
use memtrail_test_support::compilers::named;
use memtrail_test_support::programs::build;
use memtrail_test_support::running::Case;
use memtrail_trace::Reader;

use watch::bytes_in;

const LIMIT: u64 = 16 << 20;

/// A program whose trace would have several times as many bytes.
fn case(rounds: u32, more: &[&str]) -> Case {
    let program = build(&named("system"), "churn");
    let limited = ["--rate", "1e-3", "--disk", "16MiB"];
    Case::new(&program, &[&rounds.to_string()]).options(&[&limited, more].concat())
}

/// Reads what is there by now, if it has begun; whether its history was thinned.
fn look(recording: &Path, limit: u64) -> bool {
    let bytes = bytes_in(recording);
    assert!(bytes <= limit, "{bytes} bytes");
    let Ok(trace) = fs::read(recording.join(TRACE_FILE)) else { return false };
    let Ok(reader) = Reader::new(&trace) else { return false };
    let profile = Profile::read(&trace, &mut |_| ()).expect("a trace");
    // The last packet may be under way.
    let damage = &profile.damage;
    assert_eq!(damage.total(), damage.cut_tail(), "{:?}", damage.list());
    assert_eq!(profile.inconsistent.total(), 0);
    reader.is_thinned()
}

fn allocated(recording: &Path) -> (Estimate, Option<Adapted>) {
    let profile =
        Profile::read(&fs::read(recording.join(TRACE_FILE)).expect("a trace"), &mut |_| ());
    let profile = profile.expect("a trace");
    let estimator = Estimator::new(profile.info.sample_rate, profile.info.word_bits);
    let mut sum = Sum::default();
    for row in profile.blocks.rows() {
        estimator.add_row(&mut sum, &profile.blocks, row);
    }
    (estimator.bytes(&sum), Adapted::of(&profile.blocks, profile.info.sample_rate))
}

fn until_it_ends(child: &mut Child, recording: &Path) -> bool {
    let mut was_thinned = false;
    while child.try_wait().expect("a child").is_none() {
        was_thinned |= look(recording, LIMIT);
        thread::sleep(Duration::from_millis(300));
    }
    was_thinned
}

#[test]
fn a_trace_is_thinned_within_its_limit_and_its_totals_stay() {
    let (mut child, recording) = case(250, &["--seed", "1"]).start_recorded();
    assert!(until_it_ends(&mut child, &recording), "it was thinned");
    let description = Recording::open(&recording).unwrap().description.expect("a description");
    assert_eq!(description.outcome, Some(Outcome::Exited { code: Some(0) }));
    assert!(look(&recording, LIMIT), "it still is");
    let (thinned, adapted) = allocated(&recording);
    assert!(adapted.is_some_and(|adapted| adapted.lowest_samples_per_word < 1e-3));
    let whole = case(250, &["--seed", "2", "--disk", "unlimited"]).recorded();
    let (whole, adapted) = allocated(&whole.recording);
    assert!(adapted.is_none());
    let error = thinned.value - whole.value;
    let expected = thinned.stderr.hypot(whole.stderr);
    assert!(error.abs() < 5.0 * expected, "{thinned:?} and {whole:?}");
    assert!(thinned.stderr > whole.stderr, "{thinned:?} and {whole:?}");
}

/// It ended at its limit, and with it all that was to be known of the rest of the run.
#[test]
fn a_recording_whose_launcher_was_killed_goes_on_within_its_limit() {
    let (mut child, recording) = case(250, &["--seed", "3"]).start_recorded();
    while !look(&recording, LIMIT) {
        assert_eq!(child.try_wait().expect("a child"), None, "it runs");
        thread::sleep(Duration::from_millis(300));
    }
    child.kill().expect("killed");
    child.wait().expect("gone");
    let described = || Recording::open(&recording).unwrap().description.expect("a description");
    let pid = described().pid;
    while is_alive(pid) && described().outcome.is_none() {
        look(&recording, LIMIT);
        thread::sleep(Duration::from_millis(300));
    }
    let description = described();
    assert_eq!(description.outcome, Some(Outcome::Exited { code: None }));
    let noted = |note: &String| note.contains("near the limit of --disk");
    assert!(description.notes.iter().any(noted), "{:?}", description.notes);
    assert!(look(&recording, LIMIT), "its history is thinned");
    let (declined, _) = allocated(&recording);
    let (whole, _) =
        allocated(&case(250, &["--rate", "1e-5", "--disk", "unlimited"]).recorded().recording);
    let expected = declined.stderr.hypot(whole.stderr);
    let error = declined.value - whole.value;
    assert!(error.abs() < 5.0 * expected, "{declined:?} and {whole:?}");
}
