//! Windows of several recordings, in order, to one server.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use super::address::Address;
use super::args::Args;
use super::backoff::Backoff;
use super::client::{Client, Delivery};
use super::follow::Follower;
use super::labels;
use super::protocol::Protocol;
use super::redact::Redaction;
use super::shipping::Shipping;
use super::state::State;
use super::taken::Taken;
use crate::error::{Failure, Kind};

/// Windows that are sent before signals and new recordings are looked at.
const AT_ONCE: usize = 16;

/// All recordings, and what became of their windows.
pub(super) struct Deliveries<'a> {
    args: &'a Args,
    address: Address,
    protocol: Protocol,
    redaction: Option<&'a Redaction>,
    client: Client,
    backoff: Backoff,
    taken: Taken<Follower>,
    delivered: u64,
    refused: u64,
}

/// The fate of the next window of a recording.
enum Step {
    /// No window is due.
    Nothing,
    Sent,
    /// The server takes none now.
    Later,
}

impl<'a> Deliveries<'a> {
    pub(super) fn new(
        args: &'a Args,
        address: Address,
        redaction: Option<&'a Redaction>,
        client: Client,
    ) -> Self {
        Self {
            args,
            address,
            protocol: args.protocol(),
            redaction,
            client,
            backoff: Backoff::new(args.retry_at_most),
            taken: Taken::new(),
            delivered: 0,
            refused: 0,
        }
    }

    /// Sends the next window of a recording, if it is due.
    fn ship_next(&mut self, path: &Path) -> Result<Step, Failure> {
        let Some(follower) = self.taken.recordings.get_mut(path) else { return Ok(Step::Nothing) };
        let Some(due) = follower.due(self.args.once, self.redaction)? else {
            return Ok(Step::Nothing);
        };
        let delivery = match &due.profile {
            None => Delivery::Delivered,
            Some(profile) => {
                let labels = labels::of(&follower.recording, self.args.given(self.redaction));
                match self.protocol.request(profile, labels, &due.id) {
                    Err(error) => Delivery::Refused { reason: error.to_string() },
                    Ok(request) => self.client.post(&self.address.below(&request.path), &request),
                }
            }
        };
        match delivery {
            Delivery::Delivered => {
                if due.profile.is_some() {
                    self.delivered += 1;
                    if self.backoff.succeed() {
                        message!("memtrail: {} takes windows again", self.address);
                    }
                }
                follower.shipped(&due)?;
            }
            Delivery::Refused { reason } => {
                self.refused += 1;
                if self.refused == 1 {
                    message!("memtrail: {} refuses a window: {reason}", self.address);
                }
                follower.refused(&due, reason)?;
            }
            Delivery::Later { reason, pause } => {
                if self.backoff.fail(pause) {
                    message!("memtrail: {}: {reason}; windows wait in the recording", self.address);
                }
                if let Err(failure) = follower.failed(reason) {
                    self.taken.code = Some(failure.report());
                }
                return Ok(Step::Later);
            }
        }
        Ok(Step::Sent)
    }
}

impl Shipping for Deliveries<'_> {
    fn destination(&self) -> String {
        self.address.to_string()
    }

    fn take_in(&mut self, recordings: &[PathBuf], is_folder: bool) -> Result<(), Failure> {
        let Self { taken, address, args, .. } = self;
        let (address, every) = (address.to_string(), args.every);
        let open = |path: &Path| Follower::open(path.to_path_buf(), &address, every);
        taken.take_in(recordings, is_folder, open)
    }

    fn ship(&mut self) -> Option<Duration> {
        if let Some(left) = self.backoff.left() {
            return Some(left);
        }
        let mut sent = 0;
        for path in self.taken.paths() {
            loop {
                match self.ship_next(&path) {
                    Ok(Step::Sent) => sent += 1,
                    Ok(Step::Nothing) => break,
                    Ok(Step::Later) => return self.backoff.left(),
                    Err(failure) => {
                        self.taken.give_up(&path, &failure);
                        break;
                    }
                }
                if sent >= AT_ONCE && !self.args.once {
                    return Some(Duration::ZERO);
                }
            }
        }
        None
    }

    fn all_ended(&self) -> bool {
        self.taken.recordings.values().all(|follower| follower.file.state.is_over)
    }

    fn state(&self, recording: &Path) -> Option<&State> {
        self.taken.recordings.get(recording).map(|follower| &follower.file.state)
    }

    fn finish(&self) -> Result<ExitCode, Failure> {
        let &Self { delivered, refused, .. } = self;
        let windows = if delivered == 1 { "window" } else { "windows" };
        let ended = if self.all_ended() { "; the recording has ended" } else { "" };
        message!("memtrail: {delivered} {windows} shipped{ended}");
        if refused > 0 {
            return Err(Failure::new(
                Kind::Work,
                format_args!("{} refused {refused} of the windows", self.address),
            )
            .hint(format_args!(
                "memtrail ship --status {}",
                crate::shell_quote::path(&self.args.path)
            )));
        }
        if self.args.once && self.backoff.left().is_some() {
            return Err(Failure::new(Kind::Work, format_args!("{} took no more", self.address))
                .hint("windows that wait are in the recording: run the same command again"));
        }
        Ok(self.taken.code.unwrap_or(ExitCode::SUCCESS))
    }
}
