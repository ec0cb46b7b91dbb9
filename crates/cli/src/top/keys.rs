//! What a key does.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::state::{State, Tab};

/// What is to be done besides showing something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Nothing.
    Nothing,
    /// End.
    Quit,
    /// Ask the program for a snapshot.
    Snapshot,
    /// Open the viewer.
    View,
    /// Stop, as shells do it with Ctrl-Z.
    Suspend,
    /// Draw everything anew.
    Redraw,
    /// Ask for figures at once, as other ones are wanted.
    Refresh,
}

/// All keys, with what they do.
pub(super) const HELP: [(&str, &str); 14] = [
    ("1 2 3 4 Tab", "sites, owners, GC, processes"),
    ("Enter Esc", "one process of a family; all"),
    ("← →", "sort by another column"),
    ("r", "reverse the order"),
    ("b", "by site, function, module, file"),
    ("/", "only names with a text; Esc ends that"),
    ("↑ ↓ PgUp PgDn", "other rows"),
    ("Home End", "first, last row"),
    ("s", "take a heap snapshot"),
    ("v", "open the viewer"),
    ("Ctrl-L", "draw anew"),
    ("Ctrl-Z", "suspend"),
    ("?", "this list"),
    ("q Ctrl-C", "end; the program goes on"),
];

/// Takes in an event. `page` is how many rows the screen shows.
pub(super) fn handle(state: &mut State, event: &Event, page: usize) -> Action {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => pressed(state, *key, page),
        Event::Resize(..) => Action::Redraw,
        _ => Action::Nothing,
    }
}

fn pressed(state: &mut State, key: KeyEvent, page: usize) -> Action {
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return match key.code {
            KeyCode::Char('c' | 'd') => Action::Quit,
            KeyCode::Char('z') => Action::Suspend,
            KeyCode::Char('l') => Action::Redraw,
            _ => Action::Nothing,
        };
    }
    if state.is_typing {
        typed(state, key.code);
        return Action::Nothing;
    }
    let was_help = std::mem::take(&mut state.is_help);
    match key.code {
        KeyCode::Char('q') => return Action::Quit,
        KeyCode::Char('s') => return Action::Snapshot,
        KeyCode::Char('v') => return Action::View,
        KeyCode::Char('?' | 'h') | KeyCode::F(1) => state.is_help = !was_help,
        KeyCode::Char('1') => state.show(Tab::Sites),
        KeyCode::Char('2') => state.show(Tab::Owners),
        KeyCode::Char('3') => state.show(Tab::Gc),
        KeyCode::Char('4') => state.show(Tab::Processes),
        KeyCode::Tab => state.turn(1),
        KeyCode::BackTab => state.turn(-1),
        KeyCode::Right => state.next_column(1),
        KeyCode::Left => state.next_column(state.tab.columns().saturating_sub(1)),
        KeyCode::Char('r') => state.reverse(),
        KeyCode::Char('b') => {
            state.next_by();
            return Action::Refresh;
        }
        KeyCode::Char('/') => state.is_typing = true,
        KeyCode::Enter if state.open() => return Action::Refresh,
        KeyCode::Esc if was_help => {}
        KeyCode::Esc => {
            let has_filter = !std::mem::take(&mut state.filter).is_empty();
            if !state.silence() && !has_filter {
                state.close();
            }
        }
        KeyCode::Down | KeyCode::Char('j') => state.go(1),
        KeyCode::Up | KeyCode::Char('k') => state.go(-1),
        KeyCode::PageDown | KeyCode::Char(' ') => state.go(page.cast_signed()),
        KeyCode::PageUp => state.go(-page.cast_signed()),
        KeyCode::Home => state.go(isize::MIN),
        // As far as there are rows, which drawing finds out.
        KeyCode::End => state.go(isize::MAX),
        _ => {}
    }
    Action::Nothing
}

/// A key while the filter is typed.
fn typed(state: &mut State, key: KeyCode) {
    match key {
        KeyCode::Enter => state.is_typing = false,
        KeyCode::Esc => {
            state.is_typing = false;
            state.filter.clear();
        }
        KeyCode::Backspace => {
            state.filter.pop();
        }
        KeyCode::Char(letter) => state.type_in(letter),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use memtrail_engine::query::By;

    use super::*;

    fn press(state: &mut State, code: KeyCode) -> Action {
        handle(state, &Event::Key(KeyEvent::new(code, KeyModifiers::empty())), 10)
    }

    #[test]
    fn letters_are_text_while_a_filter_is_typed() {
        let mut state = State::new(By::Site, false);
        for letter in "/qsv".chars() {
            assert_eq!(press(&mut state, KeyCode::Char(letter)), Action::Nothing);
        }
        assert_eq!(state.filter, "qsv");
        press(&mut state, KeyCode::Backspace);
        press(&mut state, KeyCode::Enter);
        assert_eq!((state.filter.as_str(), state.is_typing), ("qs", false));
        assert_eq!(press(&mut state, KeyCode::Char('s')), Action::Snapshot);
        press(&mut state, KeyCode::Esc);
        assert_eq!(state.filter, "");
        assert_eq!(press(&mut state, KeyCode::Char('q')), Action::Quit);
    }

    #[test]
    fn control_c_ends_also_while_a_filter_is_typed() {
        let mut state = State::new(By::Site, false);
        press(&mut state, KeyCode::Char('/'));
        let key = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(handle(&mut state, &Event::Key(key), 10), Action::Quit);
    }

    #[test]
    fn any_key_ends_the_help_and_does_what_it_does() {
        let mut state = State::new(By::Site, false);
        press(&mut state, KeyCode::Char('?'));
        assert!(state.is_help);
        press(&mut state, KeyCode::Char('2'));
        assert_eq!((state.is_help, state.tab), (false, Tab::Owners));
        press(&mut state, KeyCode::BackTab);
        assert_eq!(state.tab, Tab::Sites);
    }

    #[test]
    fn rows_are_never_before_the_first() {
        let mut state = State::new(By::Site, false);
        for code in [KeyCode::Up, KeyCode::PageUp, KeyCode::End, KeyCode::PageDown, KeyCode::Down] {
            press(&mut state, code);
        }
        assert!(state.skipped >= isize::MAX.cast_unsigned());
        press(&mut state, KeyCode::Home);
        assert_eq!(state.skipped, 0);
    }
}
