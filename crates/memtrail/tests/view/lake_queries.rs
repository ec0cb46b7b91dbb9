//! The guide "Many processes, with SQL": its queries give equal rows on two engines, and its tables are those of the files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use memtrail_lake::schema::{Column, Table, Type};

use crate::lake::{engines, exported, recording};

fn guide() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/fleet.md")
}

/// Versions 1.0, which does not leak, and 1.1, which does, each of two processes.
fn lake(folder: &Path) -> PathBuf {
    let lake = folder.join("lake");
    let mut recordings = Vec::new();
    for (version, name) in [("1.0", "fixed-4718.memtrail"), ("1.1", "leaks-4711.memtrail")] {
        for pid in [100, 200] {
            let labels = [("service.name", "shop"), ("service.version", version)];
            recordings.push(recording(folder, name, pid, &labels));
        }
    }
    let paths: Vec<&Path> = recordings.iter().map(PathBuf::as_path).collect();
    exported(&lake, &[], &paths);
    lake
}

#[test]
fn queries_of_the_guide_have_equal_answers_on_two_engines() {
    let folder = tempfile::tempdir().unwrap();
    let lake = lake(folder.path());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/view/lake_queries.py");
    let mut python = Command::new("python3");
    python.env("PYTHONPATH", engines()).args([&script, &guide(), &lake]);
    let output = python.output().expect("python3 runs");
    let (out, error) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{error}");
    assert_eq!(out.lines().filter(|line| line.starts_with("equal: ")).count(), 5, "{out}");
    // The leak is found: what grew, and its owner.
    assert!(out.contains("grew: Leaks."), "{out}");
    assert!(out.contains("owner grew: global Leaks.Listeners.subscribed"), "{out}");
}

#[test]
fn the_guide_lists_every_column() {
    let guide = fs::read_to_string(guide()).unwrap();
    for table in Table::ALL {
        let (_, section) = guide.split_once(&format!("\n### {}\n", table.name())).unwrap();
        let section = section.split("\n#").next().unwrap();
        let listed = section.lines().filter_map(|line| line.strip_prefix("| `"));
        let listed: Vec<(String, String)> = listed
            .map(|row| {
                let mut cells = row.split('|').map(str::trim);
                let name = cells.next().unwrap().trim_end_matches('`');
                (name.to_owned(), cells.next().unwrap().to_owned())
            })
            .collect();
        let columns = table.columns().iter().map(|column: &Column| {
            let r#type = match column.r#type {
                Type::Int => "int",
                Type::Float => "float",
                Type::Text => "text",
                Type::Bool => "bool",
                Type::Ints => "list of int",
                Type::Texts => "map",
            };
            let mark = if column.is_nullable { "?" } else { "" };
            (column.name.to_owned(), format!("{type}{mark}"))
        });
        assert_eq!(listed, columns.collect::<Vec<_>>(), "{}", table.name());
        assert_eq!(section.contains("Written with `--blocks`"), table.is_of_blocks());
    }
}
