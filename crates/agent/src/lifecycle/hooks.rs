//! What recordings have the layers above them do.

use crate::malloc;
use crate::recording::hooks::Hooks;
use crate::sampling::{new_domains, symbolise};
use crate::snapshot;

pub(crate) static HOOKS: Hooks = Hooks {
    symbolise: symbolise::with_locations,
    symbolise_of_malloc: malloc::with_locations,
    began: malloc::began,
    domain_found: new_domains::domain_found,
    flushed: snapshot::lifecycle::collect_ended,
    threads_are_gone: snapshot::lifecycle::look,
    child_began: snapshot::lifecycle::resume,
};
