//! `memtrail export --format parquet` and `memtrail sql`: sums, files, damaged and hostile input.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use memtrail_test_support::compilers::cache;
use serde_json::{Value, json};

use crate::{complaint, memtrail};

/// The SQL engines that `cargo xtask setup` fetched.
pub(crate) fn engines() -> PathBuf {
    let folder = cache().join("sql-engines-1");
    assert!(folder.is_dir(), "there is no {}\nhint: cargo xtask setup", folder.display());
    folder
}

/// A copy of a stored recording, with labels and another process id.
pub(crate) fn recording(folder: &Path, name: &str, pid: u64, labels: &[(&str, &str)]) -> PathBuf {
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/recordings").join(name);
    let copy = folder.join(format!("{name}-{pid}.memtrail"));
    fs::create_dir_all(&copy).unwrap();
    for entry in fs::read_dir(stored).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), copy.join(entry.file_name())).unwrap();
    }
    let description = copy.join("recording.json");
    let mut json: Value = serde_json::from_slice(&fs::read(&description).unwrap()).unwrap();
    json["labels"] = json!(labels.iter().copied().collect::<BTreeMap<_, _>>());
    json["pid"] = json!(pid);
    fs::write(&description, json.to_string()).unwrap();
    let trace = copy.join("trace.ctf");
    let bytes = fs::read(&trace).unwrap();
    let info = memtrail_trace::Reader::new(&bytes).unwrap().info().clone();
    let replaced = memtrail_trace::redact::Replaced {
        info: memtrail_trace::TraceInfo { pid, ..info.clone() },
        file: |name| name,
        function: |name| name,
    };
    fs::write(&trace, memtrail_trace::redact::redact(&bytes, info.pid, &replaced)).unwrap();
    copy
}

const LEAKS: &str = "leaks-4711.memtrail";

pub(crate) fn export(lake: &Path, more: &[&str], recordings: &[&Path]) -> Output {
    let mut args = vec!["export".to_owned(), "--format=parquet".to_owned()];
    args.extend(["-o".to_owned(), lake.display().to_string()]);
    args.extend(more.iter().map(|option| (*option).to_owned()));
    args.extend(recordings.iter().map(|path| path.display().to_string()));
    memtrail(args)
}

#[track_caller]
pub(crate) fn exported(lake: &Path, more: &[&str], recordings: &[&Path]) {
    let output = export(lake, more, recordings);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

fn sql(lake: &Path, query: &str) -> Output {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(engines().join("duckdb_cli")).chain(std::env::split_paths(&path));
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    command.env("PATH", std::env::join_paths(folders).unwrap());
    command.args(["sql", "--json"]).arg(lake).arg(query).output().unwrap()
}

#[track_caller]
fn rows(lake: &Path, query: &str) -> Vec<Value> {
    let output = sql(lake, query);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["format"], 1);
    answer["rows"].as_array().unwrap().clone()
}

