//! Work in pieces, on as many threads as there should be.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

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
