//! Passes over many numbers, or over the sections of a snapshot, on as many threads as asked for.
//!
//! The threads end with the pass: they are not those of a pool, where a pass of seconds would keep
//! the answers to short queries waiting.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::read::{Columns, Detail, Error, Snapshot};

/// Numbers of a piece.
pub(crate) const PIECE: usize = 1 << 16;

/// Calls `each` with all numbers below `pieces`, in any order; `start` makes what a thread gathers.
///
/// # Errors
/// The first of `each`.
pub(crate) fn gather<T: Send, E: Send>(
    pieces: usize,
    threads: usize,
    start: impl Fn() -> T + Sync,
    each: impl Fn(&mut T, usize) -> Result<(), E> + Sync,
) -> Result<Vec<T>, E> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut gathered = start();
        loop {
            let piece = next.fetch_add(1, Ordering::Relaxed);
            if piece >= pieces {
                return Ok(gathered);
            }
            each(&mut gathered, piece)?;
        }
    };
    let threads = threads.min(pieces);
    if threads <= 1 {
        return Ok(vec![work()?]);
    }
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut gathered = vec![work()?];
        for other in others {
            match other.join() {
                Ok(done) => gathered.push(done?),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(gathered)
    })
}

/// Calls `each` with ranges of [`PIECE`] numbers that make up all below `count`, in any order.
pub(crate) fn in_pieces(count: usize, threads: usize, each: impl Fn(Range<usize>) + Sync) {
    let done: Result<_, std::convert::Infallible> = gather(
        count.div_ceil(PIECE),
        threads,
        || (),
        |(), piece| {
            each(piece * PIECE..((piece + 1) * PIECE).min(count));
            Ok(())
        },
    );
    let Ok(_) = done;
}

/// Calls `each` with every section, in any order; `start` makes what a thread gathers. [`Columns`] have as much of
/// the blocks as `detail` says.
///
/// # Errors
/// The first section that is damaged.
pub(crate) fn sweep<T: Send>(
    snapshot: &Snapshot<'_>,
    threads: usize,
    detail: Detail,
    start: impl Fn() -> T + Sync,
    each: impl Fn(&mut T, usize, &Columns) + Sync,
) -> Result<Vec<T>, Error> {
    let gathered = gather(
        snapshot.sections(),
        threads,
        || (start(), Columns::new()),
        |(gathered, columns), section| {
            snapshot.decode_with(section, columns, detail)?;
            each(gathered, section, columns);
            Ok(())
        },
    )?;
    Ok(gathered.into_iter().map(|(gathered, _)| gathered).collect())
}

/// Does two things, at once if there are threads for it.
pub(crate) fn both<A: Send, B>(
    threads: usize,
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B,
) -> (A, B) {
    if threads <= 1 {
        return (a(), b());
    }
    std::thread::scope(|scope| {
        let a = scope.spawn(a);
        let b = b();
        match a.join() {
            Ok(a) => (a, b),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}
