//! Programs that notice nothing, and whose recordings are whole.

use memtrail_recording::Recording;
use memtrail_test_support::compilers::named;
use memtrail_test_support::on_each;
use memtrail_test_support::programs::{build, build_with};
use memtrail_test_support::running::Case;

fn same(compiler: &str, program: &str, arguments: &[&str]) {
    let program = build(&named(compiler), program);
    for options in [&["--native=also"][..], &["--native=also", "--rate", "1"]] {
        let recorded = Case::new(&program, arguments).options(options).same();
        let opened = Recording::open(&recorded.recording).unwrap();
        let trace = opened.description.unwrap().trace;
        assert!(trace.blocks > 0 && trace.lost == 0, "{options:?}: {trace:?}");
    }
}

on_each!(threads, |compiler| same(compiler, "threads", &[]));
on_each!(exceptions, |compiler| same(compiler, "exceptions", &[]));
on_each!(finalisers, |compiler| same(compiler, "finalisers", &[]));
on_each!(compact, |compiler| same(compiler, "compact", &[]));
on_each!(from_c, |compiler| same(compiler, "from_c", &[]));
on_each!(fork, |compiler| same(compiler, "fork", &[]));

#[test]
fn domains() {
    same("ocaml-5.3.0", "domains", &[]);
}

#[test]
fn fibers() {
    same("ocaml-5.3.0", "fibers", &[]);
}

on_each!(deep, |compiler| {
    let program = build(&named(compiler), "deep");
    Case::new(&program, &[]).options(&["--native=also"]).same();
});

on_each!(vfork, |compiler| {
    let program = build_with(&named(compiler), "vfork", &["vfork_stubs.c"]);
    Case::new(&program, &[]).options(&["--native=also", "--rate", "1"]).same();
});
