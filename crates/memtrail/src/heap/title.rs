//! A variable in a row of a table: its name first, then its type and position as far as they fit.

use crate::canvas::{columns, elide_end, elide_start};

/// With fewer columns than that, part of a type tells nothing.
const LEAST_TYPE: usize = 8;
/// With fewer columns than that, part of a position tells nothing.
const LEAST_POSITION: usize = 10;

/// A variable, its type, and where it is defined (`src/cache.ml:12`).
#[derive(Clone, Debug)]
pub(crate) struct Title {
    pub(crate) name: String,
    pub(crate) ty: Option<String>,
    pub(crate) position: Option<String>,
}

impl Title {
    /// In one line of at most `room` columns. What there is no room for goes in this order: the folders of the position, the
    /// end of the type, the type, the beginning of the file's name, the position, the beginning of the name.
    pub(crate) fn fitted(&self, room: usize) -> String {
        let Self { name, ty, position } = self;
        let whole = with_type(name, ty.as_deref(), position.as_deref());
        if columns(&whole) <= room {
            return whole;
        }
        let Some(position) = position else { return self.before(room) };
        let file = position.rsplit_once('/').map_or(position.as_str(), |(_, file)| file);
        let left = room.saturating_sub(columns(name) + 2);
        if columns(file) <= left {
            format!("{}  {file}", self.before(room - columns(file) - 2))
        } else if left >= LEAST_POSITION {
            format!("{name}  {}", elide_start(file, left))
        } else {
            elide_start(name, room)
        }
    }

    /// The name and the type.
    fn before(&self, room: usize) -> String {
        let Self { name, ty, .. } = self;
        let left = room.saturating_sub(columns(name) + 3);
        match ty {
            Some(ty) if columns(ty) <= left || left >= LEAST_TYPE => {
                format!("{name} : {}", elide_end(ty, left))
            }
            _ => elide_start(name, room),
        }
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
    fn names_are_kept_longest() {
        for (room, expected) in [
            (
                90,
                "Ltac_plugin.Tacenv.mactab : ltac_entry Names.KNmap.t ref  plugins/ltac/tacenv.ml:127",
            ),
            (80, "Ltac_plugin.Tacenv.mactab : ltac_entry Names.KNmap.t ref  tacenv.ml:127"),
            (60, "Ltac_plugin.Tacenv.mactab : ltac_entry Names…  tacenv.ml:127"),
            (42, "Ltac_plugin.Tacenv.mactab  tacenv.ml:127"),
            (38, "Ltac_plugin.Tacenv.mactab  …env.ml:127"),
            (31, "Ltac_plugin.Tacenv.mactab"),
            (16, "…n.Tacenv.mactab"),
            (0, ""),
        ] {
            let fitted = title().fitted(room);
            assert!(columns(&fitted) <= room, "{fitted}");
            assert_eq!(fitted, expected, "{room}");
        }
    }

    #[test]
    fn without_a_position_or_type_there_is_more_room() {
        let bare = Title { position: None, ..title() };
        assert_eq!(bare.fitted(40), "Ltac_plugin.Tacenv.mactab : ltac_entry …");
        assert_eq!(Title { ty: None, ..bare }.fitted(12), "…cenv.mactab");
        let untyped = Title { ty: None, ..title() };
        assert_eq!(untyped.fitted(50), "Ltac_plugin.Tacenv.mactab  tacenv.ml:127");
    }
}
