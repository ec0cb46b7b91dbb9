//! One pass over all blocks, on as many threads as there should be.

use super::pieces::gather;
use crate::read::{Columns, Error, Snapshot};

/// Calls `each` with every section, in any order; `start` makes what a thread gathers. [`Columns`] are
/// without the numbers of fields.
///
/// # Errors
/// The first section that is damaged.
pub(crate) fn sweep<T: Send>(
    snapshot: &Snapshot<'_>,
    threads: usize,
    start: impl Fn() -> T + Sync,
    each: impl Fn(&mut T, usize, &Columns) + Sync,
) -> Result<Vec<T>, Error> {
    let gathered = gather(
        snapshot.sections(),
        threads,
        || (start(), Columns::new()),
        |(gathered, columns), section| {
            snapshot.decode_edges(section, columns)?;
            each(gathered, section, columns);
            Ok(())
        },
    )?;
    Ok(gathered.into_iter().map(|(gathered, _)| gathered).collect())
}

/// The same for passes that need no more than tags and sizes: [`Columns`] are without edges.
///
/// # Errors
/// The first section that is damaged.
pub(crate) fn sweep_sizes(
    snapshot: &Snapshot<'_>,
    threads: usize,
    each: impl Fn(&Columns) + Sync,
) -> Result<(), Error> {
    gather(snapshot.sections(), threads, Columns::new, |columns, section| {
        snapshot.decode_sizes(section, columns)?;
        each(columns);
        Ok(())
    })?;
    Ok(())
}
