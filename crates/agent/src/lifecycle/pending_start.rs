//! Decides, before the program's `main`, whether this process can and should be recorded.

use std::path::PathBuf;

use memtrail_ocaml::{Unsupported, Version};
use memtrail_recording::session::{Options, State};

use crate::context::runtime::{version, version_or};
use crate::lifecycle::environment::Injected;
use crate::recording::relay;
use crate::recording::report::report;

/// What is needed to start when the runtime is ready.
pub(crate) struct PendingStart {
    pub(crate) options: Options,
    pub(crate) session: PathBuf,
    pub(crate) version: Version,
    pub(crate) arguments: Vec<String>,
}

/// Looks at the process. Programs that are not OCaml's keep the launcher's variables, for the
/// programs that they start or become; others do not see them, unless children are recorded too.
pub(crate) fn prepare(injected: &Injected, arguments: Vec<String>) -> Option<PendingStart> {
    relay::map(&injected.session);
    if version() == Err(Unsupported::NoRuntime) {
        return None;
    }
    let options = Options::load(&injected.session).ok()?;
    if options.memtrail != env!("CARGO_PKG_VERSION") {
        return None;
    }
    relay::stay_known(&injected.session);
    if !options.children {
        injected.remove();
    }
    if let Some(state) = injected.refusal() {
        report(&injected.session, std::process::id(), 0, state);
        return None;
    }
    let reason = match version_or(options.assume_version.as_deref()) {
        Ok(version) => {
            let session = injected.session.clone();
            return Some(PendingStart { options, session, version, arguments });
        }
        Err(refusal) => refusal.to_string(),
    };
    let state = State::Refused { reason, hint: None };
    report(&injected.session, std::process::id(), 0, state);
    None
}
