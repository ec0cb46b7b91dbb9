//! Prints what the page is sent as TypeScript: `cargo xtask types` keeps it in `web/src/generated`.

use std::io::Write as _;

use memtrail_engine::typescript::Declarations;

fn main() -> std::io::Result<()> {
    let mut declarations = Declarations::default();
    declarations.add_responses();
    memtrail_server::declare(&mut declarations);
    std::io::stdout().write_all(declarations.text().as_bytes())
}
