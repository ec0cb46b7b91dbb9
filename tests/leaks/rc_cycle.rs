// Documents and sections refer to each other by Rc; "sound" uses Weak for the way back.
//
// run leak 30000: nothing grows, allocated in rc_cycle::open
// run sound 30000: no suspect
// long 150000
use std::cell::RefCell;
use std::rc::{Rc, Weak};
struct Document { sections: RefCell<Vec<Rc<Section>>>, text: [u8; 800] }
struct Section { up: RefCell<Option<Rc<Document>>>, weak: RefCell<Weak<Document>>, text: [u8; 400] }
#[inline(never)]
fn open(leaks: bool) -> usize {
    let document = Rc::new(Document { sections: RefCell::default(), text: [1; 800] });
    for _ in 0..2 {
        let section = Rc::new(Section { up: RefCell::new(None), weak: RefCell::default(), text: [2; 400] });
        if leaks { *section.up.borrow_mut() = Some(document.clone()) } else { *section.weak.borrow_mut() = Rc::downgrade(&document) }
        document.sections.borrow_mut().push(section);
    }
    document.text[3] as usize + document.sections.borrow()[0].text[9] as usize
}
fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let (leaks, n) = (arguments[1] == "leak", arguments[2].parse().unwrap_or(0));
    let mut sum = 0;
    for i in 0..n { sum += open(leaks); let work = vec![i as u8; 3000]; sum += std::hint::black_box(work)[7] as usize }
    println!("{sum}");
}
