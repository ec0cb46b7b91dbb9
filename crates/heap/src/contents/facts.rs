//! One pass over a snapshot: the form of every block, and what the fields of those point to that rules look at.

use std::io;

use zerocopy::IntoBytes as _;

use super::block_form::{BlockForm, Candidate, NO_TARGET, Sort};
use crate::graph::Failed;
use crate::graph::bits::{Bits, Ranked};
use crate::graph::chunk_buffer::ChunkBuffer;
use crate::graph::column::{Column, Place};
use crate::graph::passes::sweep;
use crate::read::{Columns, Detail, Snapshot};

/// Blocks of tag 0 with the same number of fields that a rule looks at, with what some fields point to.
#[derive(Debug, Default)]
pub(super) struct Candidates<const N: usize> {
    blocks: Ranked,
    fields: Column<[u32; N]>,
}

impl<const N: usize> Candidates<N> {
    /// A candidate's place, if a block is one.
    #[inline]
    pub(super) fn place(&self, block: u32) -> Option<usize> {
        (block != NO_TARGET && self.blocks.contains(block))
            .then(|| self.blocks.rank(block) as usize)
    }

    /// What the fields of the candidate at a place point to.
    #[inline]
    pub(super) fn fields(&self, place: usize) -> [u32; N] {
        self.fields[place]
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.fields.len()
    }

    /// All candidates in order, each with what its fields point to.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, [u32; N])> {
        self.blocks.bits().iter().zip(self.fields.iter().copied())
    }

    /// Of the sections' candidates, which are in order.
    fn new(place: &Place, blocks: Bits, sections: ChunkBuffer) -> io::Result<Self> {
        let blocks = Ranked::new(blocks);
        let mut fields = place.column(blocks.len(), || [NO_TARGET; N])?;
        concat(sections, fields.as_mut_bytes())?;
        Ok(Self { blocks, fields })
    }
}

/// What rules look at.
#[derive(Debug)]
pub(super) struct Facts {
    /// As bytes.
    forms: Column<u8>,
    /// Two fields: cells of lists and queues. Both fields.
    pub(super) pairs: Candidates<2>,
    /// Three fields: buckets of hash tables, queues, buffers. All fields.
    pub(super) triples: Candidates<3>,
    /// Four fields, of which the last is an immediate: nodes of sets, hash tables. The first three.
    pub(super) quads: Candidates<3>,
    /// Four fields, of which the first and the last point to blocks: buffers. These two.
    pub(super) ends: Candidates<2>,
    /// Five fields, of which the last is an immediate: nodes of maps. The other ones.
    pub(super) quints: Candidates<4>,
    /// Sections with blocks that may be arrays.
    pub(super) with_arrays: Vec<bool>,
}

/// Arrays that rules look at have so many elements at least.
pub(super) const MIN_ARRAY: u64 = 16;

/// Candidates of all sections.
struct Sections {
    pairs: ChunkBuffer,
    triples: ChunkBuffer,
    quads: ChunkBuffer,
    ends: ChunkBuffer,
    quints: ChunkBuffer,
}

/// Those of the section that is looked at.
#[derive(Default)]
struct Section {
    forms: Vec<u8>,
    /// Of each shape, if a block of it was met.
    of_shapes: Vec<Option<BlockForm>>,
    pairs: Vec<[u32; 2]>,
    triples: Vec<[u32; 3]>,
    quads: Vec<[u32; 3]>,
    ends: Vec<[u32; 2]>,
    quints: Vec<[u32; 4]>,
}

impl Section {
    fn look(&mut self, columns: &Columns) {
        self.forms.clear();
        self.of_shapes.clear();
        self.of_shapes.resize(columns.shapes(), None);
        self.pairs.clear();
        self.triples.clear();
        self.quads.clear();
        self.ends.clear();
        self.quints.clear();
        for place in 0..columns.len() {
            let form = self.form(columns, place);
            self.forms.push(form.byte());
            let candidate = form.candidate();
            if candidate == Candidate::None {
                continue;
            }
            let Some(block) = columns.get(place) else { continue };
            match candidate {
                Candidate::None => {}
                Candidate::Pair => self.pairs.push(form.targets::<2>(block.targets)),
                Candidate::Triple => self.triples.push(form.targets::<3>(block.targets)),
                Candidate::Quad => {
                    let [a, b, c, _] = form.targets::<4>(block.targets);
                    self.quads.push([a, b, c]);
                }
                Candidate::Ends => {
                    let [a, _, _, d] = form.targets::<4>(block.targets);
                    self.ends.push([a, d]);
                }
                Candidate::Quint => {
                    let [a, b, c, d, _] = form.targets::<5>(block.targets);
                    self.quints.push([a, b, c, d]);
                }
            }
        }
    }

