//! Copies of snapshots for traces whose blocks have other numbers.

use memtrail_heap::read::Snapshot;
use memtrail_heap::renumber::renumber;
use memtrail_test_support::models::Feed;

/// Ids of sampled blocks by block.
fn samples(bytes: &[u8]) -> Vec<(u32, u64)> {
    let snapshot = Snapshot::read(bytes).unwrap();
    assert!(snapshot.damage.is_none());
    snapshot.samples.iter().map(|sample| (sample.block.0, sample.id)).collect()
}

fn snapshot() -> Vec<u8> {
    let mut feed = Feed::new(1);
    for number in 0..5 {
        let text = feed.text(number as usize);
        feed.root(feed.field, text);
        feed.heap.sample(text, 10 * number);
    }
    feed.heap.bytes()
}

#[test]
fn blocks_without_a_number_are_not_sampled_and_others_have_theirs() {
    let bytes = snapshot();
    let new = |id: u64| (id != 20).then_some(id / 10 + 100);
    let copy = renumber(&bytes, new).unwrap();
    let expected = samples(&bytes).into_iter().filter_map(|(block, id)| Some((block, new(id)?)));
    assert_eq!(samples(&copy), expected.collect::<Vec<_>>());
    assert_eq!(samples(&copy).len(), 4);
    assert_eq!(Snapshot::read(&copy).unwrap().blocks(), Snapshot::read(&bytes).unwrap().blocks());
    assert_eq!(samples(&renumber(&bytes, Some).unwrap()), samples(&bytes));
}

#[test]
fn damaged_snapshots_give_a_copy_or_an_error() {
    let bytes = snapshot();
    assert!(renumber(b"nothing", Some).is_err());
    for at in 0..bytes.len() {
        let _ = renumber(&bytes[..at], Some);
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x40;
        let _ = renumber(&damaged, Some);
    }
}
