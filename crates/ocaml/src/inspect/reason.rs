//! Why an OCaml program cannot be recorded, and what can be done about it.

use crate::version::Unsupported;

/// Why an OCaml program cannot be recorded; reads after the program's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Reason {
    /// Bytecode, whichever way it is packed.
    #[error("is OCaml bytecode, and only native code can be recorded")]
    Bytecode,
    /// No dynamic loader, so nothing can be preloaded.
    #[error("is an OCaml program linked statically, which cannot load the agent")]
    Static,
    /// OCaml by its strings or local symbols, but its runtime is not exported.
    #[error("is an OCaml program that does not export its runtime's symbols")]
    NoSymbols,
    /// Another processor, or 32 bits.
    #[error("is an OCaml program for another kind of machine than this agent's")]
    Machine,
    /// A runtime that is not known.
    #[error("{0}")]
    Runtime(Unsupported),
}

impl Reason {
    /// What to do about it.
    pub const fn hint(self) -> &'static str {
        match self {
            Self::Bytecode | Self::Runtime(Unsupported::Bytecode) => {
                "take heap snapshots of it while it runs: memtrail snapshot PID; to record \
                 allocations, compile it with ocamlopt (in dune: `(modes exe)`)"
            }
            Self::Static => {
                "take heap snapshots of it while it runs: memtrail snapshot PID; to record \
                 allocations, link it without `-ccopt -static`"
            }
            Self::NoSymbols | Self::Runtime(Unsupported::NoRuntime) => {
                "take heap snapshots of it while it runs: memtrail snapshot PID; to record \
                 allocations, link it with ocamlopt itself, or with `-Wl,-E`, and keep its dynamic \
                 symbols"
            }
            Self::Machine => {
                "record it on a 64-bit x86 or ARM machine, with the memtrail of that machine"
            }
            Self::Runtime(Unsupported::TooOld) => "compile it with OCaml 4.11 or later",
            Self::Runtime(Unsupported::Newer(_)) => {
                "update memtrail; to record it at your own risk: memtrail run --assume-version 5.5"
            }
            Self::Runtime(Unsupported::Oxcaml | Unsupported::Unknown) => {
                "memtrail knows the runtimes of OCaml 4.11 to 5.5"
            }
        }
    }
}
