//! A filter made ready for one recording: moments are times, names are bits.

use std::fmt::Display;

use memtrail_trace::Bytes;

use super::condition::{Between, Clause, Collected, Condition, Died, FrameScope, Heap, Moment};
use super::conjunction::{Filter, FilterError};
use super::names::{FunctionSet, Meant, Wanted, displayed};
use super::verdicts::{Part, Verdicts};
use crate::profile::Profile;
use crate::time::Elapsed;

/// A filter that can be asked of one profile's rows, as long as the profile does not grow.
#[derive(Clone, Debug)]
pub struct Resolved {
    pub(super) heaps: Heaps,
    pub(super) conditions: Vec<ResolvedCondition>,
    pub(super) stacks: Option<Verdicts>,
    hidden: FunctionSet,
    collapsed: FunctionSet,
    /// The time of the last event.
    pub(super) end: Elapsed,
}

/// Which parts of memory are watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Heaps {
    pub(super) minor: bool,
    pub(super) major: bool,
    pub(super) external: bool,
}

/// A condition on a row that its backtrace does not decide.
#[derive(Clone, Debug)]
pub(super) struct ResolvedCondition {
    pub(super) not: bool,
    pub(super) kind: Kind,
}

/// Ranges are closed, with numbers as columns have them.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    Allocated(Vec<(u64, u64)>),
    /// Allocated at or before the second, collected after the first; `None` is before all time.
    Live(Vec<(Option<u64>, u64)>),
    Collected {
        never: bool,
        within: Vec<(u64, u64)>,
    },
    Lifetime(Vec<(u64, u64)>),
    /// In words, headers included.
    Size(Vec<(u64, u64)>),
    /// By the number of [`Died`], see [`died`].
    Died([bool; 4]),
    /// By the number of a domain.
    Domain(Vec<u16>),
    /// By the index of a thread.
    Thread(Vec<bool>),
}

/// The index of `Died` in tables.
pub(super) fn died(died: Died) -> usize {
    match died {
        Died::In(Heap::Minor) => 0,
        Died::In(Heap::Major) => 1,
        Died::In(Heap::External) => 2,
        Died::Never => 3,
    }
}

impl Profile {
    /// The beginning and the end of a time window that is written as in the condition `allocated:`.
    ///
    /// # Errors
    /// If it is no range of time, or ends before it begins.
    pub fn window(&self, text: &str) -> Result<(Elapsed, Elapsed), FilterError> {
        if text.trim() == ".." {
            return Ok((Elapsed(0), Elapsed(u64::MAX)));
        }
        let filter = Filter::parse(&[format!("allocated:{text}")])?;
        let resolved = filter.resolve(self)?;
        let range = resolved.conditions.iter().find_map(|condition| match &condition.kind {
            Kind::Allocated(ranges) => ranges.first().copied(),
            _ => None,
        });
        let (from, to) = range.unwrap_or((0, u64::MAX));
        Ok((Elapsed(from), Elapsed(to)))
    }
}

impl Filter {
    /// Looks up what the conditions name in a profile.
    ///
    /// # Errors
    /// If no memory would be watched, if a range ends before it begins, or if the recording does
    /// not say what a condition asks for.
    pub fn resolve(&self, profile: &Profile) -> Result<Resolved, FilterError> {
        let mut resolving = Resolving {
            profile,
            displayed: Vec::new(),
            heaps: Heaps { minor: true, major: true, external: true },
            conditions: Vec::new(),
            parts: Vec::new(),
            hidden: FunctionSet::default(),
            collapsed: FunctionSet::default(),
        };
        for (index, condition) in self.conditions().iter().enumerate() {
            resolving.condition(condition).map_err(|(message, hint)| FilterError {
                condition: index,
                at: None,
                message,
                hint: hint.map(str::to_owned),
            })?;
        }
        let Resolving { heaps, conditions, parts, hidden, collapsed, .. } = resolving;
        let stacks = (!parts.is_empty()).then(|| Verdicts::new(profile, &parts));
        Ok(Resolved { heaps, conditions, stacks, hidden, collapsed, end: profile.end })
    }
}

impl Resolved {
    /// The functions that `hide:` conditions leave out of paths.
    pub fn hidden(&self) -> &FunctionSet {
        &self.hidden
    }

    /// The functions of the modules that `collapse:` conditions make one node of paths.
    pub fn collapsed(&self) -> &FunctionSet {
        &self.collapsed
    }

    /// Whether all blocks are kept, as they are.
    pub fn is_everything(&self) -> bool {
        let all = Heaps { minor: true, major: true, external: true };
        self.heaps == all && self.conditions.is_empty() && self.stacks.is_none()
    }
}

struct Resolving<'a> {
    profile: &'a Profile,
    /// Empty until a condition names functions.
    displayed: Vec<String>,
    heaps: Heaps,
    conditions: Vec<ResolvedCondition>,
    parts: Vec<Part>,
    hidden: FunctionSet,
    collapsed: FunctionSet,
}

