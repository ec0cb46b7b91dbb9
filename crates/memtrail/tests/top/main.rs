//! `memtrail top` in a pseudo-terminal, and without one.
#![forbid(unsafe_code)]

mod family;
mod terminal;
mod watched;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use unicode_width::UnicodeWidthStr as _;

use terminal::Terminal;
use watched::Watched;

/// OCaml 4 and OCaml 5.
const COMPILERS: [&str; 2] = ["system", "ocaml-5.3.0"];

/// `memtrail top ARGS`, without a terminal.
fn top(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    command.arg("top").args(args).env_remove("COLUMNS").stdin(Stdio::null());
    command.output().expect("memtrail starts")
}

fn path(of: &Path) -> &str {
    of.to_str().expect("UTF-8")
}

/// Sends it a signal.
fn signal(terminal: &Terminal, name: &str) {
    let pid = terminal.child.id().to_string();
    let status = Command::new("kill").args([&format!("-{name}"), &pid]).status();
    assert!(status.expect("kill").success());
}

fn has(lines: &[String], text: &str) -> bool {
    lines.iter().any(|line| line.contains(text))
}

#[test]
fn a_program_is_watched_until_it_ends_and_after() {
    for compiler in COMPILERS {
        let mut program = Watched::start(compiler);
        let mut screen = Terminal::top(&[&program.pid], 24, 100);
        let lines = screen.wait("rows", |lines| has(lines, "heap_grows.ml:"));
        assert!(screen.is_taken());
        assert!(lines[0].contains(&format!("({})", program.pid)), "{lines:#?}");
        assert!(lines[0].contains("running"), "{lines:#?}");
        assert!(lines[1].contains("live ") && lines[1].contains("RSS "), "{lines:#?}");
        assert!(has(&lines, "change▼") && has(&lines, "allocated by"), "{lines:#?}");

        // A snapshot, and what its roots own.
        screen.press("2");
        screen.wait_for("no heap snapshot yet");
        screen.press("s");
        let lines = screen.wait("owners", |lines| has(lines, "owned▼") && has(lines, "100"));
        assert!(lines.iter().any(|line| line.contains("MiB")), "{lines:#?}");
        screen.press("3");
        screen.wait("the snapshot", |lines| has(lines, "1 (request)") && has(lines, "promoted "));

        // The target ends: that is shown, and the figures stay.
        screen.press("1");
        program.end();
        let lines = screen.wait_for("ended");
        assert!(has(&lines, "heap_grows.ml:"), "{lines:#?}");
        screen.press("s");
        screen.wait_for("no snapshot: ");
        screen.press("q");
        assert_eq!(screen.end().code(), Some(0));
        screen.assert_restored();
    }
}

