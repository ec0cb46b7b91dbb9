//! The second walk: every block in the order of addresses, its edges as numbers of blocks.

use std::io::{self, Write};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::block_starts::Recent;
use super::blocks::Blocks;
use super::closures::Functions;
use super::details::{Details, Function};
use super::edges::{Edge, EdgeSection, MAX_EDGES};
use super::find::{Found, MAX_BLOCKS, is_pointer};
use super::immediates::{self, Immediates};
use super::marks::Marks;
use super::objects::{Objects, class_in};
use super::sections::Sections;
use super::source::{Layout, Region, Source};
use super::tables;
use crate::format::{STANDS_IN_BLOCK, kind};
use crate::space::Space;
use crate::tag;
use crate::variable_places;
use memtrail_leb128::{put, put_bytes, zigzag};

/// Tables are written in sections of about so many bytes.
const TABLE_BYTES: usize = 1 << 20;

/// What came into the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Blocks, static ones too, and those that stand for shared memory outside the heap.
    pub blocks: u64,
    /// Pointers between blocks.
    pub edges: u64,
    /// Roots that hold a block.
    pub roots: u64,
    /// Bytes of the file.
    pub bytes: u64,
    /// Words of blocks and roots that look like pointers and point to no block.
    pub outside: u64,
}

/// Writes the file.
pub(super) fn emit<W: Write, D: Details>(
    out: W,
    source: &Source<'_>,
    found: &Found<'_>,
    details: &mut D,
    immediates: Immediates,
) -> io::Result<Written> {
    let mut emit = Emit {
        source,
        found,
        details,
        sections: Sections::start(out)?,
        recent: Recent::new(),
        functions: Functions::default(),
        immediates,
        immediate_blocks: Marks::new(kind::IMMEDIATE_BLOCKS),
        objects: Objects::default(),
        object_blocks: Marks::new(kind::OBJECT_BLOCKS),
        edges: EdgeSection::default(),
        text: Vec::new(),
        customs: HashMap::default(),
        identifiers: Vec::new(),
        owners: Owners { first: found.blocks, ..Owners::default() },
        written: Written { blocks: found.blocks, ..Written::default() },
    };
    emit.facts()?;
    emit.labels()?;
    emit.roots()?;
    emit.ephemerons()?;
    emit.samples()?;
    emit.blocks()?;
    emit.functions()?;
    emit.customs()?;
    emit.immediates()?;
    emit.places()?;
    let mut totals = Vec::new();
    put(&mut totals, emit.written.blocks);
    put(&mut totals, emit.written.edges);
    put(&mut totals, emit.written.outside);
    put(&mut totals, emit.details.pause());
    emit.sections.section(kind::TOTALS, 0, &totals)?;
    emit.sections.section(kind::END, 0, &[])?;
    emit.written.bytes = emit.sections.finish()?;
    Ok(emit.written)
}

struct Emit<'e, 'a, W, D> {
    source: &'e Source<'a>,
    found: &'e Found<'a>,
    details: &'e mut D,
    sections: Sections<W>,
    recent: Recent,
    functions: Functions,
    immediates: Immediates,
    immediate_blocks: Marks,
    objects: Objects,
    object_blocks: Marks,
    /// Edges of a block that has very many.
    edges: EdgeSection,
    /// A piece of a string.
    text: Vec<u8>,
    /// Custom operations, and their numbers in the file.
    customs: HashMap<u64, u32, FxBuildHasher>,
    /// What custom operations and shared memory are called, by those numbers.
    identifiers: Vec<Vec<u8>>,
    owners: Owners,
    written: Written,
}

impl<W: Write, D: Details> Emit<'_, '_, W, D> {
    fn facts(&mut self) -> io::Result<()> {
        self.sections.section(kind::FACTS, 0, &tables::facts(&self.source.facts))
    }

    fn labels(&mut self) -> io::Result<()> {
        self.sections.section(kind::LABELS, 0, &tables::labels(&self.source.labels))
    }

    fn places(&mut self) -> io::Result<()> {
        self.sections.section(
            kind::PLACES,
            0,
            &variable_places::write(self.source.labels.places().into_iter()),
        )
    }

    /// The number of the block that `value` points to; what points to none is counted.
    #[inline]
    fn index(&mut self, value: u64) -> Option<u32> {
        if !is_pointer(value) {
            return None;
        }
        let index = self.found.index(value, self.source.runtime, &mut self.recent);
        if index.is_none() {
            self.written.outside += 1;
        }
        index
    }

