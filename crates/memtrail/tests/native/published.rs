//! Programs that were not made for these tests, from Debian: what they print and write is as without a recording, at the
//! default rate and with every allocation recorded.
//!
//! `cargo xtask setup` brings them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use memtrail_recording::{FileState, Recording};
use memtrail_test_support::contents;
use memtrail_test_support::running::{Case, Seen};

const WAYS: [&[&str]; 2] = [&["--native"], &["--native", "--rate", "1"]];

/// Files by name, with what is in them.
type Files = BTreeMap<PathBuf, Vec<u8>>;

fn files(folder: &Path) -> Files {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let read = |path: PathBuf| (path.file_name().unwrap().into(), fs::read(&path).unwrap());
    entries.filter(|path| path.is_file()).map(read).collect()
}

/// Runs a program in a folder with one file, alone and recorded. It must allocate in `function`.
fn unharmed(program: &str, arguments: &[&str], (name, text): (&str, &str), function: &str) {
    let mut case = Case::command(program, arguments);
    let input = |case: &Case| {
        for left in files(case.folder.path()).keys() {
            fs::remove_file(case.folder.path().join(left)).unwrap();
        }
        fs::write(case.folder.path().join(name), text).unwrap();
    };
    input(&case);
    let alone = case.plain();
    assert!(alone.status.success(), "{alone:?}");
    let left = files(case.folder.path());
    for way in WAYS {
        case = case.options(way);
        input(&case);
        let recorded = case.recorded();
        assert_eq!(recorded.seen, alone, "{program} with {way:?}");
        assert!(files(case.folder.path()) == left, "files of {program} differ with {way:?}");
        let recording = Recording::open(&recorded.recording).unwrap().description.unwrap();
        assert_eq!((recording.trace.state, recording.trace.lost), (FileState::Complete, 0));
        if recording.trace.blocks > 300_000 {
            continue; // Their stacks as texts take minutes.
        }
        let contents = contents::read(&recorded.recording);
        assert!(contents.inside(function).next().is_some(), "{program} with {way:?}: {function}");
        // Libraries that it loads one after the other are known at once.
        let frames = || contents.blocks.iter().flat_map(|block| &block.stack);
        let unknown = frames().find(|frame| frame.starts_with("[code at "));
        assert_eq!(unknown, None, "{program} with {way:?}");
    }
}

#[test]
fn python() {
    let script = "\
import json, threading
def tree(depth):
    return [tree(depth - 1), str(depth) * 3, tree(depth - 1)] if depth else None
def count(node):
    return 1 + count(node[0]) + count(node[2]) if node else 0
texts = []
def work(n):
    texts.append(json.dumps([{'n': n, 'i': i, 'text': str(i) * 7} for i in range(3000)]))
threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(sorted(len(json.loads(text)) for text in texts), count(tree(12)))
print(sum(len(str(2 ** n)) for n in range(3000)))
";
    // An executable with a fixed address, which was taken for one with an allocator of its own. Its names are those of the
    // dynamic symbols.
    unharmed("/usr/bin/python3", &["-I", "work.py"], ("work.py", script), "_PyObject_MakeTpCall");
}

#[test]
fn sqlite() {
    let script = "\
create table visits (id integer primary key, page text, size integer);
with recursive n (i) as (select 1 union all select i + 1 from n where i < 60000)
insert into visits (page, size) select '/page/' || (i * 7919 % 997), i * 31 % 4093 from n;
create index by_page on visits (page);
select page, count(*), sum(size) from visits group by page order by 3 desc, 1 limit 5;
select group_concat(size) from (select size from visits where page = '/page/1' order by id);
";
    let arguments = ["data.db", ".read work.sql"];
    unharmed("/usr/bin/sqlite3", &arguments, ("work.sql", script), "sqlite3_step");
}

/// It frees null pointers while hundreds of thousands of blocks are alive, and has several threads.
#[test]
fn rustc() {
    let mut source = String::from("use std::collections::BTreeMap;\n");
    for n in 0..150 {
        write!(
            source,
            "pub fn f{n}(map: &mut BTreeMap<u64, Vec<String>>, key: u64) -> usize {{\n    \
                 let texts = map.entry(key ^ {n}).or_default();\n    \
                 texts.push(format!(\"{{key}} {n}\"));\n    texts.iter().map(String::len).sum()\n}}\n"
        )
        .unwrap();
    }
    let arguments =
        ["--crate-name", "library", "--crate-type", "lib", "--edition", "2021", "-O", "lib.rs"];
    unharmed("/usr/bin/rustc", &arguments, ("lib.rs", &source), "llvm::DevirtSCCRepeatedPass::run");
}

/// Git runs itself, in processes and threads.
#[test]
fn git() {
    let script = "\
set -e
git init -q -b main repository
cd repository
for n in 1 2 3 4 5; do
  for f in 1 2 3 4 5 6 7 8; do seq $((n * f)) $((n * f * 90)) > file-$f; done
  git add .
  git commit -q -m \"change $n\"
done
git gc -q --aggressive
git fsck --strict
git log --stat
git rev-parse HEAD
";
    let mut case = Case::command("sh", &["-c", script])
        .variable("GIT_CONFIG_GLOBAL", "/dev/null")
        .variable("GIT_CONFIG_NOSYSTEM", "1");
    for person in ["AUTHOR", "COMMITTER"] {
        case = case
            .variable(&format!("GIT_{person}_NAME"), "a person")
            .variable(&format!("GIT_{person}_EMAIL"), "person@example.org")
            .variable(&format!("GIT_{person}_DATE"), "2026-01-01T12:00:00Z");
    }
    let run = |case: &Case, seen: &dyn Fn(&Case) -> Seen| {
        let seen = seen(case);
        fs::remove_dir_all(case.folder.path().join("repository")).unwrap();
        seen
    };
    let alone = run(&case, &Case::plain);
    assert!(alone.status.success(), "{alone:?}");
    for way in WAYS {
        case = case.options(&[way, &["--children"]].concat());
        let recordings = std::cell::Cell::new(0);
        let seen = run(&case, &|case| {
            let (seen, folders) = case.recorded_in_folder();
            recordings.set(folders.len());
            seen
        });
        assert_eq!(seen, alone, "with {way:?}");
        // Those of which some block was sampled.
        assert!(recordings.get() > 5, "{} with {way:?}", recordings.get());
    }
}
