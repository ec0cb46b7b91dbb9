//! Windows of several recordings, in order, to one destination.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use memtrail_export::pyroscope;
use memtrail_recording::family::Family;

use super::address::Address;
use super::backoff::Backoff;
use super::client::{Client, Delivery};
use super::follow::Follower;
use super::{Args, labels};
use crate::error::{Failure, Kind};

/// The method of Pyroscope that takes profiles.
const PUSH: &str = "/push.v1.PusherService/Push";
/// Windows that are sent before signals and new recordings are looked at.
const AT_ONCE: usize = 16;

/// All recordings, and what became of their windows.
pub(super) struct Deliveries<'a> {
    args: &'a Args,
    address: &'a Address,
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
    pub(super) fn new(args: &'a Args, address: &'a Address, client: Client) -> Self {
        Self {
            args,
            address,
            client,
            backoff: Backoff::new(args.retry_at_most),
            followers: BTreeMap::new(),
            broken: BTreeSet::new(),
            delivered: 0,
            refused: 0,
            code: None,
        }
    }

    /// Takes in recordings that are new.
    pub(super) fn find(&mut self, path: &Path, is_folder: bool) -> Result<(), Failure> {
        if !is_folder {
            if self.followers.is_empty() && self.broken.is_empty() {
                self.follow(path.to_path_buf())?;
            }
            return Ok(());
        }
        for member in Family::open(path)?.into_iter().flat_map(|family| family.members) {
            let path = path.join(&member.name);
            if self.followers.contains_key(&path) || self.broken.contains(&path) {
                continue;
            }
            if let Err(failure) = self.follow(path.clone()) {
                self.give_up(path, &failure);
            }
        }
        Ok(())
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

    /// Sends what is due. Gives the time to wait, if it is not the usual one.
    pub(super) fn ship(&mut self) -> Option<Duration> {
        if let Some(left) = self.backoff.left() {
            return Some(left);
        }
        let paths: Vec<PathBuf> = self.followers.keys().cloned().collect();
        let mut sent = 0;
        for path in paths {
            while let Some(follower) = self.followers.get_mut(&path) {
                let due = follower.due(self.args.once);
                match due {
                    Ok(None) => break,
                    Err(failure) => {
                        self.give_up(path, &failure);
                        break;
                    }
                    Ok(Some(due)) => {
                        let Args { service, labels: more, .. } = self.args;
                        let delivery = due.pprof.clone().map_or(Delivery::Delivered, |pprof| {
                            let labels = labels::of(&follower.recording, service.as_deref(), more);
                            let message = pyroscope::request(&labels, pprof, due.id.clone());
                            let url = self.address.below(PUSH);
                            self.client.post(&url, "application/proto", &message)
                        });
                        let noted = match delivery {
                            Delivery::Delivered => {
                                if due.pprof.is_some() {
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

    /// True if nothing more will come.
    pub(super) fn all_ended(&self) -> bool {
        self.followers.values().all(|follower| follower.file.state.is_over)
    }

    /// Prints what was shipped.
    pub(super) fn finish(self) -> Result<ExitCode, Failure> {
        let Self { delivered, refused, .. } = self;
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
