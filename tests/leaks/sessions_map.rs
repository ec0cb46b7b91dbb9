// Sessions in a HashMap. "leak" inserts one for each visit; "sound" removes it after 300 others.
//
// run leak 40000: stack grows, allocated in sessions_map::visit
// run sound 40000: no suspect
// long 200000
use std::collections::HashMap;
struct Session { user: String, page: Vec<u8> }
#[inline(never)]
fn visit(sessions: &mut HashMap<u64, Session>, i: u64) {
    let session = Session { user: format!("user {i} with a name"), page: vec![i as u8; 1200] };
    sessions.insert(i, session);
}
fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let (leaks, n) = (arguments[1] == "leak", arguments[2].parse::<u64>().unwrap_or(0));
    let mut sessions = HashMap::new();
    let mut sum = 0;
    for i in 0..n {
        visit(&mut sessions, i);
        if !leaks && i >= 300 { sum += sessions.remove(&(i - 300)).map_or(0, |s| s.user.len() + s.page.len()) }
        let work = vec![i as u8; 3000]; sum += std::hint::black_box(work)[7] as usize
    }
    println!("{sum} {}", sessions.len());
}
