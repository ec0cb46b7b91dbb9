//! The cells of an owner's container: where they are added, and how many were freed. Other blocks tell nothing of that.

use memtrail_heap::contents::Structure;

use super::contents::{self, Contents};
use super::own_code::OwnCode;
use super::owned::Owner;
use super::response::Place;
use crate::heap::join::Live;
use crate::heap::loaded::LoadedSnapshot;
use crate::recording::Recording;

/// The youngest part of the work is not looked at: what was allocated there may be in use still.
const LOOKED_AT: f64 = 0.9;

/// What samples tell of the cells of a container.
#[derive(Default)]
pub(super) struct Cells {
    /// Where most are added.
    pub(super) added_at: Option<Place>,
    /// Number of live cells; 0 if it is unknown which were freed.
    pub(super) alive: u64,
    /// Those that were freed.
    pub(super) freed: u64,
}

/// True if a freed cell of a structure was taken out of it. A map copies the way to each new entry, and cells of other
/// lists, allocated in the same place, are like those of a list.
const fn tells_removal(structure: Structure) -> bool {
    match structure {
        Structure::HashTable | Structure::Queue | Structure::Array | Structure::Buffer => true,
        Structure::Map | Structure::Set | Structure::List => false,
    }
}

/// Kind of the array of a hash table that was recognised by its contents.
const BUCKETS: &str = "~ Hashtbl.t (buckets)";

/// True if the container that retains most of what an owner owns is made of a block, which is no value in it.
pub(super) fn is_of_container(contents: &Contents, loaded: &LoadedSnapshot, one: Live) -> bool {
    is_cell(contents, loaded, one)
        || loaded.catalogue.name(loaded.catalogue.kind(one.block)) == BUCKETS
}

/// True if a block is a cell of the container that retains most of what an owner owns.
fn is_cell(contents: &Contents, loaded: &LoadedSnapshot, one: Live) -> bool {
    contents.container.as_ref().is_some_and(|container| {
        let values = container.values.as_ref().map(|values| values.name.as_str());
        let kind = loaded.catalogue.name(loaded.catalogue.kind(one.block));
        contents::is_cell(container.structure, kind) && Some(kind) != values
    })
}

impl Cells {
    /// Of the container that retains most of what an owner owns; nothing if none of its cells was sampled.
    pub(super) fn of(
        owner: &Owner<'_>,
        contents: &Contents,
        recording: &Recording,
        own: &OwnCode<'_>,
        loaded: &LoadedSnapshot,
    ) -> Self {
        let is_cell = |one: &Live| is_cell(contents, loaded, *one);
        let blocks = &recording.profile().blocks;
        let mut places: Vec<(Place, u64)> = Vec::new();
        for one in owner.live.iter().filter(|one| is_cell(one)) {
            let Some(place) = own.own_places(*one).into_iter().next() else { continue };
            let samples = blocks.samples(one.row);
            match places.iter_mut().find(|(known, _)| *known == place) {
                Some((_, sum)) => *sum += samples,
                None => places.push((place, samples)),
            }
        }
        let (mut alive, mut freed) = (0, 0);
        for place in &owner.places {
            let Some(cell) = place.owned.iter().find(|one| is_cell(one)) else { continue };
            let size =
                blocks.length(cell.row).0 * u64::from(recording.profile().info.word_bits / 8);
            let old = place.all.iter().filter(|block| block.allocated <= LOOKED_AT);
            for block in old.filter(|block| block.size == size) {
                alive += u64::from(block.is_owned);
                freed += u64::from(block.freed.is_some());
            }
        }
        let structure = contents.container.as_ref().map(|container| container.structure);
        if freed > 0 && !structure.is_some_and(tells_removal) {
            (alive, freed) = (0, 0);
        }
        let most = places.into_iter().max_by_key(|(_, samples)| *samples);
        Self { added_at: most.map(|(place, _)| place), alive, freed }
    }
}
