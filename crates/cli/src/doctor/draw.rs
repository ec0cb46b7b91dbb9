//! Draws facts and abilities.

use super::ability::{Ability, Works};
use crate::canvas::{Canvas, FAINT, PLAIN, STRONG, WARNING};

/// A fact of the machine, a program or a process, in a line.
pub(super) fn fact(canvas: &mut Canvas, name: &str, text: &str) {
    canvas.item(PLAIN, &format!("{name:<14}"), 14, text);
}

/// Draws what works, with the way out where something does not.
pub(super) fn abilities(canvas: &mut Canvas, abilities: &[Ability]) {
    canvas.gap();
    for ability in abilities {
        let (style, mark) = match ability.works {
            Works::Yes => (PLAIN, "yes "),
            Works::Partly => (WARNING, "part"),
            Works::No => (WARNING, "no  "),
        };
        let head = format!("{mark}  {}", ability.name);
        canvas.item(if ability.works == Works::Yes { PLAIN } else { STRONG }, "", 6, &head);
        if let Some(reason) = &ability.reason {
            canvas.item(style, "      ", 6, reason);
        }
        if let Some(way_out) = &ability.way_out {
            canvas.item(FAINT, "      ", 6, &format!("hint: {way_out}"));
        }
    }
}
