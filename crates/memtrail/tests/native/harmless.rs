//! Programs that a recording ended, stopped or misled.

use std::process::Command;

use memtrail_recording::Outcome;
use memtrail_test_support::contents;
use memtrail_test_support::running::Case;

use super::{bytes, compile};
use crate::operators::library;

/// The agent's `write` was a cancellation point, and the unwinding through it ended the program.
#[test]
fn threads_are_cancelled_while_they_allocate() {
    let program = compile("cancels.c", &["-pthread"]);
    for options in [&["--native"][..], &["--native", "--rate", "1e-2"]] {
        let recorded = Case::command(&program.path, &[]).options(options).same();
        assert_eq!(recorded.seen.stdout(), "300\n");
    }
}

/// So was the opening of the agent's file, by which it is told whether the next program can load it.
#[test]
fn threads_are_cancelled_while_they_start_programs() {
    let program = compile("cancels_spawning.c", &["-pthread"]);
    for options in [&["--native"][..], &["--native", "--children"]] {
        let recorded = Case::command(&program.path, &[]).options(options).same();
        assert_eq!(recorded.seen.stdout(), "20\n");
    }
}

/// The child listed the loaded objects, for which it waited for a thread that it does not have.
#[test]
fn children_are_forked_while_a_thread_is_in_the_dynamic_linker() {
    let program = compile("lists_objects.c", &["-pthread"]);
    let options = ["--native", "--children", "--rate", "1e-3"];
    let recorded = Case::command(&program.path, &[]).options(&options).same();
    assert_eq!(recorded.seen.stdout(), "30\n");
}

/// bash has functions of its own by which the agent removed its variables.
#[test]
fn a_shell_has_no_variables_of_ours() {
    let script = "echo \"[$LD_PRELOAD] [$MEMTRAIL_SESSION]\"; env | grep -c 'MEMTRAIL_[LS]'; true";
    let recorded = Case::command("/bin/bash", &["-c", script]).options(&["--native"]).same();
    assert_eq!(recorded.seen.stdout(), "[] []\n0\n");
}

/// The standard library sorted it.
#[test]
fn a_program_gets_its_environment_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new("/usr/bin/env")
        .args(["-i", "Z=1", "A=2", env!("CARGO_BIN_EXE_memtrail"), "run", "--native", "-o"])
        .arg(folder.path().join("r.memtrail"))
        .args(["--", "/usr/bin/env"])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "Z=1\nA=2\n", "{output:?}");
}

/// What they set was replaced by what the launcher had set.
#[test]
fn programs_preload_libraries_into_those_that_they_become_or_start() {
    let library = "/usr/libexec/coreutils/libstdbuf.so";
    let count = format!("grep -c {library} /proc/self/maps; true");
    let becomes = ["-oL", "/bin/sh", "-c", &format!("echo $LD_PRELOAD; {count}")];
    let recorded = Case::command("/usr/bin/stdbuf", &becomes).options(&["--native"]).same();
    assert!(recorded.seen.stdout().starts_with(library), "{}", recorded.seen.stdout());

    let starts = ["-c", &format!("LD_PRELOAD={library} {count}")];
    for options in [&["--native"][..], &["--native", "--children"]] {
        let recorded = Case::command("/bin/sh", &starts).options(options).same();
        assert_ne!(recorded.seen.stdout(), "0\n");
    }
}

/// What told the launcher of the end was a file, too.
#[test]
fn a_program_allows_itself_no_files() {
    let program = compile("limits_files.c", &[]);
    for limit in ["0", "100", "4096"] {
        let recorded = Case::command(&program.path, &[limit]).options(&["--native"]).same();
        assert_eq!(recorded.seen.status.code(), Some(3), "{limit}");
    }
}

