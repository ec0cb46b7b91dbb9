//! Which runtime a program has, told from the symbols it exports.

use std::fmt;

use crate::release::Release;
use crate::symbols::fingerprint;

/// A runtime whose layout is known; patch releases of one series do not differ in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum Version {
    V4_11,
    V4_12,
    V4_13,
    V4_14,
    V5_0,
    V5_1,
    V5_2,
    V5_3,
    V5_4,
    V5_5,
}

/// The two runtimes: one global state, or one state a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Generation {
    /// OCaml 4: `Caml_state` is an exported pointer.
    Single,
    /// OCaml 5: `caml_state` is a thread-local pointer.
    Multicore,
}

impl Version {
    /// Every version, oldest first.
    pub const ALL: [Self; 10] = [
        Self::V4_11,
        Self::V4_12,
        Self::V4_13,
        Self::V4_14,
        Self::V5_0,
        Self::V5_1,
        Self::V5_2,
        Self::V5_3,
        Self::V5_4,
        Self::V5_5,
    ];

    /// The newest that is known: a later one has all of its symbols.
    pub const NEWEST: Self = Self::V5_5;

    /// The version that people write so, e.g. `5.3`.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.name() == name)
    }

    /// Refuses the newest version if the program's release is of a later series. `release` is called for no other.
    ///
    /// # Errors
    /// [`Unsupported::Newer`].
    pub fn unless_newer(
        self,
        release: impl FnOnce() -> Option<Release>,
    ) -> Result<Self, Unsupported> {
        if self < Self::NEWEST {
            return Ok(self);
        }
        match release().filter(|release| Self::NEWEST.is_before(*release)) {
            Some(release) => Err(Unsupported::Newer(release)),
            None => Ok(self),
        }
    }

    /// True if a release is of a later series than this version.
    fn is_before(self, release: Release) -> bool {
        let mut numbers = self.name().split('.').map_while(|number| number.parse::<u16>().ok());
        let series = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        (release.major, release.minor) > series
    }

    /// The runtime's generation.
    pub const fn generation(self) -> Generation {
        match self {
            Self::V4_11 | Self::V4_12 | Self::V4_13 | Self::V4_14 => Generation::Single,
            Self::V5_0 | Self::V5_1 | Self::V5_2 | Self::V5_3 | Self::V5_4 | Self::V5_5 => {
                Generation::Multicore
            }
        }
    }

    /// Whether `caml_memprof_start` works; in 5.0 to 5.2 it only raises `Failure` (`runtime/memprof.c`).
    pub const fn can_sample(self) -> bool {
        !matches!(self, Self::V5_0 | Self::V5_1 | Self::V5_2)
    }

    /// Whether a sampler from outside can do its work: in OCaml 5 the runtime's functions that it has to stand
    /// before have names that a program exports.
    pub const fn can_be_given_sampler(self) -> bool {
        matches!(self.generation(), Generation::Multicore)
    }

    /// As people write it, e.g. `4.13`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::V4_11 => "4.11",
            Self::V4_12 => "4.12",
            Self::V4_13 => "4.13",
            Self::V4_14 => "4.14",
            Self::V5_0 => "5.0",
            Self::V5_1 => "5.1",
            Self::V5_2 => "5.2",
            Self::V5_3 => "5.3",
            Self::V5_4 => "5.4",
            Self::V5_5 => "5.5",
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a set of symbols names no runtime that we know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Unsupported {
    /// None of the runtime's symbols: no OCaml program, or one that exports nothing.
    #[error("exports no symbols of an OCaml runtime")]
    NoRuntime,
    /// The bytecode interpreter.
    #[error("runs OCaml bytecode, and only native code can be recorded")]
    Bytecode,
    /// Older than 4.11, whose sampler is the first with today's interface.
    #[error("has an OCaml runtime older than 4.11")]
    TooOld,
    /// Jane Street's `OxCaml`, whose stacks and headers differ.
    #[error("has the OxCaml runtime, which is not supported")]
    Oxcaml,
    /// Later than [`Version::NEWEST`].
    #[error("has the runtime of OCaml {0}, which is newer than memtrail knows")]
    Newer(Release),
    /// Looks like OCaml, but like no version that we know.
    #[error("has an OCaml runtime of an unknown version")]
    Unknown,
}

