//! The figures of the moment, for those who have no terminal or want no more.

use std::io::Write as _;
use std::process::ExitCode;

use memtrail_engine::{Engine, Setting};
use memtrail_text::rounded::{bytes, seconds};

use super::args::Args;
use super::family::FamilyFigures;
use super::figures::Wanted;
use super::state::{Medium, State};
use super::table::{self, fitting, rate, signed};
use super::watched::{Shown, Watched};
use crate::canvas::{self, Canvas, FAINT, PLAIN, STRONG};
use crate::damage;
use crate::error::{Failure, Kind};
use crate::heap::joined::add_some_snapshots;
use crate::heap::table::Table;
use crate::json;
use crate::limit::{Limit, draw_left_out};
use crate::loading;
use crate::spinner::with_spinner;

/// Prints them.
pub(super) fn run(mut watched: Watched, args: &Args) -> Result<ExitCode, Failure> {
    let engine = Engine::new(Setting::default());
    let mut state = State::new(args.by.into(), watched.is_family());
    state.medium = Medium::Text;
    let wanted = Wanted { by: state.by, window: args.window };
    let mut look = || {
        watched.look(&engine, wanted, None, |recording| {
            let id = loading::add(&engine, recording)?;
            add_some_snapshots(&engine, id, recording, args.memory);
            Ok(id)
        })
    };
    // Asking makes the engine want the snapshots that are not analysed.
    look()?;
    with_spinner("analysing snapshots".to_owned(), || while engine.work().is_some() {});
    look()?;
    if let Some(shown) = watched.shown(None) {
        match shown.family {
            Some(family) if args.json => json::print(family)?,
            None if args.json => json::print(shown.figures)?,
            _ => print(shown, state, args)?,
        }
    }
    verdict(&engine, &watched)
}

/// Success, or what is wrong with any of the recordings.
fn verdict(engine: &Engine, watched: &Watched) -> Result<ExitCode, Failure> {
    let mut code = ExitCode::SUCCESS;
    for process in watched.processes() {
        let damage = engine.damage(process.id).unwrap_or_default();
        let verdict = damage::verdict(&process.subject.recording, &damage);
        match verdict {
            Err(failure) if watched.is_family() => code = failure.report(),
            verdict => code = verdict?,
        }
    }
    let family = watched.shown(None).and_then(|shown| shown.family);
    match family.map(|family| family.problems.join("; ")).filter(|problems| !problems.is_empty()) {
        Some(problems) if watched.processes().is_empty() => {
            Err(Failure::new(Kind::Input, problems)
                .hint("memtrail run --children puts recordings into such a folder"))
        }
        Some(problems) => {
            Err(Failure::new(Kind::Input, problems).hint("the other processes were used"))
        }
        None => Ok(code),
    }
}

fn print(shown: Shown<'_>, mut state: State, args: &Args) -> Result<(), Failure> {
    let Shown { figures, family } = shown;
    let mut canvas = Canvas::new(canvas::width(args.width));
    let live = &figures.live;
    let status = family.map_or_else(|| figures.status(), FamilyFigures::status);
    let pid = figures.pid.map_or_else(String::new, |pid| format!(" ({pid})"));
    canvas.line(&[
        (STRONG, figures.program()),
        (STRONG, &pid),
        (PLAIN, &format!("  {}  {status}", seconds(live.at))),
    ]);
    let rss = figures.process.and_then(|process| process.rss);
    let rss = rss.map_or_else(String::new, |rss| format!(", RSS {}", bytes(rss as f64)));
    let text = format!(
        "live {}, {} in {}{rss}, allocates {}",
        live.all.live.size(),
        signed(live.all.change.value, live.all.change.stderr),
        seconds(live.window),
        rate(figures.per_second(live.all.allocated.value)),
    );
    canvas.paragraph(PLAIN, 2, &text);
    let Limit(limit) = args.limit;
    for tab in state.tabs() {
        state.show(*tab);
        let of = table::Table::new(shown, &state);
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
        draw_left_out(&mut canvas, count.saturating_sub(limit), "");
    }
    let mut out = anstream::stdout().lock();
    out.write_all(canvas.finish().as_bytes())?;
    out.flush()?;
    Ok(())
}
