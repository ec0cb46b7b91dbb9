//! A program's file: what it is, and what its build left.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use memtrail_map::MappedFile;
use memtrail_ocaml::inspect::{Interpreter, Other, Rival, Verdict, inspect, interpreter};
use serde::Serialize;

use super::ability::{Ability, Works};
use super::draw::fact;
use crate::canvas::Canvas;
use crate::error::{Failure, Kind};
use crate::run::{self, Native};
use crate::{shell_quote, snapshot, types};

const RUN: &str = "memtrail run: allocations, and heap snapshots of OCaml";
const NATIVE: &str = "memtrail run --native: calls of malloc";
const SNAPSHOT: &str = "memtrail snapshot PID, while it runs";
const TYPES: &str = "names and types of variables";
const LINES: &str = "source lines";

/// Facts of a program's file.
#[derive(Debug, Serialize)]
pub(super) struct ProgramFacts {
    #[serde(skip)]
    path: PathBuf,
    #[serde(rename = "path")]
    shown: String,
    /// `OCaml 4.13`, `native code` or the like.
    kind: String,
    /// Its way to its libraries: `static`, or the dynamic linker.
    linking: String,
    /// True if local symbols were removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    stripped: Option<bool>,
    /// A library of the program's that uses the runtime's sampler.
    #[serde(skip_serializing_if = "Option::is_none")]
    sampler: Option<&'static str>,
    #[serde(skip)]
    is_ocaml: bool,
    #[serde(skip)]
    is_executable: bool,
}

/// The file of a program, as the shell finds it.
pub(super) fn find(subject: &OsStr) -> Result<PathBuf, Failure> {
    let found = run::find(subject).filter(|path| path.is_file());
    found.ok_or_else(|| {
        let name = Path::new(subject).display();
        Failure::new(Kind::Input, format_args!("{name}: no such program"))
            .hint("name a file, a program on PATH, or the number of a process")
    })
}

impl ProgramFacts {
    /// Looks at a file, which is shown as `path`.
    pub(super) fn look(file: &Path, path: PathBuf) -> Self {
        let map = MappedFile::open(file);
        let bytes: &[u8] = map.as_deref().unwrap_or_default();
        let verdict = inspect(bytes);
        let linking = match interpreter(bytes) {
            Interpreter::None => "static".to_owned(),
            Interpreter::OtherMachine => "for another processor, or of 32 bits".to_owned(),
            Interpreter::NoProgram => "no executable".to_owned(),
            Interpreter::Path(linker) => String::from_utf8_lossy(linker).into_owned(),
        };
        let kind = match &verdict {
            Verdict::Ocaml(program) => format!("OCaml {}, native code", program.version),
            Verdict::Refused(reason) => reason.to_string(),
            Verdict::NotOcaml(Other::Script(interpreter)) => format!("script of {interpreter}"),
            Verdict::NotOcaml(Other::Executable) => "native code, not OCaml".to_owned(),
            Verdict::NotOcaml(Other::Unknown) => "neither a program nor a script".to_owned(),
        };
        let ocaml = match verdict {
            Verdict::Ocaml(program) => Some(program),
            _ => None,
        };
        Self {
            shown: path.display().to_string(),
            path,
            kind,
            linking,
            stripped: ocaml.map(|program| program.stripped),
            sampler: ocaml.and_then(|program| program.rival).map(Rival::name),
            is_ocaml: ocaml.is_some(),
            is_executable: matches!(interpreter(bytes), Interpreter::Path(_) | Interpreter::None),
        }
    }

    pub(super) fn draw(&self, canvas: &mut Canvas) {
        fact(canvas, "program", &self.shown);
        let stripped = if self.stripped == Some(true) { ", stripped" } else { "" };
        fact(canvas, "", &format!("{}{stripped}; linking: {}", self.kind, self.linking));
        if let Some(sampler) = self.sampler {
            let text = format!(
                "linked with {sampler}, which uses the runtime's sampler: memtrail stops sampling when it starts"
            );
            fact(canvas, "", &text);
        }
    }
}

/// Abilities for a program that is to be started.
pub(super) fn abilities(program: &ProgramFacts, file: &Path) -> Vec<Ability> {
    let name = shell_quote::path(file);
    let mut abilities = Vec::new();
    let of = |native| run::check(file.as_os_str(), native);
    let native = of(if program.is_ocaml { Native::Also } else { Native::Only });
    let is_recorded = native.is_ok();
    abilities.push(match of(Native::None) {
        Err(obstacle) => Ability::no(RUN, obstacle.reason, obstacle.hint),
        Ok(()) if program.is_ocaml => Ability::yes(RUN, None),
        Ok(()) => Ability::partly(
            RUN,
            "it is no OCaml program; OCaml programs that it starts are recorded".into(),
            is_recorded.then(|| format!("memtrail run --native -- {name}")),
        ),
    });
    abilities.push(match native {
        Err(obstacle) => Ability::no(NATIVE, obstacle.reason, obstacle.hint),
        Ok(()) if program.is_ocaml => Ability::yes(
            NATIVE,
            Some(format!("with its heap: memtrail run --native=also -- {name}")),
        ),
        Ok(()) => Ability::yes(NATIVE, None),
    });
    let snapshot = snapshot::check_program(file).and_then(|()| snapshot::check_machine());
    let mut snapshot = Ability::judge(SNAPSHOT, snapshot, "");
    if is_recorded && !program.is_ocaml && program.is_executable && snapshot.works == Works::No {
        let line = format!("memtrail run --native --snapshot exit -- {name}");
        snapshot.way_out = Some(format!("{line}: shows what refers to its memory"));
    }
    abilities.push(snapshot);
    abilities.extend(names(program, file));
    abilities
}

/// Tells if variables have names and types, and functions have lines.
pub(super) fn names(program: &ProgramFacts, file: &Path) -> Vec<Ability> {
    if !program.is_executable {
        return Vec::new();
    }
    let mut abilities = Vec::new();
    if program.is_ocaml {
        abilities.push(types_of(file, &program.path));
        abilities.push(Ability::yes(
            LINES,
            Some(
                "of units that were compiled with -g, as dune and opam do; strip keeps them"
                    .to_owned(),
            ),
        ));
    } else if memtrail_symbols::has_lines(file) {
        abilities.push(Ability::yes(LINES, None));
    } else {
        abilities.push(Ability::partly(
            LINES,
            "there is no debug information: functions have names as far as the symbol table has them".into(),
            Some("compile with -g, or install the package with its debug symbols (-dbgsym, -debuginfo)".into()),
        ));
    }
    abilities
}

/// Searches for the files of the program's build, as commands on its recordings do.
fn types_of(file: &Path, path: &Path) -> Ability {
    // Files of the build are searched near the program's real place.
    let file = if path.is_file() { path } else { file };
    match types::coverage(file) {
        Err(failure) => Ability::judge(TYPES, Err(failure), ""),
        Ok(found) => {
            let text = format!("{} of {} fields of modules are named", found.named, found.fields);
            if found.named == 0 {
                Ability::no(TYPES, found.problem.unwrap_or(text), found.hint)
            } else if found.hint.is_some() {
                Ability::partly(TYPES, text, found.hint)
            } else {
                Ability::yes(TYPES, Some(text))
            }
        }
    }
}
