//! The runtime's sampler: started with callbacks of ours, which capture callstacks and write events.

pub(crate) mod binomial;
pub(crate) mod callbacks;
pub(crate) mod callstack;
pub(crate) mod handover;
pub(crate) mod labels;
pub(crate) mod premature_dealloc;
pub(crate) mod rate;
pub(crate) mod seeding;
pub(crate) mod static_profile;
pub(crate) mod symbolise;
pub(crate) mod thread;
pub(crate) mod trampoline;
pub(crate) mod value;
