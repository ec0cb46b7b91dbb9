//! A `memtrail view` that runs, and a browser's side of talking to it.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::Duration;

use memtrail_engine::ResponseBody;

/// No test waits longer for an answer.
const PATIENCE: Duration = Duration::from_secs(120);

/// A running command that serves a page.
pub(crate) struct View {
    child: Child,
    /// What it prints after the address.
    out: BufReader<ChildStdout>,
    /// As printed, filter included.
    pub(crate) url: String,
}

/// An answer of HTTP.
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

impl View {
    /// Starts `memtrail view --no-open ARGS`, and waits until it is there.
    pub(crate) fn start<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
        command.args(["view", "--no-open"]).args(args);
        Self::spawn(command)
    }

    /// Starts `memtrail view ARGS` with these variables in its environment, which may open a
    /// browser.
    pub(crate) fn start_with(args: &[&str], environment: &[(&str, &str)]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
        command.arg("view").args(args).env_remove("SSH_CONNECTION");
        command.envs(environment.iter().copied());
        Self::spawn(command)
    }

    /// Starts `memtrail view --no-open ARGS` in a shell that has done `first`.
    pub(crate) fn start_under(first: &str, args: &[&str]) -> Self {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{first}; exec \"$@\""), "sh"]);
        command.args([env!("CARGO_BIN_EXE_memtrail"), "view", "--no-open"]).args(args);
        Self::spawn(command)
    }

    fn spawn(mut command: Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("start memtrail view");
        let mut url = String::new();
        let mut out = BufReader::new(child.stdout.take().expect("piped"));
        out.read_line(&mut url).expect("a line");
        Self { child, out, url: url.trim_end().to_owned() }
    }

    /// `127.0.0.1:8080` and `/TOKEN/`.
    pub(crate) fn parts(&self) -> (&str, &str) {
        let rest = self.url.strip_prefix("http://").unwrap_or_else(|| panic!("{:?}", self.url));
        let rest = rest.split('#').next().expect("there is a first part");
        rest.split_at(rest.find('/').expect("a path"))
    }

    /// Sends a request to a path below the page's.
    pub(crate) fn request(&self, method: &str, path: &str, body: &str) -> Response {
        let (host, root) = self.parts();
        let mut stream = TcpStream::connect(host).expect("connect");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        let length = body.len();
        let head = format!(
            "{method} {root}{path} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\n\
             Connection: close\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        stream.write_all(head.as_bytes()).expect("send");
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("an answer");
        let split = bytes.windows(4).position(|w| w == b"\r\n\r\n").expect("a head");
        let head = String::from_utf8_lossy(&bytes[..split]).into_owned();
        let status = head.split(' ').nth(1).and_then(|s| s.parse().ok()).expect("a status");
        Response { status, body: bytes[split + 4..].to_vec() }
    }

    /// Asks the engine behind the page.
    pub(crate) fn query(&self, query: &str) -> ResponseBody {
        let response = self.request("POST", "api/query", query);
        assert_eq!(response.status, 200, "{}", String::from_utf8_lossy(&response.body));
        ResponseBody::decode(&response.body).expect("an answer")
    }

    /// The news since a version, or all, and the version now.
    pub(crate) fn events(&self, since: Option<u64>) -> (u64, Vec<serde_json::Value>) {
        let since = since.map_or_else(String::new, |since| format!("?since={since}"));
        let response = self.request("GET", &format!("api/events{since}"), "");
        assert_eq!(response.status, 200);
        let answer: serde_json::Value = serde_json::from_slice(&response.body).expect("JSON");
        let events = answer["events"].as_array().expect("a list").clone();
        (answer["version"].as_u64().expect("a number"), events)
    }

    /// The number of its process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Presses Ctrl-C, and waits for the end.
    pub(crate) fn interrupt(mut self) -> Output {
        let pid = self.child.id().to_string();
        let status = Command::new("kill").args(["-INT", &pid]).status().expect("kill");
        assert!(status.success());
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        self.out.read_to_end(&mut stdout).expect("stdout");
        self.child.stderr.take().expect("piped").read_to_end(&mut stderr).expect("stderr");
        Output { status: self.child.wait().expect("its end"), stdout, stderr }
    }
}

/// No server outlives its test.
impl Drop for View {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
