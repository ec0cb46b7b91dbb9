//! Blocks with the tag of objects: which extension constructor one is, or of which classes an object
//! has its methods.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::closures::{closure_at, code_pointer};
use super::find::{Found, is_pointer};
use super::source::HeapRuntime;
use crate::format::{CONSTRUCTOR, METHODS_OF};
use crate::tag;
use memtrail_leb128::{put, put_bytes};

/// So many names at most: constructors may be made as the program runs.
const MAX_NAMES: usize = 1 << 13;
/// So many first fields are remembered.
const MAX_KNOWN: usize = 1 << 17;
/// Longer names are cut.
const MAX_NAME_LEN: usize = 512;
/// Methods of all tables that are looked at.
const MAX_ALL_METHODS: usize = 1 << 18;
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
    /// Methods of all names.
    methods: usize,
}

#[derive(Debug)]
enum Name {
    Constructor(Vec<u8>),
    /// The code of the methods.
    Methods(Vec<u64>),
}

impl Objects {
    /// The number of the name of a block with these fields.
    pub(super) fn number(
        &mut self,
        fields: &[u64],
        found: &Found<'_>,
        runtime: HeapRuntime,
    ) -> Option<u32> {
        let &first = fields.first().filter(|first| is_pointer(**first))?;
        if let Some(known) = self.known.get(&first) {
            return *known;
        }
        let name = self.name(first, found, runtime);
        // Names and tables that are made as the program runs may be as many as the blocks.
        if self.known.len() < MAX_KNOWN {
            self.known.insert(first, name);
        }
        name
    }

    fn name(&mut self, first: u64, found: &Found<'_>, runtime: HeapRuntime) -> Option<u32> {
        let (header, fields) = found.region(first)?.block(first, runtime)?;
        let next = self.names.len() as u32;
        let is_full = self.names.len() >= MAX_NAMES;
        match header.tag {
            tag::STRING => {
                let text = text(fields);
                if let Some(number) = self.constructors.get(&text) {
                    return Some(*number);
                }
                if is_full {
                    return None;
                }
                self.constructors.insert(text.clone(), next);
                self.names.push(Name::Constructor(text));
                Some(next)
            }
            0 if !is_full && self.methods < MAX_ALL_METHODS => {
                let methods: Vec<u64> = fields
                    .iter()
                    .take(MAX_METHODS)
                    .filter_map(|field| closure_at(found, runtime, *field))
                    .map(|closure| code_pointer(runtime, closure))
                    .collect();
                self.methods += methods.len();
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
