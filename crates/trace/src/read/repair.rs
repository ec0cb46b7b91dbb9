//! Reads file indices that over-large columns have damaged.
//!
//! memtrace up to 0.2.3 cuts columns to 12 bits and then writes them into 8 and 10. The bits that
//! are too many are ored into the field above: those of an end column beyond 1023 into the two low
//! bits of the file index. An index so damaged names another file, or announces a string that is
//! not there, and all that follows in the packet is misread.
//!
//! Only bits that are set can be wrong. So where the plain reading of a packet fails, the readings
//! with low bits cleared are tried, the latest location first, until the packet reads to its end:
//! first only where the end column is all ones (what the cut leaves of anything beyond 4095), then
//! everywhere. The search is bounded. Several readings may be possible; then names may be wrong.

use super::mtf::Shape;
use super::walk;
use crate::header::{Header, MEMTRACE_PACKET};
use crate::wire::{Cursor, TIME_BITS, event};

/// Locations that a search may read before it gives up.
const BUDGET: usize = 10_000;

/// The file index to take at a byte of the packet instead of the one that stands there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Override {
    pub(super) pos: usize,
    pub(super) index: u8,
}

/// How the locations of a packet are to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Plan {
    /// As they stand, or nothing better was found.
    Plain,
    /// With these indices replaced, in the order of the packet.
    Repaired(Vec<Override>),
}

/// Where a walk stands: enough to go on from here.
#[derive(Clone, Copy)]
struct State<'a> {
    at: Cursor<'a>,
    shape: Shape,
    /// Locations left of the current event.
    left: u8,
}

/// A location whose index may be damaged.
struct Choice<'a> {
    before: State<'a>,
    /// Low bits to clear, of those set.
    cleared: u8,
}

/// Finds how to read a packet from its first location event, at byte `pos`, on.
pub(super) fn plan(header: &Header, packet: &[u8], pos: usize, shape: Shape) -> Plan {
    let start = State { at: Cursor::at(packet, pos), shape, left: 0 };
    let times = (header.begin.0, header.end.0);
    if run(start, times, None, &mut BUDGET.clone()).is_some() {
        return Plan::Plain;
    }
    if packet.len() > MEMTRACE_PACKET {
        return Plan::Plain; // not by a writer with the bug
    }
    [true, false]
        .into_iter()
        .find_map(|only_full| search(start, times, only_full))
        .map_or(Plan::Plain, Plan::Repaired)
}

fn search(start: State<'_>, times: (u64, u64), only_full: bool) -> Option<Vec<Override>> {
    let mut budget = BUDGET;
    let mut choices: Vec<Choice<'_>> = Vec::new();
    let mut state = start;
    loop {
        if run(state, times, Some((&mut choices, only_full)), &mut budget).is_some() {
            return Some(
                choices.iter().filter(|c| c.cleared != 0).filter_map(Choice::taken).collect(),
            );
        }
        // Back to the latest location that has another reading.
        state = loop {
            let choice = choices.last_mut()?;
            match choice.next() {
                Some(state) => break state,
                None => drop(choices.pop()),
            }
        };
        budget.checked_sub(1)?;
        if budget == 0 {
            return None;
        }
    }
}

/// Walks to the end of the packet; `None` if there is no such reading. Notes choices on the way.
fn run<'a>(
    mut state: State<'a>,
    times: (u64, u64),
    mut choices: Option<(&mut Vec<Choice<'a>>, bool)>,
    budget: &mut usize,
) -> Option<()> {
    loop {
        while state.left > 0 {
            *budget = budget.checked_sub(1)?;
            let before = state;
            let word = location_word(&mut state.at)?;
            if let Some((choices, only_full)) = &mut choices
                && word.index & 3 != 0
                && (word.end_is_full || !*only_full)
            {
                choices.push(Choice { before, cleared: 0 });
            }
            name(&mut state, word.index, word.function)?;
        }
        if state.at.is_empty() {
            return Some(());
        }
        let head = state.at.u32()?;
        let time = walk::time_of(head, times.0);
        if times.0 <= times.1 && time > times.1 {
            return None;
        }
        match head >> TIME_BITS {
            event::LOCATION => {
                state.at.u64()?;
                state.left = state.at.u8()?;
            }
            id => {
                walk::over(id, &mut state.at)?;
            }
        }
    }
}

struct Word {
    index: u8,
    function: u8,
    end_is_full: bool,
}

fn location_word(at: &mut Cursor<'_>) -> Option<Word> {
    let word = u64::from(at.u32()?) | u64::from(at.u16()?) << 32;
    Some(Word {
        index: (word >> 38 & 31) as u8,
        function: (word >> 43 & 31) as u8,
        end_is_full: word >> 28 & 0x3FF == 0x3FF,
    })
}

/// Reads the names of a location whose word has just been read.
fn name(state: &mut State<'_>, index: u8, function: u8) -> Option<()> {
    if index == 31 {
        state.at.string()?;
        state.shape.new_file();
    } else if !state.shape.file(index.into()) {
        return None;
    }
    if function == 31 {
        state.at.string()?;
        state.shape.new_function();
    } else if !state.shape.function(function.into()) {
        return None;
    }
    state.left -= 1;
    Some(())
}

/// The bits to clear after these have been tried. Most bits first: a low index is that of a file
/// used lately, which is the likeliest.
fn next_cleared(cleared: u8) -> Option<u8> {
    match cleared {
        0 => Some(3),
        3 => Some(2),
        2 => Some(1),
        _ => None,
    }
}

impl<'a> Choice<'a> {
    /// The state after the next reading of this location that is possible by itself.
    fn next(&mut self) -> Option<State<'a>> {
        let mut after_word = self.before;
        let word = location_word(&mut after_word.at)?;
        while let Some(cleared) = next_cleared(self.cleared) {
            self.cleared = cleared;
            if cleared & word.index == cleared {
                let mut state = after_word;
                if name(&mut state, word.index & !cleared, word.function).is_some() {
                    return Some(state);
                }
            }
        }
        None
    }

    fn taken(&self) -> Option<Override> {
        let word = location_word(&mut self.before.at.clone())?;
        Some(Override { pos: self.before.at.pos(), index: word.index & !self.cleared })
    }
}
