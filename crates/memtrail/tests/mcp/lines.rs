//! The protocol, line by line: wrong lines, wrong calls, cancelled calls, and the end.

use std::fs;
use std::io::Read as _;

use serde_json::{Value, json};

use super::session::{Session, folder, memtrail};

const LEAKS: &str = "leaks-4711.memtrail";

#[test]
fn garbage_between_requests_is_survived() {
    let folder = folder(&[LEAKS]);
    let mut session = Session::start(folder.path(), &[]);
    // A generator of small numbers, always the same.
    let mut state = 1_u32;
    let mut random = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 16
    };
    for _ in 0..200 {
        let length = random() % 80;
        let line: String = (0..length)
            .map(|_| char::from_u32(random() % 0x250).unwrap_or('{'))
            .filter(|c| !matches!(c, '\n' | '\r'))
            .collect();
        // A line of JSON is answered with an error.
        if serde_json::from_str::<Value>(&line).is_err() {
            session.send(&line);
        }
    }
    for line in
        ["{", "[]x", "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/other\"}", "\u{0}", ""]
    {
        session.send(line);
    }
    session.send(&format!("{{\"jsonrpc\": \"{}\"", "x".repeat(1 << 20)));
    let pong = session.request("ping", &json!({}));
    assert_eq!(pong["result"], json!({}));
    session.answer("leaks", &json!({ "recording": LEAKS }));
    assert!(session.close().success());
}

/// A line that was no JSON had no response. A client that waited for one waited for ever.
#[test]
fn a_line_that_is_no_json_is_answered_with_a_parse_error() {
    let folder = folder(&[]);
    let mut session = Session::silent(folder.path(), &[]);
    // Before the client has introduced itself, too.
    session.send("{\"jsonrpc\": \"2.0\", ");
    let response = session.receive();
    assert_eq!(response["error"]["code"], -32700, "{response}");
    assert_eq!(response["id"], Value::Null, "{response}");
    assert_eq!(response["jsonrpc"], "2.0", "{response}");
    drop(session);
    let mut session = Session::start(folder.path(), &[]);
    for line in ["{\"jsonrpc\":", "]", "\u{0}", "ping"] {
        session.send(line);
        let response = session.receive();
        assert_eq!(response["error"]["code"], -32700, "{line}: {response}");
        assert!(response.as_object().unwrap().contains_key("id"), "{response}");
        assert_eq!(response["id"], Value::Null, "{response}");
    }
    session.answer("recordings", &json!({}));
    // The last line is answered, whatever comes behind it.
    session.send("{");
    session.send("{}");
    let mut codes = [session.receive(), session.receive()].map(|it| it["error"]["code"].as_i64());
    codes.sort_unstable();
    assert_eq!(codes, [Some(-32700), Some(-32600)]);
    assert!(session.close().success());
}

#[test]
fn json_that_is_no_message_is_answered_with_an_error() {
    let folder = folder(&[]);
    let mut session = Session::start(folder.path(), &[]);
    for line in ["{\"foo\": 1}", "3", "[1]"] {
        session.send(line);
        let response = session.receive();
        assert_eq!(response["error"]["code"], -32600, "{line}: {response}");
        assert!(response.as_object().unwrap().contains_key("id"), "{response}");
    }
    assert_eq!(session.request("tools/other", &json!({}))["error"]["code"], -32601);
    session.answer("recordings", &json!({}));
}

#[test]
fn wrong_calls_are_refused() {
    let folder = folder(&[LEAKS, "server-4720.memtrail"]);
    let mut session = Session::start(folder.path(), &[]);
    let unknown = session.request("tools/call", &json!({ "name": "run", "arguments": {} }));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    assert_eq!(unknown["error"]["message"], "unknown tool \"run\"");
    let native = "server-4720.memtrail";
    for (tool, arguments, expected) in [
        (
            "leaks",
            json!({}),
            "the argument \"recording\" is missing; arguments are recording, process, snapshot, limit",
        ),
        ("leaks", json!({ "recording": 5 }), "there is no 5"),
        ("leaks", json!({ "recording": {} }), "the argument \"recording\" cannot be {}"),
        ("leaks", json!({ "recording": LEAKS, "file": "x" }), "there is no argument \"file\""),
        ("leaks", json!({ "recording": LEAKS, "limit": -1 }), "invalid number of rows \"-1\""),
        (
            "leaks",
            json!({ "recording": LEAKS, "snapshot": "7" }),
            "no snapshot 7 in leaks-4711.memtrail; there is 1, 2",
        ),
        (
            "report",
            json!({ "recording": LEAKS, "live_at": "noon" }),
            "invalid value 'noon' for '--live-at",
        ),
        ("path", json!({ "recording": LEAKS }), "required"),
        (
            "path",
            json!({ "recording": LEAKS, "kind": "string", "block": 1 }),
            "cannot be used with",
        ),
        ("path", json!({ "recording": LEAKS, "kind": "no such kind" }), "no such kind"),
        (
            "why",
            json!({ "recording": LEAKS, "name": "No.such" }),
            "nothing that \"No.such\" allocated",
        ),
        ("diff", json!({ "before": LEAKS }), "the argument \"after\" is missing"),
        ("diff", json!({ "before": LEAKS, "after": LEAKS, "filter": ["nonsense"] }), "nonsense"),
        (
            "roots",
            json!({ "recording": native }),
            "snapshots are of OCaml's heap, and this program is native",
        ),
        (
            "roots",
            json!({ "recording": LEAKS, "retained": "yes" }),
            "the argument \"retained\" cannot be \"yes\"",
        ),
    ] {
        let refused = session.refusal(tool, &arguments);
        assert!(refused.contains(expected), "{tool} {arguments}: {refused}");
    }
    session.answer("leaks", &json!({ "recording": LEAKS, "limit": null }));
}

