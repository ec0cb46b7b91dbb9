//! Builds the helper, once for each compiler.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

use thiserror::Error;
use xxhash_rust::xxh3::Xxh3Default;

use crate::cache::{self, Limits};
use crate::compiler::Compiler;
use crate::trusted_folder;

/// The sources in the order of their dependencies.
const SOURCES: [(&str, &str); 19] = [
    ("slot.ml", include_str!("../../ocaml/slot.ml")),
    ("scope.ml", include_str!("../../ocaml/scope.ml")),
    ("layout.ml", include_str!("../../ocaml/layout.ml")),
    ("evaluate.ml", include_str!("../../ocaml/evaluate.ml")),
    ("variables.ml", include_str!("../../ocaml/variables.ml")),
    ("term.ml", include_str!("../../ocaml/term.ml")),
    ("wire.ml", include_str!("../../ocaml/wire.ml")),
    ("translate.ml", include_str!("../../ocaml/translate.ml")),
    ("tables.ml", include_str!("../../ocaml/tables.ml")),
    ("unit_files.ml", include_str!("../../ocaml/unit_files.ml")),
    ("functions.ml", include_str!("../../ocaml/functions.ml")),
    ("named.ml", include_str!("../../ocaml/named.ml")),
    ("contents.ml", include_str!("../../ocaml/contents.ml")),
    ("expressions.ml", include_str!("../../ocaml/expressions.ml")),
    ("bindings.ml", include_str!("../../ocaml/bindings.ml")),
    ("strings.ml", include_str!("../../ocaml/strings.ml")),
    ("suffixes.ml", include_str!("../../ocaml/suffixes.ml")),
    ("dynamic.ml", include_str!("../../ocaml/dynamic.ml")),
    ("main.ml", include_str!("../../ocaml/main.ml")),
];
/// What differs between versions of the compiler, with what that needs, before all others; the latest version first.
/// The first that compiles is right.
const VARIANTS: [(&str, &[&str]); 6] = [
    (
        "type_nodes.ml",
        &[
            include_str!("../../ocaml/type_nodes_414.ml"),
            include_str!("../../ocaml/type_nodes_4.ml"),
        ],
    ),
    (
        "type_parts.ml",
        &[
            include_str!("../../ocaml/type_parts_505.ml"),
            include_str!("../../ocaml/type_parts_504.ml"),
            include_str!("../../ocaml/type_parts_413.ml"),
            include_str!("../../ocaml/type_parts_411.ml"),
        ],
    ),
    ("type_view.ml", &[include_str!("../../ocaml/type_view.ml")]),
    (
        "unit_functor.ml",
        &[
            include_str!("../../ocaml/unit_functor_501.ml"),
            include_str!("../../ocaml/unit_functor_4.ml"),
        ],
    ),
    ("bound.ml", &[include_str!("../../ocaml/bound_5.ml"), include_str!("../../ocaml/bound_4.ml")]),
    (
        "closures.ml",
        &[
            concat!(
                include_str!("../../ocaml/code_502.ml"),
                include_str!("../../ocaml/summary_505.ml"),
                include_str!("../../ocaml/closures.ml")
            ),
            concat!(
                include_str!("../../ocaml/code_502.ml"),
                include_str!("../../ocaml/summary_4.ml"),
                include_str!("../../ocaml/closures.ml")
            ),
            concat!(
                include_str!("../../ocaml/code_500.ml"),
                include_str!("../../ocaml/summary_4.ml"),
                include_str!("../../ocaml/closures.ml")
            ),
            concat!(
                include_str!("../../ocaml/code_4.ml"),
                include_str!("../../ocaml/summary_4.ml"),
                include_str!("../../ocaml/closures.ml")
            ),
            include_str!("../../ocaml/closures_none.ml"),
        ],
    ),
];

/// The most helpers that are kept: each takes some fifteen million bytes.
const LIMITS: Limits = Limits { files: 12, bytes: 256 << 20 };
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
    let name = format!("{}{}-{:016x}", cache::PREFIX, compiler.version, identity(compiler));
    let file = folder.join(name);
    if trusted_folder::is_own_file(&file) {
        cache::note_use(&file);
        return Ok(file);
    }
    let again = BUILDS.fetch_add(1, Ordering::Relaxed);
    let work = folder.join(format!(".types-{}-{again}", std::process::id()));
    let _ = fs::remove_dir_all(&work);
    fs::create_dir(&work)?;
    let built = compile(compiler, &work).and_then(|built| {
        // Whatever the umask is: what others could write is not run.
        fs::set_permissions(&built, fs::Permissions::from_mode(0o755))?;
        Ok(fs::rename(built, &file)?)
    });
    let _ = fs::remove_dir_all(&work);
    cache::remove_old(&folder, cache::PREFIX, &file, LIMITS);
    built.map(|()| file)
}

/// What a built helper depends on. Two compilers of one version differ in their libraries' files.
fn identity(compiler: &Compiler) -> u64 {
    let mut hash = Xxh3Default::new();
    let variants = VARIANTS.iter().flat_map(|(_, texts)| texts.iter());
    for text in variants.chain(SOURCES.iter().map(|(_, text)| text)) {
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
    for (name, texts) in VARIANTS {
        let mut reported = String::new();
        for text in texts {
            fs::write(work.join(name), text)?;
            reported = run(compiler, work, &["-c", name])?;
            if reported.is_empty() {
                break;
            }
        }
        if !reported.is_empty() {
            return Err(refused(compiler, reported));
        }
    }
    let mut arguments = vec!["ocamlcommon.cmxa"];
    arguments.extend(VARIANTS.map(|(name, _)| name));
    arguments.extend(SOURCES.map(|(name, _)| name));
    arguments.extend(["-o", "types"]);
    let reported = run(compiler, work, &arguments)?;
    if reported.is_empty() { Ok(work.join("types")) } else { Err(refused(compiler, reported)) }
}

fn refused(compiler: &Compiler, output: String) -> BuildError {
    BuildError::Compiler { compiler: compiler.file.clone(), output }
}

/// What the compiler reported; empty if it accepted its input.
fn run(compiler: &Compiler, work: &Path, arguments: &[&str]) -> io::Result<String> {
    let output = Command::new(&compiler.file)
        .args(["-w", "-a", "-I", "+compiler-libs"])
        .args(arguments)
        .current_dir(work)
        .stdin(Stdio::null())
        .output()?;
    if output.status.success() {
        return Ok(String::new());
    }
    let reported = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Ok(if reported.is_empty() { output.status.to_string() } else { reported })
}