/// It has allocated all it has, and writes nothing of that until it allocates again: `live 0 B`.
#[test]
fn a_native_program_that_is_quiet_is_shown_with_what_it_has() {
    let folder = tempfile::tempdir().expect("a folder");
    let recording = folder.path().join("it.memtrail");
    let mut launcher = Command::new(env!("CARGO_BIN_EXE_memtrail"))
        .args(["run", "--native", "--rate", "1e-3", "-q", "-o", path(&recording), "--", "perl", "-e"])
        .arg("my @all = map { 'x' x 100_000 } 1 .. 200; print qq(filled\n); $| = 1; print ''; <STDIN>")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("memtrail run");
    let mut line = String::new();
    BufReader::new(launcher.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
    let mut screen = Terminal::top(&[path(&recording)], 24, 100);
    // Few of its functions have no names; by chance none of them is among the samples.
    let lines = screen.wait("what is alive", |lines| has(lines, "Perl_"));
    assert!(lines[1].contains("live 1") || lines[1].contains("live 2"), "{lines:#?}");
    screen.press("q");
    assert_eq!(screen.end().code(), Some(0));
    drop(launcher.stdin.take());
    assert!(launcher.wait().expect("it ends").success());
}

#[test]
fn keys_choose_what_is_shown() {
    let program = Watched::start(COMPILERS[0]);
    let mut screen = Terminal::top(&[path(&program.recording)], 30, 120);
    screen.wait("rows", |lines| has(lines, "heap_grows.ml:"));
    screen.press("\x1b[D");
    screen.wait("another order", |lines| has(lines, "live▼") && !has(lines, "change▼"));
    screen.press("r");
    screen.wait_for("live▲");
    screen.press("/nowhere");
    screen.wait("no rows", |lines| has(lines, "/nowhere") && has(lines, "no name has this text"));
    screen.press("\x1b");
    screen.wait("rows", |lines| has(lines, "heap_grows.ml:") && !has(lines, "/nowhere"));
    screen.press("/heap_gr\r");
    screen.wait_for(" /heap_gr");
    screen.press("?");
    screen.wait("the keys", |lines| has(lines, "open the viewer") && !has(lines, "live▲"));
    screen.press("?");
    screen.wait_for("live▲");
    screen.press("bb");
    screen.wait("modules", |lines| has(lines, "Heap_grows") && !has(lines, ".ml:"));
    // The viewer's address.
    screen.press("v");
    screen.wait_for("http://127.0.0.1:");
    screen.press("\x1b");
    screen.wait("the keys", |lines| !has(lines, "http://"));
    // Ctrl-C.
    screen.press("\x03");
    assert_eq!(screen.end().code(), Some(0));
    screen.assert_restored();
}

#[test]
fn narrow_and_low_terminals_show_what_has_room() {
    let program = Watched::start(COMPILERS[0]);
    let mut screen = Terminal::top(&[&program.pid], 24, 100);
    screen.wait("rows", |lines| has(lines, "heap_grows.ml:") && has(lines, "blocks"));
    screen.resize(12, 40);
    let lines = screen.wait("less", |lines| {
        has(lines, "allocated by") && !has(lines, "blocks") && has(lines, "q quit")
    });
    assert_eq!(lines.len(), 12);
    assert!(lines[0].contains("heap_grows") && lines[1].contains("live "), "{lines:#?}");
    assert!(lines.iter().all(|line| line.width() <= 40), "{lines:#?}");
    for (rows, columns) in [(1, 1), (2, 10), (3, 200)] {
        screen.resize(rows, columns);
        screen.press("\x0c123?");
    }
    screen.resize(24, 80);
    screen.press("q");
    assert_eq!(screen.end().code(), Some(0));
    screen.assert_restored();
}

/// A key that came with a change of the size was not seen until another one was pressed.
#[test]
fn keys_that_come_with_a_change_of_the_size_are_not_lost() {
    let program = Watched::start(COMPILERS[0]);
    let mut screen = Terminal::top(&[&program.pid], 24, 80);
    screen.wait("rows", |lines| has(lines, "allocated by"));
    for round in 0..200_u16 {
        let is_help = round % 2 == 0;
        screen.resize(20 + round % 3, 80);
        std::thread::sleep(std::time::Duration::from_micros(u64::from(round) * 10));
        screen.press("?");
        screen.wait("what `?` shows", |lines| has(lines, "this list") == is_help);
    }
    screen.press("q");
    assert_eq!(screen.end().code(), Some(0));
}

#[test]
fn signals_end_or_suspend_it_and_the_terminal_is_restored() {
    use std::os::unix::process::ExitStatusExt as _;
    let program = Watched::start(COMPILERS[0]);
    for (name, number) in [("TERM", 15), ("HUP", 1), ("INT", 2)] {
        let mut screen = Terminal::top(&[&program.pid], 24, 80);
        screen.wait_for("heap_grows");
        signal(&screen, name);
        assert_eq!(screen.end().signal(), Some(number));
        screen.assert_restored();
    }
    let mut screen = Terminal::top(&[&program.pid], 24, 80);
    for by_key in [true, false] {
        screen.wait("its screen", |lines| has(lines, "allocated by"));
        if by_key {
            screen.press("\x1a");
        } else {
            signal(&screen, "TSTP");
        }
        screen.wait_for_state('T');
        screen.wait("the shell's screen", |lines| !has(lines, "allocated by"));
        screen.assert_restored();
        signal(&screen, "CONT");
    }
    screen.wait("its screen", |lines| has(lines, "allocated by"));
    assert!(screen.is_taken());
    screen.press("q");
    assert_eq!(screen.end().code(), Some(0));
    screen.assert_restored();
}

#[test]
fn without_a_terminal_the_figures_of_the_moment_are_printed() {
    let mut program = Watched::start(COMPILERS[1]);
    let mut screen = Terminal::top(&[&program.pid], 24, 100);
    screen.wait("rows", |lines| has(lines, "heap_grows.ml:"));
    screen.press("s");
    screen.wait_for("snapshot 1");
    drop(screen);
    let json = |args: &[&str]| -> Value {
        let output = top(&[args, &["--json"]].concat());
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice(&output.stdout).expect("one document")
    };
    let of = json(&[&program.pid]);
    assert_eq!(of["pid"].to_string(), program.pid);
    assert_eq!((&of["live"]["state"], &of["owners"]["snapshot"]), (&"growing".into(), &1.into()));
    assert!(of["process"]["rss"].as_u64() > Some(32 << 20), "{of:#}");
    // Variables without a name say what they hold, and nothing else does.
    let owners = of["owners"]["rows"].as_array().expect("rows");
    let holding = |row: &&Value| row["holds"].is_string();
    assert!(owners.iter().any(|row| holding(&row)), "{of:#}");
    assert!(owners.iter().filter(holding).all(|row| row["kind"] == "global"), "{of:#}");
    program.end();

    let of = json(&[path(&program.recording)]);
    assert_eq!((&of["live"]["state"], &of["process"]), (&"ended".into(), &Value::Null));
    assert!(of["live"]["outcome"].is_string() && of["no_snapshot"].is_string(), "{of:#}");
    let rows = of["live"]["rows"].as_array().expect("rows");
    // A sum of estimates of rows is the estimate of all.
    let sum: f64 = rows.iter().filter_map(|row| row["live"]["value"].as_f64()).sum();
    let all = of["live"]["all"]["live"]["value"].as_f64().expect("a number");
    assert!((sum - all).abs() < 1.0, "{sum} {all}");
    for width in [40, 80, 200] {
        let output = top(&[path(&program.recording), "--once", "--width", &width.to_string()]);
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(text.contains("heap_grows") && text.contains("owned"), "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
        assert!(text.lines().all(|line| line.width() <= width), "{text}");
    }
}

/// It was shown as running, and its types as a file that cannot be read.
#[test]
fn a_trace_of_a_program_that_ended_in_order_has_ended() {
    let trace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/tests/fixtures/cache-v2.ctf");
    let output = top(&[path(&trace), "--once"]);
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let first = text.lines().next().unwrap_or_default();
    assert!(first.starts_with("cache") && first.ends_with("ended"), "{text}");
}

#[test]
fn what_cannot_be_watched_is_named() {
    let me = std::process::id().to_string();
    for (target, message) in [
        (me.as_str(), "is not recorded"),
        ("4294967295", "there is no process 4294967295"),
        ("nowhere.memtrail", "nowhere.memtrail"),
    ] {
        let output = top(&[target]);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(3), 0), "{stderr}");
        assert!(stderr.starts_with("memtrail: ") && stderr.contains(message), "{stderr}");
    }
}

