//! Rows of a trace: frames, callstacks, samples, blocks, live memory over time.

use std::collections::HashSet;

use memtrail_profile::Profile;
use memtrail_profile::blocks::Row;
use memtrail_profile::estimate::Sum;
use memtrail_profile::filter::names::displayed;
use memtrail_profile::sites::{By, Key, Places};
use memtrail_trace::{FrameId, FunctionId, Site, Source, StackId};

use crate::error::Error;
use crate::files::RecordingFiles;
use crate::pseudonym::Names;
use crate::schema::Table;
use crate::value::{Value, int, maybe};

/// Moments of live memory, at most.
const MOMENTS: usize = 1000;
/// Name of a function that is unknown.
const UNKNOWN: &str = "[unknown]";

/// Resident memory at a moment.
#[derive(Clone, Copy, Debug)]
pub struct ResidentMoment {
    /// Microseconds since the start.
    pub elapsed_us: u64,
    /// Bytes.
    pub rss: u64,
}

/// Writes the tables of a trace.
///
/// # Errors
/// If a file cannot be written.
pub fn write(
    files: &mut RecordingFiles,
    recording: i64,
    profile: &Profile,
    resident: &[ResidentMoment],
    names: Names<'_>,
) -> Result<(), Error> {
    let trace = Trace { recording, profile, names, functions: displayed(&profile.locations) };
    let frames = trace.frames(files)?;
    let totals = trace.totals();
    let stacks = trace.stack_ids(&frames);
    trace.callstacks(files, &frames, &stacks, &totals)?;
    trace.samples(files, &stacks, &totals)?;
    trace.blocks(files, &stacks)?;
    trace.live_series(files, resident)
}

struct Trace<'a> {
    recording: i64,
    profile: &'a Profile,
    names: Names<'a>,
    functions: Vec<String>,
}

/// Sums of a callstack: of all its blocks, and of those that are in use at the end.
#[derive(Clone, Copy, Default)]
struct Totals {
    allocated: Sum,
    in_use: Sum,
}

/// A function at a place, as it is written.
struct Place<'t> {
    function: std::borrow::Cow<'t, str>,
    file: String,
    line: u32,
    column: u16,
}

