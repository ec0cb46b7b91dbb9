//! The official clients: the library for Python, and the command line of the Inspector.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use memtrail_test_support::compilers::cache;
use serde_json::{Value, json};

use super::session::{LARGEST, folder, is_part, printed};

const LEAKS: &str = "leaks-4711.memtrail";
const FIXED: &str = "fixed-4718.memtrail";

/// The clients that `cargo xtask setup` fetched.
fn clients() -> PathBuf {
    let folder = cache().join("mcp-clients-1");
    assert!(folder.is_dir(), "there is no {}\nhint: cargo xtask setup", folder.display());
    folder
}

/// Responses of a server to the library for Python.
fn with_python(dir: &Path, calls: &[(&str, Value)]) -> Value {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/client.py");
    let mut python = Command::new("python3");
    python
        .arg(script)
        .env("PYTHONPATH", clients().join("python"))
        .env("PYTHONDONTWRITEBYTECODE", "1");
    let mut python = python.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let todo = json!({
        "command": env!("CARGO_BIN_EXE_memtrail"),
        "args": ["mcp", "--dir", dir],
        "calls": calls,
    });
    python.stdin.take().unwrap().write_all(todo.to_string().as_bytes()).unwrap();
    let output = python.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_official_python_client_calls_every_tool() {
    let folder = folder(&[LEAKS, FIXED]);
    let of_leaks = |more: Value| {
        let mut arguments = more;
        arguments["recording"] = LEAKS.into();
        arguments
    };
    let calls = [
        ("recordings", json!({})),
        ("leaks", of_leaks(json!({}))),
        ("report", of_leaks(json!({ "live_at": "end", "limit": 3 }))),
        ("roots", of_leaks(json!({}))),
        ("histogram", of_leaks(json!({ "limit": 5 }))),
        ("why", of_leaks(json!({ "name": "Leaks.Connection.open_" }))),
        ("who", of_leaks(json!({ "name": "Leaks.Listeners.subscribed" }))),
        ("path", of_leaks(json!({ "kind": "string" }))),
        ("diff", json!({ "before": FIXED, "after": LEAKS })),
        ("leaks", json!({ "recording": "../elsewhere" })),
        ("leaks", json!({ "reading": LEAKS })),
        ("shell", json!({})),
    ];
    let found = with_python(folder.path(), &calls);
    assert_eq!(found["introduced"]["serverInfo"]["name"], "memtrail");
    assert_eq!(found["tools"].as_array().unwrap().len(), 9);
    let results = found["results"].as_array().unwrap();
    for ((tool, _), result) in calls.iter().zip(&results[..9]) {
        assert_eq!(result["isError"], false, "{tool}: {result}");
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.len() <= LARGEST, "{tool}: {}", text.len());
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), result["structuredContent"]);
    }
    let leaks = &results[1]["structuredContent"];
    is_part(&leaks["untrusted"], &printed(folder.path(), &["leaks", LEAKS]), "");
    let owner = &leaks["untrusted"]["suspects"][0]["owner"];
    assert_eq!(owner, "Leaks.Listeners.subscribed");
    for (result, expected) in
        [(&results[9], "is outside"), (&results[10], "there is no argument \"reading\"")]
    {
        assert_eq!(result["isError"], true, "{result}");
        assert!(
            result["structuredContent"]["error"].as_str().unwrap().contains(expected),
            "{result}"
        );
    }
    assert_eq!(results[11]["protocol_error"]["code"], -32602, "{}", results[11]);
}

/// Output of the Inspector's command line for a method.
fn inspected(dir: &Path, options: &[&str]) -> Value {
    let program =
        clients().join("inspector/node_modules/@modelcontextprotocol/inspector/cli/build/cli.js");
    let mut node = Command::new("node");
    node.arg(program).args(["--cli", env!("CARGO_BIN_EXE_memtrail"), "mcp", "--dir"]).arg(dir);
    let output = node.args(options).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_official_inspector_lists_and_calls_tools() {
    let folder = folder(&[LEAKS]);
    let listed = inspected(folder.path(), &["--method", "tools/list"]);
    assert_eq!(listed["tools"].as_array().unwrap().len(), 9);
    let recording = format!("recording={LEAKS}");
    let options = [
        "--method",
        "tools/call",
        "--tool-name",
        "leaks",
        "--tool-arg",
        &recording,
        "--tool-arg",
        "limit=1",
    ];
    let called = inspected(folder.path(), &options);
    assert_eq!(called["isError"], false, "{called}");
    let command = printed(folder.path(), &["leaks", LEAKS, "--limit=1"]);
    is_part(&called["structuredContent"]["untrusted"], &command, "");
}
