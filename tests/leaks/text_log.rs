// A report is written into one string. "sound" clears it after each request.
//
// run leak 100000: stack grows, allocated in text_log::write or alloc
// run sound 100000: no suspect
// long 400000
use std::fmt::Write as _;
#[inline(never)]
fn write(report: &mut String, i: usize) { write!(report, "request {i}: {}\n", "-".repeat(300)).unwrap() }
fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let (leaks, n) = (arguments[1] == "leak", arguments[2].parse::<usize>().unwrap_or(0));
    let (mut report, mut sum) = (String::new(), 0);
    for i in 0..n {
        write(&mut report, i);
        let work = vec![i as u8; 3000]; sum += std::hint::black_box(work)[7] as usize;
        if !leaks { sum += report.len(); report.clear() }
    }
    println!("{sum} {}", report.len());
}
