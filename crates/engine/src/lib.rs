//! Answers what a page asks of recordings. The server and the page's own WebAssembly hold the same
//! [`Engine`], so they cannot differ.
//!
//! A query is JSON ([`query::Query`]), a response a [slab](response_body): a JSON header and columns of numbers.
//! The engine computes nothing itself: it reads a query, calls `memtrail_profile`, keeps what is
//! dear for the next query, and lays the result out.
//!
//! Invariants: no process, no file, no terminal and no clock in here; whatever is asked, nothing
//! panics, and the size of an answer has a bound that does not depend on the trace.
#![forbid(unsafe_code)]

mod about;
mod api_error;
mod compare;
pub mod describe;
mod difference;
mod engine;
mod export;
mod filters;
mod flame;
#[doc(hidden)]
pub mod fuzz;
pub mod gate;
pub mod heap;
pub mod leaks;
mod library_units;
mod live_sites;
mod measured;
mod names;
mod overview;
pub mod process;
pub mod query;
pub mod question;
mod recording;
pub mod references;
pub mod response_body;
mod selection;
mod setting;
mod source;
mod sums;
mod table;
mod time_order;
#[cfg(feature = "typescript")]
pub mod typescript;

pub use api_error::{ApiError, ErrorResponse, Status};
pub use describe::{Description, ThreadList};
pub use difference::{Difference, DifferenceRow};
pub use engine::{Engine, Grown, RecordingId, Response};
pub use heap::file::{Bytes, InMemory, InMemoryTyped, SnapshotFacts, SnapshotFile, Source};
pub use heap::{Done, summary, types_of_copy};
pub use library_units::is_library_name;
pub use live_sites::{LiveFigures, LiveSite, LiveSites, LiveSitesQuery};
pub use response_body::ResponseBody;
pub use setting::Setting;
pub use source::{SourceFile, SourceFiles, SourcesInMemory};
