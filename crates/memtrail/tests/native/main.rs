//! Programs in C and C++ under `memtrail run --native`: what is recorded of them, and that they notice nothing.

mod at_the_end;
mod check;
mod disk;
mod examples;
mod exec_lists;
mod harmless;
mod html;
mod mappings;
mod names_while_it_runs;
mod operators;
mod own_functions;
mod published;
mod quiet;
mod references;
mod replaced;
mod resident_memory;
mod retained;
mod rust_names;
mod signals;
mod stripped;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use memtrail_test_support::contents::{self, Block, Contents};
use memtrail_test_support::running::Case;

/// A program of `tests/programs/native`, compiled.
struct Program {
    path: PathBuf,
    _folder: tempfile::TempDir,
}

fn compile(name: &str, options: &[&str]) -> Program {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs/native");
    let folder = tempfile::tempdir().unwrap();
    let (source, path) = (sources.join(name), folder.path().join("program"));
    let compiler = if source.extension().is_some_and(|e| e == "cc") { "g++" } else { "gcc" };
    let output = Command::new(compiler)
        .args(["-g", "-O1", "-fno-builtin", "-fno-optimize-sibling-calls"])
        .arg(source)
        .arg("-o")
        .arg(&path)
        .args(options)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Program { path, _folder: folder }
}

fn exact(program: &Program) -> Case {
    Case::command(&program.path, &[]).options(&["--native", "--rate", "1"])
}

/// Bytes allocated by a function, and those that were not freed.
fn bytes(contents: &Contents, function: &str) -> (u64, u64) {
    let all = || {
        contents.blocks.iter().filter(|block| block.stack.first().is_some_and(|f| f == function))
    };
    let sum =
        |blocks: &mut dyn Iterator<Item = &Block>| blocks.map(|block| block.samples * 8).sum();
    (sum(&mut all()), sum(&mut all().filter(|block| block.collected.is_none())))
}

/// Texts of the dynamic linker's errors were in the program's heap, and moved its blocks.
#[test]
fn the_programs_blocks_have_the_places_that_they_have_without_us() {
    let program = compile("places.c", &["-ldl"]);
    for options in [&["--native"][..], &["--native", "--rate", "1"]] {
        let recorded = Case::command(&program.path, &[]).options(options).same();
        assert!(recorded.seen.stdout().ends_with("no error\n"), "{}", recorded.seen.stdout());
    }
}

#[test]
fn exact_recordings_have_the_blocks_of_each_function_of_the_allocator() {
    let program = compile("entries.c", &[]);
    let recorded = exact(&program).same();
    assert_eq!(recorded.seen.status.code(), Some(7));
    let contents = contents::read(&recorded.recording);
    assert_eq!(contents.description.runtime.language, "native code");
    for function in [
        "by_malloc",
        "by_calloc",
        "by_realloc",
        "by_reallocarray",
        "by_memalign",
        "by_aligned_alloc",
        "by_posix_memalign",
        "by_valloc",
        "by_pvalloc",
    ] {
        assert_eq!(bytes(&contents, function), (100_000, 50_000), "{function}");
        let block = contents.inside(function).next().unwrap();
        assert_eq!(block.stack.get(..2), Some(&[function.to_owned(), "main".into()][..]));
        assert!(block.places[0].contains("entries.c:"), "{:?}", block.places);
    }
    assert_eq!(bytes(&contents, "grows"), (1000 * 100 * 101 / 2, 0));
    assert_eq!(bytes(&contents, "fails"), (1000, 1000));
}

#[test]
fn samples_estimate_the_same() {
    let program = compile("entries.c", &[]);
    let case =
        Case::command(&program.path, &[]).options(&["--native", "--rate", "0.01", "--seed", "7"]);
    let contents = contents::read(&case.same().recording);
    contents.expect_words("by_malloc", 100_000.0 / 8.0);
    contents.expect_words("grows", 1000.0 * 100.0 * 101.0 / 2.0 / 8.0);
}

/// The estimate of blocks was too low by what their sizes were rounded up by: of 64 threads that allocated for ten minutes
/// it was by 2 %, 16 standard errors.
#[test]
fn blocks_of_any_size_are_estimated_without_bias() {
    let program = compile("sizes.c", &[]);
    let case =
        Case::command(&program.path, &[]).options(&["--native", "--rate", "0.01", "--seed", "5"]);
    let contents = contents::read(&case.same().recording);
    contents.expect_words("of_1_byte", 200_000.0);
    contents.expect_words("of_9_bytes", 2.0 * 200_000.0);
    contents.expect_words("of_23_bytes", 3.0 * 200_000.0);
}

