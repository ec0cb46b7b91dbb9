//! Writes what a filter chooses of a recording in other tools' formats.
//!
//! | module | for |
//! |---|---|
//! | [`folded`] | flame graph scripts |
//! | [`speedscope`] | speedscope |
//! | [`pprof`] | `go tool pprof`, Pyroscope, Parca, Grafana |
//! | [`pyroscope`] | the push interface of Pyroscope |
//! | [`firefox`] | the Firefox Profiler |
//! | [`json`] | programs of one's own |
//! | [`svg`] | a picture, for documents and issues |
//! | [`named_stacks`] | retaining paths, as folded stacks and for pprof |
//!
//! All but the picture have whole call paths, with source lines where the format can carry them;
//! where there are more of them than other tools can read, recursion is left out, and those that
//! carry least are counted as their callers'. The picture is of the page's flame graph.
//!
//! Invariants: what a file says adds up to what the page says of the same filter, and rounding to
//! whole bytes never changes a sum ([`weight`]); nothing is recursive, for stacks may be tens of
//! thousands of frames deep; names from the trace are written as the format needs them, so that
//! none can become anything but a name.
#![forbid(unsafe_code)]

pub mod firefox;
pub mod folded;
mod format;
pub mod json;
pub mod named_stacks;
mod naming;
mod paths;
pub mod pprof;
pub mod pyroscope;
pub mod selection;
mod shorten;
mod significant;
pub mod speedscope;
pub mod svg;
pub mod weight;
mod window;

pub use format::Format;
pub use selection::Selection;
pub use window::Window;
