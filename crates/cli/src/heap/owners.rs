//! Draws roots by what they own: `memtrail heap roots` without `--retained`, and `heap histogram --by owner`.

use memtrail_engine::question::{Family, KindHistogram, OwnerFigures, RootOwners};
use memtrail_heap::Bytes;
use memtrail_heap::query::{OwnerDetails, OwnerRow, SharedPart};
use memtrail_text::rounded::{bytes, grouped, percent};

use super::kind_table;
use super::table::{Table, outside};
use super::title::{Title, with_type};
use crate::canvas::{Canvas, FAINT, PLAIN, STRONG};

/// So many aliases are shown in a list, of rows with this share at least, and so many rows of what is shared.
const MAX_ALIASES: usize = 2;
const WITH_ALIASES: f64 = 0.01;
const MAX_SHARED: usize = 10;
/// What is said of variables without a name.
pub(super) const HOLDS: &str = "holds";
/// So many kinds of what a root owns.
const MAX_KINDS: usize = 10;

/// Draws the only root that was asked for, or a list.
pub(super) fn draw(canvas: &mut Canvas, answer: &RootOwners, family: Option<&Family<RootOwners>>) {
    if let ([row], Some(details)) = (answer.rows.as_slice(), &answer.details) {
        one(canvas, &row.owner, details);
        if let Some(contents) = &answer.contents {
            owned(canvas, contents);
        }
    } else {
        draw_list(canvas, answer, family);
    }
}

/// Draws a list of roots.
pub(super) fn draw_list(
    canvas: &mut Canvas,
    answer: &RootOwners,
    family: Option<&Family<RootOwners>>,
) {
    let mut table =
        Table::new(&["blocks", "owned", "", "off-heap", "retained", "processes"], "root");
    let all = family.map_or_else(String::new, |family| grouped(family.processes.len() as u64));
    let (size, external) = (bytes(answer.owned.0 as f64), outside(answer.owned_external));
    let figures = vec![String::new(), size, percent(1.0), external, String::new(), all];
    table.strong(figures, "all that is reachable");
    for row in &answer.rows {
        let OwnerFigures { blocks, owner, processes } = row;
        let figures = vec![
            blocks.map_or_else(String::new, grouped),
            bytes(owner.owned.0 as f64),
            percent(owner.share),
            outside(owner.owned_external),
            bytes(owner.retained.0 as f64),
            family.map_or_else(String::new, |_| grouped(processes.len() as u64)),
        ];
        table.row(figures, titled(owner));
        add_holds(&mut table, owner.holds.as_deref());
        if !owner.aliases.is_empty() && owner.share >= WITH_ALIASES {
            table.faint(Vec::new(), format!("  also {}", some(&owner.aliases, MAX_ALIASES)));
        }
    }
    table.print(canvas);
    if answer.left_out > 0 {
        let (left_out, size) = (grouped(answer.left_out as u64), answer.left_out_owned);
        let size = bytes(size.0 as f64);
        let text = format!("… and {left_out} more, which own {size} (--limit 0: all)");
        canvas.line(&[(FAINT, &text)]);
    }
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
    let mut table = Table::new(&kind_table::COLUMNS, "what it owns, by type or kind");
    for row in contents.rows.iter().take(MAX_KINDS) {
        kind_table::add(&mut table, row, None);
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
