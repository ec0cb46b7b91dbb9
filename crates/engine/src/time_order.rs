//! The answer to [`TimeOrder`].

use memtrail_profile::calls::{self, Clock, Columns};
use serde::Serialize;

use crate::api_error::ApiError;
use crate::flame::keys;
use crate::query::{Order, TimeOrder};
use crate::recording::Recording;
use crate::response_body::ResponseBody;

/// Columns at most, of the whole and of the stretch that is looked at: more than screens have.
const MAX_COLUMNS: u64 = 4_000;
/// Boxes at most.
const MAX_BOXES: usize = 40_000;

/// A flame graph in the order of time. Columns: `down_parent`, `down_entity`, `down_left`,
/// `down_right`, `down_bytes`, `down_more`; lefts and rights are seconds, or bytes allocated before.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(crate) struct TimeOrderResponse {
    /// Bytes of all that the filter keeps.
    total: f64,
    focus_bytes: f64,
    /// Seconds, or bytes, of the whole width.
    extent: f64,
}

pub(crate) fn time_order(
    recording: &Recording,
    query: &TimeOrder,
) -> Result<ResponseBody, ApiError> {
    let selection = recording.choose_with(&query.filter, query.recursion.into())?;
    let profile = recording.profile();
    let bytes = profile.estimator.bytes_per_sample();
    let (clock, unit) = match query.order {
        Order::Time => (Clock::Time, 1e-6),
        Order::Allocation => (Clock::Allocation, bytes),
    };
    let units = |at: f64| if at > 0.0 { (at / unit) as u64 } else { 0 };
    let columns = Columns {
        whole: query.columns.clamp(1, MAX_COLUMNS),
        near: query.from.zip(query.to).map(|(from, to)| (units(from), units(to))),
        fine: query.columns.clamp(1, MAX_COLUMNS),
        boxes: MAX_BOXES,
    };
    let view = selection.view(&recording.entities);
    // What does not occur has no boxes.
    let order = keys(&recording.entities, &query.focus)
        .map(|focus| calls::time_order(profile, &selection.filter, view, &focus, clock, columns));
    let order = order.unwrap_or_default();
    let wide = |values: &mut dyn Iterator<Item = u64>, unit: f64| -> Vec<f64> {
        values.map(|value| value as f64 * unit).collect()
    };
    Ok(ResponseBody::new(TimeOrderResponse {
        total: selection.selected.sum.samples as f64 * bytes,
        focus_bytes: order.samples as f64 * bytes,
        extent: order.extent as f64 * unit,
    })
    .with("down_parent", order.parent)
    .with("down_entity", order.entity.iter().map(|entity| entity.0).collect::<Vec<u32>>())
    .with("down_left", wide(&mut order.span.iter().map(|span| span.0), unit))
    .with("down_right", wide(&mut order.span.iter().map(|span| span.1), unit))
    .with("down_bytes", wide(&mut order.weight.into_iter(), bytes))
    .with("down_more", order.more.iter().map(|&more| u8::from(more)).collect::<Vec<u8>>()))
}
