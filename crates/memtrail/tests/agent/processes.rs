//! Processes that multiply: fork, exec, children, daemons.

use std::fs;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use memtrail_recording::Outcome;
use memtrail_test_support::compilers::named;
use memtrail_test_support::contents::read;
use memtrail_test_support::programs::{build, build_around, build_with};
use memtrail_test_support::running::Case;
use memtrail_test_support::{is_whole_run, on_each};

fn same(compiler: &str, program: &str, arguments: &[&str]) {
    let program = build(&named(compiler), program);
    Case::new(&program, arguments).same();
    // Recording the children too changes nothing for them either.
    Case::new(&program, arguments).options(&["--rate", "1e-3", "--children"]).same();
}

on_each!(fork, |compiler| same(compiler, "fork", &[]));
on_each!(exec, |compiler| same(compiler, "exec", &["2"]));
on_each!(waiting, |compiler| same(compiler, "waiting", &[]));
on_each!(children, |compiler| {
    // With --children the variables that carry us to them may show, by design.
    Case::new(&build(&named(compiler), "children"), &[]).same();
});
on_each!(daemon, |compiler| {
    let program = build(&named(compiler), "daemon");
    let results = tempfile::tempdir().expect("a folder for results");
    let file = results.path().join("result");
    let case = Case::new(&program, &[file.to_str().expect("a path in UTF-8"), "2"]);
    let recorded = case.recorded();
    assert!(recorded.seen.status.success(), "{:?}", recorded.seen);
    assert_eq!(recorded.seen.stdout(), "starting\n");
    assert_eq!(recorded.seen.stderr(), "");
    let started = Instant::now();
    loop {
        let text = fs::read_to_string(&file).unwrap_or_default();
        if text.ends_with("done\n") {
            break;
        }
        assert!(started.elapsed() < Duration::from_secs(60), "the daemon says only {text:?}");
        thread::sleep(Duration::from_millis(20));
    }
});

