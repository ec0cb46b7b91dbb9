//! Off-heap memory in the order of lists, and in what changed between snapshots.

use memtrail_heap::model::{Heap as Model, Value};
use memtrail_heap::query::{
    Heap, RootsBy, SeriesBy, Summary, diff, evolution, growth, histogram, owners,
};
use memtrail_heap::read::{Snapshot, Strength};
use memtrail_heap::{Bytes, RootKind, tag};

fn with<R>(model: &Model, ask: impl FnOnce(&Heap<'_>) -> R) -> R {
    let bytes = model.bytes();
    ask(&Heap::new(Snapshot::read(&bytes).unwrap(), 2).unwrap())
}

/// Two variables: one with strings, one with a custom block that has so many bytes outside the heap.
fn off_heap(bytes: u64) -> Model {
    let mut model = Model::new();
    let strings: Vec<Value> = (0..20).map(|_| Value::Block(model.string(b"a string"))).collect();
    let strings = model.block(0, &strings);
    model.root(RootKind::Global, "strings", Value::Block(strings), Strength::Strong);
    let custom = model.block(tag::CUSTOM, &[Value::Raw(1), Value::Raw(bytes), Value::Raw(0)]);
    model.root(RootKind::Global, "images", Value::Block(custom), Strength::Strong);
    model
}

/// Growth of a bigarray was that of its words in the heap: none.
#[test]
fn off_heap_memory_counts_in_order_and_growth() {
    let sizes = [1000, 3000, 9000];
    let summaries = sizes.map(|size| with(&off_heap(size), |heap| Summary::new(heap).unwrap()));
    with(&off_heap(9000), |heap| {
        let rows = owners(heap, &[]).rows;
        let names: Vec<&str> = rows.iter().map(|row| row.path[0].as_str()).collect();
        assert_eq!(names, ["images", "strings"]);
        assert!(rows[0].owned < rows[1].owned);
        let kinds = histogram(heap).unwrap().rows;
        assert_eq!((kinds[0].external, kinds[1].external), (Bytes(9000), Bytes(0)));
    });
    let last = &summaries[2];
    assert_eq!(last.external, Bytes(9000));
    assert_eq!((last.owners[0].name.as_str(), last.kinds[0].external), ("images", Bytes(9000)));
    let image = last.roots.iter().find(|root| root.name == "images").unwrap();
    assert_eq!((last.roots[0].name.as_str(), image.retained_external), ("images", Bytes(9000)));
    for by in [RootsBy::Owned, RootsBy::Retained] {
        let grown = growth(&summaries, by);
        let image = grown.iter().find(|row| row.name == "images").unwrap();
        assert_eq!((image.grown, &image.external), (Bytes(8000), &sizes.map(Bytes).to_vec()));
        // The kind of custom block, and its root.
        assert!(grown.len() == 2 && grown.iter().all(|row| row.grown == Bytes(8000)), "{grown:#?}");
    }
    let difference = diff(&summaries[0], &summaries[2]);
    assert_eq!((difference.external, difference.owners.len()), ([Bytes(1000), Bytes(9000)], 1));
    let image = &difference.owners[0];
    assert_eq!((image.bytes[0], image.external), (image.bytes[1], [Bytes(1000), Bytes(9000)]));
    // Nothing changed in the heap.
    assert!(image.share == 0.0 && image.share_with_external > 0.8, "{image:#?}");
    assert_eq!(difference.roots[0].name, "images");
    let over_time = evolution(&summaries, SeriesBy::Owner, 1);
    assert_eq!(over_time.series[0].name, "images");
    assert_eq!(over_time.series[0].external, sizes.map(Bytes));
    assert_eq!(
        (over_time.external, over_time.rest_external),
        (sizes.map(Bytes).to_vec(), vec![Bytes(0); 3])
    );
    let sum = Summary::sum(summaries);
    assert_eq!((sum.external, sum.owners[0].name.as_str()), (Bytes(13_000), "images"));
    assert_eq!(
        (sum.kinds[0].external, sum.roots[0].retained_external),
        (Bytes(13_000), Bytes(13_000))
    );
}
