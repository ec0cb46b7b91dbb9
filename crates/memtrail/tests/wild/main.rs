//! Programs that were not made for these tests, from Debian, npm and Python's index, as published:
//! with snapshots, at two rates, and everything that can be seen of them is as without.
//!
//! `cargo xtask setup` brings them.
#![forbid(unsafe_code)]

mod server;
mod subject;

use memtrail_test_support::compilers::cached_program;
use memtrail_test_support::inputs;
use subject::Subject;

#[test]
fn ocamlopt() {
    Subject::new("ocamlopt.opt", &["-c", "-S", "-g", "big.ml"])
        .input("big.ml", &inputs::ocaml())
        .same();
}

#[test]
fn coqc() {
    Subject::new("coqc", &["-q", "theory.v"]).input("theory.v", &inputs::coq()).same();
}

#[test]
fn spatch() {
    Subject::new(
        "spatch",
        &["--very-quiet", "--no-show-diff", "--sp-file", "rule.cocci", "big.c", "-o", "new.c"],
    )
    .input("rule.cocci", inputs::SEMANTIC_PATCH)
    .input("big.c", &inputs::c())
    .same();
}

#[test]
fn dune() {
    let subject = Subject::new("dune", &["build", "--root", ".", "--display", "quiet"]);
    inputs::dune().iter().fold(subject, |subject, (name, text)| subject.input(name, text)).same();
}

#[test]
fn cppo() {
    Subject::new("cppo", &["big.cppo.ml", "-o", "big.ml"])
        .input("big.cppo.ml", &inputs::preprocessed())
        .same();
}

#[test]
fn menhir() {
    Subject::new("menhir", &["--table", "--no-stdlib", "grammar.mly"])
        .input("grammar.mly", &inputs::grammar())
        .same();
}

/// Of OCaml 4.14.
#[test]
fn flow() {
    checks_javascript("flow-bin@0.200.1/flow");
}

/// Of OCaml 5.2, whose runtime has no sampler.
#[test]
fn flow_of_ocaml_5_2() {
    checks_javascript("flow-bin@0.250.0/flow");
}

fn checks_javascript(flow: &str) {
    let flow = cached_program(flow);
    Subject::new(&flow, &["ast", "big.js"]).input("big.js", &inputs::javascript()).same();
    // It forks a server and workers, and ends with the number of errors found.
    Subject::new(&flow, &["check", "--max-workers", "1", "--show-all-errors"])
        .input(".flowconfig", "[options]\nexact_by_default=true\n")
        .input("big.js", &inputs::javascript())
        .same();
}

/// Of OCaml 5.4.
#[test]
fn semgrep() {
    let semgrep = cached_program("semgrep==1.185.0/semgrep-core");
    Subject::new(&semgrep, &["-rules", "rules.yaml", "-lang", "python", "-j", "1", "big.py"])
        .input("rules.yaml", inputs::RULES)
        .input("big.py", &inputs::python())
        .same();
    // Each pattern of the rules in a domain of its own, as it does by itself.
    Subject::new(&semgrep, &["-rules", "rules.yaml", "-lang", "python", "-j", "2", "big.py"])
        .input("rules.yaml", inputs::RULES)
        .input("big.py", &inputs::python())
        .same();
}
