//! A snapshot read whole, and asked in the plainest way: what is there, what points to what, what is
//! reachable from where. Slow, simple, and independent of the analysis.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use memtrail_heap::read::{Columns, Snapshot, Strength};
use memtrail_heap::write::Space;
use memtrail_heap::{BlockIndex, LabelId};

/// A block.
#[derive(Clone, Debug)]
pub struct Block {
    /// Words without header.
    pub wosize: u64,
    pub space: Space,
    pub targets: Vec<u32>,
    /// Name of a closure's function.
    pub function: String,
    /// Identifier of a custom block, and its bytes outside the heap.
    pub custom: Option<(String, u64)>,
}

/// A root.
#[derive(Clone, Debug)]
pub struct Root {
    pub block: u32,
    /// `global/Unit/3`, `stack/0/f`.
    pub path: String,
    pub strength: Strength,
    /// Source line of a frame.
    pub line: u64,
}

pub struct Heap {
    pub blocks: Vec<Block>,
    pub roots: Vec<Root>,
    /// What roots can be, whether or not any is that.
    pub labels: Vec<String>,
    /// Ephemerons: the block, its data, its keys.
    pub ephemerons: Vec<(u32, Option<u32>, Vec<u32>)>,
    /// Ids in the trace by block.
    pub samples: HashMap<u32, u64>,
    pub pid: u64,
    pub pause: u64,
    /// Words that look like pointers and lead to no block.
    pub outside: u64,
    pub counters: BTreeMap<String, u64>,
    /// Contents of strings, if kept.
    pub strings: HashMap<u32, Vec<u8>>,
}

