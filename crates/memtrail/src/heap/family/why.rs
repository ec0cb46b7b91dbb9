//! `memtrail why` of a family: what retains what a function allocated in all processes.

use std::collections::HashMap;
use std::process::ExitCode;

use memtrail_engine::heap::WhyResponse;
use memtrail_engine::references::ReferrersResponse;
use memtrail_heap::Bytes;
use memtrail_text::rounded::{count, grouped, percent};
use serde::Serialize;

use super::draw_end;
use super::estimates::Alive;
use super::parts::{Parts, Summed};
use crate::canvas::{Canvas, PLAIN};
use crate::error::Failure;
use crate::heap::table::Table;
use crate::heap::title::Title;
use crate::heap::why::{self, Answer, Args, OF_MALLOC, stacks};
use crate::limit::Limit;
use crate::recording_source::Fitting;

/// Sums over all processes.
#[derive(Default, Serialize)]
struct Why {
    names: Vec<String>,
    are_callers: bool,
    are_closures: bool,
    /// What is alive in OCaml's heaps.
    alive: Alive,
    owners: Vec<Owner>,
    /// Owners that `--limit` left out.
    left_out: usize,
    /// What is alive in memory from `malloc`, if that was looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    malloc: Option<Alive>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

/// Roots of the same kind, name and type in all processes.
#[derive(Serialize)]
struct Owner {
    kind: &'static str,
    name: String,
    r#type: Option<String>,
    position: Option<String>,
    alive: Alive,
    share: f64,
    processes: Vec<Part>,
    #[serde(skip)]
    title: Title,
}

#[derive(Serialize)]
struct Part {
    recording: String,
    alive: Alive,
}

/// What retains it.
pub(in crate::heap) fn why(args: &Args, members: &[Fitting]) -> Result<ExitCode, Failure> {
    let (mut parts, mut read) = Parts::find(members, size, |member, read| {
        let found = why::find(args, &member.path, usize::MAX)?;
        read.damage.extend(found.damage);
        read.judge(found.verdict);
        read.note(found.notes);
        Ok(found.answer)
    })?;
    // What functions allocated, then what their callees did, then their closures; the whole name before a part of others.
    parts.keep_lowest(|answer| {
        let (names, are_closures, are_callers) = match answer {
            Answer::Heap(both) => {
                let why = &both.answer;
                (&why.names, why.are_closures, why.are_callers)
            }
            Answer::Malloc(found) => (&found.names, false, found.are_callers),
        };
        let is_whole = args.name.as_ref().is_none_or(|name| names.contains(name));
        (are_closures, are_callers, !is_whole)
    });
    if let Some(format) = args.format {
        let heaps = parts.all.iter().filter_map(|part| match &part.answer {
            Answer::Heap(both) => Some((Some(part.process.name.as_str()), &both.answer)),
            Answer::Malloc(_) => None,
        });
        let heaps: Vec<(Option<&str>, &WhyResponse)> = heaps.collect();
        stacks::write(args, format, &heaps)?;
        return Ok(read.code.unwrap_or(ExitCode::SUCCESS));
    }
    let Limit(limit) = args.limit;
    let sum = sum(&parts, limit, read.take_notes());
    for part in &mut parts.all {
        shorten(&mut part.answer, limit);
    }
    let answer = Summed { sum, parts };
    read.put(&args.form, &answer, |canvas| {
        draw(canvas, args, &answer.sum, answer.parts.all.len());
        canvas.gap();
        answer.parts.draw(canvas, |canvas, of| why::draw(canvas, args, of));
    })
}

/// What is alive, rounded: a process without any is not drawn.
fn size(answer: &Answer) -> Bytes {
    let of_malloc = |found: &ReferrersResponse| found.alive.bytes.value;
    let bytes = match answer {
        Answer::Heap(both) => {
            let malloc = both.malloc.as_ref().map_or(0.0, of_malloc);
            both.answer.alive.bytes.value + malloc
        }
        Answer::Malloc(found) => of_malloc(found),
    };
    Bytes(bytes.round() as u64)
}

/// Leaves so many rows.
fn shorten(answer: &mut Answer, limit: usize) {
    let malloc = match answer {
        Answer::Heap(both) => {
            let why = &mut both.answer;
            why.owners.truncate(limit);
            both.left_out = why.owner_count.saturating_sub(why.owners.len());
            why.paths.truncate(limit);
            both.malloc.as_mut()
        }
        Answer::Malloc(found) => Some(found),
    };
    if let Some(found) = malloc {
        found.paths.truncate(limit);
    }
}

fn sum(parts: &Parts<Answer>, limit: usize, notes: Vec<String>) -> Why {
    let mut sum = Why { notes, ..Why::default() };
    let mut places: HashMap<(&str, &str, Option<&str>), usize> = HashMap::new();
    for part in &parts.all {
        let (heap, malloc) = match &part.answer {
            Answer::Heap(both) => (Some(&both.answer), both.malloc.as_ref()),
            Answer::Malloc(found) => (None, Some(found)),
        };
        let of_heap = heap.iter().flat_map(|why| &why.names);
        for name in of_heap.chain(malloc.iter().flat_map(|found| &found.names)) {
            if !sum.names.contains(name) {
                sum.names.push(name.clone());
            }
        }
        if let Some(found) = malloc {
            sum.malloc.get_or_insert_default().add((&found.alive).into());
        }
        let Some(why) = heap else { continue };
        (sum.are_callers, sum.are_closures) = (why.are_callers, why.are_closures);
        sum.alive.add((&why.alive).into());
        for row in &why.owners {
            let alive = Alive::from(&row.alive);
            let owners = &mut sum.owners;
            let key = (row.kind, row.name.as_str(), row.r#type.as_deref());
            let place = *places.entry(key).or_insert_with(|| {
                owners.push(Owner {
                    kind: row.kind,
                    name: row.name.clone(),
                    r#type: row.r#type.clone(),
                    position: row.position.clone(),
                    alive: Alive::default(),
                    share: 0.0,
                    processes: Vec::new(),
                    title: why::titled(row),
                });
                owners.len() - 1
            });
            let owner = &mut owners[place];
            owner.alive.add(alive);
            // Several roots of a process may be called so.
            let recording = &part.process.recording;
            match owner.processes.last_mut().filter(|last| last.recording == *recording) {
                Some(last) => last.alive.add(alive),
                None => owner.processes.push(Part { recording: recording.clone(), alive }),
            }
        }
    }
    let all = sum.alive;
    sum.owners.sort_by_cached_key(|owner| (owner.alive.descending(), owner.name.clone()));
    sum.left_out = sum.owners.split_off(sum.owners.len().min(limit)).len();
    for owner in &mut sum.owners {
        owner.share = owner.alive.share_of(all);
        owner.processes.sort_by_key(|part| part.alive.descending());
    }
    sum
}

fn draw(canvas: &mut Canvas, args: &Args, why: &Why, processes: usize) {
    why::draw_title(canvas, args, &why.names, [why.are_closures, why.are_callers]);
    let within = match processes {
        1 => "1 process".to_owned(),
        number => format!("{} processes", grouped(number as u64)),
    };
    if why.alive.bytes.value > 0.0 {
        let size = why.alive.text();
        let blocks = count(why.alive.blocks.value);
        let text = format!("{size} alive in {within}, in {blocks} blocks");
        canvas.paragraph(PLAIN, 0, &text);
    }
    if let Some(malloc) = &why.malloc {
        let text = format!("{OF_MALLOC}: {} alive in {within}", malloc.text());
        canvas.paragraph(PLAIN, 0, &text);
    }
    if !why.owners.is_empty() {
        canvas.gap();
        let mut table = Table::new(&["alive", "", "processes"], "owned by");
        for owner in &why.owners {
            let figures = vec![
                owner.alive.text(),
                percent(owner.share),
                grouped(owner.processes.len() as u64),
            ];
            table.row(figures, owner.title.clone());
        }
        table.print(canvas);
    }
    draw_end(canvas, why.left_out, &why.notes);
}
