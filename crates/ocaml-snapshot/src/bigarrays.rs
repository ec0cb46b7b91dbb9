//! Memory outside the heap that bigarrays share: how much it is.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};

use memtrail_heap::write::Owned;
use memtrail_ocaml::Memory;
use memtrail_ocaml::heap::bigarray::{self, View};

use super::malloc;
use super::mapped::Mapped;

/// What is known of the data behind each proxy from the views that are still there.
#[derive(Default)]
pub(super) struct SharedData {
    proxies: HashMap<u64, Views, BuildHasherDefault<DefaultHasher>>,
}

/// The views of the same data.
#[derive(Default)]
struct Views {
    /// The highest address that one of them reaches.
    end: u64,
    /// The largest that is not marked as a view.
    unmarked: Option<u64>,
    /// Whether any is marked: if so, one that is not is the whole.
    is_any_marked: bool,
}

impl SharedData {
    /// One more view.
    pub(super) fn add(&mut self, view: &View) {
        let views = self.proxies.entry(view.proxy).or_default();
        views.end = views.end.max(view.data.saturating_add(view.bytes));
        if view.is_marked {
            views.is_any_marked = true;
        } else {
            views.unmarked = views.unmarked.max(Some(view.bytes));
        }
    }

    /// What stands behind a proxy, all views known.
    pub(super) fn owned(&mut self, memory: &impl Memory, mapped: &Mapped, owner: u64) -> Owned {
        let Some(proxy) = bigarray::proxy(memory, owner) else { return Owned::default() };
        if let Some(bytes) = proxy.mapped {
            return Owned { external: Some(bytes), name: "mapped file" };
        }
        let views = self.proxies.remove(&owner).unwrap_or_default();
        let whole = views.unmarked.filter(|_| views.is_any_marked);
        let external = whole.or_else(|| {
            let extent = views.end.saturating_sub(proxy.data);
            malloc::size(memory, mapped, proxy.data, extent)
        });
        Owned { external, name: "bigarray data" }
    }
}
