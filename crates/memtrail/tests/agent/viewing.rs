//! `memtrail run --view`, and `memtrail view` of recordings that grow: the page follows, and the
//! program does not feel it.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use memtrail_engine::ResponseBody;
use memtrail_test_support::compilers::named;
use memtrail_test_support::on_each;
use memtrail_test_support::programs::build;
use memtrail_test_support::running::Case;

/// No test waits longer for anything.
const PATIENCE: Duration = Duration::from_secs(120);

on_each!(output_and_exit_code_are_the_programs, |compiler| {
    let options = ["--rate", "1e-3", "--view", "--no-open"];
    for (name, arguments) in [("steady", &[][..]), ("ends", &["exit", "3"]), ("ends", &["raise"])] {
        Case::new(&build(&named(compiler), name), arguments).options(&options).same();
    }
    Case::new(&build(&named(compiler), "ends"), &["kill", "15"]).options(&options).same();
});

/// A page's address, and who serves it.
struct Page {
    child: Child,
    url: String,
    folder: tempfile::TempDir,
}

fn recording(folder: &Path) -> PathBuf {
    folder.join("pipes.memtrail")
}

/// The address in the first line of a stream.
fn address(line: &str) -> String {
    let start = line.find("http://").unwrap_or_else(|| panic!("no address: {line:?}"));
    line[start..].trim_end().to_owned()
}

/// `pipes`, which allocates as it is given lines, under `memtrail run --view`.
fn run_pipes() -> (Page, ChildStdin) {
    run("pipes", recording, &[], &lines(1_000))
}

/// A program that is given some input, under `memtrail run --view`.
fn run(
    program: &str,
    recording: fn(&Path) -> PathBuf,
    options: &[&str],
    input: &str,
) -> (Page, ChildStdin) {
    let program = build(&named("system"), program);
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    command.args(["run", "--view", "--no-open", "--rate", "1e-2"]).args(options).arg("-o");
    command.arg(recording(folder.path())).arg("--").arg(&program.path);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("start memtrail run");
    let mut stdin = child.stdin.take().expect("piped");
    stdin.write_all(input.as_bytes()).expect("it reads");
    let mut line = String::new();
    let mut stderr = BufReader::new(child.stderr.take().expect("piped"));
    stderr.read_line(&mut line).expect("a line");
    // What else is said must not fill the pipe.
    thread::spawn(move || stderr.read_to_end(&mut Vec::new()));
    (Page { child, url: address(&line), folder }, stdin)
}

/// Lines for `pipes`.
fn lines(count: usize) -> String {
    format!("{}\n", "word ".repeat(40)).repeat(count)
}

fn write_lines(stdin: &mut ChildStdin, count: usize) {
    stdin.write_all(lines(count).as_bytes()).expect("pipes reads");
}

impl Page {
    fn connect(&self, request: &str) -> (TcpStream, String, String) {
        let rest = self.url.strip_prefix("http://").expect("an address");
        let (host, root) = rest.split_at(rest.find('/').expect("a path"));
        let stream = TcpStream::connect(host).expect("connect");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        let (method, path) = request.split_once(' ').expect("two words");
        (stream, format!("{method} {root}{path} HTTP/1.1\r\nHost: {host}\r\n"), host.to_owned())
    }

    fn query(&self, ask: &str) -> ResponseBody {
        let (mut stream, head, _) = self.connect("POST api/query");
        let length = ask.len();
        let request = format!("{head}Connection: close\r\nContent-Length: {length}\r\n\r\n{ask}");
        stream.write_all(request.as_bytes()).expect("send");
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("an answer");
        let split = bytes.windows(4).position(|w| w == b"\r\n\r\n").expect("a head");
        ResponseBody::decode(&bytes[split + 4..]).expect("an answer")
    }

