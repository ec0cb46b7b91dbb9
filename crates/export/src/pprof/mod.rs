//! pprof's format, gzipped: blocks and bytes allocated, blocks and bytes never collected (of a time window:
//! live at its end), by whole call stacks with lines; calls that were inlined share a location, as the format wants it. If the recording is
//! of several processes, samples have their process as labels, `pid` and `process`.

mod messages;

use std::io::Write as _;

use flate2::{Compression, GzBuilder};
use memtrail_profile::processes::{ProcessName, processes};
use memtrail_trace::{FileId, FrameId, FunctionId, StackId};
use prost::Message as _;
use rustc_hash::FxHashMap;

pub use self::messages::{Function, Label, Line, Location, Mapping, Profile, Sample, ValueType};
use crate::naming::UNKNOWN;
use crate::paths::Paths;
use crate::selection::Selection;
use crate::weight::Whole;

/// The file.
pub fn write(selection: &Selection<'_>) -> Vec<u8> {
    compressed(&profile(selection))
}

/// A message as a file.
pub(crate) fn compressed(profile: &Profile) -> Vec<u8> {
    let bytes = profile.encode_to_vec();
    // No time and no name, so that equal profiles are equal files.
    let mut gzip = GzBuilder::new().mtime(0).write(Vec::new(), Compression::default());
    gzip.write_all(&bytes).and_then(|()| gzip.finish()).unwrap_or_default()
}

/// The message in it.
pub fn profile(selection: &Selection<'_>) -> Profile {
    let profile = selection.profile;
    let mut strings = Strings::default();
    let mut value_type =
        |r#type, unit| ValueType { r#type: strings.index(r#type), unit: strings.index(unit) };
    let sample_type = vec![
        value_type("alloc_objects", "count"),
        value_type("alloc_space", "bytes"),
        value_type("inuse_objects", "count"),
        value_type("inuse_space", "bytes"),
    ];
    let period_type = value_type("space", "bytes");
    let (labels, notes) = (selection.labels(), selection.caveats.notes());
    let comment = std::iter::once(concat!("memtrail ", env!("CARGO_PKG_VERSION")))
        .chain(selection.conditions.iter().map(String::as_str))
        .chain(labels.iter().map(String::as_str))
        .chain(notes.iter().map(String::as_str))
        .map(|text| strings.index(text))
        .collect();
    let mapping = Mapping {
        id: 1,
        filename: strings.index(&selection.title),
        has_functions: true,
        has_filenames: true,
        has_line_numbers: true,
        has_inline_frames: true,
    };
    let mut writing = Writing {
        selection,
        strings,
        locations: Vec::new(),
        functions: Vec::new(),
        of_frame: FxHashMap::default(),
        of_function: FxHashMap::default(),
        processes: processes(profile),
    };
    let (from, to) =
        selection.window.map_or((0, profile.end.0), |window| (window.from.0, window.to.0));
    // A module that stands for its functions is in no frame of the trace.
    let as_they_are = selection.is_whole && !selection.naming.collapses();
    let sample = if as_they_are { writing.samples() } else { writing.of_tree() };
    Profile {
        sample_type,
        sample,
        mapping: vec![mapping],
        location: writing.locations,
        function: writing.functions,
        default_sample_type: writing.strings.index("alloc_space"),
        time_nanos: nanos(profile.info.start.0.saturating_add(from)),
        duration_nanos: nanos(to.saturating_sub(from)),
        period_type: Some(period_type),
        period: profile.estimator.bytes_per_sample().round() as i64,
        comment,
        string_table: writing.strings.table,
    }
}

fn nanos(micros: u64) -> i64 {
    i64::try_from(micros).map_or(i64::MAX, |micros| micros.saturating_mul(1000))
}

/// Strings, each once. The first is empty, as the format wants it.
pub(crate) struct Strings {
    table: Vec<String>,
    ids: FxHashMap<String, i64>,
}

impl Default for Strings {
    fn default() -> Self {
        Self { table: vec![String::new()], ids: FxHashMap::from_iter([(String::new(), 0)]) }
    }
}

impl Strings {
    pub(crate) fn into_table(self) -> Vec<String> {
        self.table
    }

    pub(crate) fn index(&mut self, string: &str) -> i64 {
        if let Some(&index) = self.ids.get(string) {
            return index;
        }
        let index = self.table.len() as i64;
        self.table.push(string.to_owned());
        self.ids.insert(string.to_owned(), index);
        index
    }
}

struct Writing<'a> {
    selection: &'a Selection<'a>,
    strings: Strings,
    locations: Vec<Location>,
    functions: Vec<Function>,
    /// The location of a frame; none if all its functions are hidden or unknown.
    of_frame: FxHashMap<FrameId, Option<u64>>,
    of_function: FxHashMap<(FunctionId, FileId), u64>,
    /// By the functions that stand for them.
    processes: FxHashMap<FunctionId, ProcessName>,
}