type Failure = (String, Option<&'static str>);

impl Resolving<'_> {
    fn condition(&mut self, condition: &Condition) -> Result<(), Failure> {
        let kind = match &condition.clause {
            Clause::Allocated(ranges) => Kind::Allocated(self.all(ranges)?),
            Clause::Live(ranges) => {
                let live = |range: &Between<Moment>| {
                    let Between { from, to } = self.range(range)?;
                    Ok((from.map(|from| from.0), to.map_or(u64::MAX, |to| to.0)))
                };
                Kind::Live(ranges.iter().map(live).collect::<Result<_, Failure>>()?)
            }
            Clause::Collected(values) => {
                let within = values.iter().filter_map(|value| match value {
                    Collected::Never => None,
                    Collected::Within(range) => Some(self.range(range).map(numbers)),
                });
                Kind::Collected {
                    never: values.contains(&Collected::Never),
                    within: within.collect::<Result<_, Failure>>()?,
                }
            }
            Clause::Lifetime(ranges) => {
                Kind::Lifetime(ranges.iter().map(|&range| numbers(range)).collect())
            }
            Clause::Size(ranges) => {
                let word = if self.profile.info.word_bits == 32 { 4 } else { 8 };
                let words = |range: &Between<Bytes>| {
                    let from = range.from.map_or(0, |from| from.0.div_ceil(word));
                    (from, range.to.map_or(u64::MAX, |to| to.0 / word))
                };
                Kind::Size(ranges.iter().map(words).collect())
            }
            Clause::Heap(heaps) => return self.watch(condition.not, heaps),
            Clause::Died(values) => {
                let mut wanted = [false; 4];
                for &value in values {
                    wanted[died(value)] = true;
                }
                Kind::Died(wanted)
            }
            Clause::Domain(domains) => {
                Kind::Domain(domains.iter().map(|domain| domain.0).collect())
            }
            Clause::Thread(names) => {
                let Some(threads) = &self.profile.threads else {
                    let message = "this recording does not say which thread allocated a block";
                    return Err((message.to_owned(), Some("use domain: or in: instead")));
                };
                let wanted = Wanted::new(names).map_err(bad_pattern)?;
                Kind::Thread(threads.names().iter().map(|name| wanted.any(&[name])).collect())
            }
            Clause::Process(names) => {
                let meant = Meant::processes(self.profile, names).map_err(bad_pattern)?;
                let Some(meant) = meant else {
                    let message = "this recording is of one process alone";
                    let hint = "a folder of several is what memtrail run --children leaves";
                    return Err((message.to_owned(), Some(hint)));
                };
                self.parts.push(Part { not: condition.not, which: FrameScope::Any, meant });
                return Ok(());
            }
            Clause::Frame(which, what, names) => {
                self.display();
                let locations = &self.profile.locations;
                let meant = Meant::new(locations, &self.displayed, *what, names);
                let meant = meant.map_err(bad_pattern)?;
                self.parts.push(Part { not: condition.not, which: *which, meant });
                return Ok(());
            }
            Clause::Hide(names) => {
                self.display();
                let hidden = FunctionSet::named(&self.profile.locations, &self.displayed, names)
                    .map_err(bad_pattern)?;
                self.hidden.add(&hidden);
                return Ok(());
            }
            Clause::Collapse(names) => {
                let collapsed =
                    FunctionSet::of_modules(&self.profile.locations, names).map_err(bad_pattern)?;
                self.collapsed.add(&collapsed);
                return Ok(());
            }
        };
        self.conditions.push(ResolvedCondition { not: condition.not, kind });
        Ok(())
    }

    fn display(&mut self) {
        if self.displayed.is_empty() {
            self.displayed = displayed(&self.profile.locations);
        }
    }

    fn watch(&mut self, not: bool, heaps: &[Heap]) -> Result<(), Failure> {
        let watched = &mut self.heaps;
        for (heap, watched) in [
            (Heap::Minor, &mut watched.minor),
            (Heap::Major, &mut watched.major),
            (Heap::External, &mut watched.external),
        ] {
            *watched &= heaps.contains(&heap) != not;
        }
        if watched.minor || watched.major || watched.external {
            return Ok(());
        }
        let hint = "give several heaps in one condition: heap:minor,major";
        Err(("all heaps are excluded".to_owned(), Some(hint)))
    }

    fn all(&self, ranges: &[Between<Moment>]) -> Result<Vec<(u64, u64)>, Failure> {
        ranges.iter().map(|range| self.range(range).map(numbers)).collect()
    }

    fn range(&self, range: &Between<Moment>) -> Result<Between<Elapsed>, Failure> {
        let Between { from, to } = *range;
        let [from, to] = [from, to].map(|moment| moment.map(|moment| self.moment(moment)));
        if let (Some(from), Some(to)) = (from, to)
            && from > to
        {
            let (from, to) = (from.seconds(), to.seconds());
            let message = format!("the range from {from} s to {to} s ends before it begins");
            return Err((message, None));
        }
        Ok(Between { from, to })
    }

    fn moment(&self, moment: Moment) -> Elapsed {
        let end = self.profile.end;
        match moment {
            Moment::Start => Elapsed(0),
            Moment::Peak => self.profile.live_series.peak().time,
            Moment::End => end,
            Moment::At(time) => time,
            Moment::Part(part) => {
                Elapsed((u128::from(end.0) * u128::from(part.0) / 1_000_000) as u64)
            }
        }
    }
}

fn bad_pattern(why: impl Display) -> Failure {
    (format!("regular expression: {why}"), None)
}

fn numbers(range: Between<Elapsed>) -> (u64, u64) {
    (range.from.map_or(0, |from| from.0), range.to.map_or(u64::MAX, |to| to.0))
}

/// Whether a number is in any of these ranges.
#[inline]
pub(super) fn within(ranges: &[(u64, u64)], value: u64) -> bool {
    ranges.iter().any(|&(from, to)| from <= value && value <= to)
}
