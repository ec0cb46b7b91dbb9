//! Traces and filters that everything is tried on.

use memtrail_export::{Format, Selection};
use memtrail_profile::Profile;
use memtrail_profile::filter::{Filter, Resolved};

/// All of the reader's fixtures.
pub(crate) fn traces() -> Vec<(String, Vec<u8>)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../trace/tests/fixtures");
    let mut traces: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "ctf"))
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read(&path).unwrap())
        })
        .collect();
    traces.sort();
    let (name, whole) = traces[0].clone();
    traces.push((format!("half of {name}"), whole[..whole.len() / 2].to_vec()));
    traces
}

/// Filters that keep all, some and none.
pub(crate) const FILTERS: &[&[&str]] = &[
    &[],
    &["live:end"],
    &["heap:major", "size:..64"],
    &["hide:~List", "hide:~a"],
    &["collapse:~List", "collapse:Cache", "hide:~iter"],
    &["allocated:start", "live:end", "size:1G.."],
];

/// Reads a trace and asks a filter of it.
pub(crate) fn with<T>(
    format: Format,
    trace: &[u8],
    conditions: &[&str],
    each: impl FnOnce(&Selection<'_>) -> T,
) -> T {
    let profile = Profile::read(trace, &mut |_| ()).unwrap();
    let filter: Resolved = Filter::parse(conditions).unwrap().resolve(&profile).unwrap();
    let conditions = conditions.iter().map(|&condition| condition.to_owned()).collect();
    each(&Selection::new(format, &profile, &filter, |_| true, "program", conditions))
}
