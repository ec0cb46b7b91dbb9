//! The answer to [`HeapJoint`].

use std::fmt::Write as _;

use memtrail_heap::graph::{Node, RootNode};
use memtrail_heap::query::{
    AllocatedBy, CutReference, JointBlock, JointShare, stored_root, with_held,
};
use memtrail_heap::{BlockIndex, Bytes};
use serde::Serialize;

use super::allocated::Allocated;
use super::loaded::LoadedSnapshot;
use super::node;
use super::rows::Rows;
use crate::api_error::ApiError;
use crate::names::shown;
use crate::query::HeapJoint;

/// What several roots retain jointly: shares, the blocks of one, or the references to cut of a block.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct JointResponse {
    /// The rows that were queried.
    pub rows: Vec<JointRow>,
    /// How many rows there are.
    pub count: usize,
}

/// What is retained jointly, a block of it, or a reference that has to be cut.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct JointRow {
    /// What sort of row.
    pub what: JointWhat,
    /// What queries call it: for rows below it, a root node or a block.
    pub node: String,
    /// What it is.
    pub name: String,
    /// Of a share, the kind of roots.
    pub kind: Option<&'static str>,
    /// Of a share, what comparisons of snapshots call the root whose parts have it.
    pub stored_name: Option<String>,
    /// Of a block: who reaches it, and how many references have to be cut.
    pub place: String,
    /// What it retains; none of references.
    pub retained: Option<Bytes>,
    /// Bytes outside the heap that go with that.
    pub retained_external: Bytes,
    /// What it retains, of all that is retained.
    pub share: f64,
    /// The block, if it is one, or the one that has the reference.
    pub block: Option<BlockIndex>,
    /// What allocated most blocks in the same place, if it is a block without a type and that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub allocated: Option<AllocatedBy>,
    /// Whether there are rows below it.
    pub opens: bool,
}

/// What sort of row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum JointWhat {
    /// What parts of a root node retain jointly.
    Share,
    /// A block of that.
    Block,
    /// A reference that has to be cut.
    Cut,
}

pub(super) fn joint(
    loaded: &LoadedSnapshot,
    allocated: &Allocated<'_>,
    query: &HeapJoint,
) -> Result<JointResponse, ApiError> {
    let shares = loaded.joint_shares()?;
    let rows: Vec<JointRow> = match query.under.as_deref() {
        None => shares.iter().map(|share| of_share(loaded, share)).collect(),
        Some(under) => below(loaded, shares, under)?,
    };
    let count = rows.len();
    let mut bounds = Rows::new(query.limit);
    let size = |row: &JointRow| 200 + row.name.len() + row.place.len();
    let mut rows = bounds.affordable(&rows[query.offset.min(count)..], size).to_vec();
    for row in &mut rows {
        row.allocated = row.block.and_then(allocated.of_blocks(loaded));
    }
    Ok(JointResponse { rows, count })
}

/// The rows below a share, or below a block of one.
fn below(
    loaded: &LoadedSnapshot,
    shares: &[JointShare],
    under: &str,
) -> Result<Vec<JointRow>, ApiError> {
    if let Some(share) = shares.iter().find(|share| root_text(loaded, share) == under) {
        return Ok(share.blocks.iter().map(|block| of_block(loaded, share, block)).collect());
    }
    let mut blocks = shares.iter().flat_map(|share| &share.blocks);
    let block = blocks
        .find(|block| block_text(loaded, block.block) == under)
        .ok_or_else(|| ApiError::unknown(format_args!("{under:?} is not retained jointly")))?;
    Ok(block.cut.iter().flatten().map(|cut| of_cut(loaded, cut)).collect())
}

fn root_text(loaded: &LoadedSnapshot, share: &JointShare) -> String {
    node::text(loaded, Node::RootNode(share.root))
}

fn block_text(loaded: &LoadedSnapshot, block: BlockIndex) -> String {
    node::text(loaded, Node::Block(block))
}

fn of_share(loaded: &LoadedSnapshot, share: &JointShare) -> JointRow {
    let place = match loaded.heap().graph.root_nodes().get(share.root) {
        RootNode::Label(_) => share.path.join(" › "),
        RootNode::Kind(kind) => kind.name().to_owned(),
        RootNode::Everything => String::new(),
    };
    let (kind, stored_name) = stored_root(loaded.heap(), share.root);
    JointRow {
        what: JointWhat::Share,
        kind: Some(kind),
        stored_name: Some(shown(&stored_name)),
        node: root_text(loaded, share),
        name: share.parts.to_owned(),
        place: shown(&place),
        retained: Some(share.retained),
        retained_external: share.retained_external,
        share: share.share,
        block: None,
        allocated: None,
        opens: !share.blocks.is_empty(),
    }
}

/// Roots that reach a block, named in a row.
const MAX_NAMED: usize = 4;

fn of_block(loaded: &LoadedSnapshot, of: &JointShare, block: &JointBlock) -> JointRow {
    let names = block.reached_by.iter().take(MAX_NAMED);
    let names = names.map(|root| with_held(&root.name, root.holds.as_deref()));
    let mut place = format!("reached by {}", names.collect::<Vec<_>>().join(", "));
    if let Some(more) = block.reaching.checked_sub(MAX_NAMED as u64).filter(|more| *more > 0) {
        let _ = write!(place, " and {more} more");
    }
    let cut = match block.cut.as_ref().map(Vec::len) {
        None => "; too many references to cut".to_owned(),
        Some(1) => "; cut one reference to free it".to_owned(),
        Some(count) => format!("; cut {count} references to free it"),
    };
    place.push_str(&cut);
    JointRow {
        what: JointWhat::Block,
        kind: None,
        stored_name: None,
        node: block_text(loaded, block.block),
        name: shown(&block.kind),
        place: shown(&place),
        retained: Some(block.retained),
        retained_external: block.retained_external,
        share: if of.share > 0.0 { block.retained.share_of(of.retained) * of.share } else { 0.0 },
        block: Some(block.block),
        allocated: None,
        opens: block.cut.as_ref().is_some_and(|cut| !cut.is_empty()),
    }
}

fn of_cut(loaded: &LoadedSnapshot, cut: &CutReference) -> JointRow {
    let name = with_held(&cut.name, cut.holds.as_deref());
    let (name, place) = match (&cut.block_kind, cut.block) {
        (Some(kind), Some(_)) => {
            let field = match (&cut.field_name, cut.field) {
                (Some(name), _) => format!(" {name}"),
                (None, Some(field)) => format!(" .{field}"),
                (None, None) => String::new(),
            };
            (format!("cut {kind}{field}"), format!("owned by {name}"))
        }
        _ => (format!("cut {name}"), cut.kind.to_owned()),
    };
    let root = cut.root.map(|root| node::text(loaded, Node::RootNode(root)));
    JointRow {
        what: JointWhat::Cut,
        kind: None,
        stored_name: None,
        node: cut.block.map_or_else(|| root.unwrap_or_default(), |block| block_text(loaded, block)),
        name: shown(&name),
        place: shown(&place),
        retained: None,
        retained_external: Bytes(0),
        share: 0.0,
        block: cut.block,
        allocated: None,
        opens: false,
    }
}
