//! At which rate each block was sampled: a line each time that it changes.
//!
//! The file beside the trace ([`memtrail_recording::rates`]) is made when that happens first.

use memtrail_recording::rates::HEADING;
use memtrail_trace::{BlockId, DomainId};

use crate::context::halvings::Halvings;
use crate::os::errno::keeping_errno;
use crate::recording::folder::Folder;
use crate::recording::output::{FileKind, Output};

/// The file under way.
#[derive(Default)]
pub(crate) struct RateLog {
    output: Option<Output>,
    failed: bool,
}

impl RateLog {
    /// Lets nothing more be written, in a forked child.
    pub(crate) fn close(&mut self) {
        self.output = None;
        self.failed = true;
    }

    /// Appends what waits for room on the disk.
    pub(crate) fn append_waiting(&mut self, folder: &Folder) {
        if let Some(output) = &mut self.output {
            output.append_waiting(folder);
        }
    }

    /// From block `id` of `domain` on, the base rate is halved so often.
    pub(crate) fn changed(
        &mut self,
        folder: &Folder,
        domain: DomainId,
        id: BlockId,
        halvings: Halvings,
    ) {
        if self.failed {
            return;
        }
        keeping_errno(|| {
            let mut lines = format!("r {} {} {}\n", domain.0, id.0, halvings.0);
            if self.output.is_none() {
                let Ok(output) = Output::create(folder, FileKind::Rates) else {
                    self.failed = true;
                    return;
                };
                self.output = Some(output);
                lines.insert_str(0, &format!("{HEADING}\n"));
            }
            if let Some(output) = &mut self.output {
                // Without the list, standard errors are too small: the trace is whole.
                let _ = output.append(folder, lines.as_bytes());
            }
        });
    }
}
