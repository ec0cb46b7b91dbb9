//! Answers for the walk of the copy's heap: the runtime's details, and how long the program was paused. Gives each
//! block to the search for references to blocks from `malloc`, if there is one.

use memtrail_heap::write::{Custom, Details, Function, Owned};
use memtrail_ocaml::memory::ThisProcess;
use memtrail_ocaml_snapshot::RuntimeDetails;
use memtrail_references::HeapBlock;

use super::copy::{ForkedCopy, ForkedView};
use crate::references::Scan;
use crate::snapshot::writers::Page;

pub(super) struct CopyDetails<'a> {
    runtime: RuntimeDetails<'a, ForkedCopy>,
    page: &'a Page,
    /// Looks for references to blocks from `malloc`, if it is to.
    scan: Option<Scan<ThisProcess>>,
}

impl<'a> CopyDetails<'a> {
    pub(super) fn new(
        view: &'a ForkedView<'a>,
        page: &'a Page,
        scan: Option<Scan<ThisProcess>>,
    ) -> Self {
        Self { runtime: RuntimeDetails::new(view), page, scan }
    }

    /// What has seen all blocks.
    pub(super) fn into_scan(self) -> Option<Scan<ThisProcess>> {
        self.scan
    }
}

impl Details for CopyDetails<'_> {
    fn custom(&mut self, block: u64, operations: u64, words: &[u64]) -> Custom {
        self.runtime.custom(block, operations, words)
    }

    fn owned(&mut self, owner: u64) -> Owned {
        self.runtime.owned(owner)
    }

    fn identifier(&mut self, operations: u64, into: &mut Vec<u8>) {
        self.runtime.identifier(operations, into);
    }

    fn is_partial(&mut self, code: u64) -> bool {
        self.runtime.is_partial(code)
    }

    fn functions(&mut self, codes: &[u64], each: &mut dyn FnMut(&Function)) {
        self.runtime.functions(codes, each);
    }

    fn hashes(&mut self, each: &mut dyn FnMut(i64)) {
        self.runtime.hashes(each);
    }

    fn variants(&mut self, hashes: &[i64], each: &mut dyn FnMut(usize, &[u8])) {
        self.runtime.variants(hashes, each);
    }

    fn continuation(&mut self, block: u64, words: &[u64], each: &mut dyn FnMut(u64)) {
        self.runtime.continuation(block, words, each);
    }

    fn block(&mut self, index: u32, words: &[u64]) {
        if let Some(scan) = &mut self.scan {
            scan.heap_block(HeapBlock(index), words);
        }
    }

    fn pause(&mut self) -> u64 {
        self.page.await_pause()
    }
}
