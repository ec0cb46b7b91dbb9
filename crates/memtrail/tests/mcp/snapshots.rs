//! Snapshots of programs that run, if the user allows them.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use memtrail_test_support::compilers::named;
use memtrail_test_support::programs::build;
use serde_json::json;

use super::session::{Session, folder, is_part, memtrail, printed};

#[test]
fn snapshots_are_taken_if_the_user_allows_them() {
    let program = build(&named("system"), "heap_grows");
    let folder = folder(&["leaks-4711.memtrail"]);
    let mut command = memtrail();
    command.args(["run", "-q", "--seed=1", "-o", "it.memtrail", "--"]).arg(&program.path);
    command.current_dir(folder.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut running = command.spawn().unwrap();
    let mut output = BufReader::new(running.stdout.take().unwrap());
    output.read_line(&mut String::new()).unwrap();
    let recording = json!({ "recording": "it.memtrail" });

    let mut session = Session::start(folder.path(), &[]);
    let unknown =
        session.request("tools/call", &json!({ "name": "snapshot", "arguments": recording }));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");

    let mut session = Session::start(folder.path(), &["--allow-snapshot"]);
    let listed = session.request("tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 10);
    assert_eq!(
        (&tools[9]["name"], &tools[9]["annotations"]["readOnlyHint"]),
        (&json!("snapshot"), &json!(false))
    );
    let listed = session.answer("recordings", &json!({}));
    assert_eq!(listed["untrusted"]["recordings"][0]["state"], "running", "{listed}");

    // Until the heap does not grow any more: a test took one of 29 MiB for the last.
    let mut before = 0;
    let grown = (0..100).find_map(|_| {
        let taken = session.answer("snapshot", &recording);
        let snapshot = &taken["untrusted"]["snapshot"];
        let blocks = snapshot["blocks"].as_u64().filter(|_| snapshot["state"] == "complete")?;
        let is_grown = blocks > 30_000 && std::mem::replace(&mut before, blocks) == blocks;
        is_grown.then_some(taken)
    });
    let taken = grown.expect("a snapshot of the grown heap");
    let calls = taken["next"].as_array().unwrap().clone();
    assert_eq!(calls.len(), 2);
    for call in &calls {
        session.answer(call["tool"].as_str().unwrap(), &call["arguments"]);
    }
    let roots = session.answer("roots", &recording);
    is_part(&roots["untrusted"], &printed(folder.path(), &["heap", "roots", "it.memtrail"]), "");
    let owned = roots["untrusted"]["owned"].as_u64().unwrap();
    assert!(owned > 32 << 20, "{owned}");
    for (recording, expected) in
        [("leaks-4711.memtrail", "process 4711 has ended"), ("..", "is outside")]
    {
        let refused = session.refusal("snapshot", &json!({ "recording": recording }));
        assert!(refused.contains(expected), "{refused}");
    }

    running.stdin.take().unwrap().write_all(b"go on\n").unwrap();
    assert!(running.wait().unwrap().success());
    let leaks = session.answer("leaks", &recording);
    is_part(&leaks["untrusted"], &printed(folder.path(), &["leaks", "it.memtrail"]), "");
    let refused = session.refusal("snapshot", &recording);
    assert!(refused.contains("has ended"), "{refused}");
}
