//! From a program to the names of its global variables.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use memtrail_order::SortRows as _;
use thiserror::Error;

use crate::compiler::Compiler;
use crate::find::{Files, implementation, magic};
use crate::helper::{self, Answer, BuildError, Request, run};
use crate::packs::add_members;
use crate::problem::{Problem, Reason};
use crate::program::{Program, ProgramUnit};
use crate::read_table::has_content;
use crate::results::Place;
use crate::term::TypeTable;
use crate::unit::{Evidence, Layout, Types, Unit};

/// Why no files can be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// No compiler that could read the files.
    #[error("no OCaml compiler of the version that made the program's .cmt files")]
    NoCompiler,
    /// The helper cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The helper cannot be run.
    #[error("cannot run the reader of .cmt files: {0}")]
    Run(#[from] io::Error),
}

/// What is known of a program's units: always a result, and what went wrong with all of them.
///
/// `version` is that of the program's runtime, e.g. `4.13`: its compilers are tried first.
pub fn resolve(
    path: &Path,
    program: &Program<'_>,
    files: &Files,
    compilers: &[Compiler],
    version: &str,
) -> (Types, Option<Error>) {
    let place = Place::of(path, program, files, compilers, version);
    if let Some(types) = place.as_ref().and_then(Place::read) {
        return (types, None);
    }
    let (types, error) = resolve_anew(path, program, files, compilers, version);
    if let Some(place) = place.filter(|_| error.is_none()) {
        place.keep(&types);
    }
    (types, error)
}

/// Reads the compiler's files, whatever was found earlier.
fn resolve_anew(
    path: &Path,
    program: &Program<'_>,
    files: &Files,
    compilers: &[Compiler],
    version: &str,
) -> (Types, Option<Error>) {
    let units: Vec<Candidates<'_>> =
        program.units.iter().map(|unit| Candidates::of(unit, files)).collect();
    let mut best = (Vec::new(), None, Some(Error::NoCompiler));
    for compiler in in_order(compilers, version, &units) {
        let answers = helper::build(compiler).map_err(Error::from).and_then(|helper| {
            let answers = look(&helper, program, &units, &compiler.magic)?;
            Ok((helper, answers))
        });
        match answers {
            Ok(answers) => {
                let (helper, answers) = answers;
                let found = answers.iter().any(|answer| answer.layout.is_some());
                if found || best.0.is_empty() {
                    best = (answers, Some((compiler, helper)), None);
                }
                if found {
                    break;
                }
            }
            Err(error) if best.0.is_empty() => best.2 = Some(error),
            Err(_) => {}
        }
    }
    let (mut answers, compiler, error) = best;
    answers.resize_with(units.len(), Answer::default);
    let mut table = match &compiler {
        Some((compiler, helper)) => {
            types_of(helper, program, files, &compiler.magic, &units, &mut answers)
        }
        None => TypeTable::default(),
    };
    if program.has_flambda() {
        // What these say of environments is not what closures hold, and numbers can be those of others.
        table.functions.clear();
        table.named.clear();
    }
    let compiler = compiler.map(|(compiler, _)| compiler);
    let units = units.iter().zip(answers).map(|(unit, answer)| unit.with(answer, compiler));
    let mut units: Vec<Unit> = units.collect();
    add_members(&program.units, &mut units, &table);
    let types = Types {
        program: path.to_string_lossy().into_owned(),
        compiler: compiler.map_or_else(String::new, |compiler| compiler.version.clone()),
        units,
        table,
    };
    // Without any file there is nothing to read, and nothing went wrong.
    let nothing = types.units.iter().all(|unit| unit.problems.is_empty() && unit.layout.is_none());
    (types, error.filter(|error| !(nothing && matches!(error, Error::NoCompiler))))
}

/// One compiler for each version of files, those of the program's version first, then those that most units
/// have files of.
fn in_order<'a>(
    compilers: &'a [Compiler],
    version: &str,
    units: &[Candidates<'_>],
) -> Vec<&'a Compiler> {
    let is_programs = |compiler: &Compiler| {
        compiler
            .version
            .strip_prefix(version)
            .is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for unit in units {
        let versions: HashSet<&str> = unit.typed().map(|(_, magic)| &magic[9..]).collect();
        for version in versions {
            *counts.entry(version).or_default() += 1;
        }
    }
    let mut order: Vec<&Compiler> =
        compilers.iter().filter(|compiler| counts.contains_key(compiler.magic.as_str())).collect();
    // Stable: of equal ones the first that was found.
    order.sort_rows_by_key(|compiler| {
        let count = counts.get(compiler.magic.as_str()).copied().unwrap_or(0);
        (!is_programs(compiler), std::cmp::Reverse(count))
    });
    let mut seen = HashSet::new();
    order.retain(|compiler| seen.insert(&compiler.magic));
    order
}

