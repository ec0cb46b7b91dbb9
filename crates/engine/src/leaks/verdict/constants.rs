//! Constants of the model, each with its reason.

/// Smallest part of the heap by which an owner must have grown to be worth a word …
pub(crate) const SHARE: f64 = 0.005;
/// … and the smallest number of bytes.
pub(crate) const LEAST: f64 = 64.0 * 1024.0;
/// Smallest part of the growth that falls in the later half of the work. Of even growth it is 0.5. A leak that makes all
/// work slower grows with the square root of the work: 0.29. A cache that fills by chance, by `1 - e^-4x`: 0.12.
pub(super) const LATE: f64 = 0.25;
/// A container that doubles, or a size that cannot be judged yet, must have grown for this part of the work.
pub(super) const LASTED: f64 = 0.2;
/// Largest part of the growth between two snapshots. A container that doubles has half of its growth in its last step; more
/// is one event.
pub(super) const STEP: f64 = 0.65;
/// Factor by which a step's part of the growth exceeds its part of the work, if it may be an event. Snapshots that come by
/// themselves are far apart where a copy costs much.
pub(super) const EVENT: f64 = 1.25;
/// Largest part of the growth that was given back at a time: growth must exceed twice what comes and goes.
pub(super) const SWING: f64 = 0.5;
/// Part of what came in the second half of the work that was given back of what was there before, if it took its place.
pub(super) const RENEWED: f64 = 0.8;
/// Sizes that decide by their order alone. Five sizes have 120 orders, one of which rises; fewer decide only on a line.
pub(super) const POINTS: usize = 5;
/// Sizes that decide on a line alone, or show that an owner may grow.
pub(super) const FEW: usize = 3;
/// Largest distance from a line, as a part of the growth. Three random sizes are on such a line once in 150 times.
pub(super) const EVEN: f64 = 0.15;
/// An owner that loses more than this part in one step, while another gains as much, has handed it over.
pub(super) const FLIP: f64 = 0.5;
/// Largest part of an owner's samples that are older than a snapshot, if all of it was allocated after that. Samples are dated by
/// call site, and other owners may have some of them.
pub(super) const OLDER: f64 = 0.1;
/// Live samples that decide by birth dates: the mean of 8 dates has a standard error of 0.1.
pub(crate) const BLOCKS: usize = 8;
/// Largest distance of the mean birth date from the middle of the work: one and a half of those standard errors.
pub(super) const MIDDLE: f64 = 0.15;
/// Length of the first and the last part of the work. A warm-up leaves nothing from the last, a cache nothing from the first.
pub(super) const ENDS: f64 = 0.3;
/// Freed samples for each live one that an owner may have which keeps all.
pub(super) const FREED: f64 = 0.05;
/// Smallest part of what is allocated that the same call sites must allocate before and after. Measured: ocamlopt and coqc
/// 0.03 to 0.10, leaks 0.71 and more, the least of the sound servers 0.41.
pub(super) const SAME: f64 = 0.4;
/// Smallest part of what a phase of the same work would have in common before and after a moment in it. Measured: servers
/// after they loaded 30 to 62 MB 0.85 and more, stages of ocamlc 0.08 and less, those of ocamlopt before its last 0.67.
pub(super) const STEADY: f64 = 0.75;
/// First part of a phase, in which what it has in common with the rest is too little to compare.
pub(super) const EARLY: f64 = 0.3;
/// Part of the work up to which the last phase of a program begins that was stopped, if its growth is a leak …
pub(super) const STOPPED: f64 = 0.65;
/// … and up to which it may be one if the program ended by itself. The last stage of ocamlopt begins at 0.55.
pub(super) const ENDED: f64 = 0.5;
/// Part of the work by which sizes may date the beginning of growth too late: they date a tenth of it.
pub(super) const NEAR: f64 = 0.15;
/// Heap that an interpreter may have after its start: Perl has 280 KB.
pub(super) const START_BYTES: f64 = 1024.0 * 1024.0;
/// Part of the work before which a stage begins that is the first one.
pub(crate) const FIRST: f64 = 0.05;
/// Samples on either side without which call sites are not compared.
pub(crate) const SAMPLED: usize = 50;
/// Part of the work within which the snapshot must be taken that shows what an attached program had before.
pub(super) const BASE: f64 = 0.25;
/// Part of the work that the last snapshot must cover. Otherwise samples must show that growth goes on.
pub(super) const COVER: f64 = 0.8;
/// Smallest part of the heap of an owner that is worth "too little evidence" …
pub(super) const UNDECIDED: f64 = 0.1;
/// … and the smallest number of bytes: each channel has a buffer of 64 KiB.
pub(super) const UNDECIDED_BYTES: f64 = 2.0 * LEAST;
/// Smallest queue that can fall behind: the lives of a small one rise by chance while it fills once more.
pub(super) const QUEUE_BYTES: f64 = 4.0 * LEAST;
/// Part of the work in which nine tenths of an owner that was filled once were allocated.
pub(super) const FILLED: f64 = 0.8;
/// Part of an owner's size by which it may have grown since nine tenths of its samples were allocated: twice the tenth that is
/// left.
pub(super) const REST: f64 = 0.2;
/// CPU time that a program works on without allocating, as a multiple of that before: what it allocated is what it works with. A
/// server that waits for requests has used a hundredth of it, one that polls in a loop a tenth.
pub(super) const WORKED_ON: f64 = 1.0;
/// Deviations by which lifetimes must rise for a queue to fall behind (Kendall): by chance, they do once in 160 times.
pub(super) const RISE: f64 = 2.5;
/// Two snapshots that are nearer than this part of an even step of the work are one: in between nothing happened.
pub(super) const APART: f64 = 0.1;
/// Blocks that are freed within this part of the work are freed by one collection.
pub(super) const COLLECTION: f64 = 0.01;
/// Collections after its last use by which a block is freed: one that is marked before, or has a finaliser, outlives the next.
pub(super) const DELAY: usize = 2;
/// Part of an owner's bytes that other calls of a recursive function own, above which its blocks are of a recursion: two
/// calls that own as much have a half.
pub(crate) const DEEP: f64 = 0.5;
/// Samples that memory should have, of which none is there, if its blocks are too new to have any: by chance, once in 150
/// times.
pub(super) const UNSAMPLED: f64 = 5.0;
/// Part of the work before the last snapshot in which all was allocated that a call has in hand. A call's own buffer has doubled
/// so late in one run of twenty.
pub(super) const NEWEST: f64 = 0.05;
/// Deviations by which a number of samples grows for sure: the largest of many moments is two or three above the least by chance.
pub(super) const CERTAIN: f64 = 4.0;
/// Samples that a block should have which is sampled for sure: by chance, it has none once in fifty times.
pub(super) const SURELY: f64 = 4.0;
/// Freed samples without which lifetimes are not compared.
pub(super) const QUEUED: usize = 20;
/// Factor by which a block that replaces another is larger: a quarter less than containers use (1.5 to 2).
pub const REPLACED: f64 = 1.3;
