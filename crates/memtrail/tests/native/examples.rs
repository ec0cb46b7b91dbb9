//! `examples/native-leak` and `examples/rust-leak`: their `run` scripts, and what is found.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::json;

/// Runs an example's script at a rate that records every block, and asks what leaks in its recording.
fn leaks(example: &str, recording: &str) -> (String, Value) {
    let out = tempfile::tempdir().unwrap();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let output = Command::new(examples.join(example).join("run"))
        .env("MEMTRAIL", env!("CARGO_BIN_EXE_memtrail"))
        .env("OUT", out.path())
        .env("RATE", "1")
        .env_remove("COLUMNS")
        .stdin(Stdio::null())
        .output()
        .expect("the script runs");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    let (found, code) = json(&["leaks", "--limit", "0"], &out.path().join(recording));
    assert_eq!(code, Some(0), "{found:#}");
    // Lines are broken where a terminal ends.
    (text.split_whitespace().collect::<Vec<_>>().join(" "), found)
}

#[test]
fn what_a_server_in_c_keeps_is_retained_by_its_history() {
    let (text, found) = leaks("native-leak", "server.memtrail");
    assert_eq!(found["suspects"][0]["allocated"][0]["function"], "read_body", "{found:#}");
    assert_eq!(found["suspects"][0]["allocated"][0]["line"], 17, "{found:#}");
    assert_eq!(found["unreachable"]["unreachable"]["sampled"], 0, "{found:#}");
    assert!(text.contains("through variable history"), "{text}");
    assert!(text.contains("block allocated in remember (server.c:26)"), "{text}");
}

/// The copy waited for ever for the table of blocks, which it held itself: libc's `closedir` frees a block.
#[test]
fn documents_in_rust_that_refer_to_themselves_are_unreachable() {
    let (text, found) = leaks("rust-leak", "documents.memtrail");
    let site = &found["unreachable"]["sites"][0];
    let (place, sampled) = (&site["allocated"][0], &site["unreachable"]["sampled"]);
    assert!(place["function"].as_str().unwrap().ends_with("read_part"), "{site:#}");
    assert_eq!((&place["line"], sampled), (&21.into(), &20_000.into()), "{site:#}");
    assert!(text.contains("nothing refers to them: they are leaked"), "{text}");
}
