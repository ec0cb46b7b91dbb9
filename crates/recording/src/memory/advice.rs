//! What would return resident memory to the system, judged by the figures alone.

use super::table::{MemoryTable, Part};

/// Less than this is not worth a change of the program: this share of the resident memory,
const SHARE: f64 = 0.05;
/// and so many bytes.
const BYTES: u64 = 4 << 20;
/// A major heap has free memory while it works; it has much if more than this share of it is free.
const FREE_SHARE: f64 = 0.25;

/// Something that would return memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case", tag = "remedy")]
pub enum Remedy {
    /// `Gc.compact`: it moves blocks together.
    Compact {
        /// Free and lost bytes of the major heap.
        bytes: u64,
        /// Free bytes that the compactor keeps. That of OCaml 4 keeps empty chunks until `space_overhead` percent of
        /// what is used are free.
        kept: u64,
    },
    /// OCaml 5.0 and 5.1 cannot compact: only a later version would.
    LaterOcaml {
        /// Free and lost bytes of the major heap.
        bytes: u64,
    },
    /// `malloc_trim`: it returns whole pages, and how many of the bytes are in such pages is not recorded.
    MallocTrim {
        /// Bytes kept after `free`.
        bytes: u64,
    },
    /// A smaller `space_overhead`: the collector would let less be dead or free.
    SpaceOverhead {
        /// Free and lost bytes of the major heap.
        bytes: u64,
        /// Its value.
        value: u64,
        /// What the runtime has where nobody changes it.
        default: u64,
    },
}

/// The runtime that the memory is of.
#[derive(Clone, Copy, Debug)]
pub struct RuntimeSettings<'a> {
    /// Its version, as `4.13`.
    pub version: &'a str,
    /// Its settings when the recording began, as `Sys.runtime_parameters` prints them.
    pub parameters: &'a str,
}

/// What would return memory; mostly nothing.
pub fn advise(table: &MemoryTable, runtime: RuntimeSettings<'_>) -> Vec<Remedy> {
    let mut found = Vec::new();
    let is_much = |bytes: u64| bytes >= BYTES && bytes as f64 >= SHARE * table.rss.0 as f64;
    let [used, free, lost] =
        [Part::MajorUsed, Part::MajorFree, Part::MajorLost].map(|part| table.bytes(part));
    let bytes = free.saturating_add(lost);
    let heap = used.saturating_add(bytes);
    let version = version(runtime.version);
    if is_much(bytes) && bytes as f64 >= FREE_SHARE * heap as f64 {
        let cannot = version.is_some_and(|version| ((5, 0)..(5, 2)).contains(&version));
        let default = if version.is_some_and(|version| version < (4, 13)) { 80 } else { 120 };
        let overhead = space_overhead(runtime.parameters);
        // Where the version is unknown, the promise is the smaller one.
        let keeps_chunks = version.is_none_or(|version| version < (5, 0));
        let kept =
            if keeps_chunks { percent(used, overhead.unwrap_or(default)).min(bytes) } else { 0 };
        if cannot {
            found.push(Remedy::LaterOcaml { bytes });
        } else if is_much(bytes - kept) {
            found.push(Remedy::Compact { bytes, kept });
        }
        if let Some(value) = overhead
            && value > default
        {
            found.push(Remedy::SpaceOverhead { bytes, value, default });
        }
    }
    let kept = table.bytes(Part::MallocKept);
    if is_much(kept) {
        found.push(Remedy::MallocTrim { bytes: kept });
    }
    found
}

