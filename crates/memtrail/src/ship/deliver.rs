//! Windows of several recordings, in order, to one server.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use super::address::Address;
use super::backoff::Backoff;
use super::client::{Client, Delivery};
use super::follow::Follower;
use super::protocol::Protocol;
use super::redact::Redaction;
use super::shipping::Shipping;
use super::state::State;
use super::{Args, labels};
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
    followers: BTreeMap<PathBuf, Follower>,
    /// Recordings that cannot be shipped; each was named.
    broken: BTreeSet<PathBuf>,
    delivered: u64,
    refused: u64,
    code: Option<ExitCode>,
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
            followers: BTreeMap::new(),
            broken: BTreeSet::new(),
            delivered: 0,
            refused: 0,
            code: None,
        }
    }

    fn follow(&mut self, path: PathBuf) -> Result<(), Failure> {
        let follower = Follower::open(path.clone(), &self.address.to_string(), self.args.every)?;
        self.followers.insert(path, follower);
        Ok(())
    }

    fn give_up(&mut self, path: PathBuf, failure: &Failure) {
        let message = format_args!("{}; {} is not shipped", failure.message(), path.display());
        self.code = Some(Failure::new(failure.kind(), message).report());
        self.followers.remove(&path);
        self.broken.insert(path);
    }
}

impl Shipping for Deliveries<'_> {
    fn destination(&self) -> String {
        self.address.to_string()
    }

    fn take_in(&mut self, recordings: &[PathBuf], is_folder: bool) -> Result<(), Failure> {
        for path in recordings {
            if self.followers.contains_key(path) || self.broken.contains(path) {
                continue;
            }
            match self.follow(path.clone()) {
                Err(failure) if is_folder => self.give_up(path.clone(), &failure),
                followed => followed?,
            }
        }
        Ok(())
    }

    fn ship(&mut self) -> Option<Duration> {
        if let Some(left) = self.backoff.left() {
            return Some(left);
        }
        let paths: Vec<PathBuf> = self.followers.keys().cloned().collect();
        let mut sent = 0;
        for path in paths {
            while let Some(follower) = self.followers.get_mut(&path) {
                let due = follower.due(self.args.once, self.redaction);
                match due {
                    Ok(None) => break,
                    Err(failure) => {
                        self.give_up(path, &failure);
                        break;
                    }
                    Ok(Some(due)) => {
                        let labels =
                            labels::of(&follower.recording, self.args.given(self.redaction));
                        let request = (due.profile.as_ref())
                            .map(|profile| self.protocol.request(profile, labels, &due.id));
                        let delivery = match request {
                            None => Delivery::Delivered,
                            Some(Err(error)) => Delivery::Refused { reason: error.to_string() },
                            Some(Ok(request)) => {
                                self.client.post(&self.address.below(&request.path), &request)
                            }
                        };
                        let noted = match delivery {
                            Delivery::Delivered => {
                                if due.profile.is_some() {
                                    self.delivered += 1;
                                    if self.backoff.succeed() {
                                        message!("memtrail: {} takes windows again", self.address);
                                    }
                                }
                                follower.shipped(&due)
                            }
                            Delivery::Refused { reason } => {
                                self.refused += 1;
                                if self.refused == 1 {
                                    message!(
                                        "memtrail: {} refuses a window: {reason}",
                                        self.address
                                    );
                                }
                                follower.refused(&due, reason)
                            }
                            Delivery::Later { reason, pause } => {
                                if self.backoff.fail(pause) {
                                    message!(
                                        "memtrail: {}: {reason}; windows wait in the recording",
                                        self.address
                                    );
                                }
                                if let Err(failure) = follower.failed(reason) {
                                    self.code = Some(failure.report());
                                }
                                return self.backoff.left();
                            }
                        };
                        if let Err(failure) = noted {
                            self.give_up(path, &failure);
                            break;
                        }
                    }
                }
                sent += 1;
                if sent >= AT_ONCE && !self.args.once {
                    return Some(Duration::ZERO);
                }
            }
        }
        None
    }

    fn all_ended(&self) -> bool {
        self.followers.values().all(|follower| follower.file.state.is_over)
    }

    fn state(&self, recording: &Path) -> Option<&State> {
        self.followers.get(recording).map(|follower| &follower.file.state)
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
        Ok(self.code.unwrap_or(ExitCode::SUCCESS))
    }
}
