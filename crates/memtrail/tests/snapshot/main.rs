//! Heap snapshots of real OCaml programs: their heaps are known block by block, and nothing about the
//! programs changes.
#![forbid(unsafe_code)]

#[path = "../agent/compilers.rs"]
#[allow(dead_code, reason = "shared with the agent's tests")]
mod compilers;
#[path = "../agent/contents.rs"]
#[allow(dead_code, reason = "shared with the agent's tests")]
mod contents;
#[path = "../agent/programs.rs"]
#[allow(dead_code, reason = "shared with the agent's tests")]
mod programs;
#[path = "../agent/running.rs"]
#[allow(dead_code, reason = "shared with the agent's tests")]
mod running;
#[path = "../agent/site.rs"]
mod site;

mod asking;
mod heap;

mod compilers_at_work;
mod moments;
mod server_at_work;
mod shapes;
mod stacks;
mod trouble;

/// One test for each compiler, named after it.
macro_rules! on_each {
    ($name:ident, $check:expr) => {
        mod $name {
            #[allow(unused_imports)]
            use super::*;
            #[test]
            fn system() {
                $check("system");
            }
            #[test]
            fn ocaml_4_14() {
                $check("ocaml-4.14.1000");
            }
            #[test]
            fn ocaml_5_3() {
                $check("ocaml-5.3.0");
            }
        }
    };
}
pub(crate) use on_each;
