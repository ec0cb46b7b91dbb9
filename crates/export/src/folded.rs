//! Folded stacks: a line a call path, functions separated by `;`, outermost first, then a space and
//! bytes. What Brendan Gregg's `flamegraph.pl`, inferno and many other tools read.
//!
//! Of a function that occurs several times on a path, only the outermost occurrence is written, as on
//! the page: each line is a whole path, and there would be gigabytes of some programs. A `;` or a line end within a name becomes `:`, as the format has no
//! way to say it.

use crate::naming::UNKNOWN;
use crate::paths::{Paths, Step};
use crate::selection::Selection;
use crate::weight::Rounding;

/// The bytes allocated on each call path.
pub fn write(selection: &Selection<'_>) -> Vec<u8> {
    let paths = Paths::of_functions(selection);
    let names: Vec<String> = (paths.frames.iter())
        .map(|site| selection.naming.function(site.function).replace([';', '\n', '\r'], ":"))
        .collect();
    let bytes_per_sample = selection.profile.estimator.bytes_per_sample();
    let mut out = Vec::new();
    let mut rounding = Rounding::default();
    let mut line = Vec::new();
    let mut end = |line: &[u8], samples: u64, out: &mut Vec<u8>| {
        let bytes = rounding.next(samples as f64 * bytes_per_sample);
        if bytes != 0 {
            out.extend_from_slice(line);
            out.extend_from_slice(format!(" {bytes}\n").as_bytes());
        }
    };
    end(UNKNOWN.as_bytes(), paths.own(0).samples, &mut out);
    // How long the line was before each function of the path.
    let mut lengths = Vec::new();
    for step in paths.walk() {
        match step {
            Step::Enter(node) => {
                lengths.push(line.len());
                if !line.is_empty() {
                    line.push(b';');
                }
                line.extend_from_slice(names[paths.frame(node)].as_bytes());
                end(&line, paths.own(node).samples, &mut out);
            }
            Step::Leave(_) => line.truncate(lengths.pop().unwrap_or(0)),
        }
    }
    out
}
