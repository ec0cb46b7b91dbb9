//! The answer to [`HeapChildren`](crate::query::HeapChildren).

use memtrail_heap::graph::{Node, SUPER_ROOT};
use memtrail_heap::query::{Form, Shape, ShapeId};
use memtrail_heap::{BlockIndex, Bytes};
use serde_json::{Value, json};

use super::loaded::LoadedSnapshot;
use super::node::{self, Place};
use super::rows::{Rows, share};
use crate::api_error::ApiError;
use crate::query::{ChildSort, HeapChildren};
use crate::response_body::ResponseBody;

/// Bytes that a row takes in an answer, without its node.
const ROW: usize = 300;

/// A child of a node: a holder, a group or a block.
struct Child {
    what: What,
    name: String,
    blocks: u64,
    bytes: Bytes,
    retained: Bytes,
    external: Bytes,
}

enum What {
    Shape(ShapeId),
    Block(BlockIndex),
}

pub(super) fn children(
    loaded: &LoadedSnapshot,
    ask: &HeapChildren,
) -> Result<ResponseBody, ApiError> {
    let place = node::find(loaded, &ask.node)?;
    let shape = *place.shapes.get(place.shape);
    let mut children = if place.kinds.is_empty() {
        below(loaded, &place)
    } else {
        let tops = place.shapes.tops(loaded.heap(), &loaded.catalogue, place.shape);
        tops.into_iter().map(|block| of_block(loaded, block)).collect()
    };
    sort(&mut children, ask.sort, ask.descending);
    let count = children.len();
    let mut rows = Rows::new(ask.limit);
    let told: Vec<Value> = children[ask.offset.min(count)..]
        .iter()
        .take(rows.limit())
        .map(|child| child.tell(loaded, &place))
        .collect();
    let told = rows.affordable(&told, |row| ROW + row["node"].as_str().map_or(0, str::len));
    let mut info = if place.kinds.is_empty() {
        node::info(loaded, place.node)
    } else {
        json!({
            "node": ask.node,
            "name": node::shape_name(loaded, shape.form),
            "retained": shape.retained.bytes(),
        })
    };
    info["blocks"] = json!(shape.tops);
    let way = node::way(loaded, &place);
    Ok(ResponseBody::new(json!({ "node": info, "path": way, "rows": told, "count": count })))
}

/// What hangs below a block, as rows, those that retain most first; and how many there are.
pub(super) fn dominated(
    loaded: &LoadedSnapshot,
    place: &Place,
    most: usize,
) -> (usize, Vec<Value>) {
    let children = below(loaded, place);
    let some = children.iter().take(most);
    (children.len(), some.map(|child| child.tell(loaded, place)).collect())
}

/// Holders and groups below a node. A group of one block is that block.
fn below(loaded: &LoadedSnapshot, place: &Place) -> Vec<Child> {
    let of = |shape: &ShapeId| {
        let here: &Shape = place.shapes.get(*shape);
        match (here.form, here.largest) {
            (Form::Kind(_), Some(block)) if here.tops == 1 => of_block(loaded, block),
            _ => Child {
                what: What::Shape(*shape),
                name: node::shape_name(loaded, here.form),
                blocks: here.tops,
                bytes: here.own.bytes(),
                retained: here.retained.bytes(),
                external: here.external,
            },
        }
    };
    place.shapes.children(place.shape).iter().map(of).collect()
}

fn of_block(loaded: &LoadedSnapshot, block: BlockIndex) -> Child {
    Child {
        what: What::Block(block),
        name: node::name(loaded, Node::Block(block)),
        blocks: 1,
        bytes: loaded.catalogue.size(block).bytes(),
        retained: loaded.catalogue.retained(loaded.heap(), block).bytes(),
        external: loaded.heap().graph.external(block),
    }
}

fn sort(children: &mut [Child], by: ChildSort, descending: bool) {
    match by {
        // They come in this order, largest first.
        ChildSort::Retained if descending => return,
        ChildSort::Retained => children.sort_by_key(|child| child.retained),
        ChildSort::Bytes => children.sort_by_key(|child| child.bytes),
        ChildSort::Blocks => children.sort_by_key(|child| child.blocks),
        ChildSort::Name => children.sort_by(|a, b| a.name.cmp(&b.name)),
    }
    if descending {
        children.reverse();
    }
}

impl Child {
    fn tell(&self, loaded: &LoadedSnapshot, place: &Place) -> Value {
        let (what, node, largest, opens) = match self.what {
            What::Block(block) => {
                let node = node::text(loaded, Node::Block(block));
                ("block", node, Some(block), self.retained > self.bytes)
            }
            What::Shape(shape) => {
                let here = place.shapes.get(shape);
                let node = node::shape_text(loaded, place, shape);
                match here.form {
                    Form::RootNode(_) => ("holder", node, None, true),
                    _ => ("group", node, here.largest, true),
                }
            }
        };
        let all = loaded.heap().graph.held(SUPER_ROOT).bytes();
        json!({
            "node": node,
            "name": self.name,
            "what": what,
            "share": share(self.retained.0, all.0),
            "blocks": self.blocks,
            "bytes": self.bytes,
            "retained": self.retained,
            "retained_external": self.external,
            "largest": largest,
            "opens": opens,
        })
    }
}
