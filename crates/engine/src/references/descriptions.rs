//! What was found of references, in descriptions.

use memtrail_text::rounded::{count, grouped, seconds};

use crate::leaks::{BlocksEstimate, Place};
use crate::names::shown;

/// `97.7 KiB in 100 blocks (100 sampled): nothing refers to them (conservative scan at 0.10 s)`.
pub(super) fn heading(unreachable: &BlocksEstimate, at: f64) -> String {
    format!(
        "{}: nothing refers to them (conservative scan at {})",
        estimate(unreachable),
        seconds(at)
    )
}

/// Where blocks to which nothing refers were allocated, and how many of them other such blocks refer to.
pub(super) fn of_site(
    allocated: &[Place],
    unreachable: &BlocksEstimate,
    direct: &BlocksEstimate,
) -> Vec<String> {
    let calls: Vec<String> = allocated.iter().map(Place::to_string).collect();
    let mut all = vec![match calls.as_slice() {
        [] => "allocated by an unknown callstack".to_owned(),
        _ => format!("allocated in {}", shown(&calls.join(", called by "))),
    }];
    if direct.sampled == 0 {
        all.push("all of them are referred to by other blocks that are unreachable".to_owned());
    } else if direct.sampled < unreachable.sampled {
        all.push(format!(
            "{} of them; other blocks that are unreachable refer to the rest",
            estimate(direct)
        ));
    }
    all
}

/// What was found of all blocks.
pub(super) fn summary(
    [reachable, garbage, elsewhere]: [&BlocksEstimate; 3],
    unreachable: &BlocksEstimate,
    at: f64,
) -> String {
    let others = [
        (reachable, "are reachable"),
        (
            garbage,
            "are referred to from garbage of OCaml's heap alone, and freed with it by finalisers",
        ),
        (elsewhere, "are referred to from memory of unknown use alone"),
    ];
    let others: Vec<String> = others
        .into_iter()
        .filter(|(blocks, _)| blocks.sampled > 0)
        .map(|(blocks, what)| format!("{} {what}", estimate(blocks)))
        .collect();
    let others = match others.as_slice() {
        [] => "no other block that is alive was sampled".to_owned(),
        _ => format!("of all blocks, {}", others.join("; ")),
    };
    if unreachable.sampled == 0 {
        let at = seconds(at);
        format!("no unreachable block was sampled (conservative scan at {at}); {others}")
    } else {
        others
    }
}

/// Why it is not known what refers to blocks.
pub(crate) fn not_known(reason: &str) -> String {
    format!("what refers to blocks is not known: {reason}")
}

/// `97.7 KiB in 100 blocks (100 sampled)`.
pub(crate) fn estimate(blocks: &BlocksEstimate) -> String {
    format!(
        "{} in {} {} ({} sampled)",
        blocks.bytes.size(),
        count(blocks.blocks.value),
        if count(blocks.blocks.value) == "1" { "block" } else { "blocks" },
        grouped(blocks.sampled),
    )
}
