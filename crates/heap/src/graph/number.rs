//! What columns hold.

use std::sync::atomic::{AtomicU8, AtomicU32};

/// Numbers that any bytes are some of.
pub(crate) trait Number: Sized + Send + Sync + 'static {}

impl Number for u8 {}
impl Number for u32 {}
impl Number for u64 {}
impl Number for AtomicU8 {}
impl Number for AtomicU32 {}
