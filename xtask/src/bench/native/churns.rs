//! Maps and strings that come and go: what a Rust program allocates that does little else.

use std::collections::{BTreeMap, HashMap};

/// Marsaglia's generator.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

fn main() {
    let steps: u64 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1000);
    let mut random = Random(88_172_645_463_325_252);
    let mut sessions: HashMap<String, Vec<u64>> = HashMap::new();
    let mut recent: BTreeMap<u64, String> = BTreeMap::new();
    let mut bytes = 0;
    for step in 0..steps {
        let user = format!("user-{}", random.below(20_000));
        recent.insert(step, user.to_uppercase());
        if recent.len() > 5000 {
            bytes += recent.pop_first().map_or(0, |(_, text)| text.len());
        }
        if random.below(4) == 0 {
            bytes += sessions.remove(&user).map_or(0, |visits| visits.len());
        } else {
            sessions.entry(user).or_default().push(step);
        }
    }
    println!("{} {} {bytes}", sessions.len(), recent.len());
}