    /// The form of the block at a place.
    #[inline]
    fn form(&mut self, columns: &Columns, place: usize) -> BlockForm {
        let Some(known) = self.of_shapes.get_mut(columns.shape(place)) else {
            return BlockForm::OTHER;
        };
        *known.get_or_insert_with(|| {
            let block = columns.get(place);
            block.map_or(BlockForm::OTHER, |block| BlockForm::new(&block, columns.fields(place)))
        })
    }
}

impl Facts {
    /// Reads them.
    ///
    /// # Errors
    /// If a section of the snapshot is damaged, or there is no room for columns.
    pub(super) fn new(
        place: &Place,
        snapshot: &Snapshot<'_>,
        threads: usize,
    ) -> Result<Self, Failed> {
        let (blocks, sections) = (snapshot.blocks() as usize, snapshot.sections());
        let buffer = |bytes: usize| ChunkBuffer::new(place, sections, blocks * bytes);
        let forms = buffer(1);
        let all = Sections {
            pairs: buffer(2),
            triples: buffer(2),
            quads: buffer(1),
            ends: buffer(1),
            quints: buffer(1),
        };
        let start = || (Section::default(), Vec::new());
        let parts = sweep(
            snapshot,
            threads,
            Detail::Fields,
            start,
            |(found, with_arrays): &mut (Section, Vec<usize>), section, columns| {
                found.look(columns);
                forms.put(section, &found.forms);
                all.pairs.put(section, found.pairs.as_bytes());
                all.triples.put(section, found.triples.as_bytes());
                all.quads.put(section, found.quads.as_bytes());
                all.ends.put(section, found.ends.as_bytes());
                all.quints.put(section, found.quints.as_bytes());
                if columns.has_larger_than(MIN_ARRAY) {
                    with_arrays.push(section);
                }
            },
        )?;
        let mut with_arrays = vec![false; sections];
        for section in parts.into_iter().flat_map(|(_, with_arrays)| with_arrays) {
            with_arrays[section] = true;
        }
        let mut column = place.zeros(blocks)?;
        concat(forms, &mut column)?;
        let [pairs, triples, quads, ends, quints] = candidates(&column);
        Ok(Self {
            forms: column,
            pairs: Candidates::new(place, pairs, all.pairs)?,
            triples: Candidates::new(place, triples, all.triples)?,
            quads: Candidates::new(place, quads, all.quads)?,
            ends: Candidates::new(place, ends, all.ends)?,
            quints: Candidates::new(place, quints, all.quints)?,
            with_arrays,
        })
    }

    /// The form of what a field points to.
    #[inline]
    pub(super) fn form(&self, target: u32) -> BlockForm {
        self.forms.get(target as usize).map_or(BlockForm::OTHER, |form| BlockForm::of_byte(*form))
    }

    /// What sort of value a field has. An immediate is one of those that a constructor may be.
    #[inline]
    pub(super) fn sort(&self, target: u32) -> Sort {
        self.form(target).sort()
    }
}

/// Bytes of all sections, one behind the other.
fn concat(sections: ChunkBuffer, into: &mut [u8]) -> io::Result<()> {
    let sections = sections.finish()?;
    let mut rest = into;
    for section in 0..sections.len() {
        let some = sections.get(section);
        let (to, behind) = rest.split_at_mut(some.len());
        to.copy_from_slice(some);
        rest = behind;
    }
    Ok(())
}

/// The blocks that are candidates, of each sort.
fn candidates(forms: &[u8]) -> [Bits; Candidate::COUNT] {
    let mut words: [Vec<u64>; Candidate::COUNT] =
        std::array::from_fn(|_| Vec::with_capacity(forms.len().div_ceil(64)));
    for some in forms.chunks(64) {
        let mut bits = [0u64; Candidate::COUNT + 1];
        for (bit, form) in some.iter().enumerate() {
            bits[BlockForm::of_byte(*form).candidate() as usize] |= 1 << bit;
        }
        for (words, bits) in words.iter_mut().zip(bits) {
            words.push(bits);
        }
    }
    words.map(Bits::from_words)
}
