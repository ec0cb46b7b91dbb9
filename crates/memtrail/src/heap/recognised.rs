//! Structures of the standard library in a snapshot, for the commands that look into containers.

use memtrail_engine::heap::Room;
use memtrail_heap::contents::Structures;
use memtrail_heap::graph::Failed;
use memtrail_heap::query::{Catalogue, Heap};

use super::input::Input;
use crate::error::Failure;
use crate::spinner::with_spinner;

/// Which containers there are, and kind and size of every block.
pub(super) struct Recognised<'m> {
    pub(super) structures: Structures,
    pub(super) catalogue: Catalogue,
    // Memory is bounded as long as this is there.
    _room: Room<'m>,
}

/// Looks for containers within the memory that an analysis may use.
pub(super) fn recognise<'m>(input: &'m Input, heap: &Heap<'_>) -> Result<Recognised<'m>, Failure> {
    let room = input.room()?;
    let place = &room.place;
    let found = with_spinner("looking at containers".into(), || {
        let mut structures = Structures::new_in(place, &heap.snapshot, heap.threads)?;
        structures.add_first_cells(&heap.types);
        Ok::<_, Failed>((structures, Catalogue::new_in(place, heap)?))
    });
    let blocks = heap.snapshot.blocks();
    let (structures, catalogue) = found.map_err(|failed| input.failed(&failed, blocks))?;
    Ok(Recognised { structures, catalogue, _room: room })
}