fn version(text: &str) -> Option<(u32, u32)> {
    let (major, rest) = text.split_once('.')?;
    let minor = rest.split('.').next()?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

fn percent(of: u64, percent: u64) -> u64 {
    (of / 100).saturating_mul(percent)
}

fn space_overhead(parameters: &str) -> Option<u64> {
    parameters.split(',').find_map(|setting| setting.strip_prefix("o=")?.parse().ok())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use memtrail_heap::Bytes;

    use super::*;
    use crate::memory::table::Row;

    const MIB: u64 = 1 << 20;

    fn advice(parts: &[(Part, u64)], version: &str, parameters: &str) -> Vec<Remedy> {
        let row = |&part| {
            let bytes =
                parts.iter().find(|(known, _)| *known == part).map_or(0, |(_, mib)| mib * MIB);
            Row { part, bytes }
        };
        let rows: Vec<_> = Part::ALL.iter().map(row).collect();
        let rss = Bytes(rows.iter().map(|row| row.bytes).sum());
        let elapsed = Duration::ZERO;
        let table = MemoryTable { elapsed, rss, peak_rss: None, swapped: None, cpu: None, rows };
        advise(&table, RuntimeSettings { version, parameters })
    }

    #[test]
    fn a_heap_that_is_mostly_free_is_compacted() {
        let heap = [(Part::MajorUsed, 30), (Part::MajorFree, 60), (Part::MajorLost, 4)];
        let bytes = 64 * MIB;
        for version in ["4.13", "4.14", "5.2", "5.3", "5.4"] {
            let kept = if version.starts_with('4') { percent(30 * MIB, 80) } else { 0 };
            let compact = Remedy::Compact { bytes, kept };
            assert_eq!(advice(&heap, version, "o=80"), [compact], "{version}");
        }
        for version in ["5.0", "5.1"] {
            assert_eq!(
                advice(&heap, version, "o=120"),
                [Remedy::LaterOcaml { bytes }],
                "{version}"
            );
        }
    }

    /// `Gc.compact` was to return 20.6 MiB of a heap of 4.13, and returned nothing: its compactor keeps empty chunks.
    #[test]
    fn compaction_returns_what_the_compactor_does_not_keep() {
        let heap = [(Part::MajorUsed, 20), (Part::MajorFree, 20)];
        let bytes = 20 * MIB;
        // 120 percent of what is used may stay free, which is more than there is.
        for version in ["4.13", "4.14"] {
            assert_eq!(advice(&heap, version, "o=120"), [], "{version}");
            assert_eq!(advice(&heap, version, ""), [], "{version}");
        }
        let kept = percent(20 * MIB, 20);
        assert_eq!(advice(&heap, "4.13", "o=20"), [Remedy::Compact { bytes, kept }]);
        assert_eq!(
            advice(&heap, "4.12", ""),
            [Remedy::Compact { bytes, kept: percent(20 * MIB, 80) }]
        );
        assert_eq!(advice(&heap, "5.3", "o=120"), [Remedy::Compact { bytes, kept: 0 }]);
        // A version that is not known is not trusted to return more.
        assert_eq!(advice(&heap, "", "o=120"), []);
    }

    #[test]
    fn what_a_heap_needs_to_work_is_left_to_it() {
        for heap in [
            &[(Part::MajorUsed, 80), (Part::MajorFree, 20)][..],
            // Much of the heap, but little of the process; little altogether.
            &[(Part::MajorUsed, 5), (Part::MajorFree, 5), (Part::MallocUsed, 200)],
            &[(Part::MajorUsed, 1), (Part::MajorFree, 3)],
            &[],
        ] {
            assert_eq!(advice(heap, "4.14", "o=400"), [], "{heap:?}");
        }
    }

    #[test]
    fn memory_that_malloc_keeps_is_trimmed() {
        let remedy = Remedy::MallocTrim { bytes: 10 * MIB };
        assert_eq!(advice(&[(Part::MallocKept, 10), (Part::Other, 90)], "5.3", ""), [remedy]);
        assert_eq!(advice(&[(Part::MallocKept, 10), (Part::Other, 900)], "5.3", ""), []);
        assert_eq!(advice(&[(Part::MallocUsed, 90)], "5.3", ""), []);
    }

    #[test]
    fn an_overhead_above_the_default_is_named() {
        let heap = [(Part::MajorUsed, 50), (Part::MajorFree, 50)];
        let bytes = 50 * MIB;
        let overhead = |value, default| Remedy::SpaceOverhead { bytes, value, default };
        let compact = Remedy::Compact { bytes, kept: 0 };
        // The compactor of OCaml 4 keeps all that is free: 120 percent of what is used are more.
        assert_eq!(advice(&heap, "4.12", "b=0,o=120,v=0"), [overhead(120, 80)]);
        assert_eq!(advice(&heap, "4.13", "b=0,o=120,v=0"), []);
        assert_eq!(advice(&heap, "5.3", "o=121"), [compact, overhead(121, 120)]);
        for unknown in ["", "o=", "o=x", "s=1,e=2"] {
            assert_eq!(advice(&heap, "5.3", unknown), [compact], "{unknown:?}");
        }
    }
}
