//! Answers of the runtime for the walk of the heap: custom blocks, functions, continuations.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, DefaultHasher};

use memtrail_heap::write::{Custom, Details, Function, Owned, Shared};
use memtrail_ocaml::heap::{bigarray, custom};
use memtrail_ocaml::variants;

use super::bigarrays::SharedData;
use super::frozen::{StoppedProcess, View};
use super::stacks::Stacks;
use super::{bytecode, functions, regions};

const MAX_NAME_LEN: usize = 512;

/// Answers what [`memtrail_heap::write::write`] asks of the runtime. The pause is unknown here.
pub struct RuntimeDetails<'a, F> {
    view: &'a View<'a, F>,
    stacks: Option<Stacks<'a, F>>,
    /// By operations: what decides how much memory stands outside.
    identifiers: HashMap<u64, Vec<u8>, BuildHasherDefault<DefaultHasher>>,
    shared: SharedData,
    /// Channels: several blocks may stand for one.
    channels: HashSet<u64, BuildHasherDefault<DefaultHasher>>,
}

impl<'a, F: StoppedProcess> RuntimeDetails<'a, F> {
    /// Details of a frozen process.
    pub fn new(view: &'a View<'a, F>) -> Self {
        Self {
            view,
            stacks: Stacks::new(view),
            identifiers: HashMap::default(),
            shared: SharedData::default(),
            channels: HashSet::default(),
        }
    }

    fn identifier_of(&mut self, operations: u64) -> &[u8] {
        self.identifiers.entry(operations).or_insert_with(|| {
            custom::identifier(&self.view.memory, operations, &mut [0; MAX_NAME_LEN]).to_vec()
        })
    }
}

impl<F: StoppedProcess> Details for RuntimeDetails<'_, F> {
    fn custom(&mut self, block: u64, operations: u64, _: &[u64]) -> Custom {
        let memory = self.view.memory;
        let known = |bytes| Custom { external: Some(bytes), shared: None };
        match self.identifier_of(operations) {
            custom::CHANNEL => match memory.field(block, 8 * custom::CHANNEL_FIELD) {
                Some(channel @ 1..) => {
                    self.channels.insert(channel);
                    let shared = Shared { field: custom::CHANNEL_FIELD, owner: channel };
                    Custom { external: Some(0), shared: Some(shared) }
                }
                _ => known(0),
            },
            identifier if custom::BIGARRAYS.contains(&identifier) => {
                match bigarray::data(&memory, block) {
                    Some(bigarray::Data::Own(bytes)) => known(bytes),
                    Some(bigarray::Data::Shared(view)) => {
                        self.shared.add(&view);
                        let shared = Shared { field: bigarray::PROXY_FIELD, owner: view.proxy };
                        Custom { external: Some(0), shared: Some(shared) }
                    }
                    Some(bigarray::Data::External) | None => Custom::default(),
                }
            }
            _ => known(0),
        }
    }

    fn owned(&mut self, owner: u64) -> Owned {
        if self.channels.contains(&owner) {
            return Owned { external: Some(custom::CHANNEL_BYTES), name: "channel" };
        }
        self.shared.owned(&self.view.memory, &self.view.mapped, owner)
    }

    fn identifier(&mut self, operations: u64, into: &mut Vec<u8>) {
        into.extend_from_slice(self.identifier_of(operations));
    }

    fn is_partial(&mut self, code: u64) -> bool {
        self.view.symbols.is_partial_application(code)
    }

    fn functions(&mut self, codes: &[u64], each: &mut dyn FnMut(&Function)) {
        match self.view.memory.bytecode() {
            Some(bytecode) => bytecode::functions(bytecode, codes, each),
            None => functions::each(self.view, codes, each),
        }
    }

    fn hashes(&mut self, each: &mut dyn FnMut(i64)) {
        for region in regions::statics(self.view) {
            variants::identifiers(region.words, |name| each(variants::hash(name)));
            variants::strings(region.words, |text| each(variants::string_hash(text)));
        }
    }

    fn variants(&mut self, hashes: &[i64], each: &mut dyn FnMut(usize, &[u8])) {
        if hashes.is_empty() {
            return;
        }
        let mut known = vec![false; hashes.len()];
        for region in regions::statics(self.view) {
            variants::identifiers(region.words, |name| {
                if let Ok(place) = hashes.binary_search(&variants::hash(name))
                    && !std::mem::replace(&mut known[place], true)
                {
                    each(place, name);
                }
            });
        }
    }

    fn continuation(&mut self, block: u64, words: &[u64], each: &mut dyn FnMut(u64)) {
        let _ = block;
        let Some(&stack) = words.first() else { return };
        if let Some(bytecode) = self.view.memory.bytecode() {
            bytecode::captured(self.view, bytecode, stack, each);
        } else if let Some(stacks) = &self.stacks {
            stacks.captured(stack, each);
        }
    }

    fn pause(&mut self) -> u64 {
        0
    }
}