    /// Names and data of events, as they come. They end with the server.
    fn events(&self) -> impl Iterator<Item = (String, serde_json::Value)> + use<> {
        let rest = self.url.strip_prefix("http://").expect("an address");
        let (host, root) = rest.split_at(rest.find('/').expect("a path"));
        let (host, root) = (host.to_owned(), root.to_owned());
        let (mut since, mut left) = (String::new(), Vec::new().into_iter());
        let started = Instant::now();
        std::iter::from_fn(move || {
            loop {
                if let Some(event) = left.next() {
                    let event: serde_json::Value = event;
                    return Some((event["kind"].as_str()?.to_owned(), event));
                }
                assert!(started.elapsed() < 2 * PATIENCE, "no news");
                let mut stream = TcpStream::connect(&host).ok()?;
                stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
                let request = format!(
                    "GET {root}api/events{since} HTTP/1.1\r\nHost: {host}\r\n\
                     Connection: close\r\n\r\n"
                );
                stream.write_all(request.as_bytes()).ok()?;
                let mut answer = String::new();
                stream.read_to_string(&mut answer).ok()?;
                let (_, answer) = answer.split_once("\r\n\r\n")?;
                let answer: serde_json::Value = serde_json::from_str(answer).expect("JSON");
                since = format!("?since={}", answer["version"]);
                left = answer["events"].as_array().expect("a list").clone().into_iter();
                if left.len() == 0 {
                    thread::sleep(Duration::from_millis(100));
                }
            }
        })
    }

