//! Families that grow while they are watched.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::time::Duration;

use serde_json::Value;
use unicode_width::UnicodeWidthStr as _;

use super::terminal::Terminal;
use super::watched::Watched;
use super::{COMPILERS, has, path, top};

fn place(lines: &[String], text: &str) -> Option<usize> {
    lines.iter().position(|line| line.contains(text))
}

#[test]
fn processes_join_and_leave_a_family_that_is_watched() {
    for compiler in COMPILERS {
        let mut program = Watched::start_family(compiler);
        let first = format!("({})", program.pid);
        let mut screen = Terminal::top(&[path(&program.recording)], 24, 120);
        screen.wait("one process", |lines| {
            has(lines, "1 of 1 processes running") && has(lines, &first)
        });
        let child = program.fork();
        let forked = format!("({child})");
        // The child has twice as much, when it is done.
        let lines = screen.wait("both", |lines| {
            let places = [&forked, &first].map(|text| place(lines, text));
            places.iter().all(Option::is_some) && places.is_sorted()
        });
        assert!(lines[0].contains("it.family"), "{lines:#?}");
        assert!(lines[0].contains("2 of 2 processes running"), "{lines:#?}");
        assert!(lines[1].contains("live ") && lines[1].contains("RSS "), "{lines:#?}");
        assert!(has(&lines, " 4 processes ") && has(&lines, "live▼"), "{lines:#?}");

        // One alone, and all again.
        screen.press("\x1b[H\r");
        let lines = screen.wait("the child's rows", |lines| {
            lines[0].contains(&forked) && has(lines, "family_grows.ml:")
        });
        assert!(!has(&lines, "processes running") && !has(&lines, " 4 processes "), "{lines:#?}");
        assert!(has(&lines, "Esc all processes"), "{lines:#?}");
        screen.press("2");
        screen.wait_for("no heap snapshot yet");
        screen.press("\x1b");
        screen.wait("all", |lines| has(lines, "2 of 2 processes running") && has(lines, &first));

        // The tables of all.
        screen.press("1");
        screen.wait("sites", |lines| has(lines, "Family_grows") && has(lines, "change▼"));
        screen.press("s2");
        screen.wait("owners of both", |lines| {
            has(lines, "newest snapshots of 2 processes")
                && has(lines, "owned▼")
                && has(lines, "MiB")
        });
        screen.press("3");
        screen.wait("snapshots", |lines| {
            has(lines, &format!("-{child}.memtrail)")) && has(lines, " threads")
        });
        sums_are_those_of_processes(&program);

        program.end_child();
        screen.press("4");
        screen.wait("its end", |lines| {
            has(lines, "1 of 2 processes running")
                && lines.iter().any(|line| line.contains(&forked) && line.contains("ended"))
        });
        program.end();
        screen.wait_for("0 of 2 processes running");
        screen.press("q");
        assert_eq!(screen.end().code(), Some(0));
        screen.assert_restored();

        let whole = json(&program);
        // What ended first is freed; what ended last is what there was at the end.
        let live: Vec<f64> = processes(&whole).iter().map(live).collect();
        assert!(live[0] > 0.0 && live[1] == 0.0, "{whole:#}");
        assert_eq!(whole["whole"]["live"]["state"], "ended");
        for width in [40, 80, 200] {
            let output = top(&[path(&program.recording), "--once", "--width", &width.to_string()]);
            assert!(output.status.success(), "{output:?}");
            let text = String::from_utf8(output.stdout).expect("UTF-8");
            // Where there is little room, the middle of names is left out.
            assert!(text.contains(&forked) || width == 40, "{text}");
            assert!(text.contains("owned") && text.contains("process"), "{text}");
            assert!(text.lines().all(|line| line.width() <= width), "{text}");
        }
    }
}

fn json(program: &Watched) -> Value {
    let output = top(&[path(&program.recording), "--json"]);
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).expect("one document")
}

fn processes(whole: &Value) -> &[Value] {
    whole["processes"].as_array().expect("processes")
}

fn live(process: &Value) -> f64 {
    process["live"]["value"].as_f64().expect("a number")
}

