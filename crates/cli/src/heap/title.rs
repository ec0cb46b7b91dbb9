//! A variable in a row of a table: its name first, then its type and position.

use crate::canvas::{columns, wrapped};

/// A variable, its type, and where it is defined (`src/cache.ml:12`).
#[derive(Clone, Debug)]
pub(crate) struct Title {
    pub(crate) name: String,
    pub(crate) ty: Option<String>,
    pub(crate) position: Option<String>,
}

impl Title {
    /// In lines: the first of at most `first` columns, others of at most `next`. What there is no room for goes in this order:
    /// the folders of the position, then position and type to further lines.
    pub(crate) fn lines(&self, first: usize, next: usize) -> Vec<String> {
        let Self { name, ty, position } = self;
        let whole = with_type(name, ty.as_deref(), position.as_deref());
        if columns(&whole) <= first {
            return vec![whole];
        }
        let file = position.as_deref().map(|position| {
            position.rsplit_once('/').map_or(position, |(_, file)| file).to_owned()
        });
        let mut lines = vec![name.clone()];
        let more =
            ty.iter().map(|ty| (" ", format!(": {ty}"))).chain(file.map(|file| ("  ", file)));
        for (space, part) in more {
            let room = if lines.len() == 1 { first } else { next };
            match lines.last_mut() {
                Some(line) if columns(line) + columns(space) + columns(&part) <= room => {
                    line.push_str(space);
                    line.push_str(&part);
                }
                _ => lines.push(part),
            }
        }
        let room = |place: usize| if place == 0 { first } else { next };
        let broken = lines.iter().enumerate().map(|(at, line)| wrapped(line, room(at), next));
        broken.flatten().collect()
    }
}

/// `table : int list  cache.ml:12`.
pub(crate) fn with_type(name: &str, ty: Option<&str>, position: Option<&str>) -> String {
    let mut text = name.to_owned();
    if let Some(ty) = ty {
        text.push_str(" : ");
        text.push_str(ty);
    }
    if let Some(position) = position {
        text.push_str("  ");
        text.push_str(position);
    }
    text
}

/// The field that leads on: ` .data`, by number where it has no name.
pub(crate) fn field_of(name: Option<&str>, field: Option<u64>) -> String {
    match (name, field) {
        (Some(name), _) => format!(" {name}"),
        (None, Some(field)) => format!(" .{field}"),
        (None, None) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn title() -> Title {
        Title {
            name: "Ltac_plugin.Tacenv.mactab".into(),
            ty: Some("ltac_entry Names.KNmap.t ref".into()),
            position: Some("plugins/ltac/tacenv.ml:127".into()),
        }
    }

    #[test]
    fn nothing_is_cut_but_folders() {
        for (first, expected) in [
            (
                90,
                "Ltac_plugin.Tacenv.mactab : ltac_entry Names.KNmap.t ref  plugins/ltac/tacenv.ml:127",
            ),
            (80, "Ltac_plugin.Tacenv.mactab : ltac_entry Names.KNmap.t ref  tacenv.ml:127"),
            (60, "Ltac_plugin.Tacenv.mactab : ltac_entry Names.KNmap.t ref|tacenv.ml:127"),
            (42, "Ltac_plugin.Tacenv.mactab|: ltac_entry Names.KNmap.t ref|tacenv.ml:127"),
            (20, "Ltac_plugin.Tacenv.|mactab|: ltac_entry|Names.KNmap.t ref|tacenv.ml:127"),
        ] {
            let lines = title().lines(first, first - 2);
            assert_eq!(lines.join("|"), expected, "{first}");
            assert!(lines.iter().all(|line| columns(line) <= first), "{lines:?}");
        }
    }

    #[test]
    fn without_a_position_or_type_there_is_more_room() {
        let bare = Title { position: None, ..title() };
        assert_eq!(bare.lines(60, 58).len(), 1);
        let untyped = Title { ty: None, ..title() };
        assert_eq!(untyped.lines(50, 48), ["Ltac_plugin.Tacenv.mactab  tacenv.ml:127"]);
    }
}
