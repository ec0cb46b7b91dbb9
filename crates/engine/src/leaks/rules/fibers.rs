//! Threads and fibers that wait and never go on: their stacks retain their local variables.

use std::collections::HashSet;

use memtrail_heap::query::OwnerRow;
use memtrail_text::rounded::grouped;

use super::finding::Finding;
use crate::leaks::evidence::Evidence;

const RULE: &str = "abandoned threads or fibers";
/// Stacks without which what grows is on them, and not their number: two domains at work have two.
const MIN_STACKS: u64 = 8;

pub(super) fn describe(evidence: &Evidence<'_>) -> Option<Finding> {
    // A recursive function has many frames on one stack.
    let of_frame = |row: &&OwnerRow| row.path.split_last().map(|(_, stack)| stack.to_vec());
    let stacks: HashSet<Vec<String>> = evidence.owner.rows.iter().filter_map(of_frame).collect();
    let stacks = stacks.len() as u64;
    if evidence.owner.kind == "stack" && stacks >= MIN_STACKS {
        let clause =
            format!("{} stacks of threads or fibers wait there, and do not end", grouped(stacks));
        return Some(Finding { rule: RULE, clause });
    }
    let (fibers, _) = evidence.blocks_of(|name| name == "continuation");
    let values = evidence.values()?;
    let is_fiber = values.name == "continuation" || (fibers >= 10 && fibers * 4 >= values.blocks);
    is_fiber.then(|| Finding {
        rule: RULE,
        clause: format!(
            "{} fibers wait to be continued, and retain their local variables",
            grouped(fibers)
        ),
    })
}
