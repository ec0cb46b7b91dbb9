//! Exit codes, signals, uncaught exceptions, `at_exit`: the same end with and without us.

use crate::compilers::named;
use crate::programs::build;
use crate::running::Case;
use crate::transparency::on_each;

fn ends(compiler: &str, arguments: &[&str]) {
    Case::new(&build(&named(compiler), "ends"), arguments).same();
}

on_each!(returns, |compiler| ends(compiler, &["return"]));
on_each!(exits, |compiler| {
    for code in ["0", "1", "2", "3", "125", "126", "127", "128", "137", "255"] {
        ends(compiler, &["exit", code]);
    }
});
on_each!(exits_at_once, |compiler| {
    ends(compiler, &["_exit", "0"]);
    ends(compiler, &["_exit", "9"]);
});
on_each!(raises, |compiler| ends(compiler, &["raise"]));
on_each!(raises_in_a_thread, |compiler| ends(compiler, &["thread"]));
on_each!(killed, |compiler| {
    for signal in ["1", "2", "3", "6", "8", "9", "10", "12", "13", "14", "15"] {
        ends(compiler, &["kill", signal]);
    }
});
// OCaml 4 has a handler for this one, which looks at where the fault was.
on_each!(segmentation_fault, |compiler| ends(compiler, &["kill", "11"]));
on_each!(stack_overflow, |compiler| {
    let program = build(&named(compiler), "ends");
    Case::new(&program, &["overflow"]).variable("OCAMLRUNPARAM", "l=1M").same();
});
on_each!(out_of_memory, |compiler| ends(compiler, &["oom"]));
on_each!(at_exit, |compiler| {
    for mode in ["", "exit", "raise", "again"] {
        Case::new(&build(&named(compiler), "at_exit_order"), &[mode]).same();
    }
});
