//! speedscope's file format: two profiles over the same frames, what was allocated and what of it
//! was never collected.
//!
//! A profile is a list of functions opening and closing on an axis of bytes, so its size is that of
//! the tree of call paths, however deep stacks are. But speedscope goes through that tree by recursion,
//! which overflows the browser's stack from a few thousand functions on.

use serde::Serialize;

use crate::naming::UNKNOWN;
use crate::paths::{Paths, Step};
use crate::selection::Selection;
use crate::weight::Weight;

/// Functions on the deepest path that is written as a whole. Of deeper ones, the middle is left out:
/// release 1.25 of speedscope draws 5,000, and sorts and searches 2,000.
pub const DEEPEST: usize = 1_000;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct File<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    exporter: String,
    name: String,
    active_profile_index: usize,
    shared: Shared<'a>,
    profiles: Vec<Profile>,
}

#[derive(Serialize)]
struct Shared<'a> {
    frames: Vec<Frame<'a>>,
}

#[derive(Serialize)]
struct Frame<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<std::borrow::Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    /// From 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    col: Option<u32>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Profile {
    r#type: &'static str,
    name: String,
    unit: &'static str,
    start_value: f64,
    end_value: f64,
    events: Vec<Event>,
}

#[derive(Serialize)]
struct Event {
    r#type: &'static str,
    frame: usize,
    at: f64,
}

/// The whole file.
pub fn write(selection: &Selection<'_>) -> Vec<u8> {
    let mut paths = Paths::new(selection, |_| true);
    let gaps = paths.shorten(DEEPEST, paths.frames.len() + 1);
    let name = |site: &memtrail_trace::Site| Frame {
        name: selection.naming.function(site.function),
        file: Some(selection.naming.file(site.file)),
        line: Some(site.line),
        col: Some(u32::from(site.start_col) + 1),
    };
    let mut frames: Vec<_> = paths.frames.iter().map(name).collect();
    let synthetic = std::iter::once(UNKNOWN).chain(gaps);
    frames.extend(synthetic.map(|name| Frame { name, file: None, line: None, col: None }));
    let mut title = selection.title.clone();
    let notes = selection.caveats.notes();
    for part in selection.conditions.iter().chain(&notes) {
        title = title + " · " + part;
    }
    let bytes = selection.profile.estimator.bytes_per_sample();
    let profile = |what: &str, of: fn(&Weight) -> u64| Profile {
        r#type: "evented",
        name: format!("{what}: {title}"),
        unit: "bytes",
        start_value: 0.0,
        end_value: of(&selection.total()) as f64 * bytes,
        events: events(&paths, of, bytes),
    };
    let file = File {
        schema: "https://www.speedscope.app/file-format-schema.json",
        exporter: concat!("memtrail ", env!("CARGO_PKG_VERSION")).to_owned(),
        name: [vec![selection.title.clone()], selection.labels()].concat().join(" "),
        active_profile_index: 0,
        shared: Shared { frames },
        profiles: vec![
            profile("allocated", |weight| weight.samples),
            profile("never collected", |weight| weight.live),
        ],
    };
    serde_json::to_vec(&file).unwrap_or_default()
}

/// Functions opening and closing where their bytes stand.
fn events(paths: &Paths, of: fn(&Weight) -> u64, bytes: f64) -> Vec<Event> {
    let mut total: Vec<u64> = (0..paths.len()).map(|node| of(&paths.own(node as u32))).collect();
    for node in (1..total.len()).rev() {
        total[paths.parent(node as u32) as usize] += total[node];
    }
    let mut events = Vec::new();
    let mut samples = of(&paths.own(0));
    if samples > 0 {
        let frame = paths.frames.len();
        events.push(Event { r#type: "O", frame, at: 0.0 });
        events.push(Event { r#type: "C", frame, at: samples as f64 * bytes });
    }
    for step in paths.walk() {
        let (Step::Enter(node) | Step::Leave(node)) = step;
        if total[node as usize] == 0 {
            continue;
        }
        let (r#type, own) = match step {
            Step::Enter(node) => ("O", of(&paths.own(node))),
            Step::Leave(_) => ("C", 0),
        };
        events.push(Event { r#type, frame: paths.frame(node), at: samples as f64 * bytes });
        samples += own;
    }
    events
}
