//! Heap commands of a family: sums over the last snapshots of its processes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{figure, json, memtrail, printed, recorded};

const EXACT: [&str; 5] = ["--rate", "1", "--children", "--snapshot", "exit"];

fn rows(of: &Value) -> &[Value] {
    of["rows"].as_array().unwrap_or_else(|| panic!("no rows in {of:#}"))
}

/// A family with a snapshot of each process at its end, and the recordings that have one.
fn forks() -> (impl Sized, PathBuf, Vec<PathBuf>) {
    let (case, seen, family) = recorded("system", "family", &EXACT);
    assert!(seen.status.success(), "{seen:?}");
    let info = json(&["heap", "info", "--json"], &family);
    let processes = info["processes"].as_array().expect("processes");
    let folder = |process: &Value| PathBuf::from(process["recording"].as_str().unwrap());
    let recordings: Vec<PathBuf> = processes.iter().map(folder).collect();
    assert_eq!(recordings.len(), 5, "the first of the two programs of a process has none");
    (case, family, recordings)
}

/// Sums over rows of the same name of each process by itself.
fn by_name(recordings: &[PathBuf], words: &[&str], figures: &[&str]) -> BTreeMap<String, Vec<u64>> {
    let mut sums: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for recording in recordings {
        for row in rows(&json(words, recording)) {
            let name = name_of(row);
            let sum = sums.entry(name).or_insert_with(|| vec![0; figures.len()]);
            sum.iter_mut().zip(figures).for_each(|(sum, name)| *sum += figure(row, name));
        }
    }
    sums
}

/// A type or kind of blocks, or the kind, name and type of a root.
fn name_of(row: &Value) -> String {
    let text = |name: &str| row[name].as_str().map(str::to_owned);
    let path = || {
        let path = row["path"].as_array()?;
        Some(path.iter().map(|part| part.as_str().unwrap()).collect::<Vec<_>>().join(" / "))
    };
    let name = text("name").or_else(|| text("variable")).or_else(path).unwrap_or_default();
    // What no variable reaches has no name.
    let is_unnamed = name.is_empty() || row["kind"] == "static";
    let name = if is_unnamed { "static data".to_owned() } else { name };
    let ty = text("type").unwrap_or_default();
    format!("{} {name} {ty}", row["kind"].as_str().expect("a kind"))
}

