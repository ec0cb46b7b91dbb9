//! The answer to [`Export`].

use memtrail_export::selection::labels_as_given;
use memtrail_export::svg::{self, Picture};
use memtrail_export::{Format, Selection, Window, firefox, folded, json, pprof, speedscope};
use memtrail_profile::calls::{self, CallTree, Entities, Entity, FlameSides, Kind, Limits};
use memtrail_profile::filter::FilterError;
use memtrail_text::rounded;
use memtrail_trace::StackId;
use serde::Serialize;

use crate::api_error::ApiError;
use crate::flame::keys;
use crate::query::Export;
use crate::recording::Recording;
use crate::response_body::ResponseBody;
use crate::selection::{FilterSelection, canonical};

/// Boxes of a picture at most, and the least share of the whole that one has.
const PICTURE: Limits = Limits { cutoff: 1.0 / 4000.0, boxes: 20_000 };

/// A file for another tool. Columns: `bytes`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(crate) struct ExportResponse {
    filename: String,
    mime: &'static str,
    /// Paths with fewer bytes are added to their callers'; 0 if none are.
    least_bytes: f64,
}

pub(crate) fn export(recording: &Recording, query: &Export) -> Result<ResponseBody, ApiError> {
    let Some(format) = Format::named(&query.format) else {
        let known: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
        return Err(ApiError::bad(format_args!("no format {:?}", query.format))
            .hint(format_args!("formats are {}", known.join(", "))));
    };
    let selection = recording.choose(&query.filter)?;
    let window = window(recording, format, query)?;
    let focus = keys(&recording.entities, &query.focus);
    let mut least = 0.0;
    let bytes = match (format, &focus) {
        (Format::Svg, focus) => picture(recording, &selection, focus.as_deref(), query),
        (_, focus) => {
            let kept = focus.as_ref().map(|focus| Within::new(&selection.tree, focus));
            let keep = |stack: StackId| kept.as_ref().is_some_and(|kept| kept.holds(stack));
            let (title, conditions) = (recording.program(), canonical(&query.filter));
            let selection = Selection::within(
                format,
                window,
                recording.profile(),
                &selection.filter,
                keep,
                title,
                conditions,
            )
            .with_caveats(recording.caveats())
            .with_labels(&recording.description.labels);
            let bytes = match format {
                Format::Folded => folded::write(&selection),
                Format::Speedscope => speedscope::write(&selection),
                Format::Pprof => pprof::write(&selection),
                Format::Firefox => firefox::write(&selection),
                Format::Json | Format::Svg => json::write(&selection),
            };
            least = selection.least_bytes();
            bytes
        }
    };
    let fields = ExportResponse {
        filename: format!("{}.{}", file_name(recording.program()), format.extension()),
        mime: format.mime(),
        least_bytes: least,
    };
    Ok(ResponseBody::new(fields).with("bytes", bytes))
}

/// The time window that is asked for.
fn window(
    recording: &Recording,
    format: Format,
    query: &Export,
) -> Result<Option<Window>, ApiError> {
    let Some(text) = &query.window else { return Ok(None) };
    if !matches!(format, Format::Pprof | Format::Json) {
        return Err(ApiError::bad(format_args!("{} files have no time window", format.name()))
            .hint("pprof and json have one; --filter allocated:FROM..TO is for all formats"));
    }
    if !text.contains("..") {
        return Err(ApiError::bad(format_args!("no time window {text:?}"))
            .hint("a window is written FROM..TO, as 10s..1m or 50%..; either may be left out"));
    }
    let profile = recording.profile();
    let bad = |error: FilterError| match error.hint {
        Some(hint) => ApiError::bad(error.message).hint(hint),
        None => ApiError::bad(error.message),
    };
    let (from, to) = profile.window(text).map_err(bad)?;
    Ok(Some(Window { from, to: to.min(profile.end) }))
}

