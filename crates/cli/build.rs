//! Builds the agent, for OCaml programs and for native ones, and leaves both, gzipped, where `include_bytes!` finds it, so that this one binary is all
//! that a user installs. And computes the checksum of the code that finds types of blocks: results that an earlier
//! version of it has left beside a snapshot are not used.

use std::env;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;
use xxhash_rust::xxh3::{Xxh3Default, xxh3_128};

/// A folder with agents that were built before: those of a release are for older C libraries, and for another one than its static
/// launcher has.
const AGENTS: &str = "MEMTRAIL_AGENTS";

fn main() {
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let root = manifest.join("../..");
    for source in [
        "preload",
        "native",
        "whole",
        "agent",
        "heap",
        "ocaml",
        "ocaml-snapshot",
        "recording",
        "references",
        "sampler",
        "symbols",
        "trace",
    ] {
        println!(
            "cargo::rerun-if-changed={}",
            root.join("crates").join(source).join("src").display()
        );
        let manifest = root.join("crates").join(source).join("Cargo.toml");
        println!("cargo::rerun-if-changed={}", manifest.display());
    }
    println!("cargo::rerun-if-changed={}", root.join("Cargo.toml").display());
    println!("cargo::rerun-if-env-changed={AGENTS}");
    let agents = match env::var_os(AGENTS) {
        None => build(&root, &out),
        Some(built) => {
            println!("cargo::rerun-if-changed={}", Path::new(&built).display());
            built.into()
        }
    };
    pack(&agents.join("libmemtrail_preload.so"), &out.join("libmemtrail_agent.so.gz"), "AGENT");
    pack(&agents.join("libmemtrail_native.so"), &out.join("libmemtrail_native.so.gz"), "NATIVE");
    pack(&agents.join("libmemtrail_whole.so"), &out.join("libmemtrail_whole.so.gz"), "WHOLE");
    pack_recording(&root.join("tests/recordings/leaks-4711.memtrail"), &out);
    println!("cargo::rustc-env=MEMTRAIL_TYPES_CODE={:016x}", types_code(&root));
}

/// What the types of a snapshot's blocks are found by.
const TYPES_CODE: [&str; 5] = [
    "types/src",
    "typeflow/src",
    "heap/src/contents",
    "cli/src/snapshot_file/types.rs",
    "cli/src/snapshot_file/variables.rs",
];

fn types_code(root: &Path) -> u64 {
    let mut waiting: Vec<PathBuf> =
        TYPES_CODE.iter().map(|path| root.join("crates").join(path)).collect();
    let mut files = Vec::new();
    while let Some(path) = waiting.pop() {
        println!("cargo::rerun-if-changed={}", path.display());
        match std::fs::read_dir(&path) {
            Ok(entries) => waiting.extend(entries.flatten().map(|entry| entry.path())),
            Err(_) => files.push(path),
        }
    }
    files.sort();
    let mut checksum = Xxh3Default::new();
    for file in files {
        checksum.update(&std::fs::read(file).expect("a source of this repository"));
    }
    checksum.digest()
}

/// Builds the agents, and gives the folder in which they are.
fn build(root: &Path, out: &Path) -> PathBuf {
    let target = env::var("TARGET").expect("cargo sets it");
    let profile = match env::var("PROFILE").as_deref() {
        Ok("release") => "agent",
        _ => "agent-dev",
    };
    let folder = out.join("agent");
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .current_dir(root)
        .args(["build", "--quiet", "--locked"])
        .args(["--package", "memtrail-preload", "--package", "memtrail-native"])
        .args(["--package", "memtrail-whole"])
        .args(["--profile", profile])
        .args(["--target", &target])
        .arg("--target-dir")
        .arg(&folder);
    // What the outer build sets for this package, or for its own mode, is not for the agent.
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        let ours =
            text.starts_with("CARGO_") && text != "CARGO_HOME" && text != "CARGO_NET_OFFLINE";
        if ours || text == "RUSTFLAGS" || text.starts_with("RUSTC") {
            cargo.env_remove(name);
        }
    }
    let status = cargo.status().expect("cargo runs, or this would not");
    assert!(status.success(), "the agent does not build");
    folder.join(target).join(profile)
}

/// Leaves a library gzipped, and its hash in a variable.
fn pack(library: &Path, packed: &Path, name: &str) {
    let agent = std::fs::read(library).expect("the agent was built");
    println!("cargo::rustc-env=MEMTRAIL_{name}_HASH={:032x}", xxh3_128(&agent));
    std::fs::write(packed, gzip(&agent)).expect("the folder is cargo's");
}

/// Leaves the files of the demo's recording gzipped, and a Rust expression that lists them.
fn pack_recording(recording: &Path, out: &Path) {
    println!("cargo::rerun-if-changed={}", recording.display());
    let entries = std::fs::read_dir(recording).expect("the recording is committed");
    let mut files: Vec<PathBuf> =
        entries.map(|entry| entry.expect("an entry of the folder").path()).collect();
    files.sort();
    let included = files.into_iter().map(|file| {
        let name = file.file_name().and_then(|name| name.to_str()).expect("names are ASCII");
        let packed = format!("demo-{name}.gz");
        let bytes = std::fs::read(&file).expect("the recording is committed");
        std::fs::write(out.join(&packed), gzip(&bytes)).expect("the folder is cargo's");
        format!("({name:?}, include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{packed}\")) as &[u8])")
    });
    let list = included.collect::<Vec<_>>().join(",\n");
    std::fs::write(out.join("demo.rs"), format!("[\n{list}\n]")).expect("the folder is cargo's");
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).expect("memory can be written to");
    encoder.finish().expect("memory can be written to")
}
