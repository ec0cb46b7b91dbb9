//! One pass over all blocks, on as many threads as there should be.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::read::{Columns, Error, Snapshot};

/// Calls `each` with every section, in any order; `start` makes what a thread gathers.
///
/// # Errors
/// The first section that is damaged.
pub(crate) fn sweep<T: Send>(
    snapshot: &Snapshot<'_>,
    threads: usize,
    start: impl Fn() -> T + Sync,
    each: impl Fn(&mut T, usize, &Columns) + Sync,
) -> Result<Vec<T>, Error> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut gathered = start();
        let mut columns = Columns::new();
        loop {
            let section = next.fetch_add(1, Ordering::Relaxed);
            if section >= snapshot.sections() {
                return Ok(gathered);
            }
            snapshot.decode(section, &mut columns)?;
            each(&mut gathered, section, &columns);
        }
    };
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
