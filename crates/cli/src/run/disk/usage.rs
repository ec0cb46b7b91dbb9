//! The option `--disk`, and how much of it is used.

use std::fs;
use std::path::Path;

use memtrail_recording::TRACE_FILE;
use memtrail_text::Size;
use memtrail_text::rounded::bytes;

use crate::run::process;

/// Disk space for recordings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Disk {
    Unlimited,
    /// Bytes.
    Limited(u64),
}

impl Disk {
    /// Bytes of a recording whose rate the user left to memtrail: several hours of a busy core before anything is thinned.
    const DEFAULT: u64 = 1 << 30;
    /// Less is not enough for the packets and names of a trace that cannot be thinned yet.
    const SMALLEST: u64 = 4 << 20;

    /// Reads `unlimited`, or a size.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if text == "unlimited" {
            return Ok(Self::Unlimited);
        }
        let Size(bytes) = memtrail_text::some_size(text)?;
        if bytes < Self::SMALLEST {
            return Err("less than 4 MiB is too little for a recording".into());
        }
        Ok(Self::Limited(bytes))
    }

    /// The number of bytes, if there is a limit. A user who gives a rate and no limit wants all samples of that rate.
    pub(crate) fn bytes(given: Option<Self>, rate: Option<f64>) -> Option<u64> {
        match (given, rate) {
            (Some(Self::Limited(bytes)), _) => Some(bytes),
            (None, None) => Some(Self::DEFAULT),
            (Some(Self::Unlimited), _) | (None, Some(_)) => None,
        }
    }
}

/// A budget for recordings in a folder, or what its disk has room for, with a note that this is less. Agents keep to it by
/// themselves, too.
pub(crate) fn within_room(budget: Option<u64>, folder: &Path) -> (Option<u64>, Option<String>) {
    let room = process::free_space(folder).map_or(u64::MAX, |free| free.max(Disk::SMALLEST));
    let note = budget.filter(|asked| *asked > room).map(|asked| {
        let [asked, room] = [asked, room].map(|size| bytes(size as f64));
        format!("the disk had room for {room} of the {asked} of --disk")
    });
    (budget.map(|asked| asked.min(room)), note)
}

/// Bytes of a recording's trace.
pub(super) fn trace_bytes(folder: &Path) -> u64 {
    fs::metadata(folder.join(TRACE_FILE)).map_or(0, |trace| trace.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_a_size_or_unlimited() {
        assert_eq!(Disk::parse("unlimited"), Ok(Disk::Unlimited));
        assert_eq!(Disk::parse("1GiB"), Ok(Disk::Limited(1 << 30)));
        assert!(Disk::parse("1").is_err() && Disk::parse("much").is_err());
    }

    #[test]
    fn a_recording_has_a_limit_unless_its_rate_is_given() {
        let limited = Some(Disk::Limited(5 << 20));
        assert_eq!(Disk::bytes(None, None), Some(1 << 30));
        assert_eq!(Disk::bytes(None, Some(1.0)), None);
        assert_eq!(Disk::bytes(limited, Some(1.0)), Some(5 << 20));
        assert_eq!(Disk::bytes(Some(Disk::Unlimited), None), None);
    }

    #[test]
    fn a_budget_is_no_more_than_the_disk_has_room_for() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(within_room(Some(1 << 20), folder.path()), (Some(1 << 20), None));
        let (room, note) = within_room(Some(1 << 62), folder.path());
        assert!(room.is_some_and(|bytes| bytes < 1 << 60), "{room:?}");
        assert!(note.is_some_and(|note| note.ends_with("of the 4.00 EiB of --disk")));
        assert_eq!(within_room(None, folder.path()), (None, None));
        assert_eq!(within_room(Some(9), &folder.path().join("absent")), (Some(9), None));
    }
}
