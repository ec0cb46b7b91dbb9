//! Builds the helper, once for each compiler.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

use thiserror::Error;
use xxhash_rust::xxh3::Xxh3Default;

use crate::cache;
use crate::compiler::Compiler;

/// The sources in the order of their dependencies; the first one depends on the compiler.
const SOURCES: [(&str, &str); 4] = [
    ("slot.ml", include_str!("../../ocaml/slot.ml")),
    ("layout.ml", include_str!("../../ocaml/layout.ml")),
    ("wire.ml", include_str!("../../ocaml/wire.ml")),
    ("main.ml", include_str!("../../ocaml/main.ml")),
];
const BOUND: &str = "bound.ml";
/// For versions of the compiler from the latest on: the first one that compiles is right.
const BOUNDS: [&str; 2] =
    [include_str!("../../ocaml/bound_5.ml"), include_str!("../../ocaml/bound_4.ml")];

/// How many this process has begun: each has a folder of its own.
static BUILDS: AtomicU64 = AtomicU64::new(0);

/// Why the helper cannot be built.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The compiler does not accept it.
    #[error("{compiler} cannot build the reader of .cmt files: {output}")]
    Compiler {
        /// The compiler.
        compiler: PathBuf,
        /// What it reported.
        output: String,
    },
    /// A file cannot be written, or the compiler not be started.
    #[error("cannot build the reader of .cmt files: {0}")]
    Io(#[from] io::Error),
}

/// The helper's file, built first if this version of it is not there.
///
/// # Errors
/// If it cannot be built, for example because the compiler's own libraries are not installed.
pub fn build(compiler: &Compiler) -> Result<PathBuf, BuildError> {
    let folder = cache::folder()?;
    let file = folder.join(format!("types-{}-{:016x}", compiler.version, identity(compiler)));
    if file.is_file() {
        return Ok(file);
    }
    let again = BUILDS.fetch_add(1, Ordering::Relaxed);
    let work = folder.join(format!(".types-{}-{again}", std::process::id()));
    let _ = fs::remove_dir_all(&work);
    fs::create_dir(&work)?;
    let built = compile(compiler, &work).and_then(|built| Ok(fs::rename(built, &file)?));
    let _ = fs::remove_dir_all(&work);
    built.map(|()| file)
}

/// What a built helper depends on. Two compilers of one version differ in their libraries' files.
fn identity(compiler: &Compiler) -> u64 {
    let mut hash = Xxh3Default::new();
    for text in BOUNDS.iter().chain(SOURCES.iter().map(|(_, text)| text)) {
        hash.update(text.as_bytes());
    }
    hash.update(compiler.version.as_bytes());
    hash.update(compiler.magic.as_bytes());
    hash.update(compiler.library.as_os_str().as_encoded_bytes());
    hash.digest()
}

fn compile(compiler: &Compiler, work: &Path) -> Result<PathBuf, BuildError> {
    for (name, text) in SOURCES {
        fs::write(work.join(name), text)?;
    }
    let mut reported = String::new();
    for bound in BOUNDS {
        fs::write(work.join(BOUND), bound)?;
        let output = Command::new(&compiler.file)
            .args(["-w", "-a", "-I", "+compiler-libs", "ocamlcommon.cmxa", BOUND])
            .args(SOURCES.map(|(name, _)| name))
            .args(["-o", "types"])
            .current_dir(work)
            .stdin(Stdio::null())
            .output()?;
        if output.status.success() {
            return Ok(work.join("types"));
        }
        reported = String::from_utf8_lossy(&output.stderr).into_owned();
    }
    Err(BuildError::Compiler { compiler: compiler.file.clone(), output: reported.trim().into() })
}
