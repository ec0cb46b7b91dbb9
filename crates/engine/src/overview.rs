//! The answers to [`Overview`] and
//! [`Density`]: what is plotted over time.

use memtrail_profile::live_series::Point;
use memtrail_profile::time::Elapsed;
use serde::Serialize;

use crate::api_error::ApiError;
use crate::query::{Density, Overview};
use crate::recording::Recording;
use crate::response_body::ResponseBody;
use crate::sums::Sums;

/// Memory over time. Columns: `time`, `minor`, `major`, `external`, `most`, `selected`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(crate) struct OverviewResponse {
    /// Of the whole recording.
    total: Sums,
    /// Of what the filter keeps.
    selected: Sums,
}

/// Allocation time against lifetime: the bounds of cells, in seconds. Columns: `bytes`, `never`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(crate) struct DensityResponse {
    times: Vec<f64>,
    lifetimes: Vec<f64>,
}

/// Points of a curve at most: what the widest screens have.
const MAX_POINTS: usize = 2048;

pub(crate) fn overview(recording: &Recording, query: &Overview) -> Result<ResponseBody, ApiError> {
    let selection = recording.choose(&query.filter)?;
    let profile = recording.profile();
    let live_series = &profile.live_series;
    let from = query.from.map_or(Elapsed(0), elapsed);
    let to = query.to.map_or(profile.end, elapsed);
    let points = live_series.between(from, to, query.points.clamp(1, MAX_POINTS));
    let selected = live_series.at(&selection.selected.live_series, &points);
    let bytes = |samples: u64| profile.estimator.bytes_of(samples) as f32;
    let column = |samples: fn(&Point) -> u64| -> Vec<f32> {
        points.iter().map(|point| bytes(samples(point))).collect()
    };
    let fields = OverviewResponse {
        total: recording.whole()?.sums,
        selected: Sums::new(profile, &selection),
    };
    Ok(ResponseBody::new(fields)
        .with("time", points.iter().map(|point| point.time.seconds()).collect::<Vec<f64>>())
        .with("minor", column(|point| point.minor))
        .with("major", column(|point| point.major))
        .with("external", column(|point| point.external))
        .with("most", column(|point| point.most))
        .with("selected", selected.into_iter().map(bytes).collect::<Vec<f32>>()))
}

/// A time of a query, in seconds. None is before the start, and no number is the start.
pub(crate) fn elapsed(seconds: f64) -> Elapsed {
    // Casts of floats end where the integers do.
    Elapsed((seconds * 1e6).round() as u64)
}

pub(crate) fn density(recording: &Recording, query: &Density) -> Result<ResponseBody, ApiError> {
    let selection = recording.choose(&query.filter)?;
    let density = &selection.selected.density;
    let seconds = |times: &[Elapsed]| times.iter().map(|time| time.seconds()).collect::<Vec<_>>();
    let bytes = |samples: &[u64]| -> Vec<f32> {
        let of = |&samples| recording.profile().estimator.bytes_of(samples) as f32;
        samples.iter().map(of).collect()
    };
    let fields =
        DensityResponse { times: seconds(&density.times), lifetimes: seconds(&density.lifetimes) };
    Ok(ResponseBody::new(fields)
        .with("bytes", bytes(&density.samples))
        .with("never", bytes(&density.never)))
}