/// A unit of the program, and the files that have its name.
struct Candidates<'a> {
    unit: &'a ProgramUnit,
    /// With the first bytes of each, `Caml1999I030`.
    files: Vec<(PathBuf, String)>,
    unreadable: Vec<PathBuf>,
}

impl<'a> Candidates<'a> {
    fn of(unit: &'a ProgramUnit, files: &Files) -> Self {
        let mut candidates = Self { unit, files: Vec::new(), unreadable: Vec::new() };
        // Units without a block have no fields.
        if unit.fields.is_none_or(|fields| fields == 0) {
            return candidates;
        }
        for file in files.of(&unit.name) {
            match magic(file) {
                Some(magic) => candidates.files.push((file.to_path_buf(), magic)),
                None => candidates.unreadable.push(file.to_path_buf()),
            }
        }
        candidates
    }

    /// The files with types or interfaces.
    fn typed(&self) -> impl Iterator<Item = &(PathBuf, String)> {
        self.files.iter().filter(|(_, magic)| matches!(magic.as_bytes()[8], b'I' | b'T'))
    }

    /// Whether there is a `.cmx` with this implementation: `None` if there is no `.cmx` at all.
    fn implementation(&self) -> Option<bool> {
        let mut digests = self
            .files
            .iter()
            .filter(|(_, magic)| matches!(magic.as_bytes()[8], b'Y' | b'y'))
            .map(|(file, _)| implementation(file))
            .peekable();
        digests.peek()?;
        Some(digests.any(|digest| digest == self.unit.implementation))
    }

    fn with(&self, mut answer: Answer, compiler: Option<&Compiler>) -> Unit {
        let problem = |file: &PathBuf, reason, detail: &str| Problem {
            file: file.to_string_lossy().into_owned(),
            reason,
            detail: detail.into(),
        };
        let whole = |layout: &Layout| !layout.implementation_file.is_empty();
        if answer.layout.as_ref().is_some_and(whole) {
            // All that is needed was found.
            answer.problems.clear();
        } else {
            if answer.layout.is_some() {
                // The interface was found: that of another library with such a module is none of the program's.
                let is_interface = |problem: &Problem| {
                    Path::new(&problem.file).extension().is_some_and(|kind| kind == "cmi")
                };
                answer.problems.retain(|problem| !is_interface(problem));
            }
            for (file, magic) in self.typed() {
                if compiler.is_none_or(|compiler| compiler.magic != magic[9..]) {
                    answer.problems.push(problem(file, Reason::Foreign, magic));
                }
            }
            for file in &self.unreadable {
                answer.problems.push(problem(file, Reason::Damaged, "not a file of the compiler"));
            }
        }
        let ProgramUnit { name, interface, implementation, fields, members: _ } = self.unit.clone();
        Unit {
            name,
            interface,
            implementation,
            fields,
            layout: answer.layout,
            problems: answer.problems,
        }
    }
}

