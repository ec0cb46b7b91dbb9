//! OCaml with `ocamltest`, in the cache.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::command::{Outcome, output, run};

const OPTIONS: &[&str] = &[
    "--enable-ocamltest",
    "--disable-ocamldoc",
    "--disable-debugger",
    "--disable-stdlib-manpages",
];
const NATIVE_FIRST: &str = r#"#!/bin/sh
case $1 in
*/ocamlc | */ocamlopt)
    compiler=$1
    shift
    exec "$compiler.opt" "$@" ;;
esac
exec "$0.bytecode" "$@"
"#;
/// Written last.
const BUILT: &str = ".built";

/// Builds it in `folder`/package, unless it is there.
pub(super) fn ensure(version: &str, folder: &Path) -> Outcome {
    let stamp = folder.join(BUILT);
    if stamp.exists() {
        return Ok(());
    }
    build(version, folder)?;
    fs::write(&stamp, "").map_err(|error| format!("cannot write {}: {error}", stamp.display()))
}

fn build(version: &str, folder: &Path) -> Outcome {
    let failed = |error: std::io::Error| format!("cannot make {}: {error}", folder.display());
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
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    step("make", &[&format!("-j{jobs}")])?;
    step("make", &["ocamltest"])?;
    step("make", &["ocamltest.opt"])?;
    // What tests link; from 5.2 on a part of the steps before.
    step("make", &["-C", "testsuite", "lib", "tools"])?;
    use_native_compilers(&folder.join("package/runtime")).map_err(failed)
}

/// `ocamltest` runs each compiler in bytecode, too, which makes the same programs five times slower:
/// the native one is run in its place.
fn use_native_compilers(runtime: &Path) -> std::io::Result<()> {
    let (run, bytecode) = (runtime.join("ocamlrun"), runtime.join("ocamlrun.bytecode"));
    fs::rename(&run, &bytecode)?;
    fs::write(&run, NATIVE_FIRST)?;
    fs::set_permissions(&run, fs::Permissions::from_mode(0o755))
}
