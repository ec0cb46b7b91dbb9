//! The answer to [`HeapShared`].

use memtrail_heap::query::{self, Shared};

use super::loaded::LoadedSnapshot;
use super::node;
use crate::api_error::ApiError;
use crate::names::shown;
use crate::query::HeapShared;

pub(super) fn shared(loaded: &LoadedSnapshot, query: &HeapShared) -> Result<Shared, ApiError> {
    let (a, b) = (node::root_node(loaded, &query.a)?, node::root_node(loaded, &query.b)?);
    let shared = query::shared(loaded.heap(), a, b);
    let names = shared.names.each_ref().map(|name| shown(name));
    Ok(Shared { names, ..shared })
}
