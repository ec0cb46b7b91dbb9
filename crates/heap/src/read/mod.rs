//! The reader.

/// How a root holds its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Strength {
    /// It keeps the value alive.
    Strong = 0,
    /// A value with a finaliser (`Gc.finalise`): kept alive until that has run. Charged with it
    /// only where nothing else keeps it.
    Finaliser = 1,
    /// A value with a `Gc.finalise_last`: not kept alive.
    Last = 2,
    /// Not kept alive.
    Weak = 3,
}