impl Heap {
    pub fn read(file: &Path) -> Heap {
        let bytes = std::fs::read(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let snapshot = Snapshot::read(&bytes).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        assert!(snapshot.damage.is_none(), "{}: {:?}", file.display(), snapshot.damage);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut blocks = Vec::new();
        let mut columns = Columns::new();
        for section in 0..snapshot.sections() {
            snapshot.decode(section, &mut columns).expect("a whole section");
            let first = blocks.len();
            for block in columns.iter() {
                blocks.push(Block {
                    wosize: block.wosize.0,
                    space: Space::Major,
                    targets: block.targets.to_vec(),
                    function: String::new(),
                    custom: None,
                });
            }
            let mut from = first;
            for (space, end) in columns.spaces() {
                blocks[from..first + end].iter_mut().for_each(|block| block.space = space);
                from = first + end;
            }
            for (place, function) in columns.closures() {
                blocks[first + place].function = text(&snapshot.functions[function as usize].name);
            }
            for (place, identifier, bytes) in columns.customs() {
                let identifier = text(&snapshot.customs[identifier as usize]);
                blocks[first + place].custom = Some((identifier, bytes));
            }
        }
        let number = |block: BlockIndex| block.0;
        let roots = snapshot.roots.iter().map(|root| Root {
            block: root.block.0,
            path: path(&snapshot, root.label),
            strength: root.strength,
            line: snapshot.labels.get(root.label).map_or(0, |label| label.number),
        });
        let mut strings = HashMap::new();
        if snapshot.has_contents() {
            snapshot
                .contents(|block, _, bytes| {
                    strings.entry(block.0).or_insert_with(Vec::new).extend_from_slice(bytes);
                })
                .expect("whole contents");
        }
        Heap {
            roots: roots.collect(),
            labels: snapshot.labels.iter().map(|(label, _)| path(&snapshot, label)).collect(),
            ephemerons: snapshot
                .ephemerons
                .iter()
                .map(|e| {
                    (e.block.0, e.data.map(number), e.keys.iter().copied().map(number).collect())
                })
                .collect(),
            samples: snapshot.samples.iter().map(|sample| (sample.block.0, sample.id)).collect(),
            pid: snapshot.facts.pid,
            pause: snapshot.facts.pause,
            outside: snapshot.totals.outside,
            counters: snapshot.facts.counters.iter().map(|(name, n)| (text(name), *n)).collect(),
            strings,
            blocks,
        }
    }

    /// Everything reachable from these blocks, which it includes, as the collector sees it: ephemerons keep
    /// their data while they and their keys are reached.
    pub fn reachable(&self, from: impl IntoIterator<Item = u32>) -> Vec<bool> {
        let mut seen = vec![false; self.blocks.len()];
        let mut todo: Vec<u32> = from.into_iter().collect();
        loop {
            while let Some(block) = todo.pop() {
                if !std::mem::replace(&mut seen[block as usize], true) {
                    todo.extend(&self.blocks[block as usize].targets);
                }
            }
            for (block, data, keys) in &self.ephemerons {
                if let Some(data) = *data
                    && !seen[data as usize]
                    && seen[*block as usize]
                    && keys.iter().all(|key| seen[*key as usize])
                {
                    todo.push(data);
                }
            }
            if todo.is_empty() {
                return seen;
            }
        }
    }

    /// Everything that lives: reachable from all roots that keep.
    pub fn live(&self) -> Vec<bool> {
        let keeps = |root: &&Root| matches!(root.strength, Strength::Strong | Strength::Finaliser);
        self.reachable(self.roots.iter().filter(keeps).map(|root| root.block))
    }

    /// Blocks and words, with headers, of those marked that are in the OCaml heap.
    pub fn sum(&self, marked: &[bool]) -> (u64, u64) {
        let marked = self.blocks.iter().zip(marked).filter(|(_, marked)| **marked);
        marked
            .filter(|(block, _)| block.space != Space::Static)
            .filter(|(block, _)| block.space != Space::OffHeap)
            .fold((0, 0), |(blocks, words), (block, _)| (blocks + 1, words + block.wosize + 1))
    }

    /// Words of all blocks marked, of static data too, with headers.
    pub fn words(&self, marked: &[bool]) -> u64 {
        let marked = self.blocks.iter().zip(marked).filter(|(_, marked)| **marked);
        let in_heap = marked.filter(|(block, _)| block.space != Space::OffHeap);
        in_heap.map(|(block, _)| block.wosize + 1).sum()
    }

    /// The roots at a path, and those below it.
    pub fn roots_at(&self, path: &str) -> Vec<&Root> {
        let at = |root: &&Root| {
            root.path
                .strip_prefix(path)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.roots.iter().filter(at).collect()
    }

    /// Blocks and words reachable from the roots at a path, and below it.
    pub fn below(&self, path: &str) -> (u64, u64) {
        let roots = self.roots_at(path);
        assert!(!roots.is_empty(), "no root {path} among {:#?}", self.paths());
        self.sum(&self.reachable(roots.iter().map(|root| root.block)))
    }

    /// Fails if what roots without a name reach is more than a thousandth of the heap.
    pub fn expect_names(&self) {
        let nameless = |root: &&Root| {
            // C variables have names, not numbers; what nobody explains is `other`.
            let number = root.path.strip_prefix("global-c/").unwrap_or("x");
            root.path.starts_with("other") || number.parse::<u64>().is_ok()
        };
        let nameless: Vec<_> = self.roots.iter().filter(nameless).collect();
        let (_, unnamed) = self.sum(&self.reachable(nameless.iter().map(|root| root.block)));
        let (_, all) = self.sum(&self.live());
        assert!(unnamed * 1000 <= all, "{unnamed} of {all} words have no name: {nameless:?}");
    }

    /// All roots' paths.
    pub fn paths(&self) -> Vec<&str> {
        let mut paths: Vec<_> = self.roots.iter().map(|root| root.path.as_str()).collect();
        paths.sort_unstable();
        paths.dedup();
        paths
    }
}

fn path(snapshot: &Snapshot<'_>, mut label: LabelId) -> String {
    let mut parts = Vec::new();
    loop {
        let Some(found) = snapshot.labels.get(label) else { return String::new() };
        let name = String::from_utf8_lossy(snapshot.labels.name(found));
        parts.push(if name.is_empty() { found.number.to_string() } else { name.into_owned() });
        let Some(parent) = found.parent else {
            parts.push(found.kind.name().into());
            break;
        };
        label = parent;
    }
    parts.reverse();
    parts.join("/")
}