    /// The static block that the slot of a root is a field of: where it is, and which field.
    fn root_node(&self, slot: u64) -> Option<(u64, u64)> {
        let region = self.found.region(slot).filter(|region| region.layout == Layout::Reached)?;
        let block = self.found.block_starts.last_before(slot, region.start)?;
        let (_, fields) = region.block(block, self.source.runtime)?;
        let field = (slot - block) / 8;
        (field < fields.len() as u64).then_some((block, field))
    }

    fn roots(&mut self) -> io::Result<()> {
        let mut raw = Vec::new();
        let (mut count, mut last) = (0, 0);
        let mut body = Vec::new();
        for root in &self.source.roots {
            let Some(index) = self.index(root.value) else { continue };
            let root_node = self.root_node(root.slot).and_then(|(block, field)| {
                let index = self.found.block_starts.index(block, &mut self.recent)?;
                Some((index, field))
            });
            put(&mut body, u64::from(root.label.0));
            let stands = if root_node.is_some() { STANDS_IN_BLOCK } else { 0 };
            put(&mut body, root.strength as u64 + stands);
            put(&mut body, zigzag(i64::from(index) - last));
            if let Some((block, field)) = root_node {
                put(&mut body, u64::from(block));
                put(&mut body, field);
            }
            last = i64::from(index);
            count += 1;
        }
        self.written.roots = count;
        put(&mut raw, count);
        raw.extend_from_slice(&body);
        self.sections.section(kind::ROOTS, 0, &raw)
    }

    fn ephemerons(&mut self) -> io::Result<()> {
        let (mut count, mut last) = (0, 0);
        let mut body = Vec::new();
        for ephemeron in &self.source.ephemerons {
            let found = self.found;
            let Some(index) = self.index(*ephemeron) else { continue };
            let Some((_, [_, data, keys @ ..])) = found
                .region(*ephemeron)
                .and_then(|region| region.block(*ephemeron, self.source.runtime))
            else {
                continue;
            };
            put(&mut body, zigzag(i64::from(index) - last));
            last = i64::from(index);
            let none = self.source.ephe_none;
            let is_set = *data != none;
            let data = if is_set { self.index(*data) } else { None };
            put(&mut body, data.map_or(u64::from(is_set), |data| u64::from(data) + 2));
            let keys: Vec<u32> = keys
                .iter()
                .filter(|key| **key != none)
                .filter_map(|key| self.index(*key))
                .collect();
            put(&mut body, keys.len() as u64);
            for key in keys {
                put(&mut body, u64::from(key));
            }
            count += 1;
        }
        let mut raw = Vec::new();
        put(&mut raw, count);
        raw.extend_from_slice(&body);
        self.sections.section(kind::EPHEMERONS, 0, &raw)
    }

    fn samples(&mut self) -> io::Result<()> {
        let (mut count, mut last) = (0, 0);
        let mut body = Vec::new();
        for sample in &self.source.samples {
            let Some(index) = self.index(sample.block) else { continue };
            put(&mut body, zigzag(i64::from(index) - last));
            last = i64::from(index);
            put(&mut body, sample.id);
            put(&mut body, sample.samples);
            count += 1;
        }
        let mut raw = Vec::new();
        put(&mut raw, count);
        raw.extend_from_slice(&body);
        self.sections.section(kind::SAMPLES, 0, &raw)
    }

    fn blocks(&mut self) -> io::Result<()> {
        // Fields of static blocks for which a root stands.
        let mut rooted: Vec<u64> = self
            .source
            .roots
            .iter()
            .map(|root| root.slot)
            .filter(|slot| {
                self.found.region(*slot).is_some_and(|region| region.layout == Layout::Reached)
            })
            .collect();
        rooted.sort_unstable();
        let mut blocks = Blocks::new();
        let mut contents = Vec::new();
        let mut edges = Vec::new();
        let mut index = 0u32;
        let found = self.found;
        for region in &found.regions {
            let slot = region.slot();
            let mut in_run = false;
            found.block_starts.each(region.start + 8, region.end(), |address| {
                if blocks.is_full() {
                    let count = blocks.count();
                    self.sections.section(kind::BLOCKS, count, blocks.finish())?;
                    in_run = false;
                }
                if !in_run {
                    blocks.run(region.space, slot, address - 8);
                    in_run = true;
                }
                if self.block(region, address, index, &rooted, &mut edges, &mut blocks)? {
                    self.sections.section(kind::BLOCKS, blocks.count(), blocks.finish())?;
                    in_run = false;
                }
                if self.source.contents {
                    self.contents(region, address, index, &mut contents)?;
                }
                index += 1;
                Ok::<(), io::Error>(())
            })?;
        }
        self.shared(&mut blocks)?;
        if blocks.count() > 0 {
            let count = blocks.count();
            self.sections.section(kind::BLOCKS, count, blocks.finish())?;
        }
        if !contents.is_empty() {
            self.sections.section(kind::CONTENTS, 0, &contents)?;
        }
        Ok(())
    }