/// An agent reported a fork at its first sample, which in half of all runs came after the line was printed.
#[test]
fn a_fork_that_runs_on_is_announced_each_time() {
    let program = build(&named("system"), "daemon");
    for _ in 0..4 {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("result");
        let output = Command::new(env!("CARGO_BIN_EXE_memtrail"))
            .args(["run", "-o", "d.memtrail", "--"])
            .args([&program.path, &file])
            .arg("2")
            .current_dir(folder.path())
            .output()
            .expect("memtrail starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let is_announced = said.contains("was forked from the program and runs on; its recording")
            || said.contains("still growing");
        assert!(is_announced, "{said}");
        let started = Instant::now();
        while !fs::read_to_string(&file).unwrap_or_default().ends_with("done\n") {
            assert!(started.elapsed() < Duration::from_secs(60), "the daemon does not end");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

on_each!(children_by_vfork, |compiler| {
    let program = build_with(&named(compiler), "vfork", &["vfork_stubs.c"]);
    for how in ["exit", "exec", "exec-fails"] {
        let options = ["--rate", "1e-3", "--snapshot", "exit"];
        let recorded = Case::new(&program, &[how]).options(&options).same();
        let contents = read(&recorded.recording);
        assert!(contents.words("Vfork.keep").0 > 100_000.0 * 7.0, "{how}");
        assert!(recorded.recording.join("0001.heap").exists(), "{how}: the last snapshot");
        let outcome = contents.description.outcome;
        assert!(matches!(outcome, Some(Outcome::Exited { .. })), "{how}: {outcome:?}");
    }
});

// Each left an array of 80 KB behind.
on_each!(children_by_vfork_leave_nothing_behind, |compiler| {
    let program = build_with(&named(compiler), "vfork", &["vfork_stubs.c"]);
    let case = Case::new(&program, &["often"]).options(&["--rate", "1e-4", "--children"]);
    let (seen, _) = case.recorded_in_folder();
    assert_eq!(seen.stdout(), "as large as before\n", "{seen:?}");
});

// The agent wrote its files, and the program was ended for it.
on_each!(a_program_forbids_itself_system_calls, |compiler| {
    let program = build_with(&named(compiler), "forbids", &["forbids_stubs.c"]);
    for options in
        [&["--rate", "1e-3"][..], &["--rate", "1e-3", "--snapshot", "request"], &["--native=also"]]
    {
        let recorded = Case::new(&program, &[]).options(options).same();
        assert_eq!(recorded.seen.status.code(), Some(3), "{options:?}");
        let contents = read(&recorded.recording);
        assert!(contents.inside("Forbids.after").next().is_none(), "{options:?}");
        assert!(contents.words("Forbids.before").0 > 0.0, "{options:?}");
        let notes = contents.description.notes;
        assert!(notes.iter().any(|note| note.contains("(seccomp)")), "{options:?}: {notes:?}");
    }
});

// The runtime went on sampling, and changed the sizes of its tables by a call that the program had forbidden itself.
on_each!(nothing_is_sampled_once_a_program_forbids_itself_system_calls, |compiler| {
    let program = build_with(&named(compiler), "forbids", &["forbids_stubs.c"]);
    for rate in ["1e-2", "1"] {
        for native in [&[][..], &["--native=also"]] {
            let options = [&["--rate", rate], native].concat();
            for arguments in [&[][..], &["traps"]] {
                let recorded = Case::new(&program, arguments).options(&options).same();
                assert_eq!(recorded.seen.status.code(), Some(3), "{options:?} {arguments:?}");
            }
        }
    }
});

// Each generation kept descriptors of each one before it.
on_each!(generations_of_forks_keep_few_descriptors, |compiler| {
    let program = build(&named(compiler), "generations");
    for native in [&[][..], &["--native=also"]] {
        let options = [&["--children", "--rate", "1e-2"], native].concat();
        let case = Case::new(&program, &[]).options(&options);
        let (seen, _) = case.recorded_in_folder();
        assert_eq!((seen.stdout().as_str(), seen.status.code()), ("few descriptors\n", Some(3)));
    }
});

on_each!(the_executable_is_looked_for_before_the_runtime_starts, |compiler| {
    let program = build_around(&named(compiler), "reads_exe_first.c");
    let recorded = Case::new(&program, &[]).same();
    assert!(read(&recorded.recording).words("Embedded.grow").0 > 100_000.0 * 7.0);
});

// The agent's collections ended the program when they got no memory.
on_each!(memory_is_exhausted_and_the_program_goes_on, |compiler| {
    let version = named(compiler).version;
    let program = build(&named(compiler), "exhausts");
    // OCaml 5 reserves 256 MB for minor heaps.
    let (options, limits): (&[&str], [&str; 2]) = if version < (5, 0) {
        (&["--rate", "1"], ["ulimit -v 100000", "ulimit -v 150000"])
    } else {
        (&["--rate", "1e-2"], ["ulimit -v 300000", "ulimit -v 350000"])
    };
    let tried = if is_whole_run() { &limits[..] } else { &limits[..1] };
    for limit in tried {
        let recorded = Case::new(&program, &[]).options(options).prelude(limit).recorded();
        assert_eq!(recorded.seen.status.code(), Some(3), "{limit}: {:?}", recorded.seen);
        assert_eq!(recorded.seen.stdout(), "went on\n", "{limit}");
        read(&recorded.recording);
    }
});

// Threads of ours made the kernel refuse the namespace, and kept the process after the end of its main thread.
on_each!(namespaces_and_ends_by_the_system_call_alone, |compiler| {
    let program = build_with(&named(compiler), "namespace", &["namespace_stubs.c"]);
    for options in [&["--rate", "1e-2"][..], &["--rate", "1e-2", "--snapshot", "off"]] {
        let recorded = Case::new(&program, &[]).options(options).same();
        assert_eq!(recorded.seen.status.code(), Some(3), "{options:?}");
        let contents = read(&recorded.recording);
        assert!(contents.words("Namespace.after").0 > 0.0, "{options:?}");
    }
});
