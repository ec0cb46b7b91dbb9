//! Writes a trace in another tool's format: `export TRACE FORMAT OUT [CONDITION…]`.

use std::{env, fs};

use memtrail_engine::query::{Export, ProfileQuery, Query};
use memtrail_engine::{Description, Engine, Setting};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = env::args().skip(1);
    let (Some(trace), Some(format), Some(out)) = (args.next(), args.next(), args.next()) else {
        return Err("usage: export TRACE FORMAT OUT [CONDITION…]".into());
    };
    let engine = Engine::new(Setting::default());
    engine.add(&fs::read(trace)?, Description::default(), &mut |_| ())?;
    let export = Export { format, filter: args.collect(), ..Export::default() };
    let query = Query::Profile(ProfileQuery::Export(export));
    let answer = engine.answer(&query)?;
    fs::write(out, answer.bytes("bytes").unwrap_or_default())?;
    Ok(())
}
