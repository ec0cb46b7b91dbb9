//! What the walk of the heap asks of the runtime: custom blocks, functions, continuations.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};

use memtrail_heap::write::{Custom, Details, Function};
use memtrail_ocaml::heap::custom;
use memtrail_ocaml::names;

use super::Frozen;
use super::stacks::Stacks;

const LONGEST_NAME: usize = 512;

pub(super) struct RuntimeDetails<'a> {
    frozen: &'a Frozen<'a>,
    stacks: Option<Stacks<'a>>,
    /// By operations: what decides how much memory stands outside.
    identifiers: HashMap<u64, Vec<u8>, BuildHasherDefault<DefaultHasher>>,
}

impl<'a> RuntimeDetails<'a> {
    pub(super) fn new(frozen: &'a Frozen<'a>) -> Self {
        Self { frozen, stacks: Stacks::new(frozen), identifiers: HashMap::default() }
    }

    fn identifier_of(&mut self, operations: u64) -> &[u8] {
        self.identifiers.entry(operations).or_insert_with(|| {
            custom::identifier(&self.frozen.memory, operations, &mut [0; LONGEST_NAME]).to_vec()
        })
    }
}

impl Details for RuntimeDetails<'_> {
    fn custom(&mut self, block: u64, operations: u64, _: &[u64]) -> Custom {
        let memory = self.frozen.memory;
        let identifier = self.identifier_of(operations);
        Custom { external: custom::outside(&memory, identifier, block) }
    }

    fn identifier(&mut self, operations: u64, into: &mut Vec<u8>) {
        into.extend_from_slice(self.identifier_of(operations));
    }

    fn function(&mut self, code: u64, into: &mut Function) {
        let mut linked = [0; LONGEST_NAME];
        let Some(linked) = self.frozen.symbols.name_at(code, &mut linked) else { return };
        let mut text = [0; LONGEST_NAME];
        let name = names::demangle(linked, &mut text).unwrap_or(linked);
        into.name.extend_from_slice(name);
    }

    fn continuation(&mut self, block: u64, words: &[u64], each: &mut dyn FnMut(u64)) {
        let _ = block;
        if let (Some(stacks), Some(&stack)) = (&self.stacks, words.first()) {
            stacks.captured(stack, each);
        }
    }
}
