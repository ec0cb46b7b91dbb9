//! A program that uses up its stack finds as much of it as it would alone.

use memtrail_test_support::compilers::named;
use memtrail_test_support::programs::build_with;
use memtrail_test_support::running::Case;
use memtrail_test_support::{is_whole_run, on_each};

/// Overflows so often; not once, to die of the first.
fn same(compiler: &str, how: &str, times: u32, options: &[&str]) {
    let program = build_with(&named(compiler), "overflows", &["overflows_stubs.c"]);
    let recorded = Case::new(&program, &[how, &times.to_string()])
        .variable("OCAMLRUNPARAM", "l=1M")
        .prelude("ulimit -s 8192")
        .options(options)
        .same();
    let output = recorded.seen.stdout();
    match times {
        0 => assert_eq!(recorded.seen.status.code(), Some(2), "{:?}", recorded.seen),
        _ => assert_eq!(output, format!("{times} of {times}\n")),
    }
}

/// The number of overflows: they are slow, and the first few find as much as all.
fn times(in_whole_run: u32) -> u32 {
    if is_whole_run() { in_whole_run } else { in_whole_run.div_ceil(5) }
}

on_each!(stack_overflow_in_a_map, |compiler| {
    same(compiler, "map", times(100), &[]);
    same(compiler, "map", 10, &["--rate", "1e-2"]);
});
on_each!(stack_overflow_where_blocks_are_sampled, |compiler| {
    same(compiler, "grow", times(30), &[]);
    same(compiler, "grow", 2, &["--rate", "1e-2"]);
});
on_each!(stack_overflow_where_c_allocates, |compiler| {
    same(compiler, "from-c", times(30), &[]);
    same(compiler, "from-c", 2, &["--rate", "1e-2"]);
});
on_each!(stack_overflow_below_a_c_call, |compiler| {
    same(compiler, "call-back", times(30), &[]);
    same(compiler, "call-back", 2, &["--rate", "1e-2"]);
});
on_each!(stack_overflow_that_nobody_catches, |compiler| {
    for how in ["map", "grow", "from-c", "call-back"] {
        for _ in 0..times(5) {
            same(compiler, how, 0, &[]);
        }
    }
});
