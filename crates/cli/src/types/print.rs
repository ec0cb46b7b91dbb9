//! Prints what is known, what is missing, and how to get it.

use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::ExitCode;

use memtrail_order::SortRows as _;
use memtrail_text::rounded::{grouped, percent};
use memtrail_types::helper::BuildError;
use memtrail_types::resolve::Error;
use memtrail_types::{Evidence, Problem, Slot, Types, Unit};
use serde::Serialize;

use super::args::Args;
use super::counts::Counts;
use super::problems;
use crate::canvas::{self, Canvas, FAINT, PLAIN, STRONG, WARNING};
use crate::error::{Failure, Kind};
use crate::json;
use crate::limit::{Limit, draw_left_out};

pub(super) fn print(
    args: &Args,
    types: &Types,
    error: Option<&Error>,
    stored: Option<&Path>,
) -> Result<ExitCode, Failure> {
    let chosen = args.unit.as_deref().map(|name| unit(types, name)).transpose()?;
    if args.json {
        let mut out = BufWriter::new(std::io::stdout().lock());
        let answer = Answer::of(types, chosen, error, stored);
        json::write(&mut out, &answer)?;
        out.flush()?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut canvas = Canvas::new(canvas::width(args.width));
    match chosen {
        Some(unit) => variables(&mut canvas, types, unit, args.limit),
        None => units(&mut canvas, types, args.limit),
    }
    if let Some(error) = error {
        canvas.gap();
        canvas.paragraph(WARNING, 2, &error.to_string());
        canvas.paragraph(PLAIN, 2, &format!("hint: {}", hint_for(error)));
    }
    if let Some(path) = stored {
        canvas.gap();
        canvas.line(&[(PLAIN, &format!("stored in {}", path.display()))]);
    }
    let mut out = anstream::stdout().lock();
    out.write_all(canvas.finish().as_bytes())?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// A unit by the name that the compiler uses, or as programs write it.
fn unit<'a>(types: &'a Types, wanted: &str) -> Result<&'a Unit, Failure> {
    let found = types.units.iter().find(|unit| unit.name == wanted || shown(&unit.name) == wanted);
    found.ok_or_else(|| {
        Failure::new(Kind::Usage, format_args!("{} has no unit {wanted}", types.program))
            .hint("`memtrail types PROGRAM --json` lists the units")
    })
}

/// `Stdlib__List` as `Stdlib.List`.
fn shown(name: &str) -> String {
    name.replace("__", ".")
}

pub(super) fn hint_for(error: &Error) -> &'static str {
    match error {
        Error::NoCompiler => {
            "install the OCaml compiler that built the program, or name its ocamlopt with --compiler FILE"
        }
        Error::Build(BuildError::Compiler { .. }) => {
            "install the compiler's own libraries: ocaml-compiler-libs on Debian; opam has them"
        }
        Error::Build(_) => {
            "the reader is built in memtrail's cache folder, XDG_CACHE_HOME or ~/.cache: make room there"
        }
        _ => "try again; `--compiler FILE` names another ocamlopt",
    }
}

/// All units together, and those that lack names.
fn units(canvas: &mut Canvas, types: &Types, Limit(limit): Limit) {
    let with_fields = || types.units.iter().filter(|unit| unit.fields.is_some_and(|n| n > 0));
    let fields: u64 = with_fields().filter_map(|unit| unit.fields).sum();
    let named: u64 = with_fields().map(Unit::named).sum();
    let complete = with_fields().filter(|unit| is_complete(unit)).count();
    let all = with_fields().count();
    let share = match percent(named as f64 / fields.max(1) as f64) {
        _ if fields == 0 => String::new(),
        rounded if rounded == "100 %" && named < fields => " (more than 99 %)".into(),
        rounded => format!(" ({rounded})"),
    };
    let text = format!("{} of {} global fields named{share}", grouped(named), grouped(fields));
    canvas.line(&[(STRONG, &text)]);
    let compiler = match types.compiler.as_str() {
        "" => String::new(),
        version => format!("; files read with OCaml {version}"),
    };
    let text =
        format!("{} of {} units complete{compiler}", grouped(complete as u64), grouped(all as u64));
    canvas.line(&[(PLAIN, &text)]);
    let counts = Counts::of(types);
    if counts.declarations > 0 {
        let text = format!(
            "{} of {} variables with a type; {} declared types, {} functions with their variables",
            grouped(counts.typed),
            grouped(counts.values),
            grouped(counts.declarations),
            grouped(counts.functions),
        );
        canvas.paragraph(PLAIN, 2, &text);
    }
    let mut lacking: Vec<&Unit> = with_fields().filter(|unit| !is_complete(unit)).collect();
    if lacking.is_empty() {
        return;
    }
    lacking.sort_rows_by_key(|unit| {
        (std::cmp::Reverse(unit.fields.unwrap_or(0) - unit.named()), &unit.name)
    });
    canvas.gap();
    for unit in lacking.iter().take(limit) {
        let unnamed = grouped(unit.fields.unwrap_or(0) - unit.named());
        let text = format!(
            "{}: {unnamed} unnamed, {}",
            shown(&unit.name),
            problems::reason(unit, Path::new(&types.program))
        );
        canvas.paragraph(PLAIN, 2, &text);
    }
    draw_left_out(canvas, lacking.len().saturating_sub(limit), "");
    canvas.gap();
    for hint in problems::hints(&lacking, Path::new(&types.program)) {
        canvas.paragraph(PLAIN, 2, &format!("hint: {hint}"));
    }
}

