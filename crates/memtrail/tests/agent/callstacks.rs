//! Callstacks are exact: each one that the agent finds by looking at what moved is compared, inside
//! the target, with a walk from scratch.

use std::process::Command;

use memtrail_recording::{Checked, Recording};
use memtrail_test_support::compilers::{is_installed, named};
use memtrail_test_support::contents::{Block, Contents, read};
use memtrail_test_support::on_each;
use memtrail_test_support::programs::build;
use memtrail_test_support::running::Case;

/// Runs a program with every stack walked twice; at least `least` stacks must be compared.
fn checked(case: &Case, least: u64) {
    let run = case.same();
    let recording = Recording::open(&run.recording).expect("a recording");
    let description = recording.description.expect("described");
    assert_eq!(description.sampling.callstacks, "incremental");
    let Checked { stacks, written, different } = description.sampling.checked.expect("asked for");
    assert!(stacks >= least, "only {stacks} stacks were compared");
    assert!(written >= least, "only {written} stacks were read again from the trace");
    assert_eq!(different, 0, "of {stacks} callstacks");
}

const OPTIONS: [&str; 3] = ["--rate", "1e-2", "--check-callstacks"];

macro_rules! exact {
    ($name:ident, $least:expr, $arguments:expr) => {
        on_each!($name, |compiler| {
            let program = build(&named(compiler), stringify!($name));
            checked(&Case::new(&program, $arguments).options(&OPTIONS), $least);
        });
    };
}

exact!(churn, 100_000, &["2"]);
exact!(deep, 100, &[]);
exact!(deep_in_c, 5_000, &[]);
exact!(deep_paths, 500, &[]);
exact!(exceptions, 100, &[]);
exact!(finalisers, 100, &[]);
exact!(from_c, 100, &[]);
exact!(signals, 10, &[]);
exact!(threads, 100, &[]);

// Where samples are declined, callstacks are captured in callbacks.
on_each!(callstacks_of_samples_that_are_kept, |compiler| {
    let options = [&OPTIONS[..], &["--vary-rate", "--decline-samples"]].concat();
    for (program, arguments, least) in
        [("churn", &["2"][..], 10_000), ("from_c", &[], 10), ("threads", &[], 10)]
    {
        let program = build(&named(compiler), program);
        checked(&Case::new(&program, arguments).options(&options), least);
    }
});

/// Programs that need OCaml 5.
fn fibers_and_domains(compiler: &str) {
    // A walk from scratch of 50,000 fibers takes milliseconds.
    for (name, rate, least) in
        [("fibers", "1e-2", 1_000), ("fiber_chain", "1e-3", 200), ("domains", "1e-2", 1_000)]
    {
        let program = build(&named(compiler), name);
        checked(&Case::new(&program, &[]).options(&["--rate", rate, "--check-callstacks"]), least);
    }
}

#[test]
fn fibers_and_domains_ocaml_5_3() {
    fibers_and_domains("ocaml-5.3.0");
}

#[test]
fn fibers_and_domains_ocaml_5_4() {
    fibers_and_domains("ocaml-5.4");
}

#[test]
fn fibers_and_domains_ocaml_5_5() {
    if is_installed("ocaml-5.5") {
        fibers_and_domains("ocaml-5.5");
    }
}

// Allocations by C code on fibers, in domains that collect often and that end while callbacks are due
// (ocaml/ocaml#14287, #14340, #14337, #14195).
#[test]
fn faults_of_the_runtimes_sampler_are_not_met() {
    let program = build(&named("ocaml-5.3.0"), "sampler_faults");
    checked(&Case::new(&program, &[]).options(&OPTIONS), 5_000);
}

#[test]
fn a_compiler_at_work() {
    let case = Case::command("ocamlopt.opt", &["-c", "-w", "-a", "big.ml"]);
    let functions: Vec<String> = (0..200)
        .map(|i| {
            format!(
                "let rec f{i} a b = match a with [] -> b | x :: r -> \
                 List.map (fun z -> z + x) (f{i} r (x :: b))\n"
            )
        })
        .collect();
    std::fs::write(case.folder.path().join("big.ml"), functions.concat()).expect("write a source");
    checked(&case.options(&["--rate", "1e-3", "--check-callstacks"]), 10_000);
}

fn recorded(compiler: &str, program: &str, options: &[&str]) -> Contents {
    let program = build(&named(compiler), program);
    read(&Case::new(&program, &[]).prelude("ulimit -s unlimited").options(options).same().recording)
}