impl Trace<'_> {
    fn function(&self, function: FunctionId) -> std::borrow::Cow<'_, str> {
        let name = self.functions.get(function.0 as usize).map_or(UNKNOWN, String::as_str);
        self.names.function(name)
    }

    fn place(&self, site: Site) -> Place<'_> {
        let file = String::from_utf8_lossy(self.profile.locations.files().get(site.file));
        Place {
            function: self.function(site.function),
            file: self.names.file(&file).into_owned(),
            line: site.line,
            column: site.start_col,
        }
    }

    /// Writes each frame once; returns the id of each. Frames of the same content are one.
    fn frames(&self, files: &mut RecordingFiles) -> Result<Vec<i64>, Error> {
        let locations = &self.profile.locations;
        let (mut ids, mut written) = (Vec::new(), HashSet::new());
        for frame in (0..locations.frames() as u32).map(FrameId) {
            // The innermost function first, as in pprof.
            let mut places: Vec<Place<'_>> =
                locations.at(frame).iter().rev().map(|site| self.place(*site)).collect();
            if places.is_empty() {
                let (function, file) = (UNKNOWN.into(), String::new());
                places.push(Place { function, file, line: 0, column: 0 });
            }
            let mut content = Vec::new();
            for place in &places {
                content.extend([place.function.to_string(), place.file.clone()]);
                content.extend([place.line.to_string(), place.column.to_string()]);
            }
            let texts: Vec<&str> = content.iter().map(String::as_str).collect();
            let id = self.names.hasher().of_texts(&texts);
            ids.push(id);
            if !written.insert(id) {
                continue;
            }
            for (index, place) in places.iter().enumerate() {
                let row = [
                    Value::Int(id),
                    int(index as u64),
                    Value::Text(&place.function),
                    Value::Text(&place.file),
                    int(place.line.into()),
                    int(place.column.into()),
                ];
                files.row(Table::Frames, &row)?;
            }
        }
        Ok(ids)
    }

    /// The id of each callstack: a hash of its frames.
    fn stack_ids(&self, frames: &[i64]) -> Vec<i64> {
        let stacks = &self.profile.stacks;
        let mut ids = vec![0; stacks.len()];
        // A callstack comes after that of its callers.
        for stack in 1..stacks.len() as u32 {
            let id = StackId(stack);
            let frame = frames.get(stacks.frame(id).0 as usize).copied().unwrap_or_default();
            let callers = ids.get(stacks.parent(id).0 as usize).copied().unwrap_or_default();
            ids[stack as usize] = self.names.hasher().of_pair(callers, frame);
        }
        ids
    }

    fn totals(&self) -> Vec<Totals> {
        let Profile { blocks, estimator, .. } = self.profile;
        let mut totals = vec![Totals::default(); self.profile.stacks.len()];
        for row in blocks.rows() {
            let Some(total) = totals.get_mut(blocks.stack(row).0 as usize) else { continue };
            estimator.add_row(&mut total.allocated, blocks, row);
            if blocks.collected(row).is_none() {
                estimator.add_row(&mut total.in_use, blocks, row);
            }
        }
        totals
    }

    fn callstacks(
        &self,
        files: &mut RecordingFiles,
        frames: &[i64],
        stacks: &[i64],
        totals: &[Totals],
    ) -> Result<(), Error> {
        let profile = self.profile;
        let places = Places::new(&profile.locations, By::Site);
        let mut written = HashSet::new();
        let mut path = Vec::new();
        for (stack, id) in allocating(stacks, totals) {
            if !written.insert(id) {
                continue;
            }
            path.clear();
            let frame = |frame: FrameId| frames.get(frame.0 as usize).copied().unwrap_or_default();
            path.extend(profile.stacks.path(stack).map(frame));
            let key = places.keys().get(places.of_stack(profile, stack)).copied();
            let site = match key {
                Some(Key::Site(function, file, line)) => {
                    let name = String::from_utf8_lossy(profile.locations.files().get(file));
                    (self.function(function), self.names.file(&name).into_owned(), line)
                }
                _ => (UNKNOWN.into(), String::new(), 0),
            };
            let row = [
                Value::Int(id),
                Value::Ints(&path),
                Value::Text(&site.0),
                Value::Text(&site.1),
                int(site.2.into()),
            ];
            files.row(Table::Callstacks, &row)?;
        }
        Ok(())
    }

    /// A row for each callstack. Callstacks of the same content are one.
    fn samples(
        &self,
        files: &mut RecordingFiles,
        stacks: &[i64],
        totals: &[Totals],
    ) -> Result<(), Error> {
        let mut rows: Vec<(i64, Totals)> =
            allocating(stacks, totals).map(|(stack, id)| (id, totals[stack.0 as usize])).collect();
        rows.sort_by_key(|(id, _)| *id);
        rows.dedup_by(|more, kept| {
            let is_same = more.0 == kept.0;
            if is_same {
                kept.1.allocated.add(&more.1.allocated);
                kept.1.in_use.add(&more.1.in_use);
            }
            is_same
        });
        for (stack, Totals { allocated, in_use }) in &rows {
            let [a, b, c, d] = self.figures(allocated);
            let [e, f, g, h] = self.figures(in_use);
            let start = [Value::Int(self.recording), Value::Int(*stack), int(allocated.recorded)];
            let [x, y, z] = start;
            files.row(Table::Samples, &[x, y, z, a, b, c, d, e, f, g, h])?;
        }
        Ok(())
    }

    /// Bytes, their variance, blocks, their variance.
    fn figures(&self, sum: &Sum) -> [Value<'static>; 4] {
        let (bytes, blocks) =
            (self.profile.estimator.bytes(sum), self.profile.estimator.blocks(sum));
        [bytes.value, bytes.stderr.powi(2), blocks.value, blocks.stderr.powi(2)].map(Value::Float)
    }

    fn blocks(&self, files: &mut RecordingFiles, stacks: &[i64]) -> Result<(), Error> {
        let Profile { blocks, estimator, threads, .. } = self.profile;
        let thread = |row: Row| threads.as_ref().and_then(|threads| threads.of(row));
        for row in blocks.rows() {
            let mut sum = Sum::default();
            estimator.add_row(&mut sum, blocks, row);
            let [a, b, c, d] = self.figures(&sum);
            let stack = stacks.get(blocks.stack(row).0 as usize).copied().unwrap_or_default();
            // Names of threads may hold anything.
            let thread = thread(row).filter(|name| !name.is_empty() && self.names.are_real());
            let row = [
                Value::Int(self.recording),
                Value::Int(stack),
                int(blocks.allocated(row).0),
                maybe(blocks.promoted(row).map(|time| time.0)),
                maybe(blocks.collected(row).map(|time| time.0)),
                int(blocks.length(row).0),
                Value::Text(match blocks.source(row) {
                    Source::Minor => "minor",
                    Source::Major => "major",
                    Source::External => "external",
                }),
                int(blocks.domain(row).0.into()),
                thread.into(),
                int(blocks.samples(row)),
                int(blocks.halvings(row).into()),
                a,
                b,
                c,
                d,
            ];
            files.row(Table::Blocks, &row)?;
        }
        Ok(())
    }

    fn live_series(
        &self,
        files: &mut RecordingFiles,
        resident: &[ResidentMoment],
    ) -> Result<(), Error> {
        let start = self.profile.info.start.0;
        let time = |elapsed: u64| int(start.saturating_add(elapsed).saturating_mul(1000));
        let bytes = |samples: u64| Value::Float(self.profile.estimator.bytes_of(samples));
        let recording = Value::Int(self.recording);
        for point in self.profile.live_series.points(MOMENTS) {
            let [minor, major, external] = [point.minor, point.major, point.external].map(bytes);
            let row = [recording, time(point.time.0), minor, major, external, Value::Null];
            files.row(Table::LiveSeries, &row)?;
        }
        for moment in resident {
            let null = Value::Null;
            let row = [recording, time(moment.elapsed_us), null, null, null, int(moment.rss)];
            files.row(Table::LiveSeries, &row)?;
        }
        Ok(())
    }
}

/// The callstacks with blocks, and their ids.
fn allocating<'s>(
    stacks: &'s [i64],
    totals: &'s [Totals],
) -> impl Iterator<Item = (StackId, i64)> + 's {
    let all = (0..).map(StackId).zip(stacks.iter().zip(totals));
    all.filter(|(_, (_, total))| total.allocated.recorded > 0).map(|(stack, (id, _))| (stack, *id))
}
