//! File descriptors and limits: numbers, what is open, what a full or forbidden disk does.

use memtrail_test_support::compilers::named;
use memtrail_test_support::on_each;
use memtrail_test_support::programs::build;
use memtrail_test_support::running::Case;

on_each!(closed_behind_us, |compiler| {
    let program = build(&named(compiler), "descriptors");
    Case::new(&program, &[]).same();
    Case::new(&program, &["keep"]).same();
});

// Soft limits far below any number we might like to use for ourselves.
on_each!(few_descriptors, |compiler| {
    let program = build(&named(compiler), "descriptors");
    Case::new(&program, &[]).prelude("ulimit -n 64").same();
});

on_each!(standard_streams_closed, |compiler| {
    let program = build(&named(compiler), "descriptors");
    Case::new(&program, &["keep"]).prelude("exec 0<&- 2>&-").same();
});

// A file that reaches the limit raises SIGXFSZ, which would kill the program for our writing.
on_each!(small_files, |compiler| {
    let program = build(&named(compiler), "churn");
    Case::new(&program, &["10"]).prelude("ulimit -f 16").options(&["--rate", "1e-2"]).same();
});

on_each!(little_address_space, |compiler| {
    let program = build(&named(compiler), "churn");
    Case::new(&program, &["10"]).prelude("ulimit -v 1500000").same();
});
