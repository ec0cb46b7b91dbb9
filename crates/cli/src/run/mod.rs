//! `memtrail run`: runs a program as it is, recorded.

mod agent;
mod args;
#[cfg(target_arch = "x86_64")]
pub(crate) mod attached;
mod cached;
mod disk;
mod ending;
mod environment;
mod family_folder;
mod group_signals;
mod images;
mod in_use;
mod keeper;
pub(crate) mod labels;
mod launch;
pub(crate) mod live_packets;
mod native;
mod nothing_recorded;
mod old_agents;
mod old_sessions;
mod outliving;
mod preflight;
mod prepare;
mod process;
mod rate;
mod record;
mod relay;
mod sampler;
mod session;
mod signals;
mod snapshots;
mod stops;
mod survivors;
mod viewing;
mod waiting;
mod writing;

use std::path::Path;
use std::process::ExitCode;

use crate::error::{Failure, Kind};
pub(crate) use args::{Args, BASE_RATE, DEEPEST, SHORTEST};
pub(crate) use cached::{Cached, cached};
pub(crate) use disk::{Disk, within_room};
pub(crate) use group_signals::{Args as GroupArgs, run as watch_group};
pub(crate) use keeper::{Args as KeeperArgs, run as keep_session};
use launch::{unrecorded, watch};
pub(crate) use native::{Args as NativeArgs, Native};
pub(crate) use old_sessions::launcher_of;
use preflight::Decision;
pub(crate) use preflight::find;
use prepare::{Prepared, prepare};
pub(crate) use prepare::{Unprepared, check, check_machine};
pub(crate) use process::{End, address_space, has_stack, user_id};
pub(crate) use rate::parse as parse_rate;
pub(crate) use record::{Request, record};
pub(crate) use signals::{block as block_signals, unblock as unblock_signals};
pub(crate) use snapshots::Args as SnapshotArgs;
pub(crate) use stops::{Args as WakeArgs, run as wake_up};

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    signals::survive_file_limits();
    if !args.view && args.serving.is_asked_for() {
        return Err(Failure::new(Kind::Usage, "there is no page to serve without --view")
            .hint("memtrail run --view -- PROGRAM"));
    }
    args.native.check(&args.snapshots)?;
    if let Decision::Unrecorded { reason, hint } =
        preflight::look(args.program(), args.native.which(), args.assume_version.is_some())
    {
        return Err(unrecorded(args, &Unprepared { reason, hint }));
    }
    match prepare(args) {
        Ok(Ok(prepared)) => recorded(args, prepared),
        Ok(Err(unprepared)) => Err(unrecorded(args, &unprepared)),
        Err(wrong) => Err(wrong),
    }
}

fn recorded(args: &Args, prepared: Prepared) -> Result<ExitCode, Failure> {
    let (recorded, end) = watch(args, prepared)?;
    if args.require_recording && recorded.is_empty() {
        let name = Path::new(args.program()).display();
        return Err(Failure::new(Kind::Launch, format_args!("{name} was run, and not recorded")));
    }
    match end {
        process::End::Exited(code) => Ok(ExitCode::from(code as u8)),
        process::End::Killed(signal) => process::die_of(signal),
    }
}
