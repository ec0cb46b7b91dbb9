//! What several processes have live together.

use std::collections::HashMap;

use memtrail_order::SortRows as _;
use memtrail_profile::Caveats;
use memtrail_profile::estimate::Estimate;

use super::{LiveFigures, LiveSite, LiveSites, MAX_ROWS};
use crate::describe::State;

impl LiveFigures {
    const ZERO: Self = {
        let none = Estimate::exact(0.0);
        Self {
            live: none,
            change: none,
            allocated: none,
            freed: none,
            blocks: none,
            sampled: 0,
            age: None,
        }
    };

    /// Adds those of blocks that are not among these.
    fn add(&mut self, other: &Self) {
        let ages = [*self, *other].map(|of| of.age.map_or(0.0, |age| age * of.live.value));
        let live = self.live.value + other.live.value;
        self.age = (live > 0.0).then(|| (ages[0] + ages[1]) / live);
        self.live += other.live;
        self.change += other.change;
        self.allocated += other.allocated;
        self.freed += other.freed;
        self.blocks += other.blocks;
        self.sampled += other.sampled;
    }
}

impl LiveSites {
    /// The sum over processes, all of the same moment, which is `at` on the clock of all of them. Places of the
    /// same name and position are one.
    #[must_use]
    pub fn sum<'a>(
        program: String,
        at: f64,
        window: f64,
        parts: impl Iterator<Item = &'a Self>,
    ) -> Self {
        let none = Estimate::default();
        let mut sum = Self {
            program,
            state: State::Ended,
            outcome: None,
            at,
            window: window.clamp(0.0, at.max(0.0)),
            all: LiveFigures::ZERO,
            promoted: none,
            total: none,
            rows: Vec::new(),
            count: 0,
            caveats: Caveats::default(),
        };
        let mut places: HashMap<(&str, Option<&str>, Option<u32>), usize> = HashMap::new();
        for part in parts {
            if part.state == State::Growing {
                sum.state = State::Growing;
            }
            sum.all.add(&part.all);
            sum.promoted += part.promoted;
            sum.total += part.total;
            sum.caveats = with(sum.caveats, &part.caveats);
            // Rows that a part left out may be the same places as those of another.
            sum.count += part.count - part.rows.len();
            for row in &part.rows {
                let place = (row.name.as_str(), row.file.as_deref(), row.line);
                let number = *places.entry(place).or_insert(sum.rows.len());
                match sum.rows.get_mut(number) {
                    Some(known) => known.figures.add(&row.figures),
                    None => sum.rows.push(row.clone()),
                }
            }
        }
        sum.count += sum.rows.len();
        sum.keep_most();
        sum
    }

    /// Of very many rows those that have or changed most; those that grew most first.
    fn keep_most(&mut self) {
        let weight = |row: &LiveSite| {
            let of = &row.figures;
            of.live.value.max(of.allocated.value).max(of.change.value.abs())
        };
        if self.rows.len() > MAX_ROWS {
            self.rows.sort_rows_by(|a, b| weight(b).total_cmp(&weight(a)));
            self.rows.truncate(MAX_ROWS);
        }
        let key = |row: &LiveSite| (row.figures.change.value, row.figures.live.value);
        self.rows.sort_rows_by(|a, b| {
            let (a, b) = (key(a), key(b));
            b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1))
        });
        let live = self.all.live.value;
        for row in &mut self.rows {
            row.share = if live > 0.0 { row.figures.live.value / live } else { 0.0 };
        }
    }
}

/// The first of each that there is: those of processes of one run are alike.
fn with(known: Caveats, other: &Caveats) -> Caveats {
    Caveats {
        estimates: known.estimates.or_else(|| other.estimates.clone()),
        promoted: known.promoted.or_else(|| other.promoted.clone()),
        external: known.external.or_else(|| other.external.clone()),
    }
}
