//! What is recorded, and how: the runtime of this process, and the options.

pub(crate) mod runtime;
