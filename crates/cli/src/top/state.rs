//! What the user chose: which table, in which order, with which filter, from which row on.

use std::time::{Duration, Instant};

use memtrail_engine::query::By;

/// How long a message stays.
const MESSAGE: Duration = Duration::from_secs(8);
/// Characters of a filter, at most.
const MAX_FILTER: usize = 200;

/// A table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tab {
    /// What is live, by what allocated it.
    Sites,
    /// What owners have.
    Owners,
    /// What the collector does.
    Gc,
    /// The processes of a family.
    Processes,
}

impl Tab {
    /// In the order of their keys.
    pub(super) const ALL: [Self; 4] = [Self::Sites, Self::Owners, Self::Gc, Self::Processes];

    /// Those of one process.
    pub(super) const OF_ONE: &[Self] = Self::ALL.split_at(3).0;

    /// What it is called.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Sites => "sites",
            Self::Owners => "owners",
            Self::Gc => "GC",
            Self::Processes => "processes",
        }
    }

    /// How many columns it has that rows can be put in order by, the name among them.
    pub(super) const fn columns(self) -> usize {
        match self {
            Self::Sites | Self::Owners | Self::Processes => 6,
            Self::Gc => 0,
        }
    }

    const fn place(self) -> usize {
        match self {
            Self::Sites => 0,
            Self::Owners => 1,
            Self::Gc => 2,
            Self::Processes => 3,
        }
    }
}

/// The column that rows are in the order of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Order {
    /// Of those of the table, from the left.
    pub(super) column: usize,
    /// Whether the largest come first.
    pub(super) descending: bool,
}

/// The output that tables are drawn for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Medium {
    /// A terminal, with keys.
    Screen,
    /// A text that is printed once.
    Text,
}

/// What is shown, and how.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) tab: Tab,
    pub(super) by: By,
    orders: [Order; 4],
    /// Only rows with this in their name.
    pub(super) filter: String,
    /// Whether the filter is being typed.
    pub(super) is_typing: bool,
    /// Rows above the first that is shown.
    pub(super) skipped: usize,
    pub(super) is_help: bool,
    pub(super) medium: Medium,
    is_family: bool,
    /// The number of the process that is shown, of a family.
    pub(super) opened: Option<usize>,
    /// The number of the process whose row is marked.
    pub(super) marked: Option<usize>,
    /// The numbers of those in the table of processes, as it was last drawn.
    pub(super) processes: Vec<usize>,
    message: Option<(String, Option<Instant>)>,
}

impl State {
    pub(super) fn new(by: By, is_family: bool) -> Self {
        let order = |column| Order { column, descending: true };
        Self {
            tab: if is_family { Tab::Processes } else { Tab::Sites },
            by,
            // What changed most, and what owns most.
            orders: [order(1), order(0), order(0), order(0)],
            filter: String::new(),
            is_typing: false,
            skipped: 0,
            is_help: false,
            medium: Medium::Screen,
            is_family,
            opened: None,
            marked: None,
            processes: Vec::new(),
            message: None,
        }
    }

