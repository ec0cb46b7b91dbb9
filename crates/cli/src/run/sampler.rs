//! Which sampler an OCaml program is given.

use memtrail_recording::session::Sampler;

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Choice {
    #[value(name = "runtime")]
    Memprof,
    #[value(name = "memtrail")]
    Substitute,
}

impl From<Choice> for Sampler {
    fn from(choice: Choice) -> Self {
        match choice {
            Choice::Memprof => Self::Memprof,
            Choice::Substitute => Self::Substitute,
        }
    }
}
