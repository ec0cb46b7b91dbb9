//! The order of labels by their names, which is the same in all snapshots of a program: numbers of labels follow the
//! order in which roots were found, and the runtime moves some of them from list to list.

use crate::label::Labels;
use crate::units::LabelId;

/// For each label its place in the order of names. A label comes before those below it, and siblings are in the order
/// of kind, role, name, file and number; those that do not differ are in the order of the file.
pub(super) fn places(labels: &Labels) -> Vec<u32> {
    let mut order: Vec<LabelId> = labels.iter().map(|(id, _)| id).collect();
    // The siblings that are taken from a stack first are behind the others.
    order.sort_unstable_by(|one, other| key(labels, *other).cmp(&key(labels, *one)));
    // For each label, and for those without a parent, where its children start in `order`, and where they end.
    let mut children = vec![0..0; labels.len() + 1];
    let parent = |id: LabelId| labels.get(id).and_then(|label| label.parent);
    let slot = |id: LabelId| parent(id).map_or(0, |parent| parent.0 as usize + 1);
    for (place, id) in order.iter().enumerate() {
        let of = &mut children[slot(*id)];
        if of.end == 0 {
            of.start = place;
        }
        of.end = place + 1;
    }
    let mut places = vec![0; labels.len()];
    let mut todo: Vec<LabelId> = order[children[0].clone()].to_vec();
    let mut next = 0;
    while let Some(id) = todo.pop() {
        places[id.0 as usize] = next;
        next += 1;
        todo.extend_from_slice(&order[children[id.0 as usize + 1].clone()]);
    }
    places
}

/// What labels are sorted by: siblings are together.
fn key(labels: &Labels, id: LabelId) -> impl Ord + '_ {
    labels.get(id).map(|label| {
        let names = (labels.name(label), labels.file(label));
        (label.parent, label.kind, label.part, names, label.number, id)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::label::{LabelRole, RootKind};

    #[test]
    fn labels_are_in_the_order_of_their_paths() {
        let mut labels = Labels::new();
        let mut add = |parent: Option<u32>, name: &str, number| {
            let parent = parent.map(LabelId);
            let part = if name.is_empty() { LabelRole::Field } else { LabelRole::Unit };
            labels.add(parent, RootKind::Global, part, name.as_bytes(), b"", number).0
        };
        let store = add(None, "Store", 0);
        let store_10 = add(Some(store), "", 10);
        let cache = add(None, "Cache", 0);
        let again = add(None, "Cache", 0);
        let store_9 = add(Some(store), "", 9);
        let of_again = add(Some(again), "", 0);
        let of_cache = add(Some(cache), "", 1);
        let inner = add(Some(store_10), "", 0);
        let places = places(&labels);
        let mut order: Vec<u32> = (0..labels.len() as u32).collect();
        order.sort_unstable_by_key(|label| places[*label as usize]);
        let expected = [cache, of_cache, again, of_again, store, store_9, store_10, inner];
        assert_eq!(order, expected);
        assert!(super::places(&Labels::new()).is_empty());
    }
}
