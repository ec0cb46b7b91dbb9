//! A server that builds a document for each request and drops it. Each part refers to its document, and the document to
//! its parts, by `Rc`: the counts never become zero.
use std::cell::RefCell;
use std::rc::Rc;

const REQUESTS: usize = 5000;
const PARTS: usize = 4;

struct Part {
    text: String,
    document: Rc<Document>, // the leak: it should be a `Weak`
}

#[derive(Default)]
struct Document {
    parts: RefCell<Vec<Rc<Part>>>,
}

#[inline(never)]
fn read_part(document: &Rc<Document>, number: usize) -> Rc<Part> {
    let text = "x".repeat(1000 + number);
    Rc::new(Part { text, document: Rc::clone(document) })
}

#[inline(never)]
fn build() -> Rc<Document> {
    let document = Rc::new(Document::default());
    for number in 0..PARTS {
        let part = read_part(&document, number);
        document.parts.borrow_mut().push(part);
    }
    document
}

#[inline(never)]
fn serve() -> usize {
    let document = build();
    let parts = document.parts.borrow();
    parts.iter().filter(|part| Rc::ptr_eq(&part.document, &document)).map(|part| part.text.len()).sum()
}

fn main() {
    let bytes: usize = (0..REQUESTS).map(|_| serve()).sum();
    println!("{bytes} bytes");
}