/// Tells the runtime's version from the names it exports.
///
/// Each test names a symbol that came or went with a version; `docs` of [`fingerprint`] say where. What is not
/// recognised is refused rather than guessed.
pub fn detect(mut has: impl FnMut(&str) -> bool) -> Result<Version, Unsupported> {
    use fingerprint as f;
    let single = has(f::STATE_SINGLE);
    let multicore = has(f::STATE_MULTICORE);
    if !single && !multicore {
        let older = has(f::BEFORE_STATE);
        return Err(if older { Unsupported::TooOld } else { Unsupported::NoRuntime });
    }
    if !f::NATIVE.iter().all(|name| has(name)) {
        return Err(if has(f::BYTECODE) { Unsupported::Bytecode } else { Unsupported::Unknown });
    }
    if f::OXCAML.iter().any(|name| has(name)) {
        return Err(Unsupported::Oxcaml);
    }
    if single && multicore {
        return Err(Unsupported::Unknown);
    }
    if single { detect_single(has) } else { detect_multicore(has) }
}

/// Tells the version of a bytecode runtime, which [`detect`] refuses, from the names it exports.
pub fn detect_bytecode(mut has: impl FnMut(&str) -> bool) -> Result<Version, Unsupported> {
    use fingerprint as f;
    // It exports what native runtimes do, but for their own files.
    let is_native = [f::NATIVE[0], f::NATIVE[1], f::FRAME_TABLE_SINGLE, f::FRAME_TABLE_MULTICORE];
    detect(|name| has(name) || is_native.contains(&name))
}

fn detect_single(mut has: impl FnMut(&str) -> bool) -> Result<Version, Unsupported> {
    use fingerprint as f;
    if !has(f::SAMPLER) {
        return Err(Unsupported::TooOld);
    }
    if !has(f::FRAME_TABLE_SINGLE) {
        return Err(Unsupported::Unknown);
    }
    Ok(if has(f::SINCE_4_14) {
        Version::V4_14
    } else if has(f::SINCE_4_13) {
        Version::V4_13
    } else if has(f::SINCE_4_12) {
        Version::V4_12
    } else if has(f::UNTIL_4_11) {
        Version::V4_11
    } else {
        return Err(Unsupported::Unknown);
    })
}

