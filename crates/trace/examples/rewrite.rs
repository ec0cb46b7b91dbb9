//! Reads a trace and writes the same events again: `rewrite IN OUT`.

use std::collections::HashMap;
use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::ops::ControlFlow;
use std::{env, io};

use memtrail_map::MappedFile;
use memtrail_trace::write::{AllocEvent, TraceWriter};
use memtrail_trace::{Detail, Event, Reader};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = env::args_os().skip(1);
    let (Some(from), Some(to)) = (args.next(), args.next()) else {
        return Err("usage: rewrite IN OUT".into());
    };
    let data = MappedFile::open(from.as_ref())?;
    let reader = Reader::new(&data)?;
    let mut writer = TraceWriter::new(BufWriter::new(File::create(to)?), reader.info())?;
    let mut ids = HashMap::new();
    let result = reader.try_for_each(Detail::Codes, |event, tables| {
        let mut write = || -> io::Result<()> {
            match event {
                Event::Alloc(a) => {
                    let event =
                        AllocEvent { length: a.length, samples: a.samples, source: a.source };
                    let locations = &tables.locations;
                    let id = writer.alloc(a.domain, a.time, &event, a.backtrace, |code, to| {
                        to.extend(locations.of(code).iter().map(|&site| locations.resolve(site)));
                    })?;
                    ids.insert(a.id, id);
                }
                Event::Promote(m) => {
                    if let Some(&id) = ids.get(&m.id) {
                        writer.promote(m.domain, m.time, id)?;
                    }
                }
                Event::Collect(m) => {
                    if let Some(id) = ids.remove(&m.id) {
                        writer.collect(m.domain, m.time, id)?;
                    }
                }
            }
            Ok(())
        };
        write().map_or_else(ControlFlow::Break, ControlFlow::Continue)
    });
    if let ControlFlow::Break(error) = result {
        return Err(error.into());
    }
    writer.finish()?;
    Ok(())
}
