//! The frozen copies that are under way, and how those have ended that the program waited for.
//!
//! A copy is a child that sends no signal, so that only a wait with `__WALL` or `__WCLONE` sees it. Functions before
//! libc's hide it from these ([`crate::lifecycle::waits`]).

use std::sync::atomic::{AtomicI32, Ordering::SeqCst};

use crate::os::forked::pid;

/// A copy.
struct Place {
    /// Its process id, which the kernel writes before anybody can wait for it; 0 if the place is free.
    pid: AtomicI32,
    /// Its status, if the program's wait got it; [`RUNNING`] otherwise.
    status: AtomicI32,
}

/// Stands for a copy that is about to be made.
const RESERVED: i32 = -1;
/// No status is negative.
const RUNNING: i32 = -1;

/// Copies of this process.
struct Copies {
    places: [Place; 8],
    /// The process whose copies they are: a fork has none of them.
    process: AtomicI32,
}

static COPIES: Copies = Copies {
    places: [const { Place { pid: AtomicI32::new(0), status: AtomicI32::new(RUNNING) } }; 8],
    process: AtomicI32::new(0),
};

/// The place for the process id of a copy that is about to be made: the kernel writes it. Null if there are too many.
pub(super) fn reserve() -> *mut i32 {
    let me = pid() as i32;
    if COPIES.process.swap(me, SeqCst) != me {
        for place in &COPIES.places {
            place.pid.store(0, SeqCst);
        }
    }
    let free = |place: &&Place| place.pid.compare_exchange(0, RESERVED, SeqCst, SeqCst).is_ok();
    COPIES.places.iter().find(free).map_or(std::ptr::null_mut(), |place| {
        place.status.store(RUNNING, SeqCst);
        place.pid.as_ptr()
    })
}

fn places() -> impl Iterator<Item = &'static Place> {
    let is_ours = COPIES.process.load(SeqCst) == pid() as i32;
    COPIES.places.iter().filter(move |_| is_ours)
}

fn place_of(copy: libc::pid_t) -> Option<&'static Place> {
    places().find(|place| copy > 0 && place.pid.load(SeqCst) == copy)
}

/// True if there is one that was not waited for.
pub(crate) fn are_under_way() -> bool {
    places().any(|place| place.pid.load(SeqCst) > 0 && place.status.load(SeqCst) == RUNNING)
}

/// True if one is being made, whose number is not known yet.
pub(crate) fn is_one_begun() -> bool {
    places().any(|place| place.pid.load(SeqCst) == RESERVED)
}

/// True if a process is a copy of ours.
pub(crate) fn is_copy(process: libc::pid_t) -> bool {
    place_of(process).is_some()
}

/// Notes the status that the program's wait got instead of ours.
pub(crate) fn was_waited_for(copy: libc::pid_t, status: i32) {
    if let Some(place) = place_of(copy) {
        place.status.store(status, SeqCst);
    }
}

/// The status of a copy that the program's wait got. It is forgotten.
pub(super) fn take_status(copy: libc::pid_t) -> Option<i32> {
    let place = place_of(copy)?;
    let status = place.status.load(SeqCst);
    (status != RUNNING).then(|| {
        place.pid.store(0, SeqCst);
        status
    })
}

/// Forgets a copy that has ended, or a place whose copy was not made.
pub(super) fn forget(copy: libc::pid_t) {
    if let Some(place) = place_of(copy) {
        place.pid.store(0, SeqCst);
    }
}

/// Frees a place of [`reserve`] whose copy was not made.
pub(super) fn free(place: *mut i32) {
    if let Some(place) = COPIES.places.iter().find(|known| known.pid.as_ptr() == place) {
        place.pid.store(0, SeqCst);
    }
}