fn detect_multicore(mut has: impl FnMut(&str) -> bool) -> Result<Version, Unsupported> {
    use fingerprint as f;
    if !has(f::FRAME_TABLE_MULTICORE) {
        return Err(Unsupported::Unknown);
    }
    // Not asked for the sampler: 5.0 and 5.1 programs are linked without it, as nothing there uses it.
    Ok(if has(f::SINCE_5_5) {
        Version::V5_5
    } else if has(f::SINCE_5_4) {
        Version::V5_4
    } else if has(f::SINCE_5_3) {
        Version::V5_3
    } else if has(f::SINCE_5_2) {
        Version::V5_2
    } else if has(f::SINCE_5_1) {
        Version::V5_1
    } else if has(f::UNTIL_5_0) {
        Version::V5_0
    } else {
        return Err(Unsupported::Unknown);
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbols::fingerprint as f;

    /// Which of the fingerprint's symbols a runtime for native code exports, by version; from the sources' tags.
    fn exported(version: Version) -> Vec<&'static str> {
        let since = |first: Version, name: &'static str| (version >= first).then_some(name);
        let single = version.generation() == Generation::Single;
        let common = [
            Some(f::BEFORE_STATE),
            version.can_sample().then_some(f::SAMPLER),
            Some(f::NATIVE[0]),
            Some(f::NATIVE[1]),
        ];
        let generation = if single {
            [
                Some(f::STATE_SINGLE),
                Some(f::FRAME_TABLE_SINGLE),
                (version == Version::V4_11).then_some(f::UNTIL_4_11),
                since(Version::V4_12, f::SINCE_4_12),
                since(Version::V4_13, f::SINCE_4_13),
                since(Version::V4_14, f::SINCE_4_14),
                Some(f::UNTIL_5_0),
                None,
            ]
        } else {
            [
                Some(f::STATE_MULTICORE),
                Some(f::FRAME_TABLE_MULTICORE),
                since(Version::V5_1, f::SINCE_5_1).or(Some(f::UNTIL_5_0)),
                since(Version::V5_2, f::SINCE_5_2),
                since(Version::V5_3, f::SINCE_5_3),
                since(Version::V5_4, f::SINCE_5_4),
                since(Version::V5_5, f::SINCE_5_5),
                Some(f::SINCE_4_14),
            ]
        };
        common.into_iter().chain(generation).flatten().collect()
    }

    #[test]
    fn each_version_is_told_from_its_symbols() {
        for version in Version::ALL {
            let symbols = exported(version);
            assert_eq!(detect(|name| symbols.contains(&name)), Ok(version));
        }
    }

    #[test]
    fn a_release_after_the_newest_is_refused() {
        let release = |minor| Some(Release { major: 5, minor, patch: 0 });
        let newest = Version::NEWEST;
        assert_eq!(newest.unless_newer(|| release(5)), Ok(newest));
        assert_eq!(newest.unless_newer(|| None), Ok(newest));
        let refusal = newest.unless_newer(|| release(6)).unwrap_err();
        assert!(refusal.to_string().contains("OCaml 5.6.0"), "{refusal}");
        assert_eq!(Version::ALL.last(), Some(&newest));
        assert_eq!(Version::named("4.14"), Some(Version::V4_14));
    }

    #[test]
    fn a_patch_release_is_of_the_same_series() {
        let release = |text: &str| Release::parse(text.as_bytes()).unwrap();
        assert!(!Version::V5_5.is_before(release("5.5.99")));
        assert!(Version::V5_5.is_before(release("5.10.0")));
        assert!(Version::V5_5.is_before(release("6.0.0~alpha1")));
    }

    #[test]
    fn bytecode_runtimes_are_told_without_what_is_native() {
        for version in Version::ALL {
            let tables = [f::FRAME_TABLE_SINGLE, f::FRAME_TABLE_MULTICORE];
            let native = [f::NATIVE[0], f::NATIVE[1], f::UNTIL_5_0];
            let mut symbols = exported(version);
            symbols.retain(|name| !native.contains(name) && !tables.contains(name));
            symbols.push(f::BYTECODE);
            assert_eq!(detect(|name| symbols.contains(&name)), Err(Unsupported::Bytecode));
            // Nothing that the interpreter of 5.0 has is gone in 5.1.
            let expected = (version != Version::V5_0).then_some(version);
            let expected = expected.ok_or(Unsupported::Unknown);
            assert_eq!(detect_bytecode(|name| symbols.contains(&name)), expected);
        }
    }

    #[test]
    fn what_is_no_known_native_runtime_is_refused() {
        let with = |names: &'static [&'static str]| detect(move |name| names.contains(&name));
        assert_eq!(with(&[]), Err(Unsupported::NoRuntime));
        assert_eq!(with(&["caml_startup"]), Err(Unsupported::TooOld));
        assert_eq!(
            with(&["Caml_state", "caml_thread_code", "caml_memprof_start"]),
            Err(Unsupported::Bytecode)
        );
        assert_eq!(with(&["caml_state", "caml_thread_code"]), Err(Unsupported::Bytecode));
        let native_4_10 = &["Caml_state", "caml_start_program", "caml_c_call", "caml_memprof_set"];
        assert_eq!(with(native_4_10), Err(Unsupported::TooOld));
        for version in Version::ALL {
            let mut symbols = exported(version);
            symbols.push("caml_alloc_local");
            assert_eq!(detect(|name| symbols.contains(&name)), Err(Unsupported::Oxcaml));
        }
    }

    #[test]
    fn both_states_at_once_are_no_runtime() {
        let mut symbols = exported(Version::V4_14);
        symbols.extend(exported(Version::V5_3));
        assert_eq!(detect(|name| symbols.contains(&name)), Err(Unsupported::Unknown));
    }
}
