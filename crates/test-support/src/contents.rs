//! What a recording holds, read with the libraries that reports use.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use memtrail_recording::{Description, Recording};
use memtrail_trace::{Detail, Event, Reader, Source};

/// A sampled block from its allocation to its end. Times in microseconds since the epoch.
#[derive(Clone, Debug)]
pub struct Block {
    pub id: u64,
    pub domain: u16,
    pub words: u64,
    pub samples: u64,
    pub source: Source,
    /// Functions on the stack, inlined ones included, innermost first.
    pub stack: Vec<String>,
    /// `file:line` of each.
    pub places: Vec<String>,
    pub allocated: u64,
    pub promoted: Option<u64>,
    pub collected: Option<u64>,
}

/// A recording, decoded.
#[derive(Debug)]
pub struct Contents {
    pub description: Description,
    pub rate: f64,
    pub blocks: Vec<Block>,
}

/// Reads a recording.
///
/// # Panics
/// When it cannot be read, or its trace has a single anomaly: ours never has.
pub fn read(recording: &Path) -> Contents {
    let opened = Recording::open(recording).unwrap_or_else(|e| panic!("{e}"));
    let description =
        opened.description.unwrap_or_else(|| panic!("{} has no description", recording.display()));
    let bytes =
        fs::read(&opened.trace).unwrap_or_else(|e| panic!("{}: {e}", opened.trace.display()));
    let reader = Reader::new(&bytes).unwrap_or_else(|e| panic!("{}: {e}", opened.trace.display()));
    let mut blocks: Vec<Block> = Vec::new();
    let mut index = HashMap::new();
    let decoded = reader.for_each(Detail::Codes, |event, tables| match event {
        Event::Alloc(alloc) => {
            let sites: Vec<_> = alloc
                .backtrace
                .iter()
                .flat_map(|code| tables.locations.of(*code))
                .map(|site| tables.locations.resolve(*site))
                .collect();
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let known = index.insert(alloc.id, blocks.len());
            assert_eq!(known, None, "block {:?} allocated twice", alloc.id);
            blocks.push(Block {
                id: alloc.id.0,
                domain: alloc.domain.0,
                words: alloc.length.0,
                samples: alloc.samples,
                source: alloc.source,
                stack: sites.iter().rev().map(|site| text(site.function)).collect(),
                places: sites
                    .iter()
                    .rev()
                    .map(|site| format!("{}:{}", text(site.file), site.line))
                    .collect(),
                allocated: alloc.time.0,
                promoted: None,
                collected: None,
            });
        }
        Event::Promote(mark) => {
            let block = &mut blocks[*index.get(&mark.id).expect("promoted after its allocation")];
            assert_eq!(block.promoted.replace(mark.time.0), None, "promoted twice");
            assert_eq!(block.collected, None, "promoted after its end");
        }
        Event::Collect(mark) => {
            let block = &mut blocks[*index.get(&mark.id).expect("collected after its allocation")];
            assert_eq!(block.collected.replace(mark.time.0), None, "collected twice");
        }
    });
    assert_eq!(decoded.anomalies.total(), 0, "{:?}", decoded.anomalies.list());
    Contents { description, rate: reader.info().sample_rate.0, blocks }
}

impl Contents {
    /// Blocks with a function of that name on their stack.
    pub fn inside<'a>(&'a self, function: &'a str) -> impl Iterator<Item = &'a Block> {
        self.blocks.iter().filter(move |block| block.stack.iter().any(|f| f == function))
    }

    /// Estimate of the words allocated inside a function, headers counted, and its standard error.
    pub fn words(&self, function: &str) -> (f64, f64) {
        let samples: u64 = self.inside(function).map(|block| block.samples).sum();
        (samples as f64 / self.rate, (samples as f64 * (1.0 - self.rate)).sqrt() / self.rate)
    }

    /// Fails unless the estimate for a function is within five standard errors of the truth.
    pub fn expect_words(&self, function: &str, truth: f64) {
        let (estimate, error) = self.words(function);
        assert!(
            (estimate - truth).abs() <= 5.0 * error.max(1.0),
            "{function}: {estimate:.0} ± {error:.0} words, should be {truth:.0}"
        );
    }
}

/// The recordings in a folder, and in the folders of families in it, by name.
pub fn recordings_in(folder: &Path) -> Vec<std::path::PathBuf> {
    let with = |folder: &Path, extension: &str| {
        let all = fs::read_dir(folder).expect("list the folder");
        let all = all.map(|entry| entry.expect("an entry").path());
        all.filter(|path| path.extension().is_some_and(|e| e == extension)).collect::<Vec<_>>()
    };
    let mut found = with(folder, "memtrail");
    for family in with(folder, "family") {
        found.extend(with(&family, "memtrail"));
    }
    found.sort();
    found
}