/// It said to press a key.
#[test]
fn without_a_terminal_there_is_no_key_to_press() {
    let program = Watched::start("system");
    let output = top(&[&program.pid, "--once"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let expected = format!("memtrail snapshot {} takes one", program.pid);
    assert!(text.contains(&expected) && !text.contains("press "), "{text}");
}

/// `top` said that it was started with --snapshot off.
#[test]
fn top_and_snapshot_say_the_same_of_a_native_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let recording = folder.path().join("it.memtrail");
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    command.args(["run", "--native", "-q", "-o"]).arg(&recording).args(["--", "cat"]);
    let mut program =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut byte = [0];
    // It writes once it is recorded.
    program.stdin.as_mut().expect("piped").write_all(b"x").expect("it reads");
    program.stdout.as_mut().expect("piped").read_exact(&mut byte).expect("it writes");
    let figures = top(&[path(&recording), "--once"]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    let refused = command.arg("snapshot").arg(&recording).output().expect("memtrail starts");
    drop(program.stdin.take());
    assert!(program.wait().expect("it ends").success());
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    let why =
        said.lines().next().and_then(|line| line.strip_prefix("memtrail: ")).expect("a reason");
    assert!(why.ends_with(" was started without --snapshot request"), "{said}");
    let figures = String::from_utf8_lossy(&figures.stdout).into_owned();
    assert!(figures.contains(&format!("no snapshot can be taken: {why}")), "{figures}");
}

/// "none can be taken: it is a native program", and "no heap snapshot yet" once one had been taken.
#[test]
fn top_names_the_snapshots_of_a_native_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let recording = folder.path().join("it.memtrail");
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    command.args(["run", "--native", "--snapshot", "request", "-q", "-o"]).arg(&recording);
    command.args(["--", "cat"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut program = command.spawn().expect("it starts");
    let mut byte = [0];
    // It writes once it is recorded.
    program.stdin.as_mut().expect("piped").write_all(b"x").expect("it reads");
    program.stdout.as_mut().expect("piped").read_exact(&mut byte).expect("it writes");
    let figures = || {
        let output = top(&[path(&recording), "--once", "--width", "200"]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let before = figures();
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    let taken = command.arg("snapshot").arg(&recording).output().expect("memtrail starts");
    let after = figures();
    drop(program.stdin.take());
    assert!(program.wait().expect("it ends").success());
    assert!(taken.status.success(), "{taken:?}");
    assert!(before.contains("memtrail snapshot ") && before.contains(" takes one"), "{before}");
    let leaks = format!("snapshot 1: memtrail leaks {} shows", recording.display());
    assert!(after.contains(&leaks), "{after}");
    for text in [before, after] {
        let denied = text.contains("can be taken") || text.contains("no heap snapshot yet");
        assert!(!denied && text.contains("a native program has no collections"), "{text}");
    }
}
