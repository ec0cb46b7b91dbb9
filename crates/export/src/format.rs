//! The formats there are.

use crate::significant::Most;

/// A format of another tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Folded stacks: a line a call path, for Brendan Gregg's and other flame graph scripts.
    Folded,
    /// speedscope.
    Speedscope,
    /// pprof, gzipped: `go tool pprof`, Pyroscope, Parca, Grafana.
    Pprof,
    /// Firefox Profiler.
    Firefox,
    /// Our own JSON.
    Json,
    /// A picture of the flame graph.
    Svg,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Folded, Self::Speedscope, Self::Pprof, Self::Firefox, Self::Json, Self::Svg];

    /// What it is called, in asks and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Folded => "folded",
            Self::Speedscope => "speedscope",
            Self::Pprof => "pprof",
            Self::Firefox => "firefox",
            Self::Json => "json",
            Self::Svg => "svg",
        }
    }

    /// The format of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// What its files' names end with.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Folded => "folded",
            Self::Speedscope => "speedscope.json",
            Self::Pprof => "pb.gz",
            Self::Firefox => "profile.json",
            Self::Json => "json",
            Self::Svg => "svg",
        }
    }

    /// How much its readers take in good time.
    pub(crate) const fn most(self) -> Most {
        match self {
            // Written as a tree.
            Self::Speedscope | Self::Firefox | Self::Json | Self::Svg => {
                Most { frames: u64::MAX, nodes: 400_000 }
            }
            // Written path by path.
            Self::Pprof => Most { frames: 15_000_000, nodes: 1_000_000 },
            // Lines of a hundred megabytes or so in all.
            Self::Folded => Most { frames: 4_000_000, nodes: u64::MAX },
        }
    }

    /// Its media type.
    pub const fn mime(self) -> &'static str {
        match self {
            Self::Folded => "text/plain; charset=utf-8",
            Self::Pprof => "application/gzip",
            Self::Speedscope | Self::Firefox | Self::Json => "application/json",
            Self::Svg => "image/svg+xml",
        }
    }
}
