//! What each line of a source file allocates: itself, and inside the calls that are made there.

use memtrail_order::SortRows as _;
use memtrail_trace::{FileId, StackId};
use rustc_hash::FxHashMap;

use crate::allocating_frame::allocating;
use crate::estimate::Sum;
use crate::filter::Resolved;
use crate::profile::Profile;

/// What a line allocates, of the blocks that a filter keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SourceLine {
    /// The line, from 1.
    pub line: u32,
    /// By it, and inside calls that are made there. A line that is several times in a backtrace counts once.
    pub total: Sum,
    /// By it.
    pub own: Sum,
    /// Samples of `total` that were never collected.
    pub live: u64,
}

/// The lines of a file that are in a backtrace of a block that `filter` keeps, the first line first.
pub fn source_lines(profile: &Profile, filter: &Resolved, file: FileId) -> Vec<SourceLine> {
    let (locations, stacks, blocks) = (&profile.locations, &profile.stacks, &profile.blocks);
    let is_here = |stack: StackId| {
        let frame = stacks.frame(stack);
        locations.at(frame).iter().any(|site| site.file == file)
    };
    // Of each backtrace the innermost one at or above it that ends in the file. Parents come before their children.
    let mut nearest = vec![StackId::ROOT; stacks.len()];
    for stack in (1..stacks.len() as u32).map(StackId) {
        nearest[stack.0 as usize] =
            if is_here(stack) { stack } else { nearest[stacks.parent(stack).0 as usize] };
    }
    let mut of_line: FxHashMap<u32, SourceLine> = FxHashMap::default();
    let mut lines: Vec<u32> = Vec::new();
    for kept in filter.rows(profile) {
        let stack = blocks.stack(kept.row);
        let Some(&innermost) = nearest.get(stack.0 as usize) else { continue };
        lines.clear();
        let mut at = innermost;
        while at != StackId::ROOT {
            let sites = locations.at(stacks.frame(at)).iter().filter(|site| site.file == file);
            lines.extend(sites.map(|site| site.line));
            at = nearest[stacks.parent(at).0 as usize];
        }
        lines.sort_unstable();
        lines.dedup();
        let samples = blocks.samples(kept.row);
        for &line in &lines {
            let figures =
                of_line.entry(line).or_insert_with(|| SourceLine { line, ..Default::default() });
            profile.estimator.add_row(&mut figures.total, blocks, kept.row);
            if kept.died.is_none() {
                figures.live += samples;
            }
        }
        let own = allocating(locations, stacks, stack);
        if own == StackId::ROOT {
            continue;
        }
        let site = locations.at(stacks.frame(own)).last().filter(|site| site.file == file);
        if let Some(figures) = site.and_then(|site| of_line.get_mut(&site.line)) {
            profile.estimator.add_row(&mut figures.own, blocks, kept.row);
        }
    }
    let mut lines: Vec<SourceLine> = of_line.into_values().collect();
    lines.sort_rows_by_key(|figures| figures.line);
    lines
}