/// Two processes that run, each with a snapshot.
fn sums_are_those_of_processes(program: &Watched) {
    let of = json(program);
    let processes = processes(&of);
    let generations: Vec<&Value> = processes.iter().map(|process| &process["generation"]).collect();
    assert_eq!(generations, [0, 1]);
    let all = &of["whole"]["live"]["all"];
    for figure in ["live", "allocated", "change", "blocks"] {
        let parts = processes.iter().map(|process| process[figure]["value"].as_f64());
        let sum: f64 = parts.flatten().sum();
        let whole = all[figure]["value"].as_f64().expect("a number");
        assert!((sum - whole).abs() < 1.0, "{figure}: {of:#}");
    }
    let rows = of["whole"]["live"]["rows"].as_array().expect("rows");
    let sum: f64 = rows.iter().map(live).sum();
    assert!((sum - live(all)).abs() < 1.0, "{of:#}");
    let rss: u64 = processes.iter().filter_map(|process| process["rss"].as_u64()).sum();
    assert_eq!(of["whole"]["process"]["rss"], rss);

    let owners = &of["whole"]["owners"];
    assert_eq!(owners["processes"], 2);
    let rows = owners["rows"].as_array().expect("rows");
    let names = rows.iter().map(|row| (row["kind"].to_string(), row["name"].to_string()));
    assert_eq!(names.collect::<BTreeSet<_>>().len(), rows.len(), "{owners:#}");
    // The smallest are left out.
    let sum: f64 = rows.iter().filter_map(|row| row["owned"].as_f64()).sum();
    let alive = owners["alive"].as_f64().expect("bytes");
    assert!(sum <= alive && sum > 0.99 * alive, "{sum} {alive}");
    // 8 MiB in each, as the child has what its parent had, and 16 MiB.
    assert!(owners["alive"].as_u64() > Some(32 << 20), "{owners:#}");
}

/// A folder to which nobody had written yet was no family, and `top` ended.
#[test]
fn a_family_is_waited_for() {
    let parent = tempfile::tempdir().expect("a folder");
    let folder = parent.path().join("later.family");
    std::fs::create_dir(&folder).expect("a folder");
    let output = top(&[path(&folder), "--once"]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("no process has begun its recording yet"), "{stderr}");
    assert!(stderr.contains("hint: memtrail run --children"), "{stderr}");

    let mut screen = Terminal::top(&[path(&folder), "--no-open"], 24, 120);
    screen.wait_for("note: no process has begun its recording yet");
    let mut program = Watched::start_family_in(COMPILERS[0], &folder);
    let first = format!("({})", program.pid);
    screen.wait("the process", |lines| {
        has(lines, &first) && has(lines, "1 of 1 processes running") && !has(lines, "note: ")
    });
    screen.press("v");
    screen.wait_for("http://127.0.0.1:");
    screen.press("q");
    assert_eq!(screen.end().code(), Some(0));
    program.end();
}

/// It was taken for its parent, whose trace it still has open.
#[test]
fn a_forked_process_is_found_by_its_number() {
    let mut program = Watched::start_family(COMPILERS[1]);
    let child = program.fork();
    let own = format!("-{child}.memtrail");
    let has_begun = || {
        let mut members = program.recording.read_dir().expect("a folder").flatten();
        let is_own = |name: OsString| name.to_string_lossy().ends_with(&own);
        members
            .any(|entry| is_own(entry.file_name()) && entry.path().join("recording.json").exists())
    };
    while !has_begun() {
        std::thread::sleep(Duration::from_millis(20));
    }
    for pid in [&child, &program.pid] {
        let output = top(&[pid, "--json"]);
        assert!(output.status.success(), "{output:?}");
        let of: Value = serde_json::from_slice(&output.stdout).expect("one document");
        assert_eq!(of["pid"].to_string(), *pid);
    }
}

/// A member that cannot be read takes nothing from the others, and is named.
#[test]
fn damaged_members_are_named() {
    let mut program = Watched::start_family(COMPILERS[0]);
    let damaged = program.recording.join("cut-1.memtrail");
    std::fs::create_dir(&damaged).expect("a folder");
    std::fs::write(damaged.join("recording.json"), "{").expect("a file");
    std::fs::write(damaged.join("trace.ctf"), "").expect("a file");
    let mut screen = Terminal::top(&[path(&program.recording)], 24, 120);
    let first = format!("({})", program.pid);
    screen.wait("both", |lines| has(lines, &first) && has(lines, "note: cut-1.memtrail: "));
    drop(screen);
    program.end();
    let output = top(&[path(&program.recording), "--once"]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("cut-1.memtrail: "), "{stderr}");
    assert!(stderr.contains("hint: the other processes were used"), "{stderr}");
    assert!(String::from_utf8_lossy(&output.stdout).contains(&first), "{output:?}");
}
