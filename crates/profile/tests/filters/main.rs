//! Filters: how they are written, and what they keep.

mod chips;
