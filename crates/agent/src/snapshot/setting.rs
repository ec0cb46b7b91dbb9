//! What snapshots need to know of the process; there if the user asked for snapshots, or once the program did.

use memtrail_recording::session::SnapshotOptions;

use super::generation::HoldStill;
use crate::context::target::Target;
use crate::os::forked;
use crate::os::replaceable::Replaceable;

pub(super) struct Setting {
    pub(super) target: &'static Target,
    pub(super) options: &'static SnapshotOptions,
    pub(super) heap: &'static dyn HoldStill,
}

static SETTING: Replaceable<Setting> = Replaceable::new();

/// Sets it, unless another thread was faster.
pub(super) fn set(setting: Setting) {
    SETTING.set(setting);
}

/// Forgets it: there are no snapshots any more.
pub(super) fn forget() {
    SETTING.clear();
}

/// Whether it was set in this process or the one it was forked from.
pub(super) fn is_set() -> bool {
    SETTING.get().is_some()
}

/// The setting, in the process that was set up, not in forks of it.
pub(super) fn setting() -> Option<&'static Setting> {
    SETTING.get().filter(|_| forked::is_owner_itself())
}
