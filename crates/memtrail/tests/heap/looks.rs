//! What is printed: no wider than asked for, no colours into pipes, JSON that is JSON.

use std::process::{Command, Stdio};

use serde_json::Value;
use unicode_width::UnicodeWidthStr as _;

use crate::{Held, answer, compilers, heap, printed, programs};

/// Every command, with arguments that the snapshot of `heap_held` has an answer to.
const QUESTIONS: &[&[&str]] = &[
    &["info"],
    &["roots"],
    &["roots", "--sort", "reachable"],
    &["roots", "--retained"],
    &["joint"],
    &["joint", "Heap_held", "--limit", "0"],
    &["roots", "Heap_held"],
    &["roots", "--min", "1k", "--kind", "global", "--limit", "3"],
    &["roots", "--min", "1000G"],
    &["stack"],
    &["stack", "--all"],
    &["dominators"],
    &["dominators", "--root", "Heap_held"],
    &["dominators", "--block", "0"],
    &["histogram"],
    &["histogram", "--by", "kind"],
    &["histogram", "--by", "owner"],
    &["histogram", "--owner", "Heap_held / field 2"],
    &["containers"],
    &["containers", "--kind", "hashtbl", "--kind", "array", "--limit", "0"],
    &["path", "--kind", "string"],
    &["path", "--type", "array"],
    &["path", "--block", "0"],
    &["path", "--block", "0", "--all"],
    &["path", "--block", "0", "--unfolded"],
    &["retained", "--kind", "string", "--root", "Heap_held", "--block", "0"],
    &["strings"],
    &["blocks"],
    &["blocks", "kind:string", "size:>16", "--sort", "size"],
    &["diff"],
    &["growth"],
    &["survivors"],
    &["survivors", "--by", "module", "--sort", "oldest", "--limit", "0"],
];

#[test]
fn lines_fit_and_pipes_get_no_colours() {
    let held = Held::new("system", &["--contents"]);
    for question in QUESTIONS {
        let mut words = question.to_vec();
        words.insert(1, held.recording().to_str().unwrap());
        for width in [None, Some("40"), Some("80"), Some("200")] {
            let asked: Vec<&str> = width.into_iter().flat_map(|width| ["--width", width]).collect();
            let text = printed(words.iter().chain(&asked));
            assert!(!text.is_empty() && !text.contains('\u{1b}'), "{question:?}: {text}");
            // Without a terminal there is no limit.
            let columns = width.map_or(usize::MAX, |width| width.parse().unwrap());
            for line in text.lines() {
                assert!(line.width() <= columns, "{question:?}, {columns} columns: {line}");
                assert_eq!(line, line.trim_end(), "{question:?}");
            }
        }
        let json = printed(words.iter().chain(&["--json"]));
        let json = serde_json::from_str::<serde_json::Value>(&json)
            .unwrap_or_else(|error| panic!("{question:?}: {error}"));
        assert_eq!(json["format"], 1, "{question:?}");
    }
}

/// `heap histogram --json --limit 3` had 694 rows.
#[test]
fn limits_are_those_of_json_too() {
    let held = Held::sampled("1e-2", "system", &["--contents"]);
    for (question, tables) in [
        (&["roots"][..], &["rows"][..]),
        (&["roots", "--retained"], &["rows"]),
        (&["dominators"], &["root_nodes", "groups"]),
        (&["histogram"], &["rows"]),
        (&["histogram", "--by", "kind"], &["rows"]),
        (&["histogram", "--by", "owner"], &["rows"]),
        (&["containers"], &["rows"]),
        (&["path", "--kind", "string"], &["paths"]),
        (&["strings"], &["duplicates"]),
        (&["blocks"], &["rows"]),
        (&["sites"], &["rows"]),
        (&["diff"], &["owners", "roots", "kinds"]),
        (&["growth"], &["rows"]),
        (&["survivors"], &["rows"]),
    ] {
        let ask = |limit: &str| {
            let words = [&question[1..], &["--limit", limit]].concat();
            answer(question[0], held.recording(), &words)
        };
        let rows = |answer: &Value, limit: usize| {
            let lengths = tables.iter().map(|table| answer[table].as_array().unwrap().len());
            lengths.inspect(|length| assert!(*length <= limit, "{question:?}")).sum::<usize>()
        };
        let (all, one) = (ask("0"), ask("1"));
        let left_out = |answer: &Value| answer["left_out"].as_u64().unwrap() as usize;
        assert_eq!(left_out(&all), 0, "{question:?}");
        assert_eq!(rows(&all, usize::MAX), rows(&one, 1) + left_out(&one), "{question:?}");
    }
}

