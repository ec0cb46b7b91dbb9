//! Builds the agent and leaves it where `include_bytes!` finds it, so that this one binary is all
//! that a user installs.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let root = manifest.join("../..");
    for source in ["preload", "agent", "heap", "ocaml", "trace", "recording"] {
        println!(
            "cargo::rerun-if-changed={}",
            root.join("crates").join(source).join("src").display()
        );
        let manifest = root.join("crates").join(source).join("Cargo.toml");
        println!("cargo::rerun-if-changed={}", manifest.display());
    }
    println!("cargo::rerun-if-changed={}", root.join("Cargo.toml").display());
    build(&root, &out);
}

fn build(root: &Path, out: &Path) {
    let target = env::var("TARGET").expect("cargo sets it");
    let folder = out.join("agent");
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .current_dir(root)
        .args(["build", "--quiet", "--package", "memtrail-preload", "--locked"])
        .args(["--profile", "agent"])
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
    let library = folder.join(target).join("agent").join("libmemtrail_preload.so");
    std::fs::copy(library, out.join("libmemtrail_agent.so")).expect("the agent was built");
}
