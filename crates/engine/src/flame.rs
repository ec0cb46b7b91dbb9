//! The answers to [`Flame`] and
//! [`Search`].

use memtrail_profile::calls::{self, Boxes, Entities, Entity, Limits, Pattern};
use serde::Serialize;

use crate::api_error::ApiError;
use crate::query::{Direction, Flame, Search};
use crate::recording::Recording;
use crate::response_body::ResponseBody;

/// Boxes in all at most: more than that would take longer to send than to ask for more detail
/// where it is looked at.
const MAX_BOXES: usize = 6_000;
/// Maximum number of matches that are listed one by one.
const MAX_MATCHES: usize = 20_000;
/// Bytes of a text to look for.
const MAX_TEXT: usize = 1 << 12;

/// A flame graph. Columns of what the focus calls: `down_parent`, `down_entity`, `down_bytes`,
/// `down_blocks`, `down_lifetime`, `down_more`; of what calls it the same with `up_`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(crate) struct FlameResponse {
    /// Bytes of all that the filter keeps.
    total: f64,
    focus_bytes: f64,
}

/// How much has a name on its path. Columns: `entities`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(crate) struct SearchResponse {
    bytes: f64,
    /// Of all that the filter keeps, 0 to 1.
    share: f64,
    focus_bytes: f64,
    /// Functions and sites that match.
    matches: usize,
}

pub(crate) fn flame(recording: &Recording, query: &Flame) -> Result<ResponseBody, ApiError> {
    let selection = recording.choose_with(&query.filter, query.recursion.into())?;
    let ways = if query.direction == Direction::Both { 2 } else { 1 };
    let limits = limits(query.cutoff, query.limit.min(MAX_BOXES) / ways);
    let bytes = recording.profile().estimator.bytes_per_sample();
    let focus = keys(&recording.entities, &query.focus);
    // What does not occur has no boxes.
    let flame = focus.map(|focus| {
        let view = selection.view(&recording.entities);
        calls::flame(view, &focus, query.direction.into(), limits)
    });
    let flame = flame.unwrap_or_default();
    let mut response = ResponseBody::new(FlameResponse {
        total: selection.selected.sum.samples as f64 * bytes,
        focus_bytes: flame.focus.samples as f64 * bytes,
    });
    if query.direction != Direction::Callers {
        response = columns(response, "down", &flame.down, bytes);
    }
    if query.direction != Direction::Callees {
        response = columns(response, "up", &flame.up, bytes);
    }
    Ok(response)
}

/// Limits that make sense, whatever was asked for.
pub(crate) fn limits(cutoff: f64, boxes: usize) -> Limits {
    let cutoff = if cutoff > 0.0 { cutoff.min(1.0) } else { 0.0 };
    Limits { cutoff, boxes: boxes.clamp(1, MAX_BOXES) }
}

/// The entities of keys; none if one of them is of nothing in the recording.
pub(crate) fn keys(entities: &Entities, keys: &[String]) -> Option<Vec<Entity>> {
    keys.iter().map(|key| entities.find(key)).collect()
}

fn columns(response: ResponseBody, side: &str, boxes: &Boxes, bytes: f64) -> ResponseBody {
    let column = |name: &str| format!("{side}_{name}");
    let cells = boxes.cell.iter();
    let blocks: Vec<f32> = cells.clone().map(|cell| cell.blocks as f32).collect();
    let lifetime: Vec<f32> =
        cells.clone().map(|cell| (cell.mean_lifetime() / 1e6) as f32).collect();
    response
        .with(&column("parent"), boxes.parent.clone())
        .with(&column("entity"), boxes.entity.iter().map(|entity| entity.0).collect::<Vec<u32>>())
        .with(&column("bytes"), cells.map(|cell| cell.samples as f64 * bytes).collect::<Vec<f64>>())
        .with(&column("blocks"), blocks)
        .with(&column("lifetime"), lifetime)
        .with(&column("more"), boxes.more.iter().map(|&more| u8::from(more)).collect::<Vec<u8>>())
}

pub(crate) fn search(recording: &Recording, query: &Search) -> Result<ResponseBody, ApiError> {
    if query.text.len() > MAX_TEXT {
        return Err(ApiError::bad(format_args!(
            "a text of {} bytes to look for",
            query.text.len()
        )));
    }
    let pattern = if query.regex {
        Pattern::regex(&query.text)
            .map_err(|error| ApiError::bad(format_args!("no regular expression: {error}")))?
    } else {
        Pattern::text(&query.text)
    };
    let selection = recording.choose_with(&query.filter, query.recursion.into())?;
    let focus = keys(&recording.entities, &query.focus);
    let view = selection.view(&recording.entities);
    let found = focus.map(|focus| calls::search(view, &pattern, &focus)).unwrap_or_default();
    let samples = |samples: u64| samples as f64;
    let bytes = recording.profile().estimator.bytes_per_sample();
    let all = selection.selected.sum.samples;
    let mut entities: Vec<u32> = found.entities.iter().map(|entity| entity.0).collect();
    entities.truncate(MAX_MATCHES);
    Ok(ResponseBody::new(SearchResponse {
        bytes: samples(found.cell.samples) * bytes,
        share: if all == 0 { 0.0 } else { samples(found.cell.samples) / samples(all) },
        focus_bytes: samples(found.of.samples) * bytes,
        matches: found.entities.len(),
    })
    .with("entities", entities))
}