/// The exception was allocated with the count of the block that was not.
#[test]
fn blocks_are_recorded_after_operators_have_thrown() {
    for allocator in [None, Some("libjemalloc.so.2"), Some("libtcmalloc.so.4")] {
        let program = compile("throws.cc", &["-std=c++17"]);
        let mut case = Case::command(&program.path, &[]).options(&["--native", "--rate", "1"]);
        if let Some(allocator) = allocator {
            case = case.variable("LD_PRELOAD", library(allocator).to_str().unwrap());
        }
        let recorded = case.same();
        assert_eq!(recorded.seen.stdout(), "100\n");
        let found = contents::read(&recorded.recording);
        assert_eq!(bytes(&found, "usual"), (100 * 100 * 104, 0), "{allocator:?}");
    }
}

/// Its library ends a program in which another one comes first.
#[test]
fn a_program_compiled_with_address_sanitizer() {
    let run = |program: &str, preload: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
        command.args(["run", "--native", "--", program]).env("ASAN_OPTIONS", "detect_leaks=0");
        if !preload.is_empty() {
            command.env("LD_PRELOAD", preload);
        }
        let output = command.output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            told.contains("AddressSanitizer") && told.contains("verify_asan_link_order=0"),
            "{told}"
        );
        String::from_utf8(output.stdout).unwrap()
    };
    let program = compile("limits_files.c", &["-fsanitize=address"]);
    assert_eq!(run(program.path.to_str().unwrap(), ""), "done\n");
    let own_library = Command::new("gcc").arg("-print-file-name=libasan.so").output().unwrap();
    let own_library = std::fs::canonicalize(String::from_utf8(own_library.stdout).unwrap().trim());
    assert_eq!(run("/bin/pwd", own_library.unwrap().to_str().unwrap()).lines().count(), 1);
}

/// C++'s library inside a library that a program in C loads was not found, and the program ended where it throws.
#[test]
fn a_library_that_is_loaded_later_throws() {
    for inside in [&[][..], &["-static-libstdc++", "-static-libgcc"]] {
        let options = [&["-std=c++17", "-shared", "-fPIC", "-Dmain=run"], inside].concat();
        let plugin = compile("throws.cc", &options);
        let program = compile("loads.c", &["-ldl"]);
        let recorded = Case::command(&program.path, &[plugin.path.to_str().unwrap()])
            .options(&["--native", "--rate", "1"])
            .same();
        assert_eq!(recorded.seen.stdout(), "100\n");
    }
}

/// musl's dynamic linker found the agent, but not what the agent is linked with, and ended the program.
#[test]
fn programs_of_another_libc_are_not_given_the_agent() {
    let folder = tempfile::tempdir().unwrap();
    // glibc's under another name: so the program runs, and can tell.
    let linker = folder.path().join("ld-musl-x86_64.so.1");
    let own = std::fs::read_to_string("/proc/self/maps").unwrap();
    let own = own
        .lines()
        .find_map(|line| line.split(' ').next_back().filter(|p| p.contains("/ld-linux")));
    std::fs::copy(own.unwrap(), &linker).unwrap();
    let option = format!("-Wl,--dynamic-linker={}", linker.display());
    let program = compile("prints_preload.c", &[&option]);
    let path = program.path.to_str().unwrap();
    let reason = "is linked with another C library than glibc, and cannot load the agent";
    let run = |options: &[&str], command: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_memtrail"))
            .arg("run")
            .args(options)
            .arg("-o")
            .arg(folder.path().join(format!("r{}{}", options.len(), command.len())))
            .arg("--")
            .args(command)
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "no LD_PRELOAD\n", "{errors}");
        assert!(errors.contains(reason), "{errors}");
    };
    run(&["--native"], &[path]);
    run(&[], &[path]);
    // What becomes it, and what starts it, by a path and by a name.
    run(&["--native"], &["/usr/bin/env", path]);
    let folder = program.path.parent().unwrap().display();
    let script = format!("PATH={folder}:$PATH; program; true");
    run(&["--native", "--children"], &["/bin/sh", "-c", &script]);
    run(&["--native", "--children"], &["/usr/bin/env", &format!("PATH={folder}:/bin"), "program"]);
}

