//! The page: built files that are part of this binary.
//!
//! `cargo xtask web` builds them from `web/` and from the analysis crates; `cargo xtask test`
//! checks that they are what those sources give.

/// A file of the page.
pub struct Asset {
    /// Its name beside the page.
    pub name: &'static str,
    /// For the header `Content-Type`.
    pub media_type: &'static str,
    /// As it is sent.
    pub content: &'static [u8],
}

/// The page itself.
pub const INDEX: &str = include_str!("../assets/index.html");
/// The page's script, for pages that are opened from disk.
pub const SCRIPT: &str = include_str!("../assets/viewer.js");
/// The page's style sheet, for the same.
pub const STYLE: &str = include_str!("../assets/viewer.css");
/// A script that unpacks the page's script, for the same.
pub const OFFLINE: &str = include_str!("../assets/offline.js");
/// The engine as WebAssembly, compressed with xz, for the same.
pub const ENGINE_XZ: &[u8] = include_bytes!("../assets/engine.wasm.xz");

/// What the server gives out. The page is its folder's index.
pub(crate) const SERVED: [Asset; 3] = [
    Asset { name: "", media_type: "text/html; charset=utf-8", content: INDEX.as_bytes() },
    Asset {
        name: "viewer.js",
        media_type: "text/javascript; charset=utf-8",
        content: SCRIPT.as_bytes(),
    },
    Asset { name: "viewer.css", media_type: "text/css; charset=utf-8", content: STYLE.as_bytes() },
];
