//! What a filter keeps of a recording, and the last few of these: a page asks several things of one
//! filter, and goes back and forth between two.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use memtrail_profile::Profile;
use memtrail_profile::calls::{CallTree, Entities, Recursion, Transforms, View};
use memtrail_profile::filter::{Condition, Filter, FilterError, Resolved};
use memtrail_profile::live_series::Peak;
use memtrail_profile::selected::{Selected, choose, peak};

use crate::api_error::ApiError;

/// Filters that are kept at most.
const MAX_SELECTIONS: usize = 4;
/// Transformed trees that are kept at most.
const MAX_TREES: usize = 2;

/// What a filter keeps of a recording.
#[derive(Debug)]
pub(crate) struct FilterSelection {
    pub(crate) filter: Resolved,
    /// Transformed as the filter says.
    pub(crate) tree: Arc<CallTree>,
    pub(crate) selected: Selected,
    peak: OnceLock<Peak>,
}

impl FilterSelection {
    /// What questions about calls are asked of.
    pub(crate) fn view<'a>(&'a self, entities: &'a Entities) -> View<'a> {
        View { tree: &self.tree, entities, cells: &self.selected.cells }
    }

    /// When most of it was live, and how much.
    pub(crate) fn peak(&self, profile: &Profile) -> Peak {
        *self.peak.get_or_init(|| peak(profile, &self.filter, &self.selected))
    }
}

impl From<FilterError> for ApiError {
    fn from(error: FilterError) -> Self {
        let FilterError { condition, at, message, hint } = error;
        Self { condition: Some(condition), at, hint, ..Self::bad(message) }
    }
}

/// Whoever is first fills it, others who want the same wait for that.
type Place = Arc<OnceLock<Result<Arc<FilterSelection>, ApiError>>>;

/// The last few choices from a recording, as long as it does not grow.
#[derive(Debug, Default)]
pub(crate) struct Selections {
    /// The one asked for last comes first.
    recent: Mutex<Vec<(Filter, Recursion, Place)>>,
    tree: OnceLock<Arc<CallTree>>,
    trees: Mutex<Vec<(Transforms, Arc<CallTree>)>>,
}

impl Selections {
    /// What `conditions` keep, in their text form.
    pub(crate) fn get(
        &self,
        profile: &Profile,
        entities: &Entities,
        conditions: &[String],
        recursion: Recursion,
    ) -> Result<Arc<FilterSelection>, ApiError> {
        let filter = Filter::parse(conditions)?;
        let place = self.place(&filter, recursion);
        let choose = || self.choose(profile, entities, &filter, recursion).map(Arc::new);
        let selection = place.get_or_init(choose);
        let selection = selection.clone();
        self.shrink(profile);
        selection
    }

    fn place(&self, filter: &Filter, recursion: Recursion) -> Place {
        let mut recent = lock(&self.recent);
        let is_known =
            |(known, how, _): &(Filter, Recursion, Place)| known == filter && *how == recursion;
        let entry = match recent.iter().position(is_known) {
            Some(at) => recent.remove(at),
            None => (filter.clone(), recursion, Place::default()),
        };
        let place = entry.2.clone();
        recent.insert(0, entry);
        place
    }

    /// Forgets what was asked for longest ago: more than a few choices, or more bytes than an
    /// eighth of what the rows themselves take, if that is much.
    fn shrink(&self, profile: &Profile) {
        let most_bytes = (profile.blocks.memory() / 8).max(32 << 20);
        let mut bytes = 0;
        let mut index = 0;
        lock(&self.recent).retain(|(.., place)| {
            if let Some(Ok(selection)) = place.get() {
                bytes += selection.selected.memory();
            }
            index += 1;
            index == 1 || (index <= MAX_SELECTIONS && bytes <= most_bytes)
        });
    }

    fn choose(
        &self,
        profile: &Profile,
        entities: &Entities,
        filter: &Filter,
        recursion: Recursion,
    ) -> Result<FilterSelection, ApiError> {
        let filter = filter.resolve(profile)?;
        let tree = self.tree(profile, entities, Transforms::of(&filter, recursion));
        let selected = choose(profile, &filter, tree.leaf_of_stack(), tree.len());
        Ok(FilterSelection { filter, tree, selected, peak: OnceLock::new() })
    }

    fn tree(
        &self,
        profile: &Profile,
        entities: &Entities,
        transforms: Transforms,
    ) -> Arc<CallTree> {
        if transforms == Transforms::default() {
            let new = || Arc::new(CallTree::new(profile, entities, &transforms));
            return self.tree.get_or_init(new).clone();
        }
        if let Some((_, tree)) = lock(&self.trees).iter().find(|(known, _)| *known == transforms) {
            return tree.clone();
        }
        let tree = Arc::new(CallTree::new(profile, entities, &transforms));
        let mut trees = lock(&self.trees);
        trees.insert(0, (transforms, tree.clone()));
        trees.truncate(MAX_TREES);
        tree
    }
}

/// The text of conditions in one way of writing.
pub(crate) fn canonical(conditions: &[String]) -> Vec<String> {
    let text =
        |text: &String| text.parse::<Condition>().map_or_else(|_| text.clone(), |c| c.to_string());
    conditions.iter().map(text).collect()
}

/// A panic elsewhere has not left a cache in a bad state.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