/// Reads files until each unit has a layout that is the program's, or no files are left.
fn look(
    helper: &Path,
    program: &Program<'_>,
    units: &[Candidates<'_>],
    magic: &str,
) -> Result<Vec<Answer>, Error> {
    let mut answers = vec![Answer::default(); units.len()];
    let mut excluded: HashSet<String> = HashSet::new();
    let mut open: Vec<usize> = (0..units.len()).collect();
    while !open.is_empty() {
        let request = |&number: &usize| {
            let unit = &units[number];
            let files: Vec<PathBuf> = unit
                .typed()
                .filter(|(file, found)| {
                    &found[9..] == magic && !excluded.contains(&*file.to_string_lossy())
                })
                .map(|(file, _)| file.clone())
                .collect();
            let interface = unit.unit.interface.filter(|_| !files.is_empty())?;
            Some((number, Request { unit: unit.unit.name.clone(), interface, files }))
        };
        let (numbers, requests): (Vec<usize>, Vec<Request>) =
            open.iter().filter_map(request).unzip();
        open.clear();
        for (number, found) in numbers.into_iter().zip(run(helper, &requests)?) {
            let answer = &mut answers[number];
            for problem in found.problems {
                if !answer.problems.contains(&problem) {
                    answer.problems.push(problem);
                }
            }
            let Some(mut layout) = found.layout else { continue };
            match confirm(program, &units[number], &layout) {
                Ok(evidence) => {
                    layout.evidence = evidence;
                    answer.layout = Some(layout);
                }
                Err((reason, detail)) => {
                    let implementation = !layout.implementation_file.is_empty();
                    let file = if implementation {
                        layout.implementation_file
                    } else {
                        layout.interface_file
                    };
                    excluded.insert(file.clone());
                    answer.problems.push(Problem { file, reason, detail });
                    open.push(number);
                }
            }
        }
    }
    Ok(answers)
}

/// Types as terms, from the files that were found right and those of interfaces without an implementation. The
/// layouts in the answers get what their slots hold. A result without types is no error: names remain.
fn types_of(
    helper: &Path,
    program: &Program<'_>,
    files: &Files,
    compiler: &str,
    units: &[Candidates<'_>],
    answers: &mut [Answer],
) -> TypeTable {
    let mut requests = Vec::new();
    for (candidates, answer) in units.iter().zip(&*answers) {
        let unit = candidates.unit;
        let Some(interface) = unit.interface else { continue };
        let files = match &answer.layout {
            Some(layout) => [&layout.implementation_file, &layout.interface_file]
                .into_iter()
                .filter(|file| !file.is_empty())
                .map(PathBuf::from)
                .collect(),
            // It has no variables, but may have types.
            None if unit.fields.is_none_or(|fields| fields == 0) => {
                of_version(files, &unit.name, compiler)
            }
            None => continue,
        };
        requests.push(Request { unit: unit.name.clone(), interface, files });
    }
    for unit in &program.interfaces {
        let Some(interface) = unit.interface else { continue };
        let files = of_version(files, &unit.name, compiler);
        requests.push(Request { unit: unit.name.clone(), interface, files });
    }
    requests.retain(|request| !request.files.is_empty());
    let Ok((table, mut contents)) = helper::terms(helper, requests) else {
        return TypeTable::default();
    };
    for (candidates, answer) in units.iter().zip(answers) {
        let Some(layout) = &mut answer.layout else { continue };
        let Some(contents) = contents.remove(&candidates.unit.name) else { continue };
        if contents.len() != layout.exported.len() + layout.hidden.len() {
            continue;
        }
        let slots = layout.exported.iter_mut().chain(&mut layout.hidden);
        for (slot, content) in slots.zip(contents).filter(|(_, held)| has_content(&table, *held)) {
            slot.content = content;
        }
    }
    table
}

/// Files with a unit's types or interface that this version of the compiler made.
fn of_version(files: &Files, unit: &str, compiler: &str) -> Vec<PathBuf> {
    let is_right = |file: &&Path| {
        magic(file).is_some_and(|magic| {
            matches!(magic.as_bytes()[8], b'I' | b'T') && &magic[9..] == compiler
        })
    };
    files.of(unit).into_iter().filter(is_right).map(Path::to_path_buf).collect()
}

/// Whether a layout is that of the program's unit.
fn confirm(
    program: &Program<'_>,
    candidates: &Candidates<'_>,
    layout: &Layout,
) -> Result<Evidence, (Reason, String)> {
    let fields = candidates.unit.fields.unwrap_or(0);
    if layout.named(fields) == 0 && !layout.exported.is_empty() || layout.named(fields) > fields {
        let all = layout.exported.len() + layout.hidden.len();
        return Err((Reason::OtherSize, format!("{all} slots, and the program has {fields}")));
    }
    if layout.implementation_file.is_empty() {
        return Ok(Evidence::Interface);
    }
    let all = (layout.exported.len() + layout.hidden.len()) as u64;
    let mut functions = 0_u64;
    // Compilers with flambda number functions differently.
    if fields >= all && !program.has_flambda() {
        for slot in layout.exported.iter().chain(&layout.hidden) {
            let (Some(stamp), Some(name)) = (slot.stamp, slot.path.last()) else { continue };
            if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
                continue;
            }
            if !program.has_function(&candidates.unit.name, name, stamp) {
                let detail = format!("the program has no function {name}_{stamp}");
                return Err((Reason::OtherImplementation, detail));
            }
            functions += 1;
        }
    }
    match (candidates.implementation(), functions) {
        (Some(true), _) => Ok(Evidence::Implementation),
        (_, 1..) => Ok(Evidence::Functions),
        (Some(false), 0) => {
            Err((Reason::OtherImplementation, "the digests of its .cmx files differ".into()))
        }
        (None, 0) => Ok(Evidence::Interface),
    }
}
