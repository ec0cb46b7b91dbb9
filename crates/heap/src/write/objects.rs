//! Blocks with the tag of objects: which extension constructor one is, or of which classes an object
//! has its methods.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::closures::{closure_at, code_pointer};
use super::find::{Found, is_pointer};
use super::source::HeapRuntime;
use crate::format::{CONSTRUCTOR, METHODS_OF};
use crate::tag;
use memtrail_leb128::{put, put_bytes, zigzag};

/// So many names at most: constructors may be made as the program runs.
const MAX_NAMES: usize = 1 << 16;
/// Longer names are cut.
const MAX_NAME_LEN: usize = 512;
/// Fields of a method table that are looked at.
const MAX_METHODS: usize = 1024;
/// So many classes at most are named.
const MAX_CLASSES: usize = 3;

/// What blocks with the tag of objects are.
#[derive(Debug, Default)]
pub(super) struct Objects {
    /// By the first field: a constructor's name, or a method table. `None`: neither.
    known: HashMap<u64, Option<u32>, FxBuildHasher>,
    /// Constructors by name.
    constructors: HashMap<Vec<u8>, u32, FxBuildHasher>,
    names: Vec<Name>,
    /// The blocks as they are in the file.
    blocks: Vec<u8>,
    count: u64,
    last: u32,
}

#[derive(Debug)]
enum Name {
    Constructor(Vec<u8>),
    /// The code of the methods.
    Methods(Vec<u64>),
}

impl Objects {
    /// One more block, with these fields.
    pub(super) fn push(
        &mut self,
        block: u32,
        fields: &[u64],
        found: &Found<'_>,
        runtime: HeapRuntime,
    ) {
        let Some(&first) = fields.first().filter(|first| is_pointer(**first)) else { return };
        let known = self.known.get(&first).copied();
        let name = known.unwrap_or_else(|| {
            let name = self.name(first, found, runtime);
            self.known.insert(first, name);
            name
        });
        let Some(name) = name else { return };
        put(&mut self.blocks, zigzag(i64::from(block) - i64::from(self.last)));
        put(&mut self.blocks, u64::from(name));
        self.last = block;
        self.count += 1;
    }

    fn name(&mut self, first: u64, found: &Found<'_>, runtime: HeapRuntime) -> Option<u32> {
        let (header, fields) = found.region(first)?.block(first, runtime)?;
        if self.names.len() >= MAX_NAMES {
            return None;
        }
        let next = self.names.len() as u32;
        match header.tag {
            tag::STRING => {
                let text = text(fields);
                let number = *self.constructors.entry(text.clone()).or_insert(next);
                if number == next {
                    self.names.push(Name::Constructor(text));
                }
                Some(number)
            }
            0 => {
                let methods: Vec<u64> = fields
                    .iter()
                    .take(MAX_METHODS)
                    .filter_map(|field| closure_at(found, runtime, *field))
                    .map(|closure| code_pointer(runtime, closure))
                    .collect();
                self.names.push(Name::Methods(methods));
                Some(next)
            }
            _ => None,
        }
    }

    /// The section. `class_of` gives the class that the method at a code pointer was defined in.
    pub(super) fn finish<'c>(&self, class_of: impl Fn(u64) -> Option<&'c [u8]>) -> Vec<u8> {
        let mut raw = Vec::new();
        put(&mut raw, self.names.len() as u64);
        for name in &self.names {
            match name {
                Name::Constructor(text) => {
                    raw.push(CONSTRUCTOR);
                    put_bytes(&mut raw, text);
                }
                Name::Methods(codes) => {
                    let mut classes: Vec<&[u8]> =
                        codes.iter().filter_map(|code| class_of(*code)).collect();
                    classes.sort_unstable();
                    classes.dedup();
                    let more = classes.len() > MAX_CLASSES;
                    classes.truncate(MAX_CLASSES);
                    if more {
                        classes.push(b"...");
                    }
                    raw.push(METHODS_OF);
                    put_bytes(&mut raw, &classes.join(&b", "[..]));
                }
            }
        }
        put(&mut raw, self.count);
        raw.extend_from_slice(&self.blocks);
        raw
    }
}

/// The class in a method's name: `Shop.order#total` is one of `Shop.order`.
pub(super) fn class_in(name: &[u8]) -> Option<&[u8]> {
    let end = name.iter().rposition(|byte| *byte == b'#')?;
    name.get(..end).filter(|class| !class.is_empty())
}

/// What a string says.
fn text(fields: &[u64]) -> Vec<u8> {
    // The last byte says how many before it are padding.
    let padding = fields.last().map_or(0, |last| (last >> 56) as usize);
    let length = (fields.len() * 8).saturating_sub(1 + padding).min(MAX_NAME_LEN);
    let mut text: Vec<u8> =
        fields.iter().take(MAX_NAME_LEN / 8 + 1).flat_map(|word| word.to_le_bytes()).collect();
    text.truncate(length);
    text
}
