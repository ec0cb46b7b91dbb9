//! The columns keep their promise: at most 64 bytes a block, everything included.

use memtrail_profile::Profile;
use memtrail_test_support::traces::{Spec, profile};
use memtrail_trace::Source;

fn many(domains: u16) -> Profile {
    let blocks: Vec<Spec> = (0..20_000_u64)
        .map(|n| Spec {
            promoted: Some(n + 1),
            collected: Some(n + 2 + n * 7 % 1_000),
            length: if n % 100 == 0 { 1 << 33 } else { 3 },
            samples: if n % 100 == 0 { 100_000 } else { 1 },
            source: Source::Minor,
            domain: (n / 50 % u64::from(domains)) as u16,
            ..Spec::at(n, &[n % 50 + 1])
        })
        .collect();
    profile(0.01, &blocks, |_| vec![("M.f", "m.ml", 1)])
}

#[test]
fn a_block_takes_less_than_64_bytes() {
    for (domains, most) in [(1, 34), (4, 40)] {
        let profile = many(domains);
        let each = profile.blocks.memory() as f64 / profile.blocks.len() as f64;
        assert!(each <= f64::from(most), "{each} bytes with {domains} domains");
    }
}
