//! Bring what the tests need.

use crate::command::Outcome;
use crate::{compilers, mcp_clients, nextest, packages, profile_stores, sql_engines, web, wild};

/// Idempotent; quiet when there is nothing to do. `all_compilers` brings those that tests do without, too.
pub(crate) fn run(all_compilers: bool) -> Outcome {
    packages::install()?;
    nextest::install()?;
    web::install()?;
    compilers::install(all_compilers)?;
    sql_engines::install()?;
    mcp_clients::install()?;
    profile_stores::install()?;
    wild::install()
}
