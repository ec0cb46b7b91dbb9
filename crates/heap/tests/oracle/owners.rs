//! The owners of blocks, against the nearest root of the first class that reaches each.

use super::*;

/// A symbol of flambda that is no variable's.
const OPERATION: &str = "Pmakeblock";

/// Who points to each block, of those that are reachable: so that those are known that a way counts.
fn shared_places(plan: &Plan, oracle: &Oracle) -> BTreeSet<Place> {
    let reached = oracle.reach(None);
    let is_reached = |block: usize| reached.contains(&Place::Block(block));
    let mut pointing: BTreeMap<Place, BTreeSet<usize>> = BTreeMap::new();
    let mut shared = BTreeSet::new();
    let pointers = plan.blocks.iter().enumerate();
    for (block, fields) in pointers.filter(|(at, _)| plan.external(*at) == 0 && is_reached(*at)) {
        for to in fields.iter().flatten().filter(|to| **to != block) {
            pointing.entry(Place::Block(*to)).or_default().insert(block);
        }
    }
    for block in 0..plan.blocks.len() {
        if let Some(owner) = plan.owner(block).filter(|_| is_reached(block)) {
            pointing.entry(Place::Owner(owner)).or_default().insert(block);
        }
    }
    shared.extend(pointing.into_iter().filter(|(_, from)| from.len() > 1).map(|(to, _)| to));
    shared.extend((0..plan.statics).map(Place::Block));
    let strong = plan.roots.iter().filter(|(.., how)| *how != Strength::Weak);
    shared.extend(strong.map(|(_, block, _)| Place::Block(*block)));
    let living = plan.ephemerons.iter().filter(|(_, keys)| keys.iter().all(|key| is_reached(*key)));
    shared.extend(living.filter_map(|(data, _)| data.map(Place::Block)));
    for (function, value, is_last) in &plan.finalisers {
        shared.insert(Place::Block(*function));
        if !is_last {
            shared.insert(Place::Block(*value));
        }
    }
    shared
}

/// The oracle's edges, and those to static data.
fn all_edges(plan: &Plan, oracle: &Oracle) -> Edges {
    let mut edges = oracle.edges.clone();
    let mut add = |from, to| edges.entry(from).or_default().push(Place::Block(to));
    let is_static = |block: &usize| *block < plan.statics;
    for (block, fields) in plan.blocks.iter().enumerate().filter(|(at, _)| plan.external(*at) == 0)
    {
        for to in fields.iter().flatten().filter(|to| is_static(to)) {
            add(Place::Block(block), *to);
        }
    }
    for (label, block, how) in &plan.roots {
        if *how == Strength::Strong && is_static(block) {
            add(Place::Label(*label), *block);
        }
    }
    for (place, (function, ..)) in plan.finalisers.iter().enumerate() {
        if is_static(function) {
            add(Place::Label(plan.labels.len() + place), *function);
        }
    }
    edges
}

/// Whether a block is the value of a variable: no closure, and no block of other variables' values.
fn is_value(plan: &Plan, block: usize) -> bool {
    let Some(fields) = plan.blocks.get(block).filter(|_| plan.external(block) == 0) else {
        return true;
    };
    let is_held = |wanted: &usize| {
        plan.roots.iter().any(|(label, held, how)| {
            held == wanted && *how != Strength::Weak && plan.kinds[*label] == RootKind::Global
        })
    };
    let mut targets = fields.iter().flatten();
    let leads_on =
        targets.clone().next().is_some() && targets.all(|to| *to != block && is_held(to));
    !plan.closures.contains(&block) && !leads_on
}

/// Whether a label is an operation's result.
fn is_operation(plan: &Plan, label: usize) -> bool {
    plan.kinds.get(label) == Some(&RootKind::Global) && plan.names[label] == OPERATION
}

