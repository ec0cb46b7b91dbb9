//! Programs at work are attached and detached again and again.

use std::rc::Rc;

use memtrail_recording::{FileState, Recording};
use memtrail_test_support::compilers::named;
use memtrail_test_support::programs::{Program, build, strip};

use crate::server::{Server, code_of, memtrail, own_threads};

/// Rounds: a few in the run of each change.
fn rounds() -> u32 {
    if memtrail_test_support::is_whole_run() { 100 } else { 3 }
}

/// The recording is complete, and callstacks are what a second walk finds.
fn assert_complete(recording: &std::path::Path) {
    let description = Recording::open(recording).expect("a recording").description.expect("one");
    assert_eq!(description.trace.state, FileState::Complete, "{description:?}");
    assert!(description.trace.blocks > 0 && description.trace.lost == 0, "{description:?}");
    assert!(description.ended_unix_us.is_some(), "{description:?}");
    let checked = description.sampling.checked.expect("it was asked for");
    assert!(checked.stacks > 0 && checked.different == 0, "{checked:?}");
    let detached = |note: &String| note.contains("memtrail detach ended the recording");
    assert!(description.notes.iter().any(detached), "{:?}", description.notes);
}

fn attach_and_detach(program: &Program) {
    let mut server = Server::start(program);
    let before = code_of(server.pid(), program);
    for round in 1..=rounds() {
        let recording = server.recording(round);
        let rate = if round % 2 == 0 { &["--rate", "1e-3"][..] } else { &[] };
        server.attach(&recording, &[rate, &["--check-callstacks"]].concat());
        assert!(own_threads(server.pid()) > 0);
        server.allocate(200);
        if round % 5 == 1 {
            let pid = server.pid().to_string();
            let output = memtrail(&["snapshot", &pid]).output().expect("memtrail");
            assert!(output.status.success(), "{output:?}");
            assert!(recording.join("0001.heap").exists());
        }
        server.detach();
        assert!(code_of(server.pid(), program) == before, "round {round}: the code is another");
        assert_complete(&recording);
    }
    server.allocate(200);
    server.end();
}

#[test]
fn threads_of_the_systems_ocaml() {
    attach_and_detach(&build(&named("system"), "attached"));
}

#[test]
fn threads_ocaml_4_14() {
    attach_and_detach(&build(&named("ocaml-4.14.1000"), "attached"));
}

#[test]
fn threads_ocaml_5_3() {
    attach_and_detach(&build(&named("ocaml-5.3.0"), "attached"));
}

#[test]
fn four_domains_without_symbols() {
    attach_and_detach(&strip(&build(&named("ocaml-5.3.0"), "attached_domains")));
}

/// The end of the program is the end of the recording, and no other process is needed for it.
#[test]
fn an_attached_program_ends() {
    let mut server = Server::start(&build(&named("system"), "attached"));
    let recording = server.recording(1);
    server.attach(&recording, &["--rate", "1e-3"]);
    server.allocate(200);
    let _folder = Rc::clone(&server.folder);
    server.end();
    let description = Recording::open(&recording).expect("a recording").description.expect("one");
    assert_eq!(description.trace.state, FileState::Complete, "{description:?}");
    let late = |note: &String| note.contains("memory allocated before is not in the trace");
    assert!(description.notes.iter().any(late), "{:?}", description.notes);
}