    /// The tables that there are.
    pub(super) fn tabs(&self) -> &'static [Tab] {
        if self.is_family && self.opened.is_none() { &Tab::ALL } else { Tab::OF_ONE }
    }

    /// The order of the table that is shown.
    pub(super) const fn order(&self) -> Order {
        self.orders[self.tab.place()]
    }

    /// Shows another table, if there is one.
    pub(super) fn show(&mut self, tab: Tab) {
        if self.tabs().contains(&tab) {
            (self.tab, self.skipped) = (tab, 0);
        }
    }

    /// Shows the table so many further on, or before if that is negative.
    pub(super) fn turn(&mut self, by: isize) {
        let tabs = self.tabs();
        let place = self.tab.place().cast_signed() + by;
        self.show(tabs[place.rem_euclid(tabs.len().cast_signed()).cast_unsigned()]);
    }

    /// Shows the process that is marked, alone; says whether there is one.
    pub(super) fn open(&mut self) -> bool {
        let opened = self.marked.filter(|_| self.tab == Tab::Processes);
        if opened.is_some() {
            self.opened = opened;
            self.show(Tab::Sites);
        }
        opened.is_some()
    }

    /// Shows all processes again; says whether one was shown.
    pub(super) fn close(&mut self) -> bool {
        let was_opened = self.opened.take().is_some();
        if was_opened {
            self.show(Tab::Processes);
        }
        was_opened
    }

    /// Goes so many rows down, or up: marks another one where rows are marked.
    pub(super) fn go(&mut self, rows: isize) {
        if self.tab != Tab::Processes {
            let skipped = self.skipped.min(isize::MAX.cast_unsigned());
            self.skipped = skipped.saturating_add_signed(rows);
            return;
        }
        let place = self.processes.iter().position(|number| Some(*number) == self.marked);
        let place = place.unwrap_or(0).saturating_add_signed(rows);
        let last = self.processes.len().saturating_sub(1);
        self.marked = self.processes.get(place.min(last)).copied();
    }

    /// Puts rows in the order of the column so many further on.
    pub(super) fn next_column(&mut self, by: usize) {
        let columns = self.tab.columns();
        if columns > 0 {
            let order = &mut self.orders[self.tab.place()];
            order.column = (order.column + by) % columns;
            // Names begin with A.
            order.descending = order.column + 1 < columns;
            self.skipped = 0;
        }
    }

    /// Puts rows in the opposite order.
    pub(super) fn reverse(&mut self) {
        let order = &mut self.orders[self.tab.place()];
        order.descending = !order.descending;
        self.skipped = 0;
    }

    /// Rows for another sort of place.
    pub(super) fn next_by(&mut self) {
        self.by = match self.by {
            By::Site => By::Function,
            By::Function => By::Module,
            By::Module => By::File,
            By::File => By::Site,
        };
        self.skipped = 0;
    }

    /// Adds to the filter.
    pub(super) fn type_in(&mut self, letter: char) {
        if !letter.is_control() && self.filter.chars().count() < MAX_FILTER {
            self.filter.push(letter);
            self.skipped = 0;
        }
    }

    /// Whether a name has the filter's text; case matters if that has a capital letter.
    pub(super) fn keeps(&self, name: &str) -> bool {
        if self.filter.chars().any(char::is_uppercase) {
            name.contains(&self.filter)
        } else {
            name.to_lowercase().contains(&self.filter)
        }
    }

    /// Says something for a while.
    pub(super) fn say(&mut self, text: impl Into<String>) {
        self.message = Some((text.into(), Some(Instant::now() + MESSAGE)));
    }

    /// Says something until something else is said, or the user presses Escape.
    pub(super) fn say_on(&mut self, text: impl Into<String>) {
        self.message = Some((text.into(), None));
    }

    /// Says nothing more, if anything was still said.
    pub(super) fn silence(&mut self) -> bool {
        let was_said = self.message(Instant::now()).is_some();
        self.message = None;
        was_said
    }

    /// What is said at a moment.
    pub(super) fn message(&self, now: Instant) -> Option<&str> {
        let (text, until) = self.message.as_ref()?;
        until.is_none_or(|until| now < until).then_some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_keep_their_orders() {
        let mut state = State::new(By::Site, false);
        assert_eq!(state.order(), Order { column: 1, descending: true });
        state.next_column(4);
        assert_eq!(state.order(), Order { column: 5, descending: false });
        state.next_column(1);
        assert_eq!(state.order(), Order { column: 0, descending: true });
        state.turn(1);
        state.reverse();
        assert_eq!(state.order(), Order { column: 0, descending: false });
        state.turn(1);
        state.next_column(1);
        assert_eq!((state.tab, state.order().column), (Tab::Gc, 0));
        state.turn(1);
        assert_eq!(state.order(), Order { column: 0, descending: true });
    }

    #[test]
    fn processes_of_a_family_are_opened_and_left() {
        let mut state = State::new(By::Site, true);
        assert_eq!((state.tab, state.tabs().len(), state.open()), (Tab::Processes, 4, false));
        // As drawing leaves it.
        (state.processes, state.marked) = (vec![7, 3, 5], Some(7));
        state.go(1);
        assert_eq!(state.marked, Some(3));
        state.go(isize::MAX);
        assert_eq!(state.marked, Some(5));
        assert!(state.open());
        assert_eq!((state.opened, state.tab, state.tabs().len()), (Some(5), Tab::Sites, 3));
        state.show(Tab::Processes);
        assert_eq!(state.tab, Tab::Sites);
        state.turn(-1);
        assert_eq!(state.tab, Tab::Gc);
        state.go(isize::MAX);
        assert!(state.close() && !state.close());
        assert_eq!((state.opened, state.tab, state.marked), (None, Tab::Processes, Some(5)));
        state.go(isize::MIN);
        assert_eq!(state.marked, Some(7));
        // One that has gone.
        state.marked = Some(9);
        state.go(1);
        assert_eq!(state.marked, Some(3));
        state.processes.clear();
        state.go(1);
        assert_eq!(state.marked, None);
    }

    #[test]
    fn filters_ignore_case_unless_they_have_a_capital_letter() {
        let mut state = State::new(By::Site, false);
        assert!(state.keeps("Cache.load"));
        "cache\u{7}".chars().for_each(|letter| state.type_in(letter));
        assert!(state.keeps("Cache.load") && !state.keeps("List.map"));
        state.filter = "Load".into();
        assert!(!state.keeps("Cache.load"));
    }

    #[test]
    fn messages_go_by_themselves_or_stay() {
        let mut state = State::new(By::Site, false);
        let later = Instant::now() + 2 * MESSAGE;
        state.say("a snapshot");
        assert_eq!(state.message(Instant::now()), Some("a snapshot"));
        assert_eq!(state.message(later), None);
        state.say_on("the page");
        assert_eq!(state.message(later), Some("the page"));
        assert!(state.silence() && !state.silence());
        assert_eq!(state.message(later), None);
    }
}
