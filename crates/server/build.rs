//! Compresses the engine, which pages that are opened from disk have in them as gzip.

use std::env;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use flate2::Compression;
use flate2::write::GzEncoder;

fn main() {
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let engine = manifest.join("assets/engine.wasm");
    println!("cargo::rerun-if-changed={}", engine.display());
    let bytes = fs::read(&engine).expect("the engine is committed");
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&bytes).expect("memory can be written to");
    let packed = encoder.finish().expect("memory can be written to");
    fs::write(out.join("engine.wasm.gz"), packed).expect("the output folder can be written to");
}