    fn recorded(&self) -> u64 {
        let about = self.query(r#"{"query":"about"}"#);
        about.header()["recordings"][0]["blocks_recorded"].as_u64().expect("a number")
    }
}

/// No server outlives its test.
impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The first event of that name.
fn wait_for(
    name: &str,
    events: &mut impl Iterator<Item = (String, serde_json::Value)>,
) -> serde_json::Value {
    let mut met = Vec::new();
    for (event, data) in events {
        if event == name {
            return data;
        }
        met.push(event);
    }
    panic!("no {name} among {met:?}");
}

#[test]
fn the_page_grows_with_the_program() {
    let (mut page, mut stdin) = run_pipes();
    let mut events = page.events();
    // The first may tell no more than that there is a trace.
    while wait_for("grown", &mut events)["events"].as_u64().expect("a number") == 0 {}
    let about = page.query(r#"{"query":"about"}"#);
    assert_eq!(about.header()["recordings"][0]["state"], "growing");
    assert_eq!(about.header()["live"], true);

    let before = page.recorded();
    write_lines(&mut stdin, 20_000);
    let started = Instant::now();
    while page.recorded() < before + 1_000 {
        wait_for("grown", &mut events);
        assert!(started.elapsed() < PATIENCE, "{before} blocks, then {}", page.recorded());
    }
    drop(stdin);
    // Not on a terminal: the page goes with the program, and it is the program's exit code.
    assert_eq!(page.child.wait().expect("its end").code(), Some(0));
    assert_eq!(events.filter(|(event, _)| event == "lost").count(), 0);
    assert!(TcpStream::connect(page.url.split('/').nth(2).expect("a host")).is_err());
}

/// The page had each process alone, and not all together.
#[test]
fn the_page_has_a_program_and_its_children_together() {
    let folder = |of: &Path| of.join("it.family");
    let (mut page, mut stdin) = run("family_grows", folder, &["--children"], "fork\n");
    let started = Instant::now();
    let recordings = loop {
        let about = page.query(r#"{"query":"about"}"#);
        let recordings = about.header()["recordings"].as_array().expect("an array").clone();
        let allocated = recordings[0]["totals"]["allocated"]["value"].as_f64();
        // 8 MiB by the first process, and 16 MiB by its child.
        if recordings.len() == 3 && allocated > Some(23.0 * 1024.0 * 1024.0) {
            break recordings;
        }
        assert!(started.elapsed() < PATIENCE, "{recordings:#?}");
        thread::sleep(Duration::from_millis(100));
    };
    let names: Vec<_> = recordings.iter().map(|one| one["name"].as_str().expect("text")).collect();
    assert_eq!(names[0], "it.family");
    assert!(names[1..].iter().all(|name| name.starts_with("family_grows-")), "{names:?}");
    stdin.write_all(b"end\n").expect("it reads");
    drop(stdin);
    assert_eq!(page.child.wait().expect("its end").code(), Some(0));
}

#[test]
fn another_process_follows_a_recording_to_its_end() {
    let (mut running, mut stdin) = run_pipes();
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    command.args(["view", "--no-open"]).arg(recording(running.folder.path()));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("start memtrail view");
    let mut line = String::new();
    let mut out = BufReader::new(child.stdout.take().expect("piped"));
    out.read_line(&mut line).expect("a line");
    let folder = tempfile::tempdir().expect("a folder");
    let mut page = Page { child, url: address(&line), folder };
    let mut events = page.events();
    write_lines(&mut stdin, 20_000);
    wait_for("grown", &mut events);
    drop(stdin);
    assert_eq!(running.child.wait().expect("its end").code(), Some(0));
    assert_eq!(wait_for("ended", &mut events)["outcome"], serde_json::Value::Null);
    let whole = fs::read(recording(running.folder.path()).join("trace.ctf")).expect("the trace");
    let about = page.query(r#"{"query":"about"}"#);
    let shown = &about.header()["recordings"][0];
    assert_eq!(shown["state"], "ended");
    assert_eq!(shown["trace_bytes"], whole.len());
    interrupt(&page.child);
    assert_eq!(page.child.wait().expect("its end").code(), Some(0));
}

#[test]
fn a_program_that_dies_unseen_is_lost() {
    let (mut page, stdin) = run_pipes();
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    command.args(["view", "--no-open"]).arg(recording(page.folder.path()));
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("start memtrail view");
    let mut line = String::new();
    let mut out = BufReader::new(child.stdout.take().expect("piped"));
    out.read_line(&mut line).expect("a line");
    let folder = tempfile::tempdir().expect("a folder");
    let mut view = Page { child, url: address(&line), folder };
    let mut events = view.events();
    wait_for("grown", &mut events);
    // Both the launcher and the program: nobody is left who could close the recording.
    let program = fs::read_to_string(format!("/proc/{0}/task/{0}/children", page.child.id()));
    let program = program.expect("children").trim().to_owned();
    for pid in [page.child.id().to_string(), program] {
        assert!(Command::new("kill").args(["-KILL", &pid]).status().expect("kill").success());
    }
    let _ = page.child.wait();
    drop(stdin);
    let why = wait_for("lost", &mut events);
    assert!(why["why"].as_str().expect("a reason").contains("is gone"), "{why}");
    let about = view.query(r#"{"query":"about"}"#);
    assert_eq!(about.header()["recordings"][0]["state"], "lost");
    interrupt(&view.child);
    assert_eq!(view.child.wait().expect("its end").code(), Some(0));
}

fn interrupt(child: &Child) {
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().expect("kill").success());
}

#[test]
fn on_a_terminal_the_page_stays_until_ctrl_c() {
    let program = build(&named("system"), "ends");
    let folder = tempfile::tempdir().expect("a folder");
    let run = format!(
        "exec {} run --view --no-open --rate 1e-2 -o {} -- {} exit 3",
        env!("CARGO_BIN_EXE_memtrail"),
        recording(folder.path()).display(),
        program.path.display()
    );
    // `script` gives it a terminal, and a shell: one that stayed would die of the Ctrl-C itself.
    let mut command = Command::new("script");
    command.args(["--quiet", "--return", "--command", &run, "/dev/null"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("start script");
    let mut stdin = child.stdin.take().expect("piped");
    let out = BufReader::new(child.stdout.take().expect("piped"));
    let mut lines = out.lines().map_while(Result::ok);
    let stays = lines.find(|line| line.contains("the page stays until Ctrl-C: "));
    let mut page = Page { child, url: address(&stays.expect("it says so")), folder };
    let about = page.query(r#"{"query":"about"}"#);
    assert_eq!(about.header()["recordings"].as_array().expect("an array").len(), 1);
    stdin.write_all(b"\x03").expect("press Ctrl-C");
    assert_eq!(page.child.wait().expect("its end").code(), Some(3), "the program's exit code");
}
