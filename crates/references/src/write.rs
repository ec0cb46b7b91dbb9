//! Writes the file: numbers of variable length throughout.
//!
//! | what | numbers |
//! |---|---|
//! | magic, version | eight bytes, one number |
//! | time | one |
//! | modules | their number; each path with its length |
//! | blocks | their number; each its id in the trace plus 1, or 0, and its size |
//! | edges | their number; each the difference of its block's number to that of the edge before, the offset, and the distance of the block that it refers to |
//! | roots | their number; each its kind, what the kind has, and the block |

use memtrail_leb128::{put, put_bytes, zigzag};

use crate::format::{MAGIC, VERSION, kind};
use crate::graph::{Place, References};

impl References {
    /// The file's bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        let into = &mut bytes;
        put(into, VERSION);
        put(into, self.taken_unix_us);
        put(into, self.modules.len() as u64);
        for module in &self.modules {
            put_bytes(into, module.as_bytes());
        }
        put(into, self.blocks.len() as u64);
        for block in &self.blocks {
            put(into, block.sampled.map_or(0, |id| id.0.saturating_add(1)));
            put(into, block.size.0);
        }
        put(into, self.edges.len() as u64);
        let mut before = 0;
        for edge in &self.edges {
            put(into, u64::from(edge.from.0.saturating_sub(before)));
            put(into, edge.at.0);
            put(into, zigzag(i64::from(edge.to.0) - i64::from(edge.from.0)));
            before = edge.from.0;
        }
        put(into, self.roots.len() as u64);
        for root in &self.roots {
            put_place(into, &root.place);
            put(into, u64::from(root.to.0));
        }
        bytes
    }
}

fn put_place(into: &mut Vec<u8>, place: &Place) {
    match place {
        Place::Data { module, address, variable } => {
            let position = variable.as_ref().map(|variable| variable.position.as_ref());
            put(
                into,
                match position {
                    None => kind::DATA,
                    Some(None) => kind::NAMED_DATA,
                    Some(Some(_)) => kind::POSITIONED_DATA,
                },
            );
            put(into, u64::from(module.0));
            put(into, *address);
            if let Some(variable) = variable {
                put_bytes(into, variable.name.as_bytes());
            }
            if let Some(Some(position)) = position {
                put_bytes(into, position.as_bytes());
            }
        }
        Place::Stack(thread) => {
            put(into, kind::STACK);
            put(into, u64::from(thread.0));
        }
        Place::ThreadLocal(thread) => {
            put(into, kind::THREAD_LOCAL);
            put(into, u64::from(thread.0));
        }
        Place::SystemCall(thread) => {
            put(into, kind::SYSTEM_CALL);
            put(into, u64::from(thread.0));
        }
        Place::Heap { block, at, .. } => {
            put(into, kind::HEAP);
            put(into, u64::from(block.0));
            put(into, at.0);
        }
        Place::Elsewhere => put(into, kind::ELSEWHERE),
    }
}
