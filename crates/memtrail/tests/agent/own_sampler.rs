//! Programs that use the runtime's sampler themselves.

use memtrail_recording::Outcome;
use memtrail_test_support::compilers::named;
use memtrail_test_support::contents::{Contents, read};
use memtrail_test_support::on_each;
use memtrail_test_support::programs::{Program, build, build_checked};
use memtrail_test_support::running::Case;

fn same_as_alone(program: &Program) -> Contents {
    read(&Case::new(program, &[]).options(&["--rate", "1e-2"]).same().recording)
}

fn same(compiler: &str, program: &str) -> Contents {
    same_as_alone(&build(&named(compiler), program))
}

on_each!(stopping_what_never_started, |compiler| {
    let contents = same(compiler, "memprof_stray");
    assert_eq!(contents.description.outcome, Some(Outcome::Exited { code: Some(0) }));
    // 400,000 times a reference and a list cell: the recording goes on to the end.
    contents.expect_words("Memprof_stray.keep", 400_000.0 * 5.0);
});

on_each!(every_order, |compiler| {
    let contents = same(compiler, "memprof_order");
    if !named(compiler).has_sampler() {
        // The program cannot start its own, and ours goes on.
        assert_eq!(contents.description.outcome, Some(Outcome::Exited { code: Some(0) }));
        return;
    }
    assert_eq!(contents.description.outcome, Some(Outcome::GaveWay));
    // What came before is there: 50,000 references.
    contents.expect_words("Memprof_order.work", 50_000.0 * 2.0);
});

/// Whatever the domains' timing is when ours ends: each counts its own allocations exactly.
fn several_at_once(program: &Program, times: u32) {
    for _ in 0..times {
        let contents = same_as_alone(program);
        assert_eq!(contents.description.outcome, Some(Outcome::GaveWay));
        // 100,000 references before the first domain is spawned, and as many in each of three.
        contents.expect_words("Memprof_domains.work", 400_000.0 * 2.0);
    }
}

#[test]
fn in_several_domains_at_once() {
    several_at_once(&build(&named("ocaml-5.3.0"), "memprof_domains"), 30);
}

#[test]
fn in_several_domains_with_the_runtimes_assertions() {
    several_at_once(&build_checked(&named("ocaml-5.3.0"), "memprof_domains"), 30);
}

/// With memtrail's own sampler the program's does not end the recording, and is told what it is told alone.
fn beside_ours(program: &Program, function: &str, references: f64) {
    let options = ["--rate", "1e-2", "--sampler", "memtrail"];
    let mut contents = read(&Case::new(program, &[]).options(&options).same().recording);
    assert_eq!(contents.description.outcome, Some(Outcome::Exited { code: Some(0) }));
    // What the runtime allocates for the program's callbacks is larger.
    contents.blocks.retain(|block| block.words == 1);
    contents.expect_words(function, references * 2.0);
}

#[test]
fn beside_ours_in_every_order_ocaml_5_3() {
    let references = 50_000 + 4 * 1_000 + 20 * (10 + 10_000);
    let program = build(&named("ocaml-5.3.0"), "memprof_order");
    beside_ours(&program, "Memprof_order.work", f64::from(references));
}

#[test]
fn beside_ours_in_several_domains_ocaml_5_3() {
    let references = 4 * 100_000 + 1_000 + 3 * 50 * (200 + 20_000);
    for build in [build, build_checked] {
        let program = build(&named("ocaml-5.3.0"), "memprof_domains");
        for _ in 0..10 {
            beside_ours(&program, "Memprof_domains.work", f64::from(references));
        }
    }
}
