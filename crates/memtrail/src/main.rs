//! memtrail.
fn main() {}
