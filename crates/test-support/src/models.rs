//! Heaps of programs that do not exist, to be queried.

use memtrail_heap::model::{Heap, Made, Value};
use memtrail_heap::read::Strength;
use memtrail_heap::write::LabelRole;
use memtrail_heap::{LabelId, RootKind, tag};

/// A program with the module `Feed`, and a thread that is in its function `serve`.
pub struct Feed {
    pub heap: Heap,
    /// The module, and its second field.
    pub unit: LabelId,
    pub field: LabelId,
    /// The frame of `serve`.
    pub frame: LabelId,
}

impl Feed {
    /// With the contents of strings, and no root yet.
    pub fn new(major_collections: u64) -> Self {
        let mut heap = Heap::new();
        heap.contents = true;
        heap.facts.counters = vec![(b"major_collections".to_vec(), major_collections)];
        let labels = &mut heap.labels;
        let unit = labels.add(None, RootKind::Global, LabelRole::Unit, b"Feed", b"", 0);
        let field = labels.add(Some(unit), RootKind::Global, LabelRole::Field, b"", b"", 1);
        let thread = labels.add(None, RootKind::Stack, LabelRole::Thread, b"", b"", 1);
        let serve = (LabelRole::Frame, b"Feed.serve", b"feed.ml");
        let frame = labels.add(Some(thread), RootKind::Stack, serve.0, serve.1, serve.2, 12);
        Self { heap, unit, field, frame }
    }

    /// The string that cell `number` of a list has.
    pub fn text(&mut self, number: usize) -> Made {
        self.heap.string(if number.is_multiple_of(2) { b"even" } else { b"odd number" })
    }

    /// A custom block with 4096 bytes off-heap.
    pub fn custom(&mut self) -> Made {
        self.heap.block(tag::CUSTOM, &[Value::Raw(9), Value::Raw(4096)])
    }

    /// Lets a label be a root that refers to a block.
    pub fn root(&mut self, label: LabelId, block: Made) {
        self.heap.root_at(label, Value::Block(block), Strength::Strong, None);
    }
}
