//! The programs of the testsuite: `ocamltest` builds and leaves them.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::workers::each;
use crate::command::{Outcome, output};

/// Where they are left, in the version's folder: `tests/lib-threads/beat/ocamlopt.opt/beat.opt`.
const LEFT: &str = "programs";
/// Written when all are there.
const LEFT_ALL: &str = ".programs";
/// Seconds for what one test builds and runs.
const PATIENCE: &str = "60";
const PATIENCE_IN_ALL: &str = "300";

/// A native program of a test.
pub(super) struct Program {
    /// `lib-threads/beat`, or with the program's own name behind it where that is another.
    pub(super) name: String,
    pub(super) path: PathBuf,
}

/// All that there are, built first if need be.
pub(super) fn programs(folder: &Path) -> Outcome<Vec<Program>> {
    let (left, stamp) = (folder.join(LEFT), folder.join(LEFT_ALL));
    if !stamp.exists() {
        let tests = tests(folder)?;
        eprintln!("building programs of {} tests in {}", tests.len(), left.display());
        each(&tests, |test| run_test(folder, &left, test));
        fs::write(&stamp, "")
            .map_err(|error| format!("cannot write {}: {error}", stamp.display()))?;
    }
    let mut found = Vec::new();
    native(&left, &mut found);
    found.sort();
    let mut programs: Vec<Program> = Vec::new();
    for path in found {
        let name = name(&left, &path);
        // The compilers in bytecode and in native code make the same of a test.
        if programs.last().is_none_or(|last| last.name != name) {
            programs.push(Program { name, path });
        }
    }
    if programs.is_empty() {
        return Err(format!("there are no programs in {}", left.display()));
    }
    Ok(programs)
}

/// Files of tests that may have a native program, from the folder of the testsuite.
fn tests(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let testsuite = folder.join("package/testsuite");
    let mut folders = vec![PathBuf::from("tests")];
    let mut tests = Vec::new();
    while let Some(at) = folders.pop() {
        let entries = fs::read_dir(testsuite.join(&at)).map_err(|error| error.to_string())?;
        let inside = entries.filter_map(Result::ok).filter(|e| e.path().is_dir());
        folders.extend(inside.map(|entry| at.join(entry.file_name())));
        let mut list = ocamltest(folder);
        list.arg("-list-tests").arg(&at);
        // It fails where there are none.
        let listed = output(&mut list).unwrap_or_default();
        tests.extend(listed.lines().map(|name| at.join(name)));
    }
    tests.retain(|test| {
        let text = fs::read(testsuite.join(test)).unwrap_or_default();
        may_be_native(&String::from_utf8_lossy(&text))
    });
    tests.sort();
    Ok(tests)
}

/// Unless its first comment names other things to be done, and no native compiler.
fn may_be_native(text: &str) -> bool {
    let script = text.split("*)").next().unwrap_or_default();
    let names = |word: &str| {
        script.split(|c: char| !(c.is_alphanumeric() || c == '.' || c == '-')).any(|w| w == word)
    };
    let native = ["native", "ocamlopt.byte", "ocamlopt.opt", "native-compiler"];
    let others = ["expect", "toplevel", "toplevel.opt", "bytecode", "ocamlc.byte", "ocamlc.opt"];
    native.into_iter().any(names) || !others.into_iter().any(names)
}

fn ocamltest(folder: &Path) -> Command {
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", PATIENCE_IN_ALL, "../ocamltest/ocamltest.opt"]);
    command.current_dir(folder.join("package/testsuite"));
    command.envs([("TERM", "dumb"), ("SORT", "sort"), ("MAKE", "make")]);
    command.stdin(Stdio::null()).stderr(Stdio::null());
    command
}

/// Some fail, for want of a tool or by their nature: what was built of them is there all the same.
fn run_test(folder: &Path, left: &Path, test: &Path) {
    let mut command = ocamltest(folder);
    command.args(["-timeout", PATIENCE, "-keep-test-dir-on-success"]).arg(test);
    let _ = command.env("OCAMLTESTDIR", left).stdout(Stdio::null()).status();
}

fn name(left: &Path, program: &Path) -> String {
    let path = program.strip_prefix(left).unwrap_or(program).to_string_lossy();
    let path = path.strip_prefix("tests/").unwrap_or(&path);
    let test: Vec<&str> = path.split('/').filter(|part| !part.starts_with("ocamlopt.")).collect();
    let (last, test) = test.split_last().unwrap_or((&"", &[]));
    let own = last.trim_end_matches(".exe").trim_end_matches(".opt");
    if test.last() == Some(&own) { test.join("/") } else { format!("{}/{last}", test.join("/")) }
}

/// Executables that hold OCaml's native runtime.
fn native(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            native(&path, found);
        } else if kind.is_file() && is_native(&path) {
            found.push(path);
        }
    }
}

fn is_native(path: &Path) -> bool {
    let mut head = [0; 18];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut head));
    // An executable (2) or a position-independent one (3).
    if read.is_err() || !head.starts_with(b"\x7fELF") || !matches!(head[16], 2 | 3) {
        return false;
    }
    let contains = |bytes: &[u8], name: &[u8]| bytes.windows(name.len()).any(|w| w == name);
    // Bytecode runtimes do not have it.
    path.extension().is_none_or(|extension| extension != "so" && extension != "cmxs")
        && fs::read(path).is_ok_and(|bytes| contains(&bytes, b"caml_start_program"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_without_a_native_program_are_known_by_their_first_comment() {
        for text in [
            "(* TEST *)",
            "(* TEST\n unix;\n { bytecode; }{ native; }\n*)",
            "(* TEST\n* native\n*)",
        ] {
            assert!(may_be_native(text), "{text}");
        }
        for text in
            ["(* TEST\n expect;\n*) native", "(* TEST\n * toplevel\n*)", "(* TEST bytecode; *)"]
        {
            assert!(!may_be_native(text), "{text}");
        }
    }

    #[test]
    fn programs_are_named_after_their_tests() {
        let named = |path: &str| name(Path::new("/left"), &Path::new("/left/tests").join(path));
        assert_eq!(named("lib-threads/beat/ocamlopt.opt/beat.opt"), "lib-threads/beat");
        assert_eq!(named("lib-threads/beat/ocamlopt.byte/beat.opt"), "lib-threads/beat");
        assert_eq!(named("backtrace/callstack/main.exe"), "backtrace/callstack/main.exe");
    }
}
