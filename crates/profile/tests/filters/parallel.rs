//! A pass says the same however it is divided.

use memtrail_profile::filter::Filter;
use memtrail_profile::selected::choose;
use memtrail_profile::{Profile, ProfileBuilder, blocks::Block, time::Elapsed};
use memtrail_trace::{
    Anomalies, BlockId, DomainId, Locations, Source, StackId, StackTree, Timestamp, Words,
};

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let mut builder = ProfileBuilder::new(Timestamp(0));
    for id in 0..300_000_u64 {
        let mixed = id.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        let block = Block {
            time: Elapsed(id * 3),
            length: Words(1 + mixed % 1_500),
            samples: 1 + mixed % 3,
            source: Source::Minor,
            stack: StackId(0),
            domain: DomainId(0),
        };
        builder.alloc(BlockId(id), &block);
        if mixed % 10 > 0 {
            builder.collect(BlockId(id), Elapsed(id * 3 + mixed % 10_000));
        }
    }
    let info = memtrail_test_support::traces::info(0.001);
    let tables = (Locations::default(), StackTree::new());
    let profile = Profile::new(info, builder, tables, Anomalies::default());
    let filter = Filter::parse(&["allocated:10%..80%"]).unwrap().resolve(&profile).unwrap();
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        format!("{:?}", pool.install(|| choose(&profile, &filter, &[0], 1)))
    };
    let one = with(1);
    assert_eq!(one, with(2));
    assert_eq!(one, with(3));
}
