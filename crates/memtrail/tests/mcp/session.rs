//! A session with the server, line by line, and what commands print of the same recordings.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// The size that no answer exceeds, in bytes.
pub(crate) const LARGEST: usize = 8000;
/// Time after which an absent response is a failure.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) fn memtrail() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    command.env_remove("COLUMNS");
    command
}

/// A folder with copies of stored recordings.
pub(crate) fn folder(names: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/recordings");
    for name in names {
        copy(&stored.join(name), &folder.path().join(name));
    }
    folder
}

pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// A server under test.
pub(crate) struct Session {
    server: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    sent: u64,
}

/// The answer of a tool.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) is_error: bool,
    pub(crate) json: Value,
}

impl Session {
    /// Starts a server without a word.
    pub(crate) fn silent(dir: &Path, options: &[&str]) -> Self {
        let mut command = memtrail();
        command.arg("mcp").arg("--dir").arg(dir).args(options);
        let mut server = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (input, output) = (server.stdin.take(), server.stdout.take().unwrap());
        Self { server, input, output: BufReader::new(output), sent: 0 }
    }

    /// Starts a server, and introduces a client to it.
    pub(crate) fn start(dir: &Path, options: &[&str]) -> Self {
        let mut session = Self::silent(dir, options);
        let client = json!({ "name": "test", "version": "1" });
        let hello =
            json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        let introduced = session.request("initialize", &hello);
        assert_eq!(introduced["result"]["serverInfo"]["name"], "memtrail", "{introduced}");
        session.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        session
    }

    pub(crate) fn send(&mut self, line: &str) {
        let input = self.input.as_mut().expect("standard input is open");
        input.write_all(line.as_bytes()).and_then(|()| input.write_all(b"\n")).unwrap();
        input.flush().unwrap();
    }

    /// The next line of the server, which is JSON.
    pub(crate) fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// Sends a request without waiting for its response.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> u64 {
        self.sent += 1;
        let id = self.sent;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(&request.to_string());
        id
    }

    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.ask(method, params);
        loop {
            let response = self.receive();
            // Lines that were no request have responses without a number.
            if !response["id"].is_null() {
                assert_eq!(response["id"], id, "{response}");
                return response;
            }
        }
    }

    /// Calls a tool.
    #[track_caller]
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Answer {
        let response = self.request("tools/call", &json!({ "name": tool, "arguments": arguments }));
        let result = &response["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{response}"));
        assert!(text.len() <= LARGEST, "{tool} {arguments}: {} bytes", text.len());
        let json: Value = serde_json::from_str(text).unwrap();
        assert_eq!(result["structuredContent"], json);
        Answer { is_error: result["isError"] == true, json }
    }

    /// The answer of a call that succeeds.
    #[track_caller]
    pub(crate) fn answer(&mut self, tool: &str, arguments: &Value) -> Value {
        let Answer { is_error, json, .. } = self.call(tool, arguments);
        assert!(!is_error, "{tool} {arguments}: {json}");
        json
    }

    /// The message of a call that fails, with its hint.
    #[track_caller]
    pub(crate) fn refusal(&mut self, tool: &str, arguments: &Value) -> String {
        let Answer { is_error, json, .. } = self.call(tool, arguments);
        assert!(is_error, "{tool} {arguments}: {json}");
        let text = |field: &str| json[field].as_str().unwrap_or_default().to_owned();
        format!("{}; {}", text("error"), text("hint"))
    }

    /// Closes standard input, and waits for the end.
    pub(crate) fn close(mut self) -> ExitStatus {
        drop(self.input.take());
        self.end()
    }

    /// Waits for the end.
    pub(crate) fn end(&mut self) -> ExitStatus {
        let started = Instant::now();
        loop {
            if let Some(status) = self.server.try_wait().unwrap() {
                return status;
            }
            assert!(started.elapsed() < PATIENCE, "the server runs on");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// JSON that a command prints in a folder.
#[track_caller]
pub(crate) fn printed(dir: &Path, words: &[&str]) -> Value {
    let output = memtrail().current_dir(dir).args(words).arg("--json").output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

/// Checks that an answer has figures of a command alone: fields may be missing, rows at the end, and texts may be cut.
#[track_caller]
pub(crate) fn is_part(answer: &Value, command: &Value, at: &str) {
    match (answer, command) {
        (Value::Object(part), Value::Object(whole)) => {
            for (name, value) in part {
                let at = format!("{at}/{name}");
                if name.ends_with("_left_out_to_fit") || at == "/problems" {
                    continue;
                }
                let of_command =
                    whole.get(name).unwrap_or_else(|| panic!("{at} is {value}, and not printed"));
                is_part(value, of_command, &at);
            }
        }
        (Value::Array(part), Value::Array(whole)) => {
            assert!(part.len() <= whole.len(), "{at}: {part:?} of {whole:?}");
            let is_cut =
                part.iter().any(|item| item.as_str().is_some_and(|text| text.ends_with(" more …")));
            if !is_cut {
                for (place, (value, of_command)) in part.iter().zip(whole).enumerate() {
                    is_part(value, of_command, &format!("{at}/{place}"));
                }
            }
        }
        (Value::String(part), Value::String(whole)) => {
            let start = part.strip_suffix('…').unwrap_or(part);
            let shown: String = whole.chars().take(start.chars().count()).collect();
            assert_eq!(memtrail_text(&shown), start, "{at}");
            assert!(
                start.len() < part.len() || whole.chars().count() == part.chars().count(),
                "{at}"
            );
        }
        // JavaScript writes 1 for 1.0.
        (Value::Number(part), Value::Number(whole)) => {
            assert_eq!(part.as_f64(), whole.as_f64(), "{at}");
        }
        _ => assert_eq!(answer, command, "{at}"),
    }
}

/// A text without control characters and those that change the direction of writing.
fn memtrail_text(text: &str) -> String {
    let hidden =
        |c: char| c.is_control() || ('\u{200b}'..='\u{206f}').contains(&c) && c != '\u{2026}';
    text.chars().map(|c| if hidden(c) { '\u{fffd}' } else { c }).collect()
}

/// Paths of all files in a folder, for comparison.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}
