//! Our own JSON, for programs.
//!
//! ```json
//! {
//!   "format": 1,
//!   "memtrail": "0.1.0",
//!   "program": "/usr/bin/coqc",
//!   "filter": ["live:end"],
//!   "labels": {"service.name": "shop"},
//!   "start_unix_us": 1700000000000000,
//!   "duration_seconds": 12.5,
//!   "samples_per_word": 0.0001,
//!   "bytes_per_sample": 80000.0,
//!   "caveats": {"estimates": "…", "promoted": "…", "external": "…"},
//!   "total": {"allocated_bytes": …, "allocated_bytes_stderr": …,
//!             "allocated_bytes_range": {"low": …, "high": …}, "allocated_blocks": …,
//!             "live_bytes": …, "live_bytes_stderr": …, "live_bytes_range": {"low": …, "high": …},
//!             "live_blocks": …, "samples": …},
//!   "frames": [{"function": "List.map", "module": "List", "file": "list.ml", "line": 92,
//!               "start": 20, "end": 23}],
//!   "nodes": [{"parent": null, "frame": null}, {"parent": 0, "frame": 0, "samples": …, …}]
//! }
//! ```
//!
//! `nodes` is the tree of call paths, parents before children: the path of a node is that of its
//! parent and one frame more; the first node is the root, which is in no function. The figures of a
//! node are those of blocks allocated on exactly its path, and are left out where they are 0: sum
//! them up from the last node to the first to have those of subtrees. `live` is what was never
//! collected. With `window_seconds`, figures are those of what was allocated in that window, and `live` is all
//! that was live at its end. `caveats` are sentences that must be known of the figures, `labels` are the user's (`run --label`); both are absent
//! where there is none.
//! Bytes are unbiased estimates, headers included; `stderr` is a standard error, and the
//! true figure is in `range` 19 times out of 20, with few samples, too; `line`
//! counts from 1, `start` and `end` are columns from 0. `format` is raised when a field goes or
//! changes its meaning.

use std::borrow::Cow;
use std::collections::BTreeMap;

use memtrail_profile::Caveats;
use memtrail_stats::Range;
use serde::Serialize;

use crate::paths::Paths;
use crate::selection::Selection;
use crate::weight::Weight;

/// Version of the object.
const FORMAT: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    format: u32,
    memtrail: &'static str,
    program: &'a str,
    filter: &'a [String],
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    labels: &'a BTreeMap<String, String>,
    start_unix_us: u64,
    duration_seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    window_seconds: Option<[f64; 2]>,
    samples_per_word: f64,
    bytes_per_sample: f64,
    #[serde(skip_serializing_if = "Caveats::is_empty")]
    caveats: &'a Caveats,
    total: Total,
    frames: Vec<Frame<'a>>,
    nodes: Vec<Node>,
}

#[derive(Serialize)]
struct Total {
    allocated_bytes: f64,
    allocated_bytes_stderr: f64,
    allocated_bytes_range: Range,
    allocated_blocks: f64,
    live_bytes: f64,
    live_bytes_stderr: f64,
    live_bytes_range: Range,
    live_blocks: f64,
    samples: u64,
}

#[derive(Serialize)]
struct Frame<'a> {
    function: &'a str,
    module: &'a str,
    file: Cow<'a, str>,
    line: u32,
    start: u16,
    end: u16,
}

#[derive(Serialize)]
struct Node {
    parent: Option<u32>,
    frame: Option<usize>,
    #[serde(flatten)]
    own: Option<Own>,
}

#[derive(Serialize)]
struct Own {
    samples: u64,
    allocated_bytes: f64,
    allocated_blocks: f64,
    live_bytes: f64,
    live_blocks: f64,
}

/// The whole object, on one line, with a line end.
pub fn write(selection: &Selection<'_>) -> Vec<u8> {
    let paths = Paths::new(selection, |_| true);
    let profile = selection.profile;
    let estimator = &profile.estimator;
    let bytes = estimator.bytes_per_sample();
    let own = |weight: Weight| Own {
        samples: weight.samples,
        allocated_bytes: weight.samples as f64 * bytes,
        allocated_blocks: weight.blocks,
        live_bytes: weight.live as f64 * bytes,
        live_blocks: weight.live_blocks,
    };
    let node = |node: u32| {
        let weight = paths.own(node);
        Node {
            parent: (node > 0).then(|| paths.parent(node)),
            frame: (node > 0).then(|| paths.frame(node)),
            own: (!weight.is_nothing()).then(|| own(weight)),
        }
    };
    let frame = |site: &memtrail_trace::Site| Frame {
        function: selection.naming.function(site.function),
        module: selection.naming.module(site.function),
        file: selection.naming.file(site.file),
        line: site.line,
        start: site.start_col,
        end: site.end_col,
    };
    let total = selection.total();
    let allocated = estimator.bytes_of_samples(total.samples, total.excess);
    let live = estimator.bytes_of_samples(total.live, total.live_excess);
    let document = Document {
        format: FORMAT,
        memtrail: env!("CARGO_PKG_VERSION"),
        program: &selection.title,
        filter: &selection.conditions,
        labels: &selection.labels,
        start_unix_us: profile.info.start.0,
        duration_seconds: profile.end.seconds(),
        window_seconds: selection.window.map(|of| [of.from.seconds(), of.to.seconds()]),
        samples_per_word: estimator.rate().0,
        bytes_per_sample: bytes,
        caveats: &selection.caveats,
        total: Total {
            allocated_bytes: allocated.value,
            allocated_bytes_stderr: allocated.stderr,
            allocated_bytes_range: allocated.range(),
            allocated_blocks: total.blocks,
            live_bytes: live.value,
            live_bytes_stderr: live.stderr,
            live_bytes_range: live.range(),
            live_blocks: total.live_blocks,
            samples: total.samples,
        },
        frames: paths.frames.iter().map(frame).collect(),
        nodes: (0..paths.len() as u32).map(node).collect(),
    };
    let mut text = serde_json::to_vec(&document).unwrap_or_default();
    text.push(b'\n');
    text
}
