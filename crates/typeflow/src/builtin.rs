//! Types whose values the runtime lays out, and whose declarations say nothing of that.

use memtrail_types::term::{Declaration, Definition};

/// What is known of a declared type by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Builtin {
    /// Nothing.
    None,
    /// Any value: `Obj.t`.
    Anything,
    /// Its elements are an ephemeron's keys.
    Weak,
    /// Its arguments are the types of the keys, and of the data last.
    Ephemeron,
    /// One field of the argument's type.
    Atomic,
}

impl Builtin {
    /// By the declaration's name. `Weak.t` and `Atomic.t` are known so only where they are abstract; ephemerons are
    /// declared as `Obj.t`, which forgets their arguments.
    pub(crate) fn of(declaration: &Declaration) -> Self {
        let name = declaration.name.strip_prefix("Stdlib.").unwrap_or(&declaration.name);
        let is_abstract = declaration.definition == Definition::Abstract;
        let arguments = declaration.parameters.len();
        match name {
            "Obj.t" if arguments == 0 => Self::Anything,
            "Weak.t" if is_abstract && arguments == 1 => Self::Weak,
            "Atomic.t" if is_abstract && arguments == 1 => Self::Atomic,
            "Ephemeron.K1.t" | "Ephemeron.Kn.t" if arguments == 2 => Self::Ephemeron,
            "Ephemeron.K2.t" if arguments == 3 => Self::Ephemeron,
            _ => Self::None,
        }
    }
}