/// Samples of which no call site is known. The runtime itself allocates a little when it starts.
fn nowhere(contents: &Contents) -> u64 {
    let of = |block: &&Block| block.stack.first().is_none_or(|frame| frame.starts_with('['));
    contents.blocks.iter().filter(of).map(|block| block.samples).sum()
}

// The callbacks of allocations by C code wait for the next one by OCaml code: meanwhile callstacks of
// 9,000 frames each were overwritten, and 78 % of the bytes had no call site.
on_each!(allocations_in_c_below_deep_recursion_keep_their_call_site, |compiler| {
    for (depth, rate) in [("576", "1e-2"), ("12288", "1e-3")] {
        let contents =
            recorded(compiler, "deep_in_c", &["--rate", rate, "--callstack-depth", depth]);
        assert!(nowhere(&contents) < 10, "{}", nowhere(&contents));
        // A string of 100 bytes is 13 words and a header.
        contents.expect_words("Stdlib.String.make", 5.0 * 9_000.0 * 14.0);
    }
});

// Backtraces ended after 4,096 bytes: the innermost frames, and so the call site, were not there.
on_each!(a_deep_callstack_keeps_its_ends_and_counts_the_rest, |compiler| {
    let contents = recorded(compiler, "deep_paths", &["--rate", "1e-2"]);
    let bottom = |block: &&Block| block.stack.first().is_some_and(|f| f == "Deep_paths.bottom");
    let blocks: Vec<_> = contents.blocks.iter().filter(bottom).collect();
    assert!(blocks.len() > 500, "{}", blocks.len());
    let mut callers = [0, 0];
    for Block { stack, .. } in blocks {
        assert_eq!(stack.last().map(String::as_str), Some("Deep_paths"), "{stack:?}");
        match stack[stack.len() - 2].as_str() {
            "Deep_paths.first_caller" => callers[0] += 1,
            "Deep_paths.second_caller" => callers[1] += 1,
            other => panic!("called by {other}"),
        }
        let gap = stack.iter().position(|frame| frame.starts_with('[')).expect("a gap");
        assert!((256..512).contains(&gap), "{gap} innermost frames");
        assert_eq!(stack[gap], "[65,536 or more frames omitted]");
        assert_eq!(stack.len() - gap - 1, 64, "outermost frames");
    }
    assert!(callers.iter().all(|&samples| samples > 200), "{callers:?}");
    assert_eq!(contents.description.sampling.callstack_depth, Some(4096));
    assert!(nowhere(&contents) < 10, "{}", nowhere(&contents));
});

on_each!(up_to_the_depth_asked_for_callstacks_are_whole, |compiler| {
    let contents = recorded(compiler, "deep", &["--rate", "1e-3", "--callstack-depth", "12288"]);
    let deepest = contents.blocks.iter().map(|block| block.stack.len()).max();
    assert!(deepest.is_some_and(|deepest| deepest > 10_000), "{deepest:?}");
    let gap = |block: &Block| block.stack.iter().any(|f| f.contains("omitted"));
    assert!(!contents.blocks.iter().any(gap));
    assert_eq!(contents.description.sampling.callstack_depth, Some(12_288));
    let by_runtime = recorded(compiler, "deep", &["--rate", "1e-3", "--runtime-callstacks"]);
    assert!(by_runtime.blocks.iter().any(gap), "its own callstacks have the same limit");
    assert!(by_runtime.blocks.iter().all(|block| block.stack.len() <= 4_096 + 1));
});

// Each sample walked all fibers anew: 2 ms each, three times what the runtime's own capture takes.
#[test]
fn a_chain_of_fibers_costs_no_more_than_the_runtimes_own_capture() {
    let program = build(&named("ocaml-5.3.0"), "fiber_chain");
    let folder = tempfile::tempdir().expect("a folder");
    let spent = |name: &str, options: &[&str]| -> f64 {
        let timed = "TIMEFORMAT=%U; time \"$@\" > /dev/null 2>&1";
        let mut command = Command::new("bash");
        command.args(["-c", timed, "bash", env!("CARGO_BIN_EXE_memtrail"), "run", "-q"]);
        command.args(["--rate", "1e-2", "-o"]).arg(folder.path().join(name)).args(options);
        let output = command.arg("--").arg(&program.path).output().expect("bash runs");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stderr).trim().parse().expect("seconds")
    };
    let ours = spent("ours", &[]);
    let runtime = spent("runtime", &["--runtime-callstacks"]);
    assert!(ours < runtime, "{ours} s of processor time, not {runtime}");
}