impl Writing<'_> {
    fn samples(&mut self) -> Vec<Sample> {
        let selection = self.selection;
        let mut whole = Whole::default();
        let mut samples = Vec::new();
        for (index, weight) in selection.weights().iter().enumerate() {
            if weight.is_nothing() {
                continue;
            }
            let value = whole.next(weight, &selection.profile.estimator).to_vec();
            if value.iter().all(|&value| value == 0) {
                continue;
            }
            let path = || selection.profile.stacks.path(StackId(index as u32));
            let mut location_id: Vec<u64> =
                path().filter_map(|frame| self.location(frame)).collect();
            if location_id.is_empty() {
                location_id.push(self.unknown());
            }
            let outermost = path().last();
            let site = outermost.and_then(|frame| selection.profile.locations.at(frame).first());
            let label = self.labels(site.map(|site| site.function));
            samples.push(Sample { location_id, value, label });
        }
        samples
    }

    /// The paths as the format can take them, with modules in place of the functions that are collapsed.
    fn of_tree(&mut self) -> Vec<Sample> {
        let selection = self.selection;
        let paths = Paths::new(selection, |_| true);
        let locations: Vec<u64> = (paths.frames.iter())
            .map(|site| {
                let line = Line {
                    function_id: self.function(site.function, site.file),
                    line: site.line.into(),
                    column: i64::from(site.start_col) + 1,
                };
                self.add(0, vec![line])
            })
            .collect();
        let mut whole = Whole::default();
        let mut samples = Vec::new();
        for node in 0..paths.len() as u32 {
            let value = whole.next(&paths.own(node), &selection.profile.estimator).to_vec();
            if value.iter().all(|&value| value == 0) {
                continue;
            }
            let mut location_id = Vec::new();
            let mut outermost = None;
            let mut at = node;
            while at != 0 {
                outermost = Some(paths.frames[paths.frame(at)].function);
                location_id.push(locations[paths.frame(at)]);
                at = paths.parent(at);
            }
            if location_id.is_empty() {
                location_id.push(self.unknown());
            }
            let label = self.labels(outermost);
            samples.push(Sample { location_id, value, label });
        }
        samples
    }

    /// The process that an outermost function stands for, if the recording is of several.
    fn labels(&mut self, outermost: Option<FunctionId>) -> Vec<Label> {
        let process = outermost.and_then(|function| self.processes.get(&function));
        let Some(ProcessName { label, pid, .. }) = process else { return Vec::new() };
        let (key, str) = (self.strings.index("process"), self.strings.index(label));
        let mut labels = vec![Label { key, str, num: 0 }];
        if let Some(pid) = pid {
            labels.push(Label { key: self.strings.index("pid"), str: 0, num: (*pid).into() });
        }
        labels
    }

    fn location(&mut self, frame: FrameId) -> Option<u64> {
        if let Some(&location) = self.of_frame.get(&frame) {
            return location;
        }
        let selection = self.selection;
        let sites = selection.profile.locations.at(frame).iter();
        let line: Vec<Line> = sites
            .rev()
            .filter(|site| !selection.hides(site.function))
            .map(|site| Line {
                function_id: self.function(site.function, site.file),
                line: site.line.into(),
                column: i64::from(site.start_col) + 1,
            })
            .collect();
        let address = selection.profile.locations.code(frame).0;
        let location = (!line.is_empty()).then(|| self.add(address, line));
        self.of_frame.insert(frame, location);
        location
    }

    fn unknown(&mut self) -> u64 {
        let frame = FrameId(u32::MAX);
        if let Some(&Some(location)) = self.of_frame.get(&frame) {
            return location;
        }
        let id = self.functions.len() as u64 + 1;
        let name = self.strings.index(UNKNOWN);
        self.functions.push(Function { id, name, system_name: name, filename: 0 });
        let location = self.add(0, vec![Line { function_id: id, line: 0, column: 0 }]);
        self.of_frame.insert(frame, Some(location));
        location
    }

    fn add(&mut self, address: u64, line: Vec<Line>) -> u64 {
        let id = self.locations.len() as u64 + 1;
        self.locations.push(Location { id, mapping_id: 1, address, line });
        id
    }

    fn function(&mut self, function: FunctionId, file: FileId) -> u64 {
        if let Some(&id) = self.of_function.get(&(function, file)) {
            return id;
        }
        let naming = &self.selection.naming;
        let id = self.functions.len() as u64 + 1;
        self.functions.push(Function {
            id,
            name: self.strings.index(naming.function(function)),
            system_name: self.strings.index(&naming.raw(function)),
            filename: self.strings.index(&naming.file(file)),
        });
        self.of_function.insert((function, file), id);
        id
    }
}
