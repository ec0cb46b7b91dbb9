//! What retains the blocks of the leaks, as the snapshot at the end shows it.

use memtrail_engine::heap::BlockResponse;
use memtrail_engine::query::{By, HeapBlock, HeapSamples, SiteOrder};
use memtrail_heap::{BlockIndex, Bytes};
use memtrail_recording::Recording;
use memtrail_text::rounded::bytes;
use serde::Serialize;

use crate::error::Failure;
use crate::heap::joined::Joined;
use crate::snapshot_file::MemoryArgs;

/// What retains the blocks of a function.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Retainer {
    /// The root, from the coarsest name to its own: a module and a field of it.
    root: Vec<String>,
    /// The variable's type, if it is known.
    #[serde(rename = "type")]
    ty: Option<String>,
    /// Where the variable is defined: `leaks.ml:36`.
    position: Option<String>,
    /// The first block below the root without which they would be freed: its kind.
    kind: String,
    /// That block's number in the snapshot.
    block: BlockIndex,
    /// Bytes that would be freed without it.
    retained: Bytes,
}

impl Retainer {
    pub(super) fn description(&self) -> String {
        let size = bytes(self.retained.0 as f64);
        match (&self.ty, &self.position) {
            (Some(ty), Some(position)) => format!(
                "Retained by the variable {} : {ty} ({position}), {size}, exactly.",
                self.root.join(".")
            ),
            _ => format!(
                "Retained by {}: {size}, exactly, by the block {} ({}).",
                self.root.join(", "),
                self.block.0,
                self.kind
            ),
        }
    }
}

/// What retains most blocks that functions allocated, if the snapshot has any of them.
pub(super) fn find(
    recording: Recording,
    functions: &[&str],
) -> Result<Vec<Option<Retainer>>, Failure> {
    let joined = Joined::open(recording, None, MemoryArgs::default())?;
    let (rec, snapshot) = joined.ids();
    let order = SiteOrder::Retained;
    let by_function =
        HeapSamples { rec, snapshot, by: By::Function, order, offset: 0, limit: 1000 };
    let sites = joined.query(|engine| engine.heap_samples(&by_function))?.response.rows;
    functions
        .iter()
        .map(|function| {
            let site = sites
                .iter()
                .find(|site| site.key.as_deref() == Some(function) || site.name == *function);
            let Some(block) = site.and_then(|site| site.example) else { return Ok(None) };
            let query = HeapBlock { rec, snapshot, block: block.0 };
            Ok(retainer(&joined.query(|engine| engine.heap_block(&query))?.response))
        })
        .collect()
}

/// Reads it off the retaining path of a block.
fn retainer(block: &BlockResponse) -> Option<Retainer> {
    // The first step is the kind of root.
    let root = block.path.iter().take_while(|step| step.block.is_none()).skip(1);
    let first = block.path.iter().find(|step| step.block.is_some() && step.dominates)?;
    let last = root.clone().last();
    Some(Retainer {
        ty: last.and_then(|step| step.r#type.clone()),
        position: last.and_then(|step| step.position.clone()),
        root: root.map(|step| step.name.clone()).collect(),
        kind: first.name.clone(),
        block: first.block?,
        retained: first.retained?,
    })
}