    /// Adds a block. Says whether that has so many edges that it is to be alone in its section.
    #[inline]
    fn block(
        &mut self,
        region: &Region<'_>,
        address: u64,
        index: u32,
        rooted: &[u64],
        edges: &mut Vec<Edge>,
        blocks: &mut Blocks,
    ) -> io::Result<bool> {
        let runtime = self.source.runtime;
        let Some((header, fields)) = region.block(address, runtime) else { return Ok(false) };
        let mut in_sections = 0;
        self.details.block(index, fields);
        edges.clear();
        let first = runtime.first_value(header.tag, fields);
        for (field, word) in (first as u64..).zip(&fields[first..]) {
            if is_pointer(*word)
                && (region.layout != Layout::Reached
                    || rooted.binary_search(&(address + field * 8)).is_err())
                && let Some(target) = self.index(*word)
            {
                edges.push((field, target));
                if edges.len() > MAX_EDGES {
                    in_sections += edges.len() as u64;
                    let Self { sections, edges: section, .. } = self;
                    spill(sections, section, (region, address, index), edges, blocks)?;
                }
            }
        }
        if header.tag == tag::CONTINUATION && runtime.continuations {
            let mut field = header.wosize;
            let Self { found, recent, sections, edges: section, details, .. } = self;
            let mut done = Ok(());
            details.continuation(address, fields, &mut |value| {
                if is_pointer(value)
                    && let Some(target) = found.index(value, runtime, recent)
                {
                    edges.push((field, target));
                    field += 1;
                    if edges.len() > MAX_EDGES && done.is_ok() {
                        in_sections += edges.len() as u64;
                        done = spill(sections, section, (region, address, index), edges, blocks);
                    }
                }
            });
            done?;
        }
        let custom = (header.tag == tag::CUSTOM).then(|| {
            let ops = fields.first().copied().unwrap_or(0);
            let custom = self.details.custom(address, ops, fields);
            if let Some(shared) = custom.shared.filter(|shared| shared.field < header.wosize)
                && let Some(owner) = self.owners.number(shared.owner)
            {
                edges.push((shared.field, owner));
            }
            (ops, custom)
        });
        self.written.edges += in_sections + edges.len() as u64;
        let is_alone = in_sections > 0;
        if is_alone {
            let Self { sections, edges: section, .. } = self;
            spill(sections, section, (region, address, index), edges, blocks)?;
        }
        blocks.push(index, address - 8, header.tag, header.wosize, edges, is_alone);
        if let Some((ops, custom)) = custom {
            blocks.extra(u64::from(self.identifier(ops)));
            blocks.extra(external(custom.external));
        } else if header.tag == tag::CLOSURE {
            let number = self.functions.number(fields, (self.found, runtime), self.details);
            blocks.extra(u64::from(number));
        } else if header.tag == tag::OBJECT {
            if let Some(number) = self.objects.number(fields, self.found, runtime) {
                self.object_blocks.push(index, number, &mut self.sections)?;
            }
        } else if let Some(value) = immediates::of_block(header.tag, fields)
            && let Some(number) = self.immediates.number(value)
        {
            self.immediate_blocks.push(index, number, &mut self.sections)?;
        }
        Ok(is_alone)
    }

    /// The number of the identifier of custom operations.
    fn identifier(&mut self, ops: u64) -> u32 {
        if let Some(number) = self.customs.get(&ops) {
            return *number;
        }
        let number = self.identifiers.len() as u32;
        self.customs.insert(ops, number);
        let mut identifier = Vec::new();
        self.details.identifier(ops, &mut identifier);
        self.identifiers.push(identifier);
        number
    }

