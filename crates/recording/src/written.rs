//! Whether a file is still being written: its writer holds a lock on it, which ends with the writer.

use std::fs::{File, TryLockError};
use std::time::Duration;

/// Milliseconds for which the lock is tried.
const TRIES: u32 = 100;

/// Marks a file that was just made as being written. Whoever looks whether it is holds the lock for a
/// moment, which is waited for, but not for ever. Some file systems have no locks: there nobody can tell.
pub fn mark_as_written(file: &File) {
    for _ in 0..TRIES {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
            Ok(()) | Err(TryLockError::Error(_)) => return,
        }
    }
}
