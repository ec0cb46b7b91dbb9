//! OCaml with `ocamltest`, and the programs of its testsuite.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::workers;
use crate::command::{Outcome, cache, output, repository, run};

const OPTIONS: &[&str] = &[
    "--enable-ocamltest",
    "--disable-ocamldoc",
    "--disable-debugger",
    "--disable-stdlib-manpages",
];
/// Folders of tests that only look at what compilers and tools print.
const NO_PROGRAMS: &[&str] = &["typing-", "tool-", "parse", "shapes", "formatting", "messages"];
const BUILT: &str = ".built";
const TESTED: &str = ".tested";

/// An optimised memtrail of this repository, or the one that `MEMTRAIL` names.
pub(super) fn memtrail() -> Outcome<PathBuf> {
    if let Some(path) = std::env::var_os("MEMTRAIL") {
        return Ok(PathBuf::from(path));
    }
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--release", "--package", "memtrail"]).current_dir(repository());
    run(&mut cargo)?;
    Ok(repository().join("target/release/memtrail"))
}

pub(super) fn tests(folder: &Path) -> PathBuf {
    folder.join("package/testsuite/tests")
}

/// The native programs, which `ocamltest` builds and leaves at the first time.
pub(super) fn programs(version: &str, folder: &Path) -> Outcome<Vec<PathBuf>> {
    let (built, tested) = (folder.join(BUILT), folder.join(TESTED));
    if !built.exists() {
        build(version, folder)?;
        mark(&built)?;
    }
    if !tested.exists() {
        eprintln!("building the testsuite's programs in {}", folder.display());
        make_tests(folder)?;
        mark(&tested)?;
    }
    let mut found = Vec::new();
    native(&tests(folder), &mut found);
    found.sort();
    if found.is_empty() {
        return Err(format!("there are no programs in {}", tests(folder).display()));
    }
    Ok(found)
}

fn mark(stamp: &Path) -> Outcome {
    fs::write(stamp, "").map_err(|error| format!("cannot write {}: {error}", stamp.display()))
}

fn build(version: &str, folder: &Path) -> Outcome {
    let failed = |error: std::io::Error| format!("cannot make {}: {error}", folder.display());
    fs::create_dir_all(cache()?).map_err(failed)?;
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(failed)?;
    }
    fs::create_dir_all(folder).map_err(failed)?;
    eprintln!("building OCaml {version} with ocamltest in {}", folder.display());
    let package = format!("ocaml@{version}");
    let archive =
        output(Command::new("npm").args(["pack", "--silent", &package]).current_dir(folder))?;
    let archive = archive.lines().last().unwrap_or_default();
    run(Command::new("tar").args(["xzf", archive]).current_dir(folder))?;
    let log = File::create(folder.join("log")).map_err(failed)?;
    let step = |program: &str, arguments: &[&str]| -> Outcome {
        let (out, err) = (log.try_clone().map_err(failed)?, log.try_clone().map_err(failed)?);
        let mut command = Command::new(program);
        command.args(arguments).current_dir(folder.join("package"));
        run(command.stdin(Stdio::null()).stdout(out).stderr(err))
            .map_err(|error| format!("{error}\n  see {}", folder.join("log").display()))
    };
    let mut configure = vec!["configure"];
    configure.extend(OPTIONS);
    step("sh", &configure)?;
    step("make", &[&format!("-j{}", workers())])?;
    step("make", &["ocamltest"])
}

/// Runs each folder of tests. Some fail, for want of a tool or by their nature: what was built of
/// them is there all the same.
fn make_tests(folder: &Path) -> Outcome {
    let entries = fs::read_dir(tests(folder)).map_err(|error| error.to_string())?;
    let mut folders: Vec<String> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| !NO_PROGRAMS.iter().any(|prefix| name.starts_with(prefix)))
        .collect();
    folders.sort();
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(name) = folders.get(next.fetch_add(1, Relaxed)) {
            let mut make = Command::new("timeout");
            make.args(["900", "make", "-C", "testsuite", "one", "KEEP=1"]);
            make.arg("KEEP_TEST_DIR_ON_SUCCESS=1").arg(format!("DIR=tests/{name}"));
            make.current_dir(folder.join("package"));
            make.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            let _ = make.status();
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..workers() {
            scope.spawn(work);
        }
    });
    Ok(())
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
