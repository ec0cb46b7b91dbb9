//! Callstacks are exact: each one that the agent finds by looking at what moved is compared, inside
//! the target, with a walk from scratch.

use memtrail_recording::{Checked, Recording};

use crate::compilers::named;
use crate::programs::build;
use crate::running::Case;
use crate::transparency::on_each;

/// Runs a program with every stack walked twice; at least `least` stacks must be compared.
fn checked(case: &Case, least: u64) {
    let run = case.same();
    let recording = Recording::open(&run.recording).expect("a recording");
    let description = recording.description.expect("described");
    assert_eq!(description.sampling.callstacks, "incremental");
    let Checked { stacks, different } = description.sampling.checked.expect("asked for");
    assert!(stacks >= least, "only {stacks} stacks were compared");
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
exact!(exceptions, 100, &[]);
exact!(finalisers, 100, &[]);
exact!(from_c, 100, &[]);
exact!(signals, 10, &[]);
exact!(threads, 100, &[]);

#[test]
fn fibers_and_domains() {
    for program in ["fibers", "domains"] {
        let program = build(&named("ocaml-5.3.0"), program);
        checked(&Case::new(&program, &[]).options(&OPTIONS), 1_000);
    }
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