#[track_caller]
fn answer(args: &[&str], recording: &Path) -> Value {
    let path = recording.display().to_string();
    let output = memtrail(args.iter().copied().chain([path.as_str()]));
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A number. The engine writes sums of whole numbers, which have 128 bits, as texts.
fn number(value: &Value) -> f64 {
    let text = || value.as_str().and_then(|text| text.parse().ok());
    value.as_f64().or_else(text).unwrap_or(f64::NAN)
}

#[track_caller]
fn near(row: &Value, column: &str, expected: &Value) {
    let (found, expected) = (number(&row[column]), number(expected));
    let error = (found - expected).abs() / expected.abs().max(1.0);
    assert!(error < 1e-9, "{column}: {found} is not {expected}");
}

const TABLES: [&str; 12] = [
    "recordings",
    "frames",
    "callstacks",
    "samples",
    "live_series",
    "heap_types",
    "heap_owners",
    "suspects",
    "blocks",
    "heap_blocks",
    "heap_edges",
    "heap_roots",
];

/// Every file of a lake, by its path within it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

#[test]
fn sums_are_those_of_report_and_heap() {
    let folder = tempfile::tempdir().unwrap();
    let recording = recording(folder.path(), LEAKS, 4711, &[]);
    let lake = folder.path().join("lake");
    exported(&lake, &["--blocks"], &[&recording]);
    let totals = answer(&["report", "--json"], &recording)["report"]["totals"].clone();
    for table in ["samples", "blocks"] {
        let in_use = if table == "samples" {
            "sum(inuse_space) as live, sqrt(sum(inuse_space_var)) as live_error, \
             sum(inuse_objects) as live_blocks, sqrt(sum(inuse_objects_var)) as live_blocks_error"
        } else {
            "sum(alloc_space) filter (freed_us is null) as live, \
             sqrt(sum(alloc_space_var) filter (freed_us is null)) as live_error, \
             sum(alloc_objects) filter (freed_us is null) as live_blocks, \
             sqrt(sum(alloc_objects_var) filter (freed_us is null)) as live_blocks_error"
        };
        let query = format!(
            "select sum(alloc_space) as bytes, sqrt(sum(alloc_space_var)) as error, \
             sum(alloc_objects) as blocks, sqrt(sum(alloc_objects_var)) as blocks_error, {in_use} from {table}"
        );
        let row = &rows(&lake, &query)[0];
        for (prefix, figure) in [("", "allocated"), ("live_", "live_at_end")] {
            let figures = &totals[figure];
            let bytes = if prefix.is_empty() { "bytes" } else { "live" };
            near(row, bytes, &figures["bytes"]);
            near(row, &format!("{prefix}error"), &figures["bytes_stderr"]);
            near(row, &format!("{prefix}blocks"), &figures["blocks"]);
            near(row, &format!("{prefix}blocks_error"), &figures["blocks_stderr"]);
        }
    }
    let histogram = answer(&["heap", "histogram", "--limit=0", "--json"], &recording);
    let types = rows(
        &lake,
        "select sum(objects) as objects, sum(size) as size, count(*) as types from heap_types \
         where snapshot_number = 2",
    );
    near(&types[0], "objects", &histogram["blocks"]);
    near(&types[0], "size", &histogram["bytes"]);
    assert_eq!(types[0]["types"], histogram["rows"].as_array().unwrap().len());
    // Blocks have the same types and owners, one by one.
    let owners = answer(&["heap", "roots", "--min=0", "--limit=0", "--json"], &recording);
    let owned = rows(
        &lake,
        "select owner_root, sum(size) as size, any_value(owned_size) as owned, \
         from heap_blocks join heap_owners using (snapshot_id, owner_root) \
         where snapshot_number = 2 group by owner_root having size <> owned",
    );
    assert!(owned.is_empty(), "{owned:?}");
    let all =
        rows(&lake, "select sum(owned_size) as owned from heap_owners where snapshot_number = 2");
    near(&all[0], "owned", &owners["owned"]);
    let wrong_types = rows(
        &lake,
        "select type_id, count(*) as n, any_value(objects) as objects from heap_blocks \
         join heap_types using (snapshot_id, type_id) where heap_blocks.retained_size is not null \
         group by snapshot_id, type_id having n <> objects",
    );
    assert!(wrong_types.is_empty(), "{wrong_types:?}");
    // A block retains itself and all that it dominates.
    let wrong_sizes = rows(
        &lake,
        "with d as (select snapshot_id, dominator as block, sum(retained_size) as below from heap_blocks \
         where dominator >= 0 group by all) select count(*) as n from heap_blocks left join d using (snapshot_id, block) \
         where retained_size <> heap_blocks.size + coalesce(below, 0)",
    );
    assert_eq!(wrong_sizes[0]["n"], 0);
    let leaks = answer(&["leaks", "--limit=0", "--json"], &recording);
    let suspects = rows(&lake, "select * from suspects order by growth desc");
    let expected = leaks["suspects"].as_array().unwrap();
    assert_eq!(suspects.len(), expected.len());
    for (row, suspect) in suspects.iter().zip(expected) {
        assert_eq!(row["owner_name"], suspect["owner"]);
        assert_eq!(row["sentence"], suspect["heading"]);
        near(row, "growth", &suspect["growth"]["grown"]);
    }
}

#[test]
fn an_export_again_replaces_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let labels = [("service.name", "shop"), ("service.version", "1.10")];
    let [one, two] = [4711, 4712].map(|pid| recording(folder.path(), LEAKS, pid, &labels));
    let lake = folder.path().join("lake");
    exported(&lake, &["--blocks"], &[&one, &two]);
    let query = "select service_name, service_version, cast(date as varchar) as date, \
                 (select count(*) from samples) as samples, count(*) as n from recordings group by all";
    let before = (rows(&lake, query), files(&lake).len());
    assert_eq!(before.0[0]["n"], 2);
    assert_eq!(before.0[0]["service_version"], "1.10", "not the number 1.1");
    assert_eq!(before.0[0]["date"], "2026-11-28");
    assert_eq!(before.1, 24);
    exported(&lake, &["--blocks"], &[&one]);
    assert_eq!((rows(&lake, query), files(&lake).len()), before);
    // Tables that are not asked for any more do not keep old rows.
    exported(&lake, &[], &[&one]);
    assert_eq!(files(&lake).len(), 20);
    // Equal callstacks have equal ids in all recordings.
    let ids =
        rows(&lake, "select count(*) as n, count(distinct stack_id) as different from callstacks");
    let (n, different) = (ids[0]["n"].as_u64().unwrap(), ids[0]["different"].as_u64().unwrap());
    assert_eq!(n, 2 * different);
}

