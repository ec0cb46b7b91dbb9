//! `memtrail heap roots` without `--retained`: every reachable byte once, by the root that owns it.

use std::process::ExitCode;

use memtrail_engine::question::{KindHistogram, View, allocated_parts, named};
use memtrail_heap::graph::RootNodeId;
use memtrail_heap::query::{self, Heap, OwnerDetails, OwnerRow, SharedPart};
use memtrail_heap::{Bytes, RootKind};
use memtrail_text::rounded::{bytes, grouped, percent};
use serde::Serialize;

use super::ask::asked_in_vain;
use super::family;
use super::histogram;
use super::input::{Input, Which};
use super::table::{Table, outside};
use super::title::Title;
use super::title::with_type;
use crate::canvas::{Canvas, FAINT, PLAIN, STRONG};
use crate::error::Failure;
use crate::spinner::with_spinner;

/// So many aliases are shown in a list, of rows with this share at least, and so many rows of what is shared.
const MAX_ALIASES: usize = 2;
const WITH_ALIASES: f64 = 0.01;
const MAX_SHARED: usize = 10;
/// What is said of variables without a name.
pub(super) const HOLDS: &str = "holds";
/// So many kinds of what a root owns.
const MAX_KINDS: usize = 10;

/// Which owners.
pub(super) struct Wanted<'w> {
    pub(super) name: Option<&'w str>,
    pub(super) kind: Option<RootKind>,
    pub(super) min: Bytes,
    pub(super) limit: usize,
}

/// The answer.
#[derive(Serialize)]
struct Owners {
    /// All that is reachable.
    owned: Bytes,
    /// Bytes outside the heap that go with that.
    owned_external: Bytes,
    rows: Vec<OwnerRow>,
    /// Rows that `--limit` left out, and what they own.
    left_out: usize,
    left_out_owned: Bytes,
    /// Of a single root that was asked for: what it shares with whom.
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<OwnerDetails>,
    /// Of a single root that was asked for: what it owns, by type or kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    contents: Option<KindHistogram>,
}

pub(super) fn run(which: &Which, wanted: &Wanted<'_>) -> Result<ExitCode, Failure> {
    if let Some(members) = which.several()? {
        return family::roots(which, &members, wanted);
    }
    let input = which.open()?;
    let heap = if wanted.name.is_some() { input.typed_heap()? } else { input.heap()? };
    let named = wanted.name.map(|name| named::labelled(&heap, name)).transpose()?;
    let mut answer = with_spinner("adding up what each root owns".into(), || {
        answer(&heap, wanted, named.as_deref())
    });
    add_held_values(&input, &heap, &mut answer.rows)?;
    if let ([row], true) = (answer.rows.as_slice(), answer.details.is_some()) {
        answer.contents = Some(contents(&input, &heap, row.owner)?);
    }
    input.answer(&heap, &which.form, &answer, |canvas| {
        if let ([row], Some(details)) = (answer.rows.as_slice(), &answer.details) {
            one(canvas, row, details);
            if let Some(contents) = &answer.contents {
                owned(canvas, contents);
            }
            return;
        }
        if answer.rows.is_empty() {
            nothing(canvas, wanted);
        } else {
            list(canvas, &answer, wanted.name.is_none() && wanted.kind.is_none());
        }
        if answer.left_out > 0 {
            let (left_out, size) = (grouped(answer.left_out as u64), answer.left_out_owned);
            let size = bytes(size.0 as f64);
            let text = format!("… and {left_out} more, which own {size} (--limit 0: all)");
            canvas.line(&[(FAINT, &text)]);
        }
    })
}

/// Contents of an owner, by type or kind.
fn contents(input: &Input, heap: &Heap<'_>, owner: RootNodeId) -> Result<KindHistogram, Failure> {
    let question = "counting blocks".to_owned();
    let histogram = with_spinner(question, || query::owned_histogram(heap, &[owner]));
    let mut histogram = histogram.map_err(|error| input.failure(&error))?;
    let room = input.room()?;
    allocated_parts(
        &View { heap, place: &room.place, host: input },
        &mut histogram,
        Some(&[owner]),
    )
    .map_err(|unanswered| asked_in_vain(input, heap, unanswered))?;
    Ok(histogram.into())
}

/// Adds what variables without a name hold, for which types are looked for.
fn add_held_values(input: &Input, heap: &Heap<'_>, rows: &mut [OwnerRow]) -> Result<(), Failure> {
    let is_unnamed = |row: &OwnerRow| row.kind == RootKind::Global.name() && row.variable.is_none();
    if !rows.iter().any(is_unnamed) {
        return Ok(());
    }
    let typed = if heap.types.is_empty() { Some(input.typed_heap()?) } else { None };
    query::add_held_values(typed.as_ref().unwrap_or(heap), rows)
        .map_err(|error| input.failure(&error))
}

fn answer(heap: &Heap<'_>, wanted: &Wanted<'_>, named: Option<&[RootNodeId]>) -> Owners {
    let all = query::owners(heap, named.unwrap_or_default());
    let mut rows = all.rows;
    rows.retain(|row| {
        let size = row.owned + row.owned_external;
        named.is_none_or(|named| named::is_meant(row, named))
            && wanted.kind.is_none_or(|kind| kind.name() == row.kind)
            && (named.is_some() || size >= wanted.min)
    });
    let left_out = rows.split_off(rows.len().min(wanted.limit));
    let details = match (named, rows.as_slice()) {
        (Some(_), [row]) => Some(query::owner_details(heap, row)),
        _ => None,
    };
    Owners {
        owned: all.owned,
        owned_external: all.owned_external,
        left_out: left_out.len(),
        left_out_owned: left_out.iter().map(|row| row.owned).sum(),
        rows,
        details,
        contents: None,
    }
}

