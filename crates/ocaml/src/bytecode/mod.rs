//! Programs of bytecode: sections of their files, names of global variables, debug events, and stacks of the interpreter.

pub mod debug_events;
pub mod global_names;
pub mod marshal;
pub mod program;
pub mod sections;
pub mod stack;

pub use debug_events::{Event, Events};
pub use global_names::GlobalName;
pub use marshal::{MarshalError, Value, Values};