#[test]
fn the_end_of_input_is_the_end_at_once() {
    let folder = folder(&[LEAKS]);
    assert!(Session::silent(folder.path(), &[]).close().success());
    assert!(Session::start(folder.path(), &[]).close().success());
    // Calls that wait are dropped.
    let mut session = Session::start(folder.path(), &[]);
    for _ in 0..300 {
        let arguments = json!({ "recording": LEAKS, "limit": 0 });
        session.ask("tools/call", &json!({ "name": "histogram", "arguments": arguments }));
    }
    assert!(session.close().success());
}

#[test]
fn a_cancelled_call_has_no_response() {
    let folder = folder(&[LEAKS]);
    let mut session = Session::start(folder.path(), &[]);
    let arguments = json!({ "recording": LEAKS });
    for _ in 0..20 {
        let id = session.ask("tools/call", &json!({ "name": "leaks", "arguments": arguments }));
        let params = json!({ "requestId": id, "reason": "test" });
        let cancel =
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
        session.send(&cancel.to_string());
    }
    // Responses that were on their way may come; the next request is answered.
    let id = session.ask("ping", &json!({}));
    let pong = std::iter::repeat_with(|| session.receive()).find(|response| response["id"] == id);
    assert_eq!(pong.unwrap()["result"], json!({}));
    assert!(session.close().success());
}

#[test]
fn one_answer_can_be_printed() {
    let folder = folder(&[LEAKS]);
    let call = |words: &[&str]| {
        memtrail().args(["mcp", "--dir"]).arg(folder.path()).args(words).output().unwrap()
    };
    let arguments = json!({ "recording": LEAKS });
    let output = call(&["--call", "leaks", &arguments.to_string()]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(printed, Session::start(folder.path(), &[]).answer("leaks", &arguments));
    for (words, code, expected) in [
        (
            &["--call", "run"][..],
            2,
            "there is no tool \"run\"\nhint: tools are leaks, recordings, report",
        ),
        (&["--call", "leaks", "{"], 2, "the arguments are no JSON object"),
        (&["--call", "snapshot", "{}"], 2, "snapshots are not allowed"),
    ] {
        let output = call(words);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{message}");
        assert!(message.contains(expected), "{message}");
    }
    let output = call(&["--call", "leaks", "{}"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("is missing"));
    let absent = memtrail().args(["mcp", "--dir", "/no/such/folder"]).output().unwrap();
    assert_eq!(absent.status.code(), Some(3), "{absent:?}");
}

/// The standard output of a server has messages alone, also where a command would print something else.
#[test]
fn nothing_but_messages_is_on_standard_output() {
    let folder = folder(&[LEAKS]);
    fs::write(folder.path().join(LEAKS).join("types"), "damaged").unwrap();
    let mut server = memtrail();
    server.arg("mcp").arg("--dir").arg(folder.path());
    let mut server = server
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(server.stdin.take());
    let (mut out, mut err) = (String::new(), String::new());
    server.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    server.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert_eq!((out.as_str(), err.as_str(), server.wait().unwrap().code()), ("", "", Some(0)));
    // Names that cannot be read are reported in the answer.
    let mut session = Session::start(folder.path(), &[]);
    let answer = session.answer("roots", &json!({ "recording": LEAKS }));
    let problem = answer["untrusted"]["problems"][0]["error"].as_str().unwrap();
    assert!(problem.contains("/types:"), "{problem}");
}