/// Whether an operation's result is referred to by that of another one.
fn is_part(plan: &Plan, block: usize) -> bool {
    let is_result = |block: usize| {
        plan.roots.iter().any(|(label, held, how)| {
            *held == block && *how != Strength::Weak && is_operation(plan, *label)
        })
    };
    is_result(block)
        && plan.blocks.iter().enumerate().any(|(from, fields)| {
            let refers = fields.iter().flatten().any(|to| *to == block);
            from != block && plan.external(from) == 0 && refers && is_result(from)
        })
}

/// From a root's blocks, the distance to all that can be reached from there.
fn distances(edges: &Edges, shared: &BTreeSet<Place>, start: &[Place]) -> BTreeMap<Place, usize> {
    let mut distance: BTreeMap<Place, usize> = start.iter().map(|place| (*place, 0)).collect();
    loop {
        let mut changed = false;
        for (from, to) in edges.iter().flat_map(|(from, to)| to.iter().map(move |to| (from, to))) {
            let Some(near) = distance.get(from).copied() else { continue };
            let far = near + usize::from(shared.contains(to));
            if distance.get(to).is_none_or(|known| far < *known) {
                distance.insert(*to, far);
                changed = true;
            }
        }
        if !changed {
            return distance;
        }
    }
}

/// A root's names from the top, each with kind and number of the label. Those of finalisers come behind the labels of
/// the plan.
type Name = Vec<(RootKind, &'static str, usize)>;

fn name(plan: &Plan, label: usize) -> Name {
    let Some(above) = plan.labels.get(label) else {
        return vec![(RootKind::Finaliser, "f", label)];
    };
    let mut name = above.map_or_else(Vec::new, |above| self::name(plan, above));
    name.push((plan.kinds[label], plan.names[label], label));
    name
}

/// For each place its class, distance and root, that of the first name; of static data that nothing reaches, none.
fn owners(plan: &Plan, oracle: &Oracle) -> BTreeMap<Place, (u8, usize, Name)> {
    let (edges, shared) = (all_edges(plan, oracle), shared_places(plan, oracle));
    let mut owners: BTreeMap<Place, (u8, usize, Name)> = BTreeMap::new();
    let mut offer = |place: Place, owner: (u8, usize, Name)| {
        let known = owners.entry(place).or_insert_with(|| owner.clone());
        if owner < *known {
            *known = owner;
        }
    };
    for label in 0..plan.labels.len() + plan.finalisers.len() {
        let kind = plan.kinds.get(label).copied().unwrap_or(RootKind::Finaliser);
        let held = edges.get(&Place::Label(label)).into_iter().flatten();
        let held: Vec<Place> = held.copied().filter(|to| matches!(to, Place::Block(_))).collect();
        for class in 1..=6 {
            let class_of = |place: &Place| match (kind, place) {
                (RootKind::Global, Place::Block(block)) if is_operation(plan, label) => {
                    if is_part(plan, *block) { 4 } else { 3 }
                }
                (RootKind::Global, Place::Block(block)) if is_value(plan, *block) => 1,
                (RootKind::Global, _) => 2,
                (RootKind::GlobalC | RootKind::Hook | RootKind::Finaliser, _) => 5,
                _ => 6,
            };
            let start: Vec<Place> =
                held.iter().copied().filter(|place| class_of(place) == class).collect();
            for (place, distance) in distances(&edges, &shared, &start) {
                offer(place, (class, distance, name(plan, label)));
            }
        }
    }
    let statics: Vec<Place> = (0..plan.statics).map(Place::Block).collect();
    for (place, _) in distances(&edges, &shared, &statics) {
        offer(place, (7, 0, Vec::new()));
    }
    owners
}

fn check(plan: &Plan, threads: usize) -> Result<(), TestCaseError> {
    let (mut plan, heap) = lay_out(plan, false);
    // Labels below others do not hold what those hold.
    plan.labels.truncate(plan.kinds.len());
    let bytes = heap.bytes();
    let snapshot = Snapshot::read(&bytes).unwrap();
    let graph = Graph::new(&snapshot, threads).unwrap();
    let oracle = Oracle::new(&plan);
    let off_heap = plan.owners();
    let (numbers, owners) = (heap.numbers(), owners(&plan, &oracle));
    let mut sums: BTreeMap<RootNodeId, (u64, u64)> = BTreeMap::new();
    let mut one_by_one = graph.owners_one_by_one();
    for place in &oracle.nodes {
        let (block, words, external) = match place {
            Place::Block(block) => (numbers[*block], plan.size(*block), plan.external(*block)),
            Place::Owner(owner) => {
                let place = off_heap.iter().position(|known| known == owner).unwrap();
                ((heap.len() + place) as u32, 0, owned(*owner))
            }
            _ => continue,
        };
        let truth = owners.get(place).map(|(.., name)| match name.last() {
            Some((.., label)) => graph.root_nodes().label(LabelId(*label as u32)),
            None => graph.root_nodes().kind(RootKind::Static),
        });
        prop_assert_eq!(graph.owner(BlockIndex(block)), truth, "owner of {:?}", place);
        prop_assert_eq!(one_by_one.get(BlockIndex(block)), truth, "owner of {:?}", place);
        let Some(owner) = truth else { continue };
        let sum = sums.entry(owner).or_default();
        *sum = (sum.0 + words, sum.1 + external);
        // What a label alone retains is its own, or that of one below it.
        let mut at = graph.dominator(Node::Block(BlockIndex(block)));
        while let Some(above) = at {
            if let Node::RootNode(retaining) = above
                && let RootNode::Label(_) = graph.root_nodes().get(retaining)
            {
                let mut below = Some(Node::RootNode(owner));
                while below.is_some() && below != Some(above) {
                    below = below.and_then(|node| graph.dominator(node));
                }
                prop_assert_eq!(below, Some(above), "{:?} is of another root", place);
            }
            at = graph.dominator(above);
        }
    }
    let mut all = (0, 0);
    for (number, owned) in graph.owned().into_iter().enumerate() {
        let (words, external) = sums.get(&RootNodeId(number as u32)).copied().unwrap_or_default();
        prop_assert_eq!((owned.words, owned.external), (Words(words), Bytes(external)));
        all = (all.0 + words, all.1 + external);
    }
    let top = RootNodeId(0);
    prop_assert_eq!((graph.held(top), graph.held_external(top)), (Words(all.0), Bytes(all.1)));
    let mut index = Vec::new();
    graph.write_index(&snapshot, &mut index).unwrap();
    let again = Graph::read_index(&snapshot, &index).unwrap();
    prop_assert_eq!(again.owned(), graph.owned());
    prop_assert!(again.modules().eq(graph.modules()));
    Ok(())
}

fn kinds() -> impl Strategy<Value = Vec<RootKind>> {
    let kind = prop_oneof![
        4 => Just(RootKind::Global),
        1 => Just(RootKind::GlobalC),
        1 => Just(RootKind::Stack),
    ];
    proptest::collection::vec(kind, 5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 1_000 } else { 100_000 }))]

    #[test]
    fn every_block_belongs_to_the_nearest_root_of_the_first_class(
        plan in plan(2, 2, 2),
        kinds in kinds(),
        names in proptest::collection::vec(prop_oneof![Just("a"), Just("b"), Just(OPERATION)], 5),
        closures in proptest::collection::vec(0usize..14, 0..3),
        threads in 1usize..3,
    ) {
        // All labels below one are of its kind.
        let mut plan = plan;
        for (label, above) in plan.labels.iter().enumerate() {
            plan.kinds[label] = above.map_or(kinds[label], |above| plan.kinds[above]);
        }
        plan.names.copy_from_slice(&names[..plan.labels.len()]);
        plan.closures = closures;
        check(&plan, threads)?;
    }
}