    /// The memory outside the heap that custom blocks share, as blocks behind all others.
    fn shared(&mut self, blocks: &mut Blocks) -> io::Result<()> {
        let owners = std::mem::take(&mut self.owners);
        self.written.blocks += owners.addresses.len() as u64;
        let mut names: Vec<(&'static str, u32)> = Vec::new();
        for (index, address) in (owners.first as u32..).zip(owners.addresses) {
            if blocks.is_full() {
                let count = blocks.count();
                self.sections.section(kind::BLOCKS, count, blocks.finish())?;
            }
            let owned = self.details.owned(address);
            let known = names.iter().find(|(name, _)| *name == owned.name);
            let name = if let Some((_, number)) = known {
                *number
            } else {
                let number = self.identifiers.len() as u32;
                self.identifiers.push(owned.name.into());
                names.push((owned.name, number));
                number
            };
            let header = address.wrapping_sub(8);
            blocks.run(Space::OffHeap, 0, header);
            blocks.push(index, header, tag::OFF_HEAP, 0, &[], false);
            blocks.extra(u64::from(name));
            blocks.extra(external(owned.external));
        }
        Ok(())
    }

    fn contents(
        &mut self,
        region: &Region<'_>,
        address: u64,
        index: u32,
        contents: &mut Vec<u8>,
    ) -> io::Result<()> {
        let Some((header, fields)) = region.block(address, self.source.runtime) else {
            return Ok(());
        };
        let (tag::STRING, Some(last)) = (header.tag, fields.last()) else { return Ok(()) };
        // The last byte says how many before it are padding.
        let length = (fields.len() * 8 - 1).saturating_sub((last >> 56) as usize);
        let text = &mut self.text;
        let mut offset = 0;
        for words in fields.chunks(TABLE_BYTES / 8) {
            text.clear();
            for word in words {
                text.extend_from_slice(&word.to_le_bytes());
            }
            text.truncate(length - offset.min(length));
            if text.is_empty() && offset > 0 {
                break;
            }
            put(contents, u64::from(index));
            put(contents, offset as u64);
            put_bytes(contents, text);
            offset += text.len();
            if contents.len() >= TABLE_BYTES {
                self.sections.section(kind::CONTENTS, 0, contents)?;
                contents.clear();
            }
        }
        Ok(())
    }

    /// The functions, and the objects, which have names from their methods.
    fn functions(&mut self) -> io::Result<()> {
        let codes: Vec<u64> = self.functions.all.iter().map(|(code, _)| *code).collect();
        let mut raw = Vec::new();
        put(&mut raw, codes.len() as u64);
        let mut all = self.functions.all.iter();
        let mut classes: HashMap<u64, Vec<u8>, FxBuildHasher> = HashMap::default();
        self.details.functions(&codes, &mut |function| {
            let Some((code, is_partial)) = all.next() else { return };
            tables::function(&mut raw, *code, *is_partial, function);
            if let Some(class) = class_in(&function.name) {
                classes.insert(*code, class.into());
            }
        });
        for (code, is_partial) in all {
            tables::function(&mut raw, *code, *is_partial, &Function::default());
        }
        self.sections.section(kind::CODES, 0, &raw)?;
        self.object_blocks.write(&mut self.sections)?;
        let objects = self.objects.finish(|code| classes.get(&code).map(Vec::as_slice));
        self.sections.section(kind::OBJECTS, 0, &objects)
    }

    fn immediates(&mut self) -> io::Result<()> {
        self.immediate_blocks.write(&mut self.sections)?;
        let raw = self.immediates.finish(self.details);
        self.sections.section(kind::IMMEDIATES, 0, &raw)
    }

    fn customs(&mut self) -> io::Result<()> {
        let mut raw = Vec::new();
        put(&mut raw, self.identifiers.len() as u64);
        for identifier in &self.identifiers {
            put_bytes(&mut raw, identifier);
        }
        self.sections.section(kind::CUSTOMS, 0, &raw)
    }
}

/// Writes edges of a block into a section of their own, behind all blocks before it.
fn spill<W: Write>(
    sections: &mut Sections<W>,
    edge_section: &mut EdgeSection,
    (region, address, index): (&Region<'_>, u64, u32),
    edges: &mut Vec<Edge>,
    blocks: &mut Blocks,
) -> io::Result<()> {
    if blocks.count() > 0 {
        sections.section(kind::BLOCKS, blocks.count(), blocks.finish())?;
        blocks.run(region.space, region.slot(), address - 8);
    }
    edge_section.write(index, edges, sections)?;
    edges.clear();
    Ok(())
}

/// Memory outside the heap that custom blocks share: numbered behind all blocks, as it is met.
#[derive(Default)]
struct Owners {
    first: u64,
    numbers: HashMap<u64, u32, FxBuildHasher>,
    addresses: Vec<u64>,
}

impl Owners {
    /// The number of what this address stands for; `None` if there are no more numbers.
    fn number(&mut self, owner: u64) -> Option<u32> {
        if let Some(number) = self.numbers.get(&owner) {
            return Some(*number);
        }
        let number = self.first + self.addresses.len() as u64;
        if number >= MAX_BLOCKS {
            return None;
        }
        self.addresses.push(owner);
        self.numbers.insert(owner, number as u32);
        Some(number as u32)
    }
}

/// Bytes outside the heap as they are written.
fn external(bytes: Option<u64>) -> u64 {
    bytes.map_or(0, |bytes| bytes.saturating_add(1))
}
