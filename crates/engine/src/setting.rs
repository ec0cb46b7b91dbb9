//! Where an engine works.

/// Where an engine works. Asks for it are answered by `about`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Setting {
    /// Whether recordings may still grow, and events report it.
    pub live: bool,
    /// Whether it works inside a page that was opened from disk.
    pub offline: bool,
}
