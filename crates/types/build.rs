//! A hash of all sources of this crate: what another version of them found is not taken over.

use std::path::Path;
use std::{fs, io};

use xxhash_rust::xxh3::Xxh3Default;

fn main() -> io::Result<()> {
    let mut hash = Xxh3Default::new();
    for folder in ["src", "ocaml"] {
        println!("cargo::rerun-if-changed={folder}");
        add(Path::new(folder), &mut hash)?;
    }
    println!("cargo::rustc-env=MEMTRAIL_TYPES_SOURCES={:032x}", hash.digest128());
    Ok(())
}

fn add(folder: &Path, hash: &mut Xxh3Default) -> io::Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        if path.is_dir() {
            add(&path, hash)?;
        } else {
            hash.update(path.as_os_str().as_encoded_bytes());
            hash.update(&fs::read(&path)?);
        }
    }
    Ok(())
}