#[test]
fn a_program_without_debug_information_has_its_symbols_names() {
    let program = compile("entries.c", &["-g0"]);
    let contents = contents::read(&exact(&program).same().recording);
    assert_eq!(bytes(&contents, "by_malloc"), (100_000, 50_000));
}

#[test]
fn children_jumps_and_libraries_are_as_without_a_recording() {
    let program = compile("processes.c", &[]);
    let recorded = exact(&program).same();
    assert_eq!(recorded.seen.status.code(), Some(4));
    // It becomes another program in the end.
    let before = contents::recordings_in(&recorded.recording.join("predecessors"));
    let [first] = &before[..] else { panic!("{before:?}") };
    let contents = contents::read(first);
    // 100 jumps from the sixth call, and what the child of `vfork` allocates and frees in the program's memory; what
    // other children allocate is theirs.
    assert_eq!(bytes(&contents, "allocates"), (601 * 4000, 600 * 4000));
    assert_eq!(contents.inside("allocates").map(|block| block.stack.len()).max(), Some(11));
}

#[test]
fn children_have_recordings_of_their_own_if_that_is_asked_for() {
    let program = compile("processes.c", &[]);
    let case = Case::command(&program.path, &[]);
    let case = case.options(&["--native", "--rate", "1", "--children"]);
    let (seen, recordings) = case.recorded_in_folder();
    assert_eq!(seen.status.code(), Some(4));
    let mut allocated: Vec<_> =
        recordings.iter().map(|recording| bytes(&contents::read(recording), "allocates")).collect();
    allocated.sort_unstable();
    // Two programs that were started, the forked child, and the first program.
    let all = [(4000, 0), (4000, 0), (1000 * 4000, 0), (601 * 4000, 600 * 4000)];
    let mut all = all.to_vec();
    all.sort_unstable();
    assert_eq!(allocated, all);
}

/// The null pointer was taken for a block that had been freed, which was then freed a second time: rustc died of it.
#[test]
fn the_null_pointer_is_no_block() {
    let program = compile("null.c", &[]);
    let recorded = exact(&program).same();
    assert_eq!(recorded.seen.status.code(), Some(0));
    let contents = contents::read(&recorded.recording);
    assert_eq!(bytes(&contents, "main"), (4 * (100_000 * 24 + 1000 * 40), 0));
}

#[test]
fn a_child_that_writes_a_title_over_its_arguments_has_the_programs_name() {
    let program = compile("titles.c", &[]);
    let case = Case::command(&program.path, &["an argument that leaves room for the title"]);
    let case = case.options(&["--native", "--rate", "1", "--children"]);
    let (_, recordings) = case.recorded_in_folder();
    let named = |path: &PathBuf| {
        path.file_name().unwrap().to_str().unwrap().rsplit_once('-').unwrap().0.to_owned()
    };
    assert_eq!(recordings.iter().map(named).collect::<Vec<_>>(), ["program", "program"]);
}

#[test]
fn a_function_without_debug_information_has_no_position() {
    let program = compile("entries.c", &["-g0"]);
    let recorded = exact(&program).same();
    let report = Command::new(env!("CARGO_BIN_EXE_memtrail"))
        .args(["report", "--live-at", "end"])
        .arg(&recorded.recording)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&report.stdout);
    assert!(text.lines().any(|line| line.ends_with("  by_malloc")), "{text}");
    let (report, _) = json(&["report", "--live-at", "end"], &recorded.recording);
    let place = &report["places"][0];
    assert_eq!(
        (&place["file"], &place["line"]),
        (&serde_json::Value::Null, &serde_json::Value::Null)
    );
}

#[test]
fn objects_of_cpp_have_their_functions_names() {
    let program = compile("objects.cc", &["-std=c++17", "-pthread"]);
    let contents = contents::read(&exact(&program).same().recording);
    let wide: u64 = contents
        .inside("cache::Table::add")
        .filter(|block| block.words == 768 / 8 - 1)
        .map(|block| block.samples * 8)
        .sum();
    assert_eq!(wide, 76_800);
    let thrown = contents.inside("throws").filter(|block| block.collected.is_none());
    assert_eq!(thrown.count(), 0);
    assert!(contents.inside("throws").count() >= 1100);
}

#[test]
fn what_cannot_be_recorded_runs_and_is_reported() {
    let program = compile("entries.c", &["-static"]);
    let seen = exact(&program).recorded().seen;
    assert_eq!(seen.stdout(), "451 blocks kept\n");
    let output = Command::new(env!("CARGO_BIN_EXE_memtrail"))
        .args(["run", "--native", "--"])
        .arg(&program.path)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(7));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("it is statically linked, and cannot load the agent"), "{stderr}");
}

