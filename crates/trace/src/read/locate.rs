//! Location events: what stands at a code.

use super::anomaly::Cause;
use super::domain::Domain;
use super::repair::Plan;
use super::tables::Tables;
use crate::locations::Site;
use crate::units::Code;
use crate::wire::{Cursor, code63};

/// A location event that has been read.
pub(super) struct Located {
    /// Where it ends.
    pub(super) pos: usize,
    /// The code, if it stood for something else before.
    pub(super) redefined: Option<Code>,
}

/// Reads the payload of a location event into the tables.
pub(super) fn define(
    bytes: &[u8],
    pos: usize,
    plan: &Plan,
    domain: &mut Domain,
    tables: &mut Tables,
) -> Result<Located, Cause> {
    let mut at = Cursor::at(bytes, pos);
    let code = code63(at.u64().ok_or(Cause::CutEvent)?);
    let count = at.u8().ok_or(Cause::CutEvent)?;
    let mut sites = Vec::with_capacity(count.into());
    for _ in 0..count {
        sites.push(site(&mut at, plan, domain, tables)?);
    }
    let same = tables.define(code, &sites);
    Ok(Located { pos: at.pos(), redefined: (!same).then_some(code) })
}

fn site(
    at: &mut Cursor<'_>,
    plan: &Plan,
    domain: &mut Domain,
    tables: &mut Tables,
) -> Result<Site, Cause> {
    let pos = at.pos();
    let low = at.u32().ok_or(Cause::CutEvent)?;
    let high = at.u16().ok_or(Cause::CutEvent)?;
    let word = u64::from(low) | u64::from(high) << 32;
    let (mut file_index, mut end_col) = ((word >> 38 & 31) as u8, (word >> 28 & 0x3FF) as u16);
    let function_index = (word >> 43 & 31) as u8;
    if let Plan::Repaired(overrides) = plan
        && let Ok(found) = overrides.binary_search_by_key(&pos, |o| o.pos)
        && let Some(right) = overrides.get(found)
    {
        file_index = right.index;
        end_col = 0x3FF;
    }
    let file = if file_index == 31 {
        let name = at.string().ok_or(Cause::CutEvent)?;
        let file = tables.locations.file(name);
        domain.names.new_file(file);
        file
    } else {
        domain.names.file(file_index.into()).ok_or(Cause::Index(file_index))?
    };
    let functions = domain.names.functions().ok_or(Cause::Index(function_index))?;
    let function = if function_index == 31 {
        let name = at.string().ok_or(Cause::CutEvent)?;
        let function = tables.locations.function(name);
        functions.push(function);
        function
    } else {
        functions.touch(function_index.into()).ok_or(Cause::Index(function_index))?
    };
    Ok(Site {
        function,
        file,
        line: (word & 0xF_FFFF) as u32,
        start_col: (word >> 20 & 0xFF) as u16,
        end_col,
    })
}
