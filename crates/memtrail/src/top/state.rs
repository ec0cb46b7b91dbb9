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
}

impl Tab {
    /// In the order of their keys.
    pub(super) const ALL: [Self; 3] = [Self::Sites, Self::Owners, Self::Gc];

    /// What it is called.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Sites => "sites",
            Self::Owners => "owners",
            Self::Gc => "GC",
        }
    }

    /// How many columns it has that rows can be put in order by, the name among them.
    pub(super) const fn columns(self) -> usize {
        match self {
            Self::Sites => 6,
            Self::Owners => 5,
            Self::Gc => 0,
        }
    }

    const fn place(self) -> usize {
        match self {
            Self::Sites => 0,
            Self::Owners => 1,
            Self::Gc => 2,
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

/// What is shown, and how.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) tab: Tab,
    pub(super) by: By,
    orders: [Order; 3],
    /// Only rows with this in their name.
    pub(super) filter: String,
    /// Whether the filter is being typed.
    pub(super) is_typing: bool,
    /// Rows above the first that is shown.
    pub(super) skipped: usize,
    pub(super) is_help: bool,
    message: Option<(String, Option<Instant>)>,
}

impl State {
    pub(super) fn new(by: By) -> Self {
        let order = |column| Order { column, descending: true };
        Self {
            tab: Tab::Sites,
            by,
            // What changed most, and what owns most.
            orders: [order(1), order(0), order(0)],
            filter: String::new(),
            is_typing: false,
            skipped: 0,
            is_help: false,
            message: None,
        }
    }

    /// The order of the table that is shown.
    pub(super) const fn order(&self) -> Order {
        self.orders[self.tab.place()]
    }

    /// Shows another table.
    pub(super) fn show(&mut self, tab: Tab) {
        (self.tab, self.skipped) = (tab, 0);
    }

    /// Shows the table so many further on.
    pub(super) fn turn(&mut self, by: usize) {
        self.show(Tab::ALL[(self.tab.place() + by) % Tab::ALL.len()]);
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

    /// Says nothing more.
    pub(super) fn silence(&mut self) {
        self.message = None;
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
        let mut state = State::new(By::Site);
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
    fn filters_ignore_case_unless_they_have_a_capital_letter() {
        let mut state = State::new(By::Site);
        assert!(state.keeps("Cache.load"));
        "cache\u{7}".chars().for_each(|letter| state.type_in(letter));
        assert!(state.keeps("Cache.load") && !state.keeps("List.map"));
        state.filter = "Load".into();
        assert!(!state.keeps("Cache.load"));
    }

    #[test]
    fn messages_go_by_themselves_or_stay() {
        let mut state = State::new(By::Site);
        let later = Instant::now() + 2 * MESSAGE;
        state.say("a snapshot");
        assert_eq!(state.message(Instant::now()), Some("a snapshot"));
        assert_eq!(state.message(later), None);
        state.say_on("the page");
        assert_eq!(state.message(later), Some("the page"));
        state.silence();
        assert_eq!(state.message(later), None);
    }
}
