// Names get numbers. "leak" interns a name of each request, "sound" the names of 300 columns.
//
// run leak 60000: stack grows, allocated in interner::Interner::intern or alloc
// run sound 60000: no suspect
// long 240000
use std::collections::HashMap;
#[derive(Default)]
struct Interner { numbers: HashMap<String, u32>, names: Vec<String> }
impl Interner {
    #[inline(never)]
    fn intern(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) { return number }
        let number = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }
}
fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let (leaks, n) = (arguments[1] == "leak", arguments[2].parse::<usize>().unwrap_or(0));
    let (mut interner, mut sum) = (Interner::default(), 0);
    for i in 0..n {
        let name = format!("{:0>200}", if leaks { i } else { i % 300 });
        sum += interner.intern(&name) as usize;
        let work = vec![i as u8; 1000]; sum += std::hint::black_box(work)[7] as usize;
    }
    println!("{sum}");
}
