//! One pass over a snapshot: the form of every block, and what the fields of those point to that rules look at.

use super::form::{Form, NO_TARGET, Sort, targets};
use crate::graph::bits::{Bits, Ranked};
use crate::graph::passes::sweep;
use crate::read::{Detail, Error, Snapshot};

/// Blocks of tag 0 with the same number of fields that a rule looks at, with what some fields point to.
#[derive(Debug, Default)]
pub(super) struct Candidates<const N: usize> {
    blocks: Ranked,
    fields: Vec<[u32; N]>,
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
    pub(super) const fn len(&self) -> usize {
        self.fields.len()
    }

    /// All candidates in order, each with what its fields point to.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, [u32; N])> {
        self.blocks.bits().iter().zip(self.fields.iter().copied())
    }

    fn new(blocks: usize, mut pieces: Vec<Piece<N>>) -> Self {
        pieces.sort_unstable_by_key(|(section, ..)| *section);
        let mut bits = Bits::new(blocks);
        let mut fields = Vec::with_capacity(pieces.iter().map(|(_, all, _)| all.len()).sum());
        for (_, blocks, some) in pieces {
            for block in blocks {
                bits.insert(block);
            }
            fields.extend(some);
        }
        Self { blocks: Ranked::new(bits), fields }
    }
}

/// Candidates of one section.
type Piece<const N: usize> = (usize, Vec<u32>, Vec<[u32; N]>);

/// What rules look at.
#[derive(Debug)]
pub(super) struct Facts {
    forms: Vec<Form>,
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

#[derive(Default)]
struct Part {
    forms: Vec<(usize, Vec<Form>)>,
    pairs: Vec<Piece<2>>,
    triples: Vec<Piece<3>>,
    quads: Vec<Piece<3>>,
    ends: Vec<Piece<2>>,
    quints: Vec<Piece<4>>,
    with_arrays: Vec<usize>,
}

impl Facts {
    /// Reads them.
    ///
    /// # Errors
    /// If a section of the snapshot is damaged.
    pub(super) fn new(snapshot: &Snapshot<'_>, threads: usize) -> Result<Self, Error> {
        let parts =
            sweep(snapshot, threads, Detail::Fields, Part::default, |part, section, columns| {
                let mut forms = Vec::with_capacity(columns.len());
                let (mut pairs, mut triples) =
                    ((section, vec![], vec![]), (section, vec![], vec![]));
                let (mut quads, mut ends) = ((section, vec![], vec![]), (section, vec![], vec![]));
                let mut quints = (section, vec![], vec![]);
                for (place, block) in columns.iter().enumerate() {
                    let form = Form::new(&block, columns.fields(place));
                    forms.push(form);
                    if block.tag != 0 {
                        continue;
                    }
                    let index = block.index.0;
                    match block.wosize.0 {
                        2 => {
                            pairs.1.push(index);
                            pairs.2.push(targets::<2>(columns, place, &block));
                        }
                        3 => {
                            triples.1.push(index);
                            triples.2.push(targets::<3>(columns, place, &block));
                        }
                        4 => {
                            let [a, b, c, d] = targets::<4>(columns, place, &block);
                            if d == NO_TARGET {
                                quads.1.push(index);
                                quads.2.push([a, b, c]);
                            } else if a != NO_TARGET && b == NO_TARGET && c == NO_TARGET {
                                ends.1.push(index);
                                ends.2.push([a, d]);
                            }
                        }
                        5 => {
                            let [a, b, c, d, e] = targets::<5>(columns, place, &block);
                            if e == NO_TARGET {
                                quints.1.push(index);
                                quints.2.push([a, b, c, d]);
                            }
                        }
                        _ => {}
                    }
                }
                if columns.has_larger_than(MIN_ARRAY) {
                    part.with_arrays.push(section);
                }
                part.forms.push((columns.first.0 as usize, forms));
                part.pairs.push(pairs);
                part.triples.push(triples);
                part.quads.push(quads);
                part.ends.push(ends);
                part.quints.push(quints);
            })?;
        let blocks = snapshot.blocks() as usize;
        let mut forms = vec![Form::OTHER; blocks];
        let mut with_arrays = vec![false; snapshot.sections()];
        let mut all = Part::default();
        for part in parts {
            for (first, some) in part.forms {
                forms[first..first + some.len()].copy_from_slice(&some);
            }
            for section in part.with_arrays {
                with_arrays[section] = true;
            }
            all.pairs.extend(part.pairs);
            all.triples.extend(part.triples);
            all.quads.extend(part.quads);
            all.ends.extend(part.ends);
            all.quints.extend(part.quints);
        }
        Ok(Self {
            forms,
            pairs: Candidates::new(blocks, all.pairs),
            triples: Candidates::new(blocks, all.triples),
            quads: Candidates::new(blocks, all.quads),
            ends: Candidates::new(blocks, all.ends),
            quints: Candidates::new(blocks, all.quints),
            with_arrays,
        })
    }

    /// The form of what a field points to.
    #[inline]
    pub(super) fn form(&self, target: u32) -> Form {
        self.forms.get(target as usize).copied().unwrap_or(Form::OTHER)
    }

    /// What sort of value a field has. An immediate is one of those that a constructor may be.
    #[inline]
    pub(super) fn sort(&self, target: u32) -> Sort {
        self.form(target).sort()
    }
}