/// What `memtrail run` and the program say on standard error.
fn told_of_children(script: &str, variables: &[(&str, &str)]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_memtrail"))
        .args(["run", "--native", "--children", "-o"])
        .arg(folder.path().join("r"))
        .args(["--", "/bin/sh", "-c", script])
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A child of this kind was given the agent, and ended by that library.
#[test]
fn children_compiled_with_address_sanitizer() {
    let program = compile("prints_preload.c", &["-fsanitize=address"]);
    let path = program.path.to_str().unwrap();
    let own_library = Command::new("gcc").arg("-print-file-name=libasan.so").output().unwrap();
    let own_library = String::from_utf8(own_library.stdout).unwrap();
    let preloading = format!("LD_PRELOAD={} {path}; true", own_library.trim());
    let usual = format!("{path}; true");
    let any_order = "detect_leaks=0:verify_asan_link_order=0";
    for (script, options, is_refused) in [
        (&usual, "detect_leaks=0", true),
        (&preloading, "detect_leaks=0", true),
        (&usual, any_order, false),
    ] {
        let told = told_of_children(script, &[("ASAN_OPTIONS", options)]);
        assert!(!told.contains("does not come first"), "{told}");
        let refused = format!(
            "not recorded: {path} is compiled with AddressSanitizer, whose library has to come \
             before the agent"
        );
        assert_eq!(told.contains(&refused), is_refused, "{told}");
    }
}

/// It was left out without a word.
#[test]
fn static_programs_that_a_recorded_one_starts_are_named() {
    let program = compile("prints_preload.c", &["-static"]);
    let path = program.path.to_str().unwrap();
    let told = told_of_children(&format!("{path}; {path}; true"), &[]);
    let refused =
        format!("not recorded: {path} is statically linked, and cannot load the agent (2 times)");
    assert!(told.contains(&refused), "{told}");
}

/// Constructors of the program's libraries run before the agent's.
#[test]
fn a_library_makes_system_calls_before_the_agent_is_ready() {
    let library = compile("calls_early.c", &["-shared", "-fPIC"]);
    let path = library.path.to_str().unwrap();
    let program = compile("prints_preload.c", &["-Wl,--no-as-needed", path]);
    let recorded = Case::command(&program.path, &[]).options(&["--native"]).same();
    let line = format!("-1 {} 0 -1 0 program -1 {}\n", libc::ENOENT, libc::EINVAL);
    assert!(recorded.seen.stdout().starts_with(&line), "{}", recorded.seen.stdout());
}

/// Each generation kept two descriptors of each one before it.
#[test]
fn generations_of_forks_keep_few_descriptors() {
    let program = compile("generations.c", &[]);
    let options = ["--native", "--children", "--rate", "1e-2"];
    let case = Case::command(&program.path, &[]).options(&options);
    let (seen, recordings) = case.recorded_in_folder();
    assert_eq!((seen.stdout().as_str(), seen.status.code()), ("few descriptors\n", Some(3)));
    let with_blocks = recordings
        .iter()
        .filter(|recording| contents::read(recording).inside("allocate").next().is_some());
    assert_eq!(with_blocks.count(), 30);
}

/// Python's tests of `subprocess` met descriptors of ours, which had small numbers where few are allowed.
#[test]
fn a_program_lists_its_descriptors() {
    let program = compile("lists_descriptors.c", &[]);
    for limit in ["true", "ulimit -n 30"] {
        let options = ["--native", "--children", "--rate", "1e-2", "--snapshot", "request"];
        let recorded = Case::command(&program.path, &[]).prelude(limit).options(&options).same();
        assert_eq!(recorded.seen.status.code(), Some(3));
        let folder = recorded.recording.parent().unwrap();
        assert!(std::fs::read_dir(folder).unwrap().count() > 0);
    }
}

/// The agent wrote its files, and the program was ended for it.
#[test]
fn a_program_forbids_itself_system_calls() {
    let program = compile("../forbids_stubs.c", &["-DMAIN", "-pthread"]);
    let ends = |how: &str, options: &[&str]| {
        let recorded = Case::command(&program.path, &[how]).options(options).same();
        assert_eq!(recorded.seen.status.code(), Some(3), "{how} {options:?}");
        let found = contents::read(&recorded.recording);
        let is_noted = found.description.notes.iter().any(|note| note.contains("(seccomp)"));
        let outcome = &found.description.outcome;
        assert!(matches!(outcome, Some(Outcome::Exited { .. })), "{how} {options:?}: {outcome:?}");
        assert!(found.inside("main").next().is_some(), "{how} {options:?}");
        assert!(found.description.ended_unix_us.is_some(), "{how} {options:?}");
        (is_noted, found.inside("after").next().is_some())
    };
    // By `--every` there is a thread of ours.
    let every = ["--native", "--rate", "1e-3", "--snapshot", "exit", "--every", "10ms"];
    for options in [&["--native", "--rate", "1e-3"][..], &every] {
        for how in ["strict", "filter", "call", "twice"] {
            assert_eq!(ends(how, options), (true, false), "{how} {options:?}");
        }
        assert_eq!(ends("few", options), (false, true), "{options:?}");
        // Only a child does.
        assert_eq!(ends("child", options), (false, true), "{options:?}");
    }
    // Others allocate meanwhile.
    assert!(ends("threads", &["--native", "--rate", "1e-2"]).0);
    let case = Case::command(&program.path, &["child"]);
    let (seen, _) =
        case.options(&["--native", "--rate", "1e-3", "--children"]).recorded_in_folder();
    assert_eq!(seen.stdout(), "before\nafter\n768\n", "{seen:?}");
}

/// Threads of ours kept the process, whose main thread libc did not see end.
#[test]
fn the_main_thread_ends_by_the_system_call_alone() {
    let program = compile("exits_alone.c", &[]);
    let request = ["--native", "--rate", "1e-2", "--snapshot", "request"];
    let children = ["--native", "--rate", "1e-2", "--snapshot", "request", "--children"];
    for (how, options) in [("", &request[..]), ("child", &children), ("child", &request)] {
        let recorded = Case::command(&program.path, &[how]).options(options).same();
        assert_eq!(recorded.seen.status.code(), Some(3), "{how} {options:?}");
    }
}

/// The process had the code of our thread, which was its last one.
#[test]
fn the_main_thread_ends_by_a_system_call_that_nobody_sees() {
    let program = compile("exits_alone.c", &[]);
    let request = ["--native", "--rate", "1e-2", "--snapshot", "request"];
    let every = ["--native", "--rate", "1e-2", "--snapshot", "exit", "--every", "10ms"];
    for options in [&request[..], &every, &["--native"]] {
        let recorded = Case::command(&program.path, &["unseen"]).options(options).same();
        assert_eq!(recorded.seen.status.code(), Some(3), "{options:?}");
    }
}

/// Copies of the process were children that it had not made.
#[test]
fn a_program_waits_for_children_of_every_kind_while_it_is_copied() {
    let program = compile("waits_for_all.c", &[]);
    let options = ["--native", "--rate", "1e-2", "--snapshot", "exit", "--every", "10ms"];
    let recorded = Case::command(&program.path, &[]).options(&options).recorded();
    assert_eq!(recorded.seen.stdout(), "0\n0\n0\n4\n0\n");
    assert_eq!(recorded.seen.status.code(), Some(3));
    let snapshots = contents::read(&recorded.recording).description.snapshots.unwrap_or_default();
    let complete = |snapshot: &&memtrail_recording::Snapshot| {
        matches!(snapshot.outcome, memtrail_recording::SnapshotOutcome::Complete { .. })
    };
    assert!(snapshots.iter().filter(complete).count() > 3, "{snapshots:?}");
}

/// The kernel refused it to a process with a thread of ours.
#[test]
fn a_program_moves_to_a_user_namespace() {
    let program = compile("own_namespace.c", &[]);
    let options = ["--native", "--rate", "1e-2", "--snapshot", "request"];
    let recorded = Case::command(&program.path, &[]).options(&options).same();
    assert_eq!(recorded.seen.stdout(), "moved\n");
    assert!(contents::read(&recorded.recording).inside("after").next().is_some());
}
