// Strings are handed to a C library by into_raw, and never taken back. "sound" takes them back.
//
// run leak 60000: nothing grows, allocated in forgotten::name
// run sound 60000: no suspect
// long 300000
use std::ffi::CString;
#[inline(never)]
fn name(i: u64) -> CString { CString::new(format!("{i:0>700}")).unwrap_or_default() }
fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let (leaks, n) = (arguments[1] == "leak", arguments[2].parse::<u64>().unwrap_or(0));
    let mut sum = 0;
    for i in 0..n {
        let raw = std::hint::black_box(name(i).into_raw());
        sum += raw as usize % 7;
        if !leaks { drop(unsafe { CString::from_raw(raw) }) }
    }
    println!("{sum}");
}
