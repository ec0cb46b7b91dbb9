//! The figures of the moment, for those who have no terminal or want no more.

use std::io::Write as _;
use std::process::ExitCode;

use memtrail_engine::{Engine, Setting};
use memtrail_text::rounded::{bytes, bytes_with_error, grouped, seconds};

use super::Args;
use super::figures::{Figures, Wanted};
use super::state::{State, Tab};
use super::subject::Subject;
use super::table::{self, fitting, rate, signed};
use crate::canvas::{self, Canvas, FAINT, PLAIN, STRONG};
use crate::damage;
use crate::error::Failure;
use crate::heap::input::with_spinner;
use crate::heap::joined::add_some_snapshots;
use crate::heap::table::Table;
use crate::json;
use crate::limit::Limit;
use crate::loading;

/// Prints them.
pub(super) fn run(subject: &Subject, args: &Args) -> Result<ExitCode, Failure> {
    let engine = Engine::new(Setting::default());
    let id = loading::add(&engine, &subject.recording)?;
    add_some_snapshots(&engine, id, &subject.recording);
    let state = State::new(args.by.into());
    let wanted = Wanted { by: state.by, window: args.window };
    let figures = || Figures::new(&engine, id, subject, wanted, None);
    // Asking makes the engine want the snapshots that are not analysed.
    figures()?;
    with_spinner("analysing snapshots".to_owned(), || while engine.work().is_some() {});
    let figures = figures()?;
    if args.json {
        json::print(&figures)?;
    } else {
        print(&figures, state, args)?;
    }
    damage::verdict(&subject.recording, &engine.damage(id).unwrap_or_default())
}

fn print(figures: &Figures, mut state: State, args: &Args) -> Result<(), Failure> {
    let mut canvas = Canvas::new(canvas::width(args.width));
    let live = &figures.live;
    let pid = figures.pid.map_or_else(String::new, |pid| format!(" ({pid})"));
    canvas.line(&[
        (STRONG, figures.program()),
        (STRONG, &pid),
        (PLAIN, &format!("  {}  {}", seconds(live.at), figures.status())),
    ]);
    let rss = figures.process.and_then(|process| process.rss);
    let rss = rss.map_or_else(String::new, |rss| format!(", RSS {}", bytes(rss as f64)));
    let text = format!(
        "live {}, {} in {}{rss}, allocates {}",
        bytes_with_error(live.all.live.value, live.all.live.stderr),
        signed(live.all.change.value, live.all.change.stderr),
        seconds(live.window),
        rate(figures.per_second(live.all.allocated.value)),
    );
    canvas.paragraph(PLAIN, 2, &text);
    let Limit(limit) = args.limit;
    for tab in Tab::ALL {
        state.show(tab);
        let of = table::Table::new(figures, &state);
        canvas.gap();
        for note in &of.notes {
            canvas.paragraph(FAINT, 2, note);
        }
        if of.rows.is_empty() {
            continue;
        }
        let fitting = fitting(&of.widths(limit), canvas.width());
        let mut table = Table::new(&of.headings[..fitting], of.text);
        let count = of.rows.len();
        for (mut figures, text) in of.rows.into_iter().take(limit) {
            figures.truncate(fitting);
            table.row(figures, text);
        }
        table.print(&mut canvas);
        let left_out = count.saturating_sub(limit) as u64;
        if left_out > 0 {
            canvas.line(&[(FAINT, &format!("… and {} more (--limit 0: all)", grouped(left_out)))]);
        }
    }
    let mut out = anstream::stdout().lock();
    out.write_all(canvas.finish().as_bytes())?;
    out.flush()?;
    Ok(())
}
