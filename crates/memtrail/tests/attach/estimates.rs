//! Estimates from the moment of attaching, against what the program counts.

use memtrail_test_support::compilers::named;
use memtrail_test_support::contents::read;
use memtrail_test_support::programs::build;

use crate::server::Server;

/// Times that the program allocates while it is recorded, and before and after.
const TIMES: u32 = 3_000;

fn hold_against_the_truth(compiler: &str, name: &str, module: &str) {
    let mut server = Server::start(&build(&named(compiler), name));
    server.allocate(TIMES);
    for (round, rate) in ["1e-3", "1e-4", "1e-3"].into_iter().enumerate() {
        let recording = server.recording(round as u32);
        server.attach(&recording, &["--rate", rate]);
        let counted = server.allocate(TIMES);
        server.detach();
        server.allocate(TIMES);
        let contents = read(&recording);
        for (function, words) in counted {
            contents.expect_words(&format!("{module}.{function}"), words);
        }
    }
    server.end();
}

#[test]
fn of_threads() {
    hold_against_the_truth("system", "attached", "Attached");
}

#[test]
fn of_threads_ocaml_4_14() {
    hold_against_the_truth("ocaml-4.14.1000", "attached", "Attached");
}

#[test]
fn of_domains() {
    hold_against_the_truth("ocaml-5.3.0", "attached_domains", "Attached_domains");
}
