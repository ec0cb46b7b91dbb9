use std::collections::BTreeMap;

use memtrail_profile::calls::{Branch, Column, Label, Line, branches, sort, table};
use memtrail_profile::sites::By;
use proptest::prelude::*;

use crate::calls::paths::{Block, Made, find, traces};

/// Samples, and those never collected, on the path; samples allocated there.
type Slow = BTreeMap<String, (u64, u64, u64)>;

const BYS: [By; 4] = [By::Function, By::Site, By::Module, By::File];

/// A block's path as a table sees it.
fn labels(block: &Block, by: By) -> &[String] {
    match by {
        By::Function | By::Site => &block.path,
        By::Module => &block.modules,
        By::File => &block.files,
    }
}

/// The line that a block is allocated by.
fn own(made: &Made, block: &Block, by: By) -> Option<String> {
    let own = block.own.as_ref()?;
    match by {
        By::Function => Some(own.clone()),
        By::Site => block.site.clone(),
        By::Module => Some(module(made, own)),
        By::File => Some(file(made, block.site.as_ref().unwrap_or(own))),
    }
}

fn module(made: &Made, key: &str) -> String {
    made.entities.module_name(made.entities.module(made.entity(key)).unwrap()).to_owned()
}

fn file(made: &Made, key: &str) -> String {
    made.entities.file_name(made.entities.position(made.entity(key)).unwrap().file).to_owned()
}

fn spread(made: &Made, lines: &[Line]) -> Slow {
    let mut slow = Slow::new();
    for line in lines {
        let sums = (line.total.samples, line.total.live, line.own.samples);
        let key = made.entities.label_key(line.label).to_owned();
        assert_eq!(slow.insert(key, sums), None);
    }
    slow
}

fn add(slow: &mut Slow, block: &Block, key: &str, is_own: bool) {
    let sums = slow.entry(key.to_owned()).or_default();
    sums.0 += block.samples;
    sums.1 += block.live;
    sums.2 += if is_own { block.samples } else { 0 };
}

fn table_slowly(made: &Made, by: By) -> Slow {
    let mut slow = Slow::new();
    for block in &made.blocks {
        let lines: Vec<String> = match by {
            By::Function => block.functions.clone(),
            By::Site => block.site.iter().cloned().collect(),
            By::Module => block.modules.clone(),
            By::File => block.files.clone(),
        };
        for key in lines {
            add(&mut slow, block, &key, own(made, block, by).as_ref() == Some(&key));
        }
    }
    slow
}

fn branches_slowly(made: &Made, by: By, path: &[String], branch: Branch) -> Slow {
    let mut slow = Slow::new();
    for block in &made.blocks {
        let mut labels = labels(block, by).to_vec();
        if matches!(by, By::Function | By::Site) {
            labels.push("<allocations>".into());
        }
        let Some(at) = find(&labels, path) else { continue };
        let after = at + path.len();
        let last = &path[path.len() - 1];
        let allocator = block.own.clone().unwrap_or("<toplevel>".into());
        let next = match branch {
            Branch::Callers => at.checked_sub(1).map(|at| labels[at].clone()),
            Branch::Callees => labels.get(after).filter(|&l| l != "<allocations>").cloned(),
            Branch::Inside => {
                let lines: Vec<&String> = match by {
                    By::Function => block.site.iter().filter(|_| allocator == *last).collect(),
                    By::Site => vec![],
                    By::Module => {
                        let all = block.functions.iter();
                        all.filter(|f| module(made, f) == *last).collect()
                    }
                    By::File => block.functions.iter().filter(|f| file(made, f) == *last).collect(),
                };
                for key in lines {
                    let is_own = *key == allocator || Some(key) == block.site.as_ref();
                    add(&mut slow, block, key, is_own);
                }
                None
            }
        };
        if let Some(key) = next {
            let is_own = match by {
                By::Function | By::Site if key.contains('@') => true,
                By::Function => allocator == key,
                _ => own(made, block, by).as_ref() == Some(&key),
            };
            add(&mut slow, block, &key, is_own);
        }
    }
    slow
}

fn check_branches(made: &Made, by: By, path: &[String]) {
    let found: Vec<Label> =
        path.iter().map(|key| made.entities.find_label(by, key).unwrap()).collect();
    for branch in [Branch::Callers, Branch::Callees, Branch::Inside] {
        let fast = spread(made, &branches(made.view(), by, &found, branch));
        let slow = branches_slowly(made, by, path, branch);
        assert_eq!(fast, slow, "{branch:?} of {path:?}");
    }
}

proptest! {
    #[test]
    fn lines_are_those_of_all_blocks((frames, specs) in traces(), hide in any::<bool>()) {
        let hidden: &[&str] = if hide { &["A.f", "B.h"] } else { &[] };
        let made = Made::new(&frames, &specs, hidden);
        for by in BYS {
            let fast = table(made.view(), by);
            prop_assert_eq!(spread(&made, &fast), table_slowly(&made, by), "by {:?}", by);
        }
    }

    #[test]
    fn branches_are_the_next_level(
        (frames, specs) in traces(),
        which in any::<prop::sample::Index>(),
        (from, len) in (0..6_usize, 1..4_usize),
    ) {
        let made = Made::new(&frames, &specs, &[]);
        prop_assume!(!made.blocks.is_empty());
        let block = which.get(&made.blocks);
        for by in [By::Function, By::Module, By::File] {
            let mut path = labels(block, by).to_vec();
            if by == By::Function {
                path.push("<allocations>".into());
            }
            if !path.is_empty() {
                let from = from.min(path.len() - 1);
                check_branches(&made, by, &path[from..(from + len).min(path.len())]);
            }
        }
        if let Some(site) = &block.site {
            check_branches(&made, By::Site, std::slice::from_ref(site));
        }
    }

    #[test]
    fn lines_stand_in_order((frames, specs) in traces(), descending in any::<bool>()) {
        let made = Made::new(&frames, &specs, &[]);
        let mut lines = table(made.view(), By::Function);
        for column in
            [Column::Total, Column::Own, Column::Blocks, Column::Live, Column::Lifetime, Column::Name]
        {
            sort(&mut lines, &made.entities, column, descending);
            let of = |line: &Line| match column {
                Column::Total => line.total.samples as f64,
                Column::Own => line.own.samples as f64,
                Column::Blocks => line.total.blocks,
                Column::Live => line.total.live as f64,
                Column::Lifetime => line.total.mean_lifetime(),
                Column::Name => 0.0,
            };
            let key = |line: &Line| made.entities.label_key(line.label);
            for pair in lines.windows(2) {
                let (a, b) = (of(&pair[0]), of(&pair[1]));
                let in_order = if descending { a >= b } else { a <= b };
                prop_assert!(in_order);
                if column == Column::Name {
                    prop_assert_eq!(key(&pair[0]) > key(&pair[1]), descending);
                } else if a.total_cmp(&b).is_eq() {
                    prop_assert!(pair[0].total.samples >= pair[1].total.samples);
                }
            }
        }
    }
}