#[test]
fn histograms_of_a_family_are_sums_over_its_processes() {
    let (_case, family, recordings) = forks();
    for by in ["type", "kind"] {
        let words = ["heap", "histogram", "--by", by, "--limit", "0", "--json"];
        let whole = json(&words, &family);
        let figures = ["blocks", "bytes", "external"];
        let expected = by_name(&recordings, &words, &figures);
        let found: BTreeMap<String, Vec<u64>> = (rows(&whole).iter())
            .map(|row| (name_of(row), figures.iter().map(|name| figure(row, name)).collect()))
            .collect();
        assert_eq!(found, expected, "{by}");
        for row in rows(&whole) {
            let parts = row["processes"].as_array().expect("parts");
            let sum: u64 = parts.iter().map(|part| figure(part, "blocks")).sum();
            assert_eq!(sum, figure(row, "blocks"), "{row:#}");
        }
        let alone = recordings.iter().map(|recording| json(&words, recording));
        let [mut blocks, mut unreachable] = [0, 0];
        for alone in alone {
            blocks += figure(&alone, "blocks");
            unreachable += figure(&alone, "unreachable_blocks");
        }
        assert_eq!(figure(&whole, "blocks"), blocks);
        assert_eq!(figure(&whole, "unreachable_blocks"), unreachable);
        let of_generations = whole["generations"].as_array().expect("generations").iter();
        let of_generations: Vec<[u64; 2]> = of_generations
            .map(|one| ["processes", "blocks"].map(|name| figure(one, name)))
            .collect();
        assert_eq!(
            of_generations.iter().map(|[processes, _]| *processes).collect::<Vec<_>>(),
            [1, 3, 1]
        );
        assert_eq!(of_generations.iter().map(|[_, blocks]| blocks).sum::<u64>(), blocks);
    }
    let text = printed(&["heap", "histogram", "--width", "80"], &family);
    for expected in ["5 processes with snapshots", "generation 1: 3 processes", "that is counted"] {
        assert!(text.contains(expected), "{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn owners_of_a_family_are_sums_over_its_processes() {
    let (_case, family, recordings) = forks();
    let words = ["heap", "histogram", "--by", "owner", "--limit", "0", "--json"];
    let whole = json(&words, &family);
    let figures = ["blocks", "owned", "owned_external", "retained"];
    let expected = by_name(&recordings, &words, &["blocks", "owned", "owned_external", "retained"]);
    let found: BTreeMap<String, Vec<u64>> = (rows(&whole).iter())
        .map(|row| {
            let sums =
                ["blocks", "owned", "owned_external", "retained"].map(|name| figure(row, name));
            (name_of(row), sums.to_vec())
        })
        .collect();
    assert_eq!(found, expected, "{figures:?}");
    // The lists of all processes are owned by the one variable, which the forks have of their parents, too.
    let kept = rows(&whole)
        .iter()
        .find(|row| name_of(row).contains("Family") && figure(row, "blocks") > 2 * 2_000);
    let kept = kept.unwrap_or_else(|| panic!("{whole:#}"));
    assert_eq!(kept["processes"].as_array().map(Vec::len), Some(5), "{kept:#}");
    let path: Vec<&str> =
        kept["path"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    let one = path.join(" / ");
    let of_owner = json(&["heap", "histogram", "--by", "kind", "--owner", &one, "--json"], &family);
    assert_eq!(figure(&of_owner, "blocks"), figure(kept, "blocks"));
}

#[test]
fn blocks_containers_and_sites_of_a_family_are_of_all_its_processes() {
    let (_case, family, recordings) = forks();
    let large = |path: &Path| {
        let words = ["heap", "blocks", "--sort", "size", "--json", path.to_str().expect("UTF-8")];
        json(&words, Path::new("size:>16"))
    };
    let whole = large(&family);
    let (mut count, mut largest) = (0, 0);
    for recording in &recordings {
        let alone = large(recording);
        count += figure(&alone, "count");
        largest = largest.max(figure(&rows(&alone)[0], "size"));
    }
    assert_eq!(figure(&whole, "count"), count);
    let sizes: Vec<u64> = rows(&whole).iter().map(|row| figure(row, "size")).collect();
    assert_eq!((sizes.len(), sizes[0]), (20, largest));
    assert!(sizes.is_sorted_by(|a, b| a >= b), "{sizes:?}");
    let first = &rows(&whole)[0];
    let of = Path::new(first["recording"].as_str().expect("a recording"));
    let number = first["block"].to_string();
    let block = json(&["heap", "block", "--json", of.to_str().unwrap()], Path::new(&number));
    assert_eq!(
        block["facts"]["size"].as_u64().or(block["size"].as_u64()),
        Some(largest),
        "{block:#}"
    );
    let table = printed(&["heap", "blocks", "--csv"], &family);
    assert!(table.starts_with("process,block,kind,size"), "{table}");
    assert_eq!(table.lines().count(), 21);

    let words = ["heap", "containers", "--limit", "0", "--json"];
    let whole = json(&words, &family);
    let count: u64 = recordings.iter().map(|one| figure(&json(&words, one), "count")).sum();
    assert!(count >= 5, "each has its lists");
    assert_eq!((figure(&whole, "count"), rows(&whole).len() as u64), (count, count));

    let words = ["heap", "sites", "--limit", "0", "--json"];
    let whole = json(&words, &family);
    let alive = |of: &Value| of["alive"]["value"].as_f64().expect("bytes");
    let of_rows: f64 = rows(&whole).iter().map(alive).sum();
    assert!((of_rows - alive(&whole)).abs() < 1.0, "{of_rows} {}", alive(&whole));
    let alone: f64 = recordings.iter().map(|one| alive(&json(&words, one))).sum();
    assert!((alone - alive(&whole)).abs() < 1.0, "{alone} {}", alive(&whole));
    for command in ["blocks", "containers", "sites"] {
        let text = printed(&["heap", command, "--width", "80"], &family);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(text.contains("--process PID") || text.contains("in family-"), "{text}");
    }
}

#[test]
fn growth_of_a_family_is_that_of_each_process() {
    let options = ["--rate", "1", "--children", "--snapshot", "every-major,exit", "--at-most", "6"];
    let (_case, seen, family) = recorded("system", "growing_family", &options);
    assert!(seen.status.success(), "{seen:?}");
    let words = ["heap", "growth", "--limit", "0", "--json"];
    let whole = json(&words, &family);
    let processes = whole["processes"].as_array().expect("processes");
    assert_eq!(processes.len(), 2, "{whole:#}");
    let mut sizes = Vec::new();
    for process in processes {
        let folder = Path::new(process["recording"].as_str().unwrap());
        let alone = json(&words, folder);
        sizes.extend(rows(&alone).iter().map(|row| figure(row, "grown")));
    }
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    assert!(!sizes.is_empty(), "{whole:#}");
    let found: Vec<u64> = rows(&whole).iter().map(|row| figure(row, "grown")).collect();
    assert_eq!(found, sizes);
    let pid = processes[0]["recording"].as_str().and_then(|path| path.rsplit('-').next());
    let pid = pid.and_then(|name| name.strip_suffix(".memtrail")).expect("a process");
    let one = json(&["heap", "growth", "--json", "--process", pid], &family);
    assert!(one["rows"].is_array() && one["format"] == 1, "{one:#}");
}

#[test]
fn what_is_of_one_process_names_those_that_can_be_chosen() {
    let (_case, family, recordings) = forks();
    let commands: [&[&str]; 2] =
        [&["heap", "path", "--block", "0"], &["heap", "dominators", "--block", "0"]];
    for command in commands {
        let refused = memtrail(command, &family);
        assert_eq!(refused.status.code(), Some(2), "{command:?} {refused:?}");
        let stderr = String::from_utf8_lossy(&refused.stderr);
        assert!(stderr.contains("5 processes in "), "{command:?} {stderr}");
        assert!(stderr.contains("have heap snapshots\nhint: choose one: --process "), "{stderr}");
    }
    // One that cannot be read is named, and the others are used.
    let file = recordings[0].join("0001.heap");
    std::fs::write(&file, "no snapshot").unwrap();
    let output = memtrail(&["heap", "histogram", "--json"], &family);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(answer["processes"].as_array().map(Vec::len), Some(4));
    assert!(String::from_utf8_lossy(&output.stderr).contains("0001.heap"), "{output:?}");
}