/// What a command says of a recording, as JSON, and its exit code.
fn json(arguments: &[&str], recording: &Path) -> (serde_json::Value, Option<i32>) {
    let output = Command::new(env!("CARGO_BIN_EXE_memtrail"))
        .args(arguments)
        .arg(recording)
        .arg("--json")
        .output()
        .unwrap();
    let error = || String::from_utf8_lossy(&output.stderr).into_owned();
    (
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", error())),
        output.status.code(),
    )
}

/// A function that allocates for all others is named with the caller whose blocks are not freed.
#[test]
fn a_leak_is_a_suspect_with_the_caller_and_its_sound_twin_is_none() {
    let program = compile("leaks.c", &["-fno-inline"]);
    let run = |arguments: &[&str]| {
        Case::command(&program.path, arguments).options(&["--native", "--rate", "1"]).recorded()
    };
    let leaks = run(&["never"]);
    let (found, _) = json(&["leaks"], &leaks.recording);
    let suspects = found["suspects"].as_array().unwrap();
    assert_eq!(suspects.len(), 1, "{found:#}");
    let places = suspects[0]["allocated"].as_array().unwrap();
    let functions: Vec<_> =
        places.iter().map(|place| place["function"].as_str().unwrap()).collect();
    assert_eq!(functions, ["xmalloc", "remember", "main"]);
    assert_eq!(suspects[0]["owned"], 4000 * 2000);
    assert_eq!(suspects[0]["freed"], 0);
    let (judged, code) = json(&["check", "--no-leak", "--recording"], &leaks.recording);
    assert_eq!(code, Some(4), "{judged:#}");
    let sound = run(&[]);
    let (found, _) = json(&["leaks"], &sound.recording);
    assert_eq!(found["suspects"].as_array().unwrap().len(), 0, "{found:#}");
    let (judged, code) = json(&["check", "--no-leak", "--recording"], &sound.recording);
    assert_eq!(code, Some(0), "{judged:#}");
}

/// A function without a name that a library called back was left out: the library's seemed to be the caller.
#[test]
fn a_callback_of_a_stripped_program_is_among_the_callers() {
    let program = compile("called_back.c", &["-s"]);
    let recorded = exact(&program).recorded();
    let (found, _) = json(&["leaks"], &recorded.recording);
    let places = found["suspects"][0]["allocated"].as_array().unwrap();
    let functions: Vec<_> =
        places.iter().map(|place| place["function"].as_str().unwrap()).collect();
    let [copy, compare, library] = functions[..] else { panic!("{found:#}") };
    assert!([copy, compare].iter().all(|name| name.starts_with("program+0x")), "{functions:?}");
    assert!(copy != compare && library.contains("sort"), "{functions:?}");
}

/// The report said that the program had allocated little, and nothing of the process that did the work.
#[test]
fn a_fork_that_runs_on_unrecorded_is_in_the_note_and_the_report() {
    let program = compile("outlives.c", &[]);
    let folder = tempfile::tempdir().unwrap();
    let memtrail = |words: &[&str], end: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
        command.args(words).arg(end).current_dir(folder.path()).env_remove("COLUMNS");
        command.output().unwrap()
    };
    let end = folder.path().join("end");
    let path = program.path.to_str().unwrap();
    // The fork has the standard error for as long as it runs.
    let errors = folder.path().join("errors");
    let status = Command::new(env!("CARGO_BIN_EXE_memtrail"))
        .args(["run", "--native", "-o", "it.memtrail", "--", path])
        .arg(&end)
        .current_dir(folder.path())
        .env_remove("COLUMNS")
        .stdout(Stdio::null())
        .stderr(std::fs::File::create(&errors).unwrap())
        .status()
        .unwrap();
    std::fs::write(&end, "").unwrap();
    let said = std::fs::read_to_string(&errors).unwrap();
    assert!(status.success(), "{said}");
    let note = "was forked from the program and outlived it; it is not recorded: memtrail run --native --children";
    assert!(said.contains(note), "{said}");
    let output = memtrail(&["report"], Path::new("it.memtrail"));
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(report.contains("Those that it forked are not recorded"), "{report}");
    assert!(report.contains("memtrail run --native --children"), "{report}");
    assert!(!report.contains("allocated little"), "{report}");
    // It was the report alone that had the note.
    let output = memtrail(&["leaks"], Path::new("it.memtrail"));
    let leaks =
        String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(leaks.contains(note), "{leaks}");
}