/// A program's name without its folder and what file names should not have.
fn file_name(program: &str) -> String {
    let name = program.rsplit('/').next().unwrap_or_default();
    let safe = |c: char| if c.is_alphanumeric() || "-_+.".contains(c) { c } else { '_' };
    let name: String = name.trim_start_matches('.').chars().take(60).map(safe).collect();
    if name.is_empty() { "memtrail".to_owned() } else { name }
}

/// The backtraces whose paths have a focus.
struct Within<'a> {
    tree: &'a CallTree,
    nodes: Vec<bool>,
}

impl<'a> Within<'a> {
    fn new(tree: &'a CallTree, focus: &[Entity]) -> Self {
        // The end of all paths is no node of its own: what is before it, is the last one.
        let (focus, ends) = match focus {
            [focus @ .., Entity::ALLOCATIONS] => (focus, true),
            focus => (focus, false),
        };
        let mut nodes = vec![false; tree.len()];
        for node in 0..tree.len() as u32 {
            let parent = tree.parent(node);
            let inside = node != 0 && !ends && nodes[parent as usize];
            nodes[node as usize] = inside || matches(tree, node, focus);
        }
        Self { tree, nodes }
    }

    fn holds(&self, stack: StackId) -> bool {
        let leaf = self.tree.leaf_of_stack().get(stack.0 as usize).copied().unwrap_or(0);
        self.nodes.get(leaf as usize).copied().unwrap_or(false)
    }
}

/// Whether the path to a node ends with a focus.
fn matches(tree: &CallTree, node: u32, focus: &[Entity]) -> bool {
    let mut at = Some(node);
    focus.iter().rev().all(|&entity| {
        let here = at.filter(|&node| tree.entity(node) == entity);
        at = here.filter(|&node| node != 0).map(|node| tree.parent(node));
        here.is_some()
    })
}

fn picture(
    recording: &Recording,
    selection: &FilterSelection,
    focus: Option<&[Entity]>,
    query: &Export,
) -> Vec<u8> {
    let entities = &recording.entities;
    let flame = focus
        .map(|focus| calls::flame(selection.view(entities), focus, FlameSides::Callees, PICTURE))
        .unwrap_or_default();
    let caveats = recording.caveats().of_allocation();
    let bytes = recording.profile().estimator.bytes_per_sample();
    let all = selection.selected.sum.samples.max(1) as f64;
    let boxes = flame.down.parent.iter().zip(&flame.down.entity).zip(&flame.down.cell);
    let boxes = boxes.map(|((&parent, &entity), cell)| svg::Box {
        parent: parent as usize,
        name: entities.name(entity),
        details: details(entities, entity, cell, bytes, all, caveats.mark()),
        group: entities.module(entity).map_or("", |module| entities.module_name(module)),
        bytes: cell.samples as f64 * bytes,
    });
    let conditions = canonical(&query.filter);
    let filter = if conditions.is_empty() {
        "everything allocated".to_owned()
    } else {
        conditions.join(" · ")
    };
    let sum = recording.profile().estimator.bytes_of_cell(&flame.focus);
    let mut subtitle = format!("{filter}: {}{}", caveats.mark(), sum.size());
    let labels = labels_as_given(&recording.description.labels);
    for note in labels.into_iter().chain(caveats.notes()) {
        subtitle = format!("{subtitle} · {note}");
    }
    Picture { title: recording.program(), subtitle: &subtitle, boxes: boxes.collect() }.write()
}

fn details(
    entities: &Entities,
    entity: Entity,
    cell: &memtrail_profile::selected::Cell,
    bytes: f64,
    all: f64,
    mark: &str,
) -> String {
    let share = cell.samples as f64 / all * 100.0;
    let amount = format!("{mark}{} ({share:.1} %)", rounded::bytes(cell.samples as f64 * bytes));
    match (entities.kind(entity), entities.position(entity)) {
        (Kind::Site, Some(position)) => {
            format!(
                "allocates at {}:{}, {amount}",
                entities.file_name(position.file),
                position.line
            )
        }
        _ => amount,
    }
}
