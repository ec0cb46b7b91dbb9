//! Programs that are recorded, and the ways to run them.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::bench::folders::scratch;
use crate::command::{Outcome, output, run};

const ALLOCATES: &str = include_str!("allocates.c");
const CHURNS: &str = include_str!("churns.rs");
const CALCULATES: &str = include_str!("calculates.py");
const TCMALLOC: &str = "libtcmalloc.so.4";
/// As memtrail's, one sample for 512 KiB.
const TCMALLOC_RATE: (&str, &str) = ("TCMALLOC_SAMPLE_PARAMETER", "524288");

/// What records.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Recorder {
    Nothing,
    /// With these options of `memtrail run`.
    Memtrail(&'static [&'static str]),
    Heaptrack,
}

/// A way to run a program.
pub(super) struct Variant {
    pub(super) name: &'static str,
    pub(super) recorder: Recorder,
    /// Whether tcmalloc is its allocator.
    pub(super) tcmalloc: bool,
    pub(super) environment: Option<(&'static str, &'static str)>,
    /// The place of the variant that it is compared with.
    pub(super) against: usize,
}

/// A program, and the ways to run it; the first one is without a recorder.
pub(super) struct Subject {
    pub(super) name: &'static str,
    pub(super) command: Vec<String>,
    pub(super) variants: Vec<Variant>,
}

const fn plain(name: &'static str) -> Variant {
    Variant { name, recorder: Recorder::Nothing, tcmalloc: false, environment: None, against: 0 }
}

