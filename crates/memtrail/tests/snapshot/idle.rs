//! Programs that wait are not woken up many times a second, and take snapshots all the same.

use std::thread::sleep;
use std::time::Duration;

use memtrail_test_support::compilers::named;
use memtrail_test_support::on_each;
use memtrail_test_support::programs::build;
use memtrail_test_support::wakeups::sleeps;

use crate::asking::Running;

// Threads of ours woke up ten times a second, and the launcher five times.
on_each!(a_program_that_waits_is_left_alone, |compiler| {
    const SECONDS: u64 = 4;
    let running = Running::start(&build(&named(compiler), "heap_waits"), &[]);
    let launcher = running.launcher();
    sleep(Duration::from_secs(9));
    let all = || [sleeps(&running.pid), sleeps(&launcher)];
    let before = all();
    sleep(Duration::from_secs(SECONDS));
    let after = all();
    let woken = [after[0] - before[0], after[1] - before[1]];
    assert!(woken[0] <= 4 * SECONDS && woken[1] <= SECONDS, "{woken:?} in {SECONDS} s");
    running.snapshot();
    assert_eq!(running.end().code, Some(0));
});