/// `heap roots` dropped types at 80 columns and in pipes, and `heap sites` printed `Stdlib.Buf…ffer.ml:34`.
#[test]
fn names_types_and_positions_are_not_cut() {
    let held = Held::sampled("1", "system", &[]);
    for (question, figure) in [("roots", "owned"), ("sites", "alive")] {
        let words = [question, held.recording().to_str().unwrap(), "--limit", "0"];
        let narrow = printed(words.iter().chain(&["--width", "60"]));
        let wide = printed(words);
        assert!(narrow.contains(figure) && !narrow.contains('…'), "{narrow}");
        // Folders of positions may go.
        let file = |word: &str| match word.rsplit_once('/') {
            Some((_, file)) if file.contains(".ml") => file.to_owned(),
            _ => word.to_owned(),
        };
        let letters = |text: &str| {
            let words = text.split_whitespace().map(file);
            words.map(|word| word.chars().filter(|c| c.is_alphanumeric()).count()).sum::<usize>()
        };
        assert_eq!(letters(&narrow), letters(&wide), "{narrow}{wide}");
    }
}

#[test]
fn what_several_roots_keep_is_said() {
    let held = Held::new("system", &[]);
    let text = printed(["roots", held.last().to_str().unwrap(), "--retained", "--limit", "12"]);
    let line = |part: &str| {
        text.lines().find(|line| line.contains(part)).unwrap_or_else(|| panic!("{text}"))
    };
    assert!(line("retained by all roots").contains("100 %"), "{text}");
    // Below the module, and above its fields.
    let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("no {part} in {text}"));
    assert!(place("Heap_held\n") < place("jointly retained by several parts"), "{text}");
    assert!(place("jointly retained by several parts") < place("field 2"), "{text}");
}

#[test]
fn whoever_reads_may_stop() {
    let held = Held::new("system", &[]);
    for json in [false, true] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
        command.args(["heap", "roots", "--limit", "0", "--min", "0"]).arg(held.last());
        command.args(json.then_some("--json")).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
    }
}

#[test]
fn the_second_question_reads_the_index_and_says_the_same() {
    let held = Held::new("system", &[]);
    let file = held.last();
    let file = file.to_str().unwrap();
    let index = format!("{file}.index");
    let first = printed(["roots", file]);
    let made = std::fs::metadata(&index).expect("an index").modified().unwrap();
    assert_eq!(printed(["roots", file]), first);
    assert_eq!(std::fs::metadata(&index).unwrap().modified().unwrap(), made, "made once");
    // One that is damaged is made again.
    std::fs::write(&index, b"nothing").unwrap();
    assert_eq!(printed(["roots", file]), first);
    assert!(std::fs::metadata(&index).unwrap().len() > 100);
}

#[test]
fn where_to_go_on_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let program = programs::build(&compilers::named("system"), "heap_held");
    let memtrail = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
        command.current_dir(folder.path()).args(words).output().unwrap()
    };
    let next = "memtrail heap roots here.memtrail";
    let program = program.path.to_str().unwrap();
    let run = memtrail(&["run", "--snapshot", "exit", "-o", "here.memtrail", "--", program]);
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(
        said.contains("1 heap snapshot, ") && said.contains(&format!("next: {next}\n")),
        "{said}"
    );
    let report = memtrail(&["report", "here.memtrail"]);
    let said = String::from_utf8_lossy(&report.stdout);
    assert!(said.ends_with(&format!("what retains it: {next}\n")), "{said}");
    // Without snapshots there is nothing to go on to.
    let run = memtrail(&["run", "-o", "plain.memtrail", "--", program]);
    assert!(!String::from_utf8_lossy(&run.stderr).contains("heap"), "{run:?}");
    let report = memtrail(&["report", "plain.memtrail"]);
    assert!(!String::from_utf8_lossy(&report.stdout).contains("memtrail heap"), "{report:?}");
}

#[test]
fn help_names_every_command() {
    let output = heap(["--help"]);
    let help = String::from_utf8(output.stdout).unwrap();
    for question in QUESTIONS {
        assert!(help.contains(question[0]), "{}", question[0]);
    }
}
