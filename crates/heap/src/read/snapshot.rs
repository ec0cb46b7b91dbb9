//! A snapshot that was read: its tables, and access to the blocks of each section.

use super::columns::{Columns, Detail};
use super::error::{Cause, Error};
use super::marks::{Immediates, Marks, Objects};
use super::sections::{Section, header, section};
use super::tables::{self, Ephemeron, Function, Root, Sample, Totals};
use crate::facts::Facts;
use crate::format::kind;
use crate::label::Labels;
use crate::units::BlockIndex;
use crate::variable_places;
use memtrail_leb128::Cursor;

/// A snapshot.
#[derive(Debug)]
pub struct Snapshot<'a> {
    /// The process and the moment.
    pub facts: Facts,
    /// The roots' labels.
    pub labels: Labels,
    /// The roots.
    pub roots: Vec<Root>,
    /// Ephemerons and weak arrays.
    pub ephemerons: Vec<Ephemeron>,
    /// Blocks that the allocation trace knows.
    pub samples: Vec<Sample>,
    /// Functions of closures.
    pub functions: Vec<Function>,
    /// Identifiers of custom blocks.
    pub customs: Vec<Vec<u8>>,
    /// Integers in the first fields of blocks that types can be known from.
    pub immediates: Immediates,
    /// Names of blocks with the tag of objects.
    pub objects: Objects,
    /// Sums, as the writer counted.
    pub totals: Totals,
    /// What is wrong with the file, if it is not whole. All that is said is of the part before.
    pub damage: Option<Error>,
    /// Ephemerons and weak arrays by block: whether data is set.
    weak: Marks,
    blocks: Vec<(u32, Section<'a>)>,
    /// Edges that are in sections of their own, with the number of their block's section.
    edges: Vec<(u32, Section<'a>)>,
    contents: Vec<Section<'a>>,
    count: u32,
    checksum: u64,
    version: u16,
}

impl<'a> Snapshot<'a> {
    /// Reads the tables of a snapshot and checks all of it.
    ///
    /// # Errors
    /// If it is no snapshot, of a later version, or damaged before the first blocks. Of one that is
    /// damaged behind that, the part before is read, and [`Snapshot::damage`] says where it ends.
    pub fn read(bytes: &'a [u8]) -> Result<Self, Error> {
        let start = header(bytes)?;
        let mut snapshot = Self {
            facts: Facts { pause: start.pause, ..Facts::default() },
            labels: Labels::new(),
            roots: Vec::new(),
            ephemerons: Vec::new(),
            samples: Vec::new(),
            functions: Vec::new(),
            customs: Vec::new(),
            immediates: Immediates::default(),
            objects: Objects::default(),
            totals: Totals::default(),
            damage: None,
            weak: Marks::default(),
            blocks: Vec::new(),
            edges: Vec::new(),
            contents: Vec::new(),
            count: 0,
            checksum: 0,
            version: start.version,
        };
        let mut seen = [false; kind::LAST as usize + 1];
        let mut at = start.end;
        loop {
            let step = section(bytes, at).and_then(|(section, next)| {
                snapshot.take(&section)?;
                Ok((section, next))
            });
            match step {
                Ok((section, next)) => {
                    at = next;
                    if let Some(seen) = seen.get_mut(usize::from(section.kind)) {
                        *seen = true;
                    }
                    snapshot.checksum =
                        snapshot.checksum.rotate_left(7).wrapping_add(section.checksum);
                    if section.kind == kind::END {
                        break;
                    }
                }
                Err(error) => {
                    snapshot.damage = Some(error);
                    break;
                }
            }
        }
        for (kind, name) in
            [(kind::FACTS, "facts"), (kind::LABELS, "labels"), (kind::ROOTS, "roots")]
        {
            if !seen[usize::from(kind)] {
                return Err(snapshot.damage.unwrap_or(Cause::Missing(name).at(at as u64)));
            }
        }
        snapshot.within();
        Ok(snapshot)
    }

    fn take(&mut self, section: &Section<'a>) -> Result<(), Error> {
        let damaged = |name| Cause::Table(name).at(section.offset);
        let mut buffer = Vec::new();
        let content = match section.kind {
            kind::BLOCKS | kind::EDGES | kind::CONTENTS | kind::END => &[],
            after if after > kind::LAST => &[],
            _ => section.content(&mut buffer)?,
        };
        let table = &mut Cursor::new(content);
        match section.kind {
            kind::FACTS => {
                self.facts = tables::facts(table, self.facts.pause).ok_or(damaged("facts"))?;
            }
            kind::LABELS => {
                self.labels = tables::labels(table).ok_or(damaged("labels"))?;
            }
            kind::ROOTS => {
                self.roots = tables::roots(table, self.labels.len()).ok_or(damaged("roots"))?;
            }
            kind::EPHEMERONS => {
                self.ephemerons =
                    tables::ephemerons(table, self.version).ok_or(damaged("ephemerons"))?;
            }
            kind::SAMPLES => {
                self.samples = tables::samples(table).ok_or(damaged("samples"))?;
            }
            kind::BLOCKS => {
                let first = self.count;
                self.count = first
                    .checked_add(section.count)
                    .filter(|count| *count < u32::MAX - (1 << 20))
                    .ok_or(damaged("blocks"))?;
                self.blocks.push((first, *section));
            }
            kind::CONTENTS => self.contents.push(*section),
            kind::CODES => {
                self.functions =
                    tables::functions(table, self.version).ok_or(damaged("functions"))?;
            }
            kind::CUSTOMS => {
                self.customs = tables::customs(table).ok_or(damaged("custom operations"))?;
            }
            kind::IMMEDIATES => {
                let blocks = std::mem::take(&mut self.immediates.blocks);
                self.immediates =
                    Immediates::read(table, self.version, blocks).ok_or(damaged("immediates"))?;
            }
            kind::OBJECTS => {
                let blocks = std::mem::take(&mut self.objects.blocks);
                self.objects =
                    Objects::read(table, self.version, blocks).ok_or(damaged("objects"))?;
            }
            kind::IMMEDIATE_BLOCKS => {
                self.immediates.blocks.read_piece(table).ok_or(damaged("immediates"))?;
            }
            kind::OBJECT_BLOCKS => {
                self.objects.blocks.read_piece(table).ok_or(damaged("objects"))?;
            }
            kind::EDGES => self.edges.push((self.blocks.len() as u32, *section)),
            kind::PLACES => {
                let places = variable_places::read(table).ok_or(damaged("places"))?;
                for (label, place) in places {
                    self.labels.set_place(label, place);
                }
            }
            kind::TOTALS => {
                let (totals, pause) = tables::totals(table).ok_or(damaged("totals"))?;
                self.totals = totals;
                self.facts.pause = pause.unwrap_or(self.facts.pause);
            }
            _ => {}
        }
        Ok(())
    }

    /// Leaves out what speaks of blocks that are not there.
    fn within(&mut self) {
        let count = self.count;
        let there = |block: &BlockIndex| block.0 < count;
        self.roots.retain(|root| there(&root.block));
        for root in &mut self.roots {
            root.field_of = root.field_of.filter(|(block, _)| there(block));
        }
        self.samples.retain(|sample| there(&sample.block));
        self.immediates.blocks.truncate(count);
        self.objects.blocks.truncate(count);
        self.ephemerons.retain(|ephemeron| there(&ephemeron.block));
        for ephemeron in &mut self.ephemerons {
            ephemeron.keys.retain(there);
            ephemeron.data = ephemeron.data.filter(there);
        }
        let has_data = |one: &Ephemeron| (one.block, u32::from(one.has_data));
        self.weak = Marks::new(self.ephemerons.iter().map(has_data).collect());
    }

    /// The first field of a block with tag 0 and two fields, if it is an integer that a hash may be:
    /// that of a polymorphic variant, or of the type of a dynamic value. Of a map's node its key, in the same way.
    pub fn immediate(&self, block: BlockIndex) -> Option<i64> {
        self.immediates.get(block)
    }

    /// Ephemerons and weak arrays by block, with `HAS_DATA` if data is set.
    #[cfg(feature = "analysis")]
    pub(crate) fn weak(&self) -> &Marks {
        &self.weak
    }

    /// How many blocks there are.
    pub fn blocks(&self) -> u32 {
        self.count
    }

    /// How many sections hold blocks.
    pub fn sections(&self) -> usize {
        self.blocks.len()
    }

    /// The section that holds a block.
    pub fn section_of(&self, block: BlockIndex) -> Option<usize> {
        let after = self.blocks.partition_point(|(first, _)| *first <= block.0);
        (block.0 < self.count).then(|| after.checked_sub(1))?
    }

    /// The first block of a section.
    pub fn first_of(&self, section: usize) -> BlockIndex {
        BlockIndex(self.blocks.get(section).map_or(self.count, |(first, _)| *first))
    }

    /// Decodes a section's blocks.
    ///
    /// # Errors
    /// If its numbers do not fit together.
    pub fn decode(&self, section: usize, into: &mut Columns) -> Result<(), Error> {
        self.decode_with(section, into, Detail::Fields)
    }

    /// Decodes a section's blocks without the numbers of the fields that their edges leave from.
    ///
    /// # Errors
    /// If its numbers do not fit together.
    #[cfg(feature = "analysis")]
    pub(crate) fn decode_edges(&self, section: usize, into: &mut Columns) -> Result<(), Error> {
        self.decode_with(section, into, Detail::Edges)
    }

    /// Decodes a section's blocks without their edges.
    ///
    /// # Errors
    /// If its numbers do not fit together.
    #[cfg(feature = "analysis")]
    pub(crate) fn decode_sizes(&self, section: usize, into: &mut Columns) -> Result<(), Error> {
        self.decode_with(section, into, Detail::Sizes)
    }

    /// Decodes as much of a section's blocks as is asked for.
    ///
    /// # Errors
    /// If the section is damaged.
    pub(crate) fn decode_with(
        &self,
        section: usize,
        into: &mut Columns,
        detail: Detail,
    ) -> Result<(), Error> {
        match self.blocks.get(section) {
            Some((first, blocks)) => {
                let cut = self.damage.is_some();
                into.decode(blocks, *first, (self.count, self.version), cut, detail)?;
                let start = self.edges.partition_point(|(of, _)| (*of as usize) < section);
                let edges = self.edges.get(start..).unwrap_or_default().iter();
                for (_, edges) in edges.take_while(|(of, _)| *of as usize == section) {
                    into.decode_edges(edges, self.count, cut, detail)?;
                }
                Ok(())
            }
            None => Err(Cause::Missing("blocks").at(0)),
        }
    }

    /// Hands out the contents of strings, where the snapshot has them: block, offset, piece.
    ///
    /// # Errors
    /// If a section of them is damaged.
    pub fn contents(&self, mut each: impl FnMut(BlockIndex, u64, &[u8])) -> Result<(), Error> {
        let mut buffer = Vec::new();
        for section in &self.contents {
            let mut cursor = Cursor::new(section.content(&mut buffer)?);
            let mut piece = || {
                let block = u32::try_from(cursor.number()?).ok()?;
                let offset = cursor.number()?;
                let text = cursor.bytes()?;
                each(BlockIndex(block), offset, text);
                Some(cursor.left() > 0)
            };
            while piece().ok_or(Cause::Table("contents").at(section.offset))? {}
        }
        Ok(())
    }

    /// Whether strings' contents were written.
    pub fn has_contents(&self) -> bool {
        !self.contents.is_empty()
    }

    /// A number that another file is very unlikely to have.
    pub fn checksum(&self) -> u64 {
        self.checksum
    }
}
