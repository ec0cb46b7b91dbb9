//! Debian's ocsigenserver: what it answers is the same, to each request.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::running::Case;
use crate::site::{free_port, get, site};
use crate::subject::{RATES, readable};

/// How long it may take to answer the first request.
const PATIENCE: Duration = Duration::from_secs(120);
/// How often each page is asked for.
const ROUNDS: usize = 5;

/// Answers by page and round, but for their dates.
type Answers = BTreeMap<(String, usize), Option<String>>;

/// Asks for all pages and two that are not there, then tells the server to end.
fn visit(port: u16, folder: &Path) -> Answers {
    let begun = Instant::now();
    while get(port, "/0.html").is_none_or(|answer| answer.is_empty()) {
        assert!(begun.elapsed() < PATIENCE, "the server does not answer");
        thread::sleep(Duration::from_millis(50));
    }
    let mut answers = Answers::new();
    for round in 0..ROUNDS {
        let pages = (0..20).map(|page| format!("/{page}.html"));
        for page in pages.chain(["/absent.html".into(), "/..%2fsecret".into()]) {
            answers.insert((page.clone(), round), get(port, &page));
        }
    }
    let mut commands = OpenOptions::new().write(true).open(folder.join("command")).expect("a pipe");
    // Without the number of seconds it waits until it thinks that all visitors have left.
    commands.write_all(b"shutdown 1\n").expect("the server reads");
    answers
}

#[test]
fn ocsigenserver() {
    let port = free_port();
    let folder = tempfile::tempdir().expect("a folder");
    let file = site(folder.path(), port);
    let arguments = ["-s", "-c", file.to_str().expect("UTF-8")];
    let mut case = Case::command("ocsigenserver.opt", &arguments);
    let visited = |seen: &dyn Fn()| {
        thread::scope(|scope| {
            let visitor = scope.spawn(|| visit(port, folder.path()));
            seen();
            visitor.join().expect("answers")
        })
    };
    let alone = std::cell::OnceCell::new();
    let answers = visited(&|| drop(alone.set(case.plain())));
    let alone = alone.into_inner().expect("it ended");
    assert!(alone.status.success(), "{alone:?}");
    let found = |answer: &&Option<String>| {
        answer.as_ref().is_some_and(|answer| answer.starts_with("HTTP/1.1 200"))
    };
    assert_eq!(answers.values().filter(found).count(), 20 * ROUNDS, "{answers:?}");
    for rate in RATES {
        let options = ["--rate", rate, "--snapshot", "every-major,exit", "--at-most", "3"];
        case = case.options(&options);
        let recorded = std::cell::OnceCell::new();
        let same = visited(&|| drop(recorded.set(case.recorded())));
        let recorded = recorded.into_inner().expect("it ended");
        assert_eq!(recorded.seen, alone, "at {rate}");
        assert!(same == answers, "its answers differ at {rate}");
        readable(&recorded);
        fs::remove_dir_all(&recorded.recording).expect("a recording");
    }
}
