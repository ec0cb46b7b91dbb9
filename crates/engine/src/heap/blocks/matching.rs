//! Whether blocks of a snapshot are those that a filter wants.

use std::collections::{HashMap, HashSet};

use memtrail_heap::BlockIndex;
use memtrail_heap::graph::{OwnersOfBlocks, RootNodeId};
use memtrail_order::SortRows as _;
use memtrail_profile::filter::names::Wanted;
use memtrail_profile::filter::{Between, Name};
use memtrail_profile::time::Elapsed;
use memtrail_trace::Bytes;

use super::super::loaded::LoadedSnapshot;
use super::filter::{BlockClause, BlockCondition, BlockFilter};
use crate::api_error::ApiError;

/// How long ago sampled blocks were allocated.
pub(super) type Ages = HashMap<BlockIndex, Elapsed>;

/// A filter, ready for the blocks of a snapshot.
pub(super) struct Matcher<'a> {
    loaded: &'a LoadedSnapshot,
    tests: Vec<(bool, Test<'a>)>,
}

enum Test<'a> {
    /// By the number of the kind.
    Kind(Vec<bool>),
    /// By the number of the type.
    Type(Vec<bool>),
    Owner(HashSet<RootNodeId>, OwnersOfBlocks<'a>),
    Size(&'a [Between<Bytes>]),
    Retained(&'a [Between<Bytes>]),
    Age(&'a [Between<Elapsed>], &'a Ages),
}

impl<'a> Matcher<'a> {
    pub(super) fn new(
        loaded: &'a LoadedSnapshot,
        filter: &'a BlockFilter,
        ages: &'a Ages,
    ) -> Result<Self, ApiError> {
        let mut tests = Vec::with_capacity(filter.conditions.len());
        for BlockCondition { not, clause } in &filter.conditions {
            let test = match clause {
                BlockClause::Kind(names) => {
                    let wanted = wanted(names)?;
                    let kinds = loaded.catalogue.names();
                    Test::Kind(kinds.map(|name| wanted.any(&[name])).collect())
                }
                BlockClause::Type(names) => {
                    let wanted = wanted(names)?;
                    let types = loaded.heap().types.iter();
                    let is = |name: &str| {
                        let bare = name.rsplit(' ').next().unwrap_or(name);
                        let last = bare.rsplit('.').next().unwrap_or(bare);
                        wanted.any(&[name, bare, last])
                    };
                    let mut by_id = Vec::new();
                    for (id, of) in types {
                        let at = id.0 as usize;
                        by_id.resize(by_id.len().max(at + 1), false);
                        by_id[at] = is(&of.name);
                    }
                    Test::Type(by_id)
                }
                BlockClause::Owner(names) => {
                    let wanted = wanted(names)?;
                    let rows = loaded.owners().rows.iter().filter(|row| {
                        wanted.any(&[&row.name()])
                            || row.aliases.iter().any(|alias| wanted.any(&[alias]))
                    });
                    let heap = loaded.heap();
                    let of_blocks = heap.graph.owners_of_blocks(heap.threads);
                    Test::Owner(rows.map(|row| row.owner).collect(), of_blocks)
                }
                BlockClause::Size(ranges) => Test::Size(ranges),
                BlockClause::Retained(ranges) => Test::Retained(ranges),
                BlockClause::Age(ranges) => Test::Age(ranges, ages),
            };
            tests.push((*not, test));
        }
        // What costs least is looked at first.
        tests.sort_rows_by_key(|(_, test)| test.cost());
        Ok(Self { loaded, tests })
    }

    pub(super) fn wants(&self, block: BlockIndex) -> bool {
        self.tests.iter().all(|(not, test)| test.holds(self.loaded, block) != *not)
    }
}

impl Test<'_> {
    const fn cost(&self) -> u8 {
        match self {
            Self::Kind(_) | Self::Type(_) => 0,
            Self::Size(_) => 1,
            Self::Retained(_) => 2,
            Self::Age(..) => 3,
            Self::Owner(..) => 4,
        }
    }

    fn holds(&self, loaded: &LoadedSnapshot, block: BlockIndex) -> bool {
        let heap = loaded.heap();
        let in_any = |ranges: &[Between<Bytes>], bytes: memtrail_heap::Bytes| {
            ranges.iter().any(|range| range.holds(Bytes(bytes.0)))
        };
        match self {
            Self::Kind(wanted) => {
                wanted.get(usize::from(loaded.catalogue.kind(block).0)).copied().unwrap_or(false)
            }
            Self::Type(wanted) => {
                wanted.get(heap.types.id(block).0 as usize).copied().unwrap_or(false)
            }
            Self::Owner(wanted, of_blocks) => {
                of_blocks.get(block).is_some_and(|owner| wanted.contains(&owner))
            }
            Self::Size(ranges) => in_any(ranges, loaded.catalogue.size(block).bytes()),
            Self::Retained(ranges) => {
                in_any(ranges, loaded.catalogue.retained(heap, block).bytes())
            }
            Self::Age(ranges, ages) => {
                ages.get(&block).is_some_and(|age| ranges.iter().any(|range| range.holds(*age)))
            }
        }
    }
}

fn wanted(names: &[Name]) -> Result<Wanted<'_>, ApiError> {
    Wanted::new(names).map_err(|why| ApiError::bad(format_args!("regular expression: {why}")))
}