const fn memtrail(name: &'static str, options: &'static [&'static str]) -> Variant {
    Variant { recorder: Recorder::Memtrail(options), ..plain(name) }
}

/// All of them, and what is missing on this machine.
pub(super) fn all() -> Outcome<(Vec<Subject>, Vec<String>)> {
    let folder = scratch()?;
    let allocates = compiled(&folder)?;
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let mut missing = Vec::new();
    let mut sampled = vec![plain("alone"), plain("alone, again"), memtrail("memtrail", &[])];
    if has_tcmalloc() {
        let tcmalloc = |name, recorder, environment| Variant {
            name,
            recorder,
            tcmalloc: true,
            environment,
            against: 3,
        };
        sampled.push(tcmalloc("tcmalloc alone", Recorder::Nothing, None));
        sampled.push(tcmalloc("gperftools, sampling", Recorder::Nothing, Some(TCMALLOC_RATE)));
        sampled.push(tcmalloc("memtrail, over tcmalloc", Recorder::Memtrail(&[]), None));
    } else {
        missing.push("gperftools: libgoogle-perftools4 is not installed".to_owned());
    }
    let has_heaptrack = is_there("heaptrack");
    if !has_heaptrack {
        missing.push("heaptrack: not installed".to_owned());
    }
    let exact = || {
        let mut exact = vec![plain("alone"), memtrail("memtrail --rate 1", &["--rate", "1"])];
        if has_heaptrack {
            let recorder = Recorder::Heaptrack;
            exact.push(Variant { recorder, ..plain("heaptrack, its reader too") });
        }
        exact
    };
    let real = || vec![plain("alone"), plain("alone, again"), memtrail("memtrail", &[])];
    let mut subjects = vec![
        Subject {
            name: "allocates 60 million blocks",
            command: vec![text(&allocates), "60000000".into()],
            variants: sampled,
        },
        Subject {
            name: "allocates 1 million blocks",
            command: vec![text(&allocates), "1000000".into()],
            variants: exact(),
        },
    ];
    let script = folder.join("calculates.py");
    write(&script, CALCULATES)?;
    if let Ok(python) =
        output(Command::new("python3").args(["-c", "import sys; print(sys.executable)"]))
    {
        let command = vec![python, "-I".into(), text(&script)];
        subjects.push(Subject { name: "python3", command, variants: real() });
    } else {
        missing.push("python3: not installed".to_owned());
    }
    if let Ok(churns) = compiled_rust(&folder) {
        for (name, steps, variants) in [
            ("maps and strings in Rust", "40000000", real()),
            ("maps and strings in Rust, briefly", "300000", exact()),
        ] {
            subjects.push(Subject { name, command: vec![text(&churns), steps.into()], variants });
        }
    }
    if let Some(compiler) = rustc() {
        let source = folder.join("compiled.rs");
        write(&source, &rust())?;
        let out = folder.join("libcompiled.rlib");
        let command = [
            &text(&compiler),
            "--crate-type=lib",
            "-Copt-level=1",
            "-o",
            &text(&out),
            &text(&source),
        ]
        .map(str::to_owned)
        .to_vec();
        subjects.push(Subject { name: "rustc", command, variants: real() });
    } else {
        missing.push("rustc: not installed".to_owned());
    }
    Ok((subjects, missing))
}

/// The command of a variant; a recording goes to `recording`.
pub(super) fn command(
    subject: &Subject,
    variant: &Variant,
    memtrail: &Path,
    recording: &Path,
) -> Command {
    let mut command = match variant.recorder {
        Recorder::Nothing => Command::new(&subject.command[0]),
        Recorder::Memtrail(options) => {
            let mut command = Command::new(memtrail);
            command.args(["run", "--native"]).args(options).arg("-o").arg(recording);
            command.arg("--").arg(&subject.command[0]);
            command
        }
        Recorder::Heaptrack => {
            let mut command = Command::new("heaptrack");
            command.arg("-o").arg(recording).arg(&subject.command[0]);
            command
        }
    };
    command.args(&subject.command[1..]).env("PYTHONHASHSEED", "0");
    if variant.tcmalloc {
        command.env("LD_PRELOAD", TCMALLOC);
    }
    command.envs(variant.environment);
    command
}

/// All bytes that gperftools' heap profiler, which records each block, counts.
pub(super) fn counted_by_gperftools(subject: &Subject) -> Outcome<f64> {
    let prefix = scratch()?.join("gperftools");
    run(Command::new(&subject.command[0])
        .args(&subject.command[1..])
        .env("LD_PRELOAD", TCMALLOC)
        .env("HEAPPROFILE", &prefix)
        .env("HEAP_PROFILE_ALLOCATION_INTERVAL", "0")
        .env("HEAP_PROFILE_INUSE_INTERVAL", "0")
        .stderr(std::process::Stdio::null()))?;
    let path = PathBuf::from(format!("{}.0001.heap", prefix.display()));
    let text =
        fs::read_to_string(&path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    // heap profile: 1: 4096 [2000001: 144003296] @ heapprofile
    let total = text.lines().next().and_then(|line| line.split_once('[')?.1.split_once(']'));
    let bytes = total.and_then(|(total, _)| total.split(':').nth(1)?.trim().parse().ok());
    bytes.ok_or_else(|| format!("{} has no total", path.display()))
}

/// Whether the loader finds tcmalloc: it goes on without, and says so.
pub(super) fn has_tcmalloc() -> bool {
    let output = Command::new("/bin/true").env("LD_PRELOAD", TCMALLOC).output();
    output.is_ok_and(|output| output.status.success() && output.stderr.is_empty())
}

fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

fn write(path: &Path, text: &str) -> Outcome {
    fs::write(path, text).map_err(|e| format!("cannot write {}: {e}", path.display()))
}

fn compiled(folder: &Path) -> Outcome<PathBuf> {
    let (source, program) = (folder.join("allocates.c"), folder.join("allocates"));
    write(&source, ALLOCATES)?;
    run(Command::new("cc").args(["-g", "-O1", "-o"]).arg(&program).arg(&source))?;
    Ok(program)
}

fn compiled_rust(folder: &Path) -> Outcome<PathBuf> {
    let (source, program) = (folder.join("churns.rs"), folder.join("churns"));
    write(&source, CHURNS)?;
    run(Command::new("rustc").args(["-O", "-g", "-o"]).arg(&program).arg(&source))?;
    Ok(program)
}

/// A distribution's compiler, which allocates by the `malloc` of libc, or else rustup's, which has an allocator inside.
fn rustc() -> Option<PathBuf> {
    let packaged = PathBuf::from("/usr/bin/rustc");
    if packaged.exists() {
        return Some(packaged);
    }
    let sysroot = output(Command::new("rustc").args(["--print", "sysroot"])).ok()?;
    Some(Path::new(&sysroot).join("bin/rustc"))
}

/// A crate of many small functions.
fn rust() -> String {
    let mut text = String::new();
    for n in 0..600 {
        let _ = writeln!(
            text,
            "pub fn f{n}(values: &[u64]) -> Vec<String> {{\n    let mut all: Vec<String> = values.iter()\
             .filter(|v| **v % {} != 0).map(|v| format!(\"{{v}}-{n}\")).collect();\n    all.sort();\n    all\n}}",
            n + 2
        );
    }
    text
}