fn nothing(canvas: &mut Canvas, wanted: &Wanted<'_>) {
    let kind = wanted.kind.map_or_else(String::new, |kind| format!("{} ", kind.name()));
    let text = if wanted.min.0 > 1 {
        format!("no {kind}roots own {}", bytes(wanted.min.0 as f64))
    } else {
        format!("no {kind}roots own anything")
    };
    canvas.line(&[(PLAIN, &text)]);
}

fn list(canvas: &mut Canvas, answer: &Owners, whole: bool) {
    let mut table = Table::new(&["owned", "", "off-heap", "retained"], "root");
    if whole {
        let size = bytes(answer.owned.0 as f64);
        let figures = vec![size, percent(1.0), outside(answer.owned_external)];
        table.strong(figures, "all that is reachable");
    }
    for row in &answer.rows {
        let figures = vec![
            bytes(row.owned.0 as f64),
            percent(row.share),
            outside(row.owned_external),
            bytes(row.retained.0 as f64),
        ];
        table.row(figures, titled(row));
        add_holds(&mut table, row.holds.as_deref());
        if !row.aliases.is_empty() && row.share >= WITH_ALIASES {
            table.faint(Vec::new(), format!("  also {}", some(&row.aliases, MAX_ALIASES)));
        }
    }
    table.print(canvas);
}

/// Adds a line of what a variable without a name holds.
pub(super) fn add_holds(table: &mut Table, holds: Option<&str>) {
    if let Some(holds) = holds {
        table.faint(Vec::new(), format!("  {HOLDS} {holds}"));
    }
}

/// Most owners are global variables: of others, the kind is shown.
pub(super) fn titled(row: &OwnerRow) -> Title {
    let name = match row.kind {
        "global" | "static" => row.name(),
        kind => format!("{kind}: {}", row.name()),
    };
    Title { name, ty: row.r#type.clone(), position: row.position.clone() }
}

/// The first of some names, and how many there are more.
fn some(names: &[String], most: usize) -> String {
    let (shown, rest) = names.split_at(names.len().min(most));
    let shown = shown.join(", ");
    match rest.len() {
        0 => shown,
        more => format!("{shown} and {} more", grouped(more as u64)),
    }
}

/// All about one root.
fn one(canvas: &mut Canvas, row: &OwnerRow, details: &OwnerDetails) {
    let title = with_type(&row.name(), row.r#type.as_deref(), row.position.as_deref());
    canvas.line(&[(STRONG, &crate::canvas::clean(&title))]);
    if let Some(holds) = &row.holds {
        let text = format!("{HOLDS} {holds}");
        canvas.paragraph(PLAIN, 2, &crate::canvas::clean(&text));
    }
    if !row.aliases.is_empty() {
        let text = format!("also: {}", row.aliases.join(", "));
        canvas.paragraph(PLAIN, 2, &crate::canvas::clean(&text));
    }
    canvas.gap();
    let mut table = Table::new(&["size", "", "off-heap"], "");
    let share = format!("owned, of what is reachable from all roots; a {} root", row.kind);
    let size = |size: Bytes| bytes(size.0 as f64);
    table.row(vec![size(row.owned), percent(row.share), outside(row.owned_external)], share);
    let what = if row.aliases.is_empty() { "without it" } else { "without it and its aliases" };
    table.row(
        vec![size(row.retained), String::new(), outside(row.retained_external)],
        format!("retained: would be freed {what}"),
    );
    table.row(
        vec![size(details.reachable), String::new(), outside(details.reachable_external)],
        "reachable from it",
    );
    table.print(canvas);
    shared(canvas, "of what it owns, reachable also from", &details.reached_by_others);
    shared(canvas, "reachable from it, and owned by", &details.owned_by_others);
}

/// What a root owns, by type or kind.
fn owned(canvas: &mut Canvas, contents: &KindHistogram) {
    if contents.rows.is_empty() {
        return;
    }
    canvas.gap();
    let mut table = Table::new(&histogram::COLUMNS, "what it owns, by type or kind");
    for row in contents.rows.iter().take(MAX_KINDS) {
        histogram::add(&mut table, &row.sum, None);
    }
    table.print(canvas);
    if contents.rows.len() > MAX_KINDS {
        let more = grouped((contents.rows.len() - MAX_KINDS) as u64);
        canvas.line(&[(FAINT, &format!("… and {more} more (heap histogram --owner: all)"))]);
    }
}

fn shared(canvas: &mut Canvas, title: &str, parts: &[SharedPart]) {
    if parts.is_empty() {
        return;
    }
    canvas.gap();
    let mut table = Table::new(&["size", "off-heap", "kind"], title);
    for part in parts.iter().take(MAX_SHARED) {
        let figures =
            vec![bytes(part.bytes.0 as f64), outside(part.external), part.kind.to_owned()];
        table.row(figures, part.name.as_str());
    }
    table.print(canvas);
    if parts.len() > MAX_SHARED {
        let more = grouped((parts.len() - MAX_SHARED) as u64);
        canvas.line(&[(FAINT, &format!("… and {more} more (--json: all)"))]);
    }
}