#[test]
fn damaged_recordings_are_named_and_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let [good, cut, snapshot] = [1, 2, 3].map(|pid| recording(folder.path(), LEAKS, pid, &[]));
    let trace = cut.join("trace.ctf");
    let bytes = fs::read(&trace).unwrap();
    fs::write(&trace, &bytes[..bytes.len() / 2]).unwrap();
    let heap = snapshot.join("0001.heap");
    let bytes = fs::read(&heap).unwrap();
    fs::write(&heap, &bytes[..bytes.len() - 1000]).unwrap();
    let absent = folder.path().join("absent.memtrail");
    let lake = folder.path().join("lake");
    let output = export(&lake, &["--json"], &[&cut, &absent, &snapshot, &good]);
    let (code, message) = complaint(&output);
    assert_eq!(code, Some(3), "{message}");
    for path in [&cut, &absent, &snapshot] {
        let line = format!("{} is left out", path.display());
        assert!(message.contains(&line), "{message}");
    }
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["format"], 1);
    assert_eq!(report["recordings"].as_array().unwrap().len(), 1);
    assert_eq!(report["skipped"].as_array().unwrap().len(), 3);
    assert_eq!(rows(&lake, "select count(*) as n from recordings")[0]["n"], 1);
    assert_eq!(files(&lake).len(), 8, "no partial files");
}

#[test]
fn hostile_labels_are_values() {
    let folder = tempfile::tempdir().unwrap();
    let service = "../x'; drop table samples; --/\u{1b}[2J";
    let labels = [("service.name", service), ("service.version", "a=b&c d%")];
    let recording = recording(folder.path(), LEAKS, 7, &labels);
    let lake = folder.path().join("it's [a] lake*");
    exported(&lake, &[], &[&recording]);
    let found = rows(&lake, "select service_name, service_version, labels from recordings");
    assert_eq!(found[0]["service_name"], service);
    assert_eq!(found[0]["service_version"], "a=b&c d%");
    assert_eq!(found[0]["labels"]["service.name"], service);
    assert!(rows(&lake, "select count(*) as n from samples")[0]["n"].as_u64().unwrap() > 0);
}

#[test]
fn a_redacted_lake_has_no_names_of_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let labels = [("service.name", "shop"), ("owner", "alice")];
    let recording = recording(folder.path(), LEAKS, 4711, &labels);
    let (plain, redacted) = (folder.path().join("plain"), folder.path().join("redacted"));
    exported(&plain, &[], &[&recording]);
    exported(&redacted, &["--redact"], &[&recording]);
    let names = "select function_name as name from frames union select type_name from heap_types \
                 union select owner_name from heap_owners union select owner_name from suspects \
                 union select function_filename from frames union select process_executable_path from recordings";
    let of = |lake: &Path| -> Vec<String> {
        rows(lake, names).iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect()
    };
    let own: Vec<String> =
        of(&plain).into_iter().filter(|name| name.starts_with("Leaks")).collect();
    assert!(!own.is_empty());
    let shown = of(&redacted).join("\n");
    for name in &own {
        assert!(!shown.contains(name.as_str()), "{name}");
    }
    assert!(!shown.contains("Leaks") && !shown.contains("/srv"), "{shown}");
    let row = &rows(&redacted, "select * from recordings")[0];
    assert!(row["host_name"].is_null() && row["process_pid"].is_null(), "{row}");
    // Sums are the same, ids are not, and stay so with the key.
    let sum = "select sum(alloc_space) as bytes, min(stack_id) as id from samples";
    let (before, after) = (&rows(&plain, sum)[0], &rows(&redacted, sum)[0]);
    near(after, "bytes", &before["bytes"]);
    assert_ne!(before["id"], after["id"]);
    exported(&redacted, &["--redact"], &[&recording]);
    assert_eq!(&rows(&redacted, sum)[0], after);
    assert_eq!(files(&redacted).len(), 8);
    assert_eq!(fs::read(folder.path().join("redacted.key")).unwrap().len(), 32);
}

