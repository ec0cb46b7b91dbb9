//! Functions, files and lines at addresses of native code.
//!
//! [`modules`] reads where a process has its executable and libraries from the text of `/proc/<pid>/maps`. [`Symbols`]
//! finds what is at addresses inside of them: functions with inlined ones, files and lines, from debug information in
//! the file or in a separate one, or else from the symbol table. A recorded process needs the modules alone: what it
//! writes of them is enough to name its addresses after its end. [`callers`] tells who called the functions of a stopped thread.
#![forbid(unsafe_code)]

#[cfg(feature = "lookup")]
mod allocators;
#[cfg(feature = "lookup")]
pub mod callers;
#[cfg(feature = "lookup")]
mod lines;
pub mod modules;
#[cfg(feature = "lookup")]
mod names;
#[cfg(feature = "lookup")]
mod symbols;
#[cfg(feature = "lookup")]
mod variable_positions;
#[cfg(feature = "lookup")]
mod variables;

#[cfg(feature = "lookup")]
pub use allocators::OwnFunctions;
#[cfg(feature = "lookup")]
pub use lines::has_lines;
#[cfg(feature = "lookup")]
pub use names::demangled;
#[cfg(feature = "lookup")]
pub use symbols::Symbols;
#[cfg(feature = "lookup")]
pub use variables::{Variable, Variables};
