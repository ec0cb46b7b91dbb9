//! At which rate blocks were sampled, from a recording's file to the engine's list.

use memtrail_engine::describe::RateList;
use memtrail_profile::estimate::Adapted;
use memtrail_recording::Recording;
use memtrail_recording::rates::{MAX_HALVINGS, Rates};

/// What the recording's file says; nothing for bare traces and constant rates.
pub(crate) fn list(recording: &Recording) -> Option<RateList> {
    let bytes = std::fs::read(&recording.rates).ok()?;
    // What stands before an unreadable line is right all the same.
    let (rates, _) = Rates::parse(&bytes);
    (!rates.changes.is_empty()).then_some(RateList(rates.changes.into_inner()))
}

/// Halvings of the rate at present, in the domain that samples least.
pub(crate) fn present(recording: &Recording) -> u8 {
    let list = list(recording);
    let changes = list.iter().flat_map(|list| list.0.values());
    let latest = changes.filter_map(|changes| changes.last().map(|(_, halvings)| *halvings));
    latest.max().unwrap_or(0).min(MAX_HALVINGS)
}

/// How far the rate was lowered, after what it was at first.
pub(crate) fn adapted(adapted: &Adapted) -> String {
    format!(
        "adapted down to {:.2e}; effective mean {:.2e}",
        adapted.lowest_samples_per_word, adapted.mean_samples_per_word
    )
}
