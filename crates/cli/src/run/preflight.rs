//! Looks at the program's file before it is started: what cannot be recorded is run as it is.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use memtrail_map::MappedFile;
use memtrail_ocaml::Unsupported;
use memtrail_ocaml::inspect::{
    Interpreter, Reason, Verdict, inspect, interpreter, is_linked_with, refuses_preload,
};
use memtrail_recording::preload;
use memtrail_text::rounded::bytes;

use super::native::Native;
use super::process;

/// What to do with a program.
pub(super) enum Decision {
    /// Record it, or find out inside it.
    Record,
    /// It cannot be recorded: run it as if memtrail were not there.
    Unrecorded { reason: String, hint: Option<String> },
}

/// Address space below which there is no room for the agent beside a program: its code, its threads'
/// stacks, its tables.
const LEAST_ADDRESS_SPACE: u64 = 64 << 20;

/// Whether the user has told that library not to end the program if another one comes before it.
fn lets_others_come_first() -> bool {
    let options = std::env::var_os(preload::SANITIZER_OPTIONS).unwrap_or_default();
    preload::lets_others_come_first(options.as_bytes())
}

/// Whether the user preloads that library.
fn preloads_sanitizer() -> bool {
    let value = std::env::var_os(preload::VARIABLE).unwrap_or_default();
    preload::has_sanitizer(value.as_bytes())
}

/// Looks at the program that a command names, which is to be recorded as a native or as an OCaml program. The kernel
/// refuses what cannot be read. With an assumed version, a runtime that is newer than all known ones is recorded.
pub(super) fn look(program: &OsStr, native: Native, assumes_version: bool) -> Decision {
    if let Some(decision) = look_at_limits() {
        return decision;
    }
    let Some(path) = find(program) else { return Decision::Record };
    let Ok(metadata) = path.metadata() else { return Decision::Record };
    if refuses_preload(&metadata) {
        return Decision::Unrecorded {
            reason: "it is set-uid or set-gid, and the system lets nobody look into such programs"
                .into(),
            hint: None,
        };
    }
    let Ok(file) = MappedFile::open(&path) else { return Decision::Record };
    let with_sanitizer = if is_linked_with(&file, preload::ADDRESS_SANITIZER) {
        Some(preload::WITH_SANITIZER)
    } else {
        preloads_sanitizer().then_some(preload::BESIDE_SANITIZER)
    };
    if let Some(reason) = with_sanitizer.filter(|_| !lets_others_come_first()) {
        return Decision::Unrecorded {
            reason: format!("it {reason}"),
            hint: Some(format!(
                "with {}={} in the environment it is recorded",
                preload::SANITIZER_OPTIONS,
                preload::ANY_ORDER
            )),
        };
    }
    let not_loaded = match interpreter(&file) {
        Interpreter::OtherMachine => Some(preload::OTHER_MACHINE),
        Interpreter::Path(linker) if !preload::is_glibc(linker) => Some(preload::OTHER_LIBC),
        // It may start OCaml programs.
        Interpreter::None => (native == Native::Only).then_some(preload::STATIC),
        Interpreter::Path(_) | Interpreter::NoProgram => None,
    };
    let unrecorded = |hint: Option<&str>| {
        let hint = hint.map(str::to_owned);
        not_loaded.map_or(Decision::Record, |reason| Decision::Unrecorded {
            reason: format!("it {reason}"),
            hint,
        })
    };
    if native == Native::Only {
        return unrecorded(None);
    }
    match inspect(&file) {
        Verdict::Refused(Reason::Runtime(Unsupported::Newer(_))) if assumes_version => {
            unrecorded(None)
        }
        Verdict::Refused(reason) => Decision::Unrecorded {
            reason: format!("it {reason}"),
            hint: Some(reason.hint().into()),
        },
        Verdict::Ocaml(_) if not_loaded != Some(preload::OTHER_MACHINE) => {
            unrecorded(Some("take heap snapshots of it while it runs: memtrail snapshot PID"))
        }
        Verdict::Ocaml(_) | Verdict::NotOcaml(_) => unrecorded(None),
    }
}

/// Looks at the user's limits, which are those of each program that is started.
pub(super) fn look_at_limits() -> Option<Decision> {
    let limit = process::address_space().filter(|&limit| limit < LEAST_ADDRESS_SPACE)?;
    Some(Decision::Unrecorded {
        reason: format!(
            "the limit on address space (ulimit -v) is {}, and recording needs {}",
            bytes(limit as f64),
            bytes(LEAST_ADDRESS_SPACE as f64)
        ),
        hint: None,
    })
}

/// The file that `execvp` would run.
pub(crate) fn find(program: &OsStr) -> Option<PathBuf> {
    if program.as_bytes().contains(&b'/') {
        return Some(PathBuf::from(program));
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}