fn is_complete(unit: &Unit) -> bool {
    Some(unit.named()) == unit.fields
}

/// The variables of a unit, by their fields.
fn variables(canvas: &mut Canvas, types: &Types, unit: &Unit, Limit(limit): Limit) {
    let fields = unit.fields.unwrap_or(0);
    let named = unit.named();
    let text =
        format!("{}: {} of {} fields named", shown(&unit.name), grouped(named), grouped(fields));
    canvas.line(&[(STRONG, &text)]);
    if !is_complete(unit) {
        canvas.paragraph(PLAIN, 2, &problems::reason(unit, Path::new(&types.program)));
    }
    for (number, slot) in slots(unit).into_iter().take(limit).enumerate() {
        let text = match slot {
            None => "(method cache)".to_owned(),
            Some(slot) => described(slot),
        };
        let room = canvas.width().saturating_sub(7);
        let text = canvas::elide_middle(&text, room);
        canvas.line(&[(FAINT, &format!("{number:>5}  ")), (PLAIN, &text)]);
    }
    draw_left_out(canvas, named.saturating_sub(limit as u64) as usize, "");
}

fn described(slot: &Slot) -> String {
    let position = slot.position.as_ref().map_or_else(String::new, |p| format!("  {p}"));
    match slot.type_or_kind().as_str() {
        "" => format!("{}{position}", slot.variable()),
        ty => format!("{} : {ty}{position}", slot.variable()),
    }
}

/// Its named fields in order; the method cache is none.
fn slots(unit: &Unit) -> Vec<Option<&Slot>> {
    let Some(layout) = &unit.layout else { return Vec::new() };
    let fields = unit.fields.unwrap_or(0);
    (0..unit.named())
        .map(|field| match layout.field(field, fields) {
            Some(memtrail_types::Field::Slot(slot)) => Some(slot),
            _ => None,
        })
        .collect()
}

#[derive(Serialize)]
struct Answer<'a> {
    program: &'a str,
    compiler: &'a str,
    fields: u64,
    named: u64,
    types: Counts<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stored: Option<String>,
    units: Vec<UnitRow<'a>>,
}

#[derive(Serialize)]
struct UnitRow<'a> {
    name: &'a str,
    fields: Option<u64>,
    named: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    interface: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    implementation: Option<&'a str>,
    /// What confirms the implementation.
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<ProblemRow<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    variables: Option<Vec<VariableRow>>,
}

#[derive(Serialize)]
struct ProblemRow<'a> {
    file: &'a str,
    reason: &'static str,
    detail: &'a str,
}

#[derive(Serialize)]
struct VariableRow {
    field: usize,
    variable: String,
    kind: &'static str,
    r#type: String,
    position: Option<String>,
}

impl<'a> Answer<'a> {
    fn of(
        types: &'a Types,
        chosen: Option<&'a Unit>,
        error: Option<&Error>,
        stored: Option<&Path>,
    ) -> Self {
        let units: Vec<UnitRow<'a>> = match chosen {
            Some(unit) => vec![UnitRow { variables: Some(variable_rows(unit)), ..unit_row(unit) }],
            None => types.units.iter().map(unit_row).collect(),
        };
        Self {
            program: &types.program,
            compiler: &types.compiler,
            fields: types.units.iter().filter_map(|unit| unit.fields).sum(),
            named: types.units.iter().map(Unit::named).sum(),
            types: Counts::of(types),
            error: error.map(ToString::to_string),
            stored: stored.map(|path| path.to_string_lossy().into_owned()),
            units,
        }
    }
}

fn unit_row(unit: &Unit) -> UnitRow<'_> {
    let layout = unit.layout.as_ref();
    let implementation =
        layout.map(|layout| layout.implementation_file.as_str()).filter(|file| !file.is_empty());
    UnitRow {
        name: &unit.name,
        fields: unit.fields,
        named: unit.named(),
        interface: layout.map(|layout| layout.interface_file.as_str()),
        implementation,
        evidence: implementation.and(layout).map(|layout| Evidence::name(layout.evidence)),
        problems: unit
            .problems
            .iter()
            .map(|Problem { file, reason, detail }| ProblemRow {
                file,
                reason: reason.name(),
                detail,
            })
            .collect(),
        variables: None,
    }
}

fn variable_rows(unit: &Unit) -> Vec<VariableRow> {
    let rows = slots(unit).into_iter().enumerate().map(|(field, slot)| match slot {
        None => VariableRow {
            field,
            variable: "(method cache)".into(),
            kind: "method-cache",
            r#type: String::new(),
            position: None,
        },
        Some(slot) => VariableRow {
            field,
            variable: slot.variable(),
            kind: slot.kind.name(),
            r#type: slot.ty.clone(),
            position: slot.position.as_ref().map(ToString::to_string),
        },
    });
    rows.collect()
}
