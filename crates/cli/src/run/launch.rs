//! Runs a program to its end, recorded or as it is.

use std::ffi::OsString;
use std::path::Path;

use memtrail_recording::Recording;

use super::args::Args;
use super::family_folder::FamilyFolder;
use super::native::Native;
use super::prepare::{Prepared, Unprepared};
use super::session::Session;
use super::viewing::{Announcement, Viewing};
use super::{ending, environment, images, keeper, process, signals};
use crate::error::{Failure, Kind};
use crate::shell_quote;

/// Becomes the program as it is; returns only if that fails, or is not wanted.
pub(super) fn unrecorded(args: &Args, why: &Unprepared) -> Failure {
    let name = Path::new(args.program()).display();
    let Unprepared { reason, hint } = why;
    if args.require_recording {
        let failure = Failure::new(
            Kind::Launch,
            format_args!("{name} cannot be recorded, and is not run: {reason}"),
        );
        return match hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        };
    }
    if !args.quiet {
        message!("memtrail: not recording {name}: {reason}");
        if let Some(hint) = hint {
            message!("hint: {hint}");
        }
    }
    cannot_start(args.program(), &process::become_program(args.plain_command()))
}

/// Runs the program to its end, and completes its recordings.
pub(super) fn watch(
    args: &Args,
    prepared: Prepared,
) -> Result<(ending::Finalized, process::End), Failure> {
    let Prepared { session, family, mut relay, disk, library } = prepared;
    let mut command = args.plain_command();
    environment::inject(&mut command, &library, session.folder());

    let mut pid = 0;
    let mut viewing = None;
    let started = process::run(command, args.kill_with_parent, |child| {
        pid = child;
        let family = family.as_ref().map(FamilyFolder::path);
        viewing = args
            .view
            .then(|| Viewing::begin(session.folder(), family, &args.serving, announcement(args)));
    });
    let end = match started {
        Ok(end) => end,
        Err(error) if process::is_ours(&error) => {
            // The program itself needs less than we do to watch it.
            drop((disk, relay, session, family));
            return Err(unrecorded(args, &Unprepared::new("start it under watch", &error)));
        }
        Err(error) => return Err(cannot_start(args.program(), &error)),
    };
    drop(disk);
    let mut recorded = ending::finalize(&session, pid, end);
    let to_remove = family.as_ref().and_then(FamilyFolder::path_if_new);
    let kept = keeper::take_over(session.folder(), to_remove, relay.as_mut());
    if !kept && recorded.has_alive() {
        // It ended between the two looks: nobody else completes its recording.
        recorded = ending::finalize(&session, pid, end);
    }
    if let Some(relay) = relay {
        relay.end(!kept);
    }
    // The page reads the recordings by their names until it ends.
    let gathered = if viewing.is_none() { gather(args, &session, &mut recorded) } else { None };
    if !args.quiet {
        let family = family.as_ref().map(FamilyFolder::path);
        ending::announce(
            &recorded,
            &args.command,
            family,
            args.native.which() == Native::Only,
            args.json,
            kept,
        );
    }
    let gathered = match viewing {
        Some(viewing) => {
            viewing.end();
            gather(args, &session, &mut recorded)
        }
        None => gathered,
    };
    if let Some(gathered) = gathered.filter(|_| !args.quiet && !args.json) {
        message!("memtrail: {}", gathered.text());
    }
    signals::unblock();
    if kept {
        session.leave();
        // Processes that run on may begin a recording.
        std::mem::forget(family);
    } else {
        drop((session, family));
    }
    Ok((recorded, end))
}

/// Puts the recordings of a process that was several programs into the one folder that `-o` names.
fn gather(
    args: &Args,
    session: &Session,
    recorded: &mut ending::Finalized,
) -> Option<images::Gathered> {
    let named = args.output.as_deref().filter(|_| !args.children)?;
    // The agents were told the same path.
    let named =
        std::env::current_dir().map_or_else(|_| named.to_path_buf(), |here| here.join(named));
    images::gather(recorded, session.folder(), &named).unwrap_or_else(|error| {
        if !args.quiet {
            message!("memtrail: recordings of one process stay apart: {error}");
        }
        None
    })
}

fn announcement(args: &Args) -> Announcement {
    match (args.quiet, args.json) {
        (true, _) => Announcement::Nothing,
        (false, true) => Announcement::Json,
        (false, false) => Announcement::Text,
    }
}

fn cannot_start(program: &OsString, error: &std::io::Error) -> Failure {
    let path = Path::new(program);
    let name = path.display();
    let failure = match error.kind() {
        std::io::ErrorKind::NotFound => {
            Failure::new(Kind::NotFound, format_args!("{name}: no such program"))
        }
        std::io::ErrorKind::PermissionDenied => {
            Failure::new(Kind::NotExecutable, format_args!("{name}: cannot be executed: {error}"))
        }
        _ => Failure::new(Kind::NotExecutable, format_args!("{name}: {error}")),
    };
    if path.is_dir() && Recording::open(path).is_ok() {
        let shown = shell_quote::path(path);
        return failure.hint(format_args!("it is a recording: memtrail report {shown}"));
    }
    failure
}
