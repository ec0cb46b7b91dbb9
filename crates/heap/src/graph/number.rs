//! What columns hold.

use zerocopy::FromBytes;

/// Numbers that any bytes are some of.
pub trait Number: FromBytes + Send + Sync + 'static {}

impl<T: FromBytes + Send + Sync + 'static> Number for T {}
