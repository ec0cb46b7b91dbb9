// Events by time in a BTreeMap. "leak" prunes by the wrong end of the range, so that nothing is removed.
//
// run leak 60000: stack grows, allocated in retention::record
// run sound 60000: no suspect
// long 300000
use std::collections::BTreeMap;
#[inline(never)]
fn record(events: &mut BTreeMap<u64, String>, i: u64) { events.insert(i, format!("{i}: {}", "e".repeat(600))); }
fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let (leaks, n) = (arguments[1] == "leak", arguments[2].parse::<u64>().unwrap_or(0));
    let (mut events, mut sum) = (BTreeMap::new(), 0);
    for i in 0..n {
        record(&mut events, i);
        if i % 500 == 499 {
            let kept = events.split_off(&i.saturating_sub(if leaks { n } else { 1000 }));
            sum += events.len();
            events = kept;
        }
        let work = vec![i as u8; 2000]; sum += std::hint::black_box(work)[7] as usize
    }
    println!("{sum}");
}