#[test]
fn files_that_cannot_be_read_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let recording = recording(folder.path(), LEAKS, 4711, &[]);
    let lake = folder.path().join("lake");
    exported(&lake, &[], &[&recording]);
    let file = files(&lake).into_iter().find(|path| path.to_string_lossy().contains("/samples/"));
    let file = file.unwrap();
    // A file that is being written is not read.
    fs::write(file.with_file_name(".new.parquet.1.partial"), "half").unwrap();
    assert!(!rows(&lake, "select * from samples limit 1").is_empty());
    let whole = fs::read(&file).unwrap();
    let newer = String::from_utf8_lossy(&whole).contains("memtrail.schema");
    assert!(newer);
    let at = whole.windows(15).rposition(|text| text == b"memtrail.schema").unwrap();
    let one = at + whole[at..].iter().position(|byte| *byte == b'1').unwrap();
    let mut bytes = whole.clone();
    bytes[one] = b'2';
    for (bytes, reason) in [
        (bytes, "has schema 2, this memtrail reads up to 1"),
        (whole[..whole.len() - 9].to_vec(), "cannot read "),
        (b"PAR1".to_vec(), "cannot read "),
        (Vec::new(), "cannot read "),
    ] {
        fs::write(&file, bytes).unwrap();
        let (code, message) = complaint(&sql(&lake, "select 1"));
        assert_eq!(code, Some(3), "{message}");
        assert!(
            message.contains(reason) && message.contains(&*file.to_string_lossy()),
            "{message}"
        );
    }
}

#[test]
fn what_duckdb_refuses_is_a_wrong_command() {
    let folder = tempfile::tempdir().unwrap();
    let recording = recording(folder.path(), LEAKS, 4711, &[]);
    // A recording is exported into a temporary lake, with the tables of blocks.
    let found = rows(&recording, "select count(*) > 1000 as many from heap_edges");
    assert_eq!(found[0]["many"], true);
    let (code, message) = complaint(&sql(&recording, "select nope from samples"));
    assert_eq!(code, Some(2), "{message}");
    assert!(message.contains("nope") && message.contains("\nhint: "), "{message}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    let output = command.args(["sql", "x", "select 1"]).env("PATH", "").output().unwrap();
    let (code, message) = complaint(&output);
    assert_eq!(code, Some(1));
    assert!(message.contains("pip install duckdb-cli"), "{message}");
}

#[test]
fn a_compacted_lake_has_the_same_rows_in_one_file_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let [one, two] = [1, 2].map(|pid| recording(folder.path(), LEAKS, pid, &[]));
    let lake = folder.path().join("lake");
    exported(&lake, &["--blocks"], &[&one, &two]);
    let sums = |lake: &Path| {
        let tables = TABLES.map(|table| {
            let query = format!("select count(*) as n, sum(hash(t)) as rows from {table} t");
            rows(lake, &query)
        });
        (
            tables,
            rows(
                lake,
                "select sum(len(frame_ids)) as n, list(labels) as l from callstacks, recordings",
            ),
        )
    };
    let before = sums(&lake);
    let left_behind =
        files(&lake).into_iter().find(|path| path.to_string_lossy().contains("/frames/"));
    let left_behind = left_behind.unwrap();
    let bytes = fs::read(&left_behind).unwrap();
    let compact = || {
        let output = memtrail(["lake", "compact", "--json", lake.to_str().unwrap()]);
        assert_eq!(complaint(&output), (Some(0), String::new()));
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let done = compact();
    assert_eq!((&done["files_before"], &done["files_after"]), (&json!(24), &json!(12)));
    assert_eq!(files(&lake).len(), 12);
    assert_eq!(sums(&lake), before);
    // An export again would double rows.
    let (code, message) = complaint(&export(&lake, &[], &[&one]));
    assert_eq!(code, Some(0), "{message}");
    assert!(message.contains("since the lake was compacted; its rows are kept"), "{message}");
    // So would a file that an interrupted compaction left.
    fs::write(&left_behind, bytes).unwrap();
    compact();
    assert!(!left_behind.exists());
    // More recordings are added, and compacted with the others.
    let three = recording(folder.path(), LEAKS, 3, &[]);
    exported(&lake, &["--blocks"], &[&three]);
    assert_eq!(files(&lake).len(), 24);
    compact();
    assert_eq!(files(&lake).len(), 12);
    assert_eq!(rows(&lake, "select count(*) as n from recordings")[0]["n"], 3);
    let output =
        memtrail(["lake", "prune", "--older-than=3000d", "--json", lake.to_str().unwrap()]);
    assert_eq!(complaint(&output), (Some(0), String::new()));
    assert_eq!(files(&lake).len(), 12);
    let output = memtrail(["lake", "compact", folder.path().to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(3));
    // A file that cannot be read is named, and nothing changes.
    fs::write(&left_behind, "PAR1").unwrap();
    let (code, message) = complaint(&memtrail(["lake", "compact", lake.to_str().unwrap()]));
    assert_eq!(code, Some(3), "{message}");
    assert!(message.contains(left_behind.to_str().unwrap()), "{message}");
    assert_eq!(files(&lake).len(), 13);
}
