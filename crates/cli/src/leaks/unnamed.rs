//! Counts the listed owners that are variables without names.

use memtrail_engine::leaks::LeaksResponse;

/// The name of a variable without one, behind its unit: `Cache / field 3`.
const NUMBERED: &str = " / field ";

/// Owners that are listed, and the variables without names among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Unnamed {
    unnamed: usize,
    listed: usize,
}

impl Unnamed {
    /// Counts suspects, and owners that are not suspected.
    pub(super) fn listed_in(leaks: &LeaksResponse) -> Self {
        let suspects = leaks.suspects.iter().map(|suspect| &*suspect.owner);
        Self::among(suspects.chain(leaks.cleared.iter().map(|owner| &*owner.owner)))
    }

    fn among<'o>(owners: impl Iterator<Item = &'o str>) -> Self {
        owners.fold(Self::default(), |Self { unnamed, listed }, owner| Self {
            unnamed: unnamed + usize::from(owner.contains(NUMBERED)),
            listed: listed + 1,
        })
    }

    pub(super) const fn is_any(self) -> bool {
        self.unnamed > 0
    }

    /// A note, unless all have names.
    pub(super) fn note(self) -> Option<String> {
        let Self { unnamed, listed } = self;
        let owners = if listed == 1 { "owner" } else { "owners" };
        let are = if unnamed == 1 {
            "is a variable without a name"
        } else {
            "are variables without names"
        };
        self.is_any().then(|| format!("{unnamed} of {listed} listed {owners} {are}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The note was "the program's variables have no names and types" below variables of coqc that had all of that.
    #[test]
    fn the_note_is_about_what_is_listed() {
        let named = "Stm.VCS : module (stm/stm.ml:318)";
        let unnamed = "Fl_package_base / field 20 (holds a block) (fl_package_base.ml:56)";
        assert_eq!(Unnamed::among([named].into_iter()).note(), None);
        assert_eq!(
            Unnamed::among([named, unnamed].into_iter()).note().as_deref(),
            Some("1 of 2 listed owners is a variable without a name")
        );
        assert_eq!(
            Unnamed::among([unnamed, unnamed].into_iter()).note().as_deref(),
            Some("2 of 2 listed owners are variables without names")
        );
    }
}
