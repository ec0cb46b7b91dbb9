//! The programs that the machine records: OCaml of several versions, and C.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::sources::sources;
use crate::command::{Outcome, run};
use crate::compilers::unpack::{Machine, from_debian};

/// Versions of OCaml: that of the release before the last, of the last, and newer ones.
pub(super) const SERIES: [&str; 4] = ["4.13", "5.3", "5.4", "5.5"];

const ARM64: Machine = Machine {
    architecture: Some("arm64"),
    tools: "aarch64-linux-gnu-",
    emulator: "qemu-aarch64-static",
    suites: &["oldstable", "stable", "testing", "sid", "experimental"],
};

/// Programs of `tests/programs`, with their libraries.
const EVERYWHERE: [(&str, &[&str]); 5] = [
    ("deep", &[]),
    ("exceptions", &[]),
    ("heap_shapes", &["unix"]),
    ("leak_table", &["unix"]),
    ("threads", &["unix", "threads"]),
];
/// Programs that need OCaml 5.
const MULTICORE: [(&str, &[&str]); 2] = [("domains", &["unix"]), ("fibers", &[])];
const NATIVE: [&str; 1] = ["references"];

/// Compiles all programs into `built`, each under its name and OCaml's version.
pub(super) fn compile(folder: &Path, built: &Path) -> Outcome {
    let failed = |error: std::io::Error| format!("cannot make {}: {error}", built.display());
    if built.exists() {
        fs::remove_dir_all(built).map_err(failed)?;
    }
    for series in SERIES {
        let prefix = compiler(folder, series)?;
        let is_multicore = !series.starts_with('4');
        let more = if is_multicore { &MULTICORE[..] } else { &[] };
        let into = built.join(series);
        fs::create_dir_all(&into).map_err(failed)?;
        for (name, libraries) in EVERYWHERE.iter().chain(more) {
            let file = format!("{name}.ml");
            fs::copy(sources("programs").join(&file), into.join(&file)).map_err(failed)?;
            let mut ocamlopt = Command::new(prefix.join("bin/ocamlopt"));
            ocamlopt.args(["-g", "-bin-annot", "-w", "-a"]).current_dir(&into);
            for library in *libraries {
                if is_multicore || *library == "threads" {
                    ocamlopt.args(["-I", &format!("+{library}")]);
                }
                ocamlopt.arg(format!("{library}.cmxa"));
            }
            run(ocamlopt.args(["-o", name, &file]))?;
        }
    }
    let into = built.join("native");
    fs::create_dir_all(&into).map_err(failed)?;
    for name in NATIVE {
        let mut gcc = Command::new("aarch64-linux-gnu-gcc");
        gcc.args(["-g", "-O1", "-o"]).arg(into.join(name));
        run(gcc.arg(sources("programs/native").join(format!("{name}.c"))).arg("-lpthread"))?;
    }
    Ok(())
}

/// The folder of OCaml's compiler, which is unpacked if it is not there.
fn compiler(folder: &Path, series: &str) -> Outcome<std::path::PathBuf> {
    let prefix = folder.join(format!("ocaml-{series}"));
    let stamp = prefix.join(".unpacked");
    if !stamp.exists() {
        let failed = |error: std::io::Error| format!("{}: {error}", prefix.display());
        let work = folder.join("work");
        for old in [&prefix, &work] {
            if old.exists() {
                fs::remove_dir_all(old).map_err(failed)?;
            }
        }
        eprintln!("unpacking OCaml {series} for arm64 into {}", prefix.display());
        from_debian(series, &ARM64, &prefix, &work)?;
        fs::remove_dir_all(&work).map_err(failed)?;
        fs::write(&stamp, "").map_err(failed)?;
    }
    Ok(prefix)
}
