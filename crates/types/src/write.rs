//! Writes the file.

use xxhash_rust::xxh3::xxh3_64;

use crate::digest::Digest;
use crate::format::{MAGIC, VERSION, kind};
use crate::unit::{Layout, Types, Unit};
use crate::write_table::{FileNames, put_slot, put_table};
use memtrail_leb128::{put, put_bytes};

impl Types {
    /// The file's bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut file = MAGIC.to_vec();
        file.push(VERSION);
        let mut payload = Vec::new();
        put_bytes(&mut payload, self.program.as_bytes());
        put_bytes(&mut payload, self.compiler.as_bytes());
        put(&mut payload, self.units.len() as u64);
        section(&mut file, kind::PROGRAM, &payload);
        put_table(&mut file, &self.table);
        for unit in &self.units {
            payload.clear();
            put_unit(&mut payload, unit);
            section(&mut file, kind::UNIT, &payload);
        }
        let checksum = xxh3_64(&file);
        file.extend_from_slice(&checksum.to_le_bytes());
        file
    }
}

fn section(file: &mut Vec<u8>, kind: u64, payload: &[u8]) {
    put(file, kind);
    put_bytes(file, payload);
}

fn put_unit(into: &mut Vec<u8>, unit: &Unit) {
    put_bytes(into, unit.name.as_bytes());
    put_digest(into, unit.interface);
    put_digest(into, unit.implementation);
    put(into, unit.fields.map_or(0, |fields| fields.saturating_add(1)));
    put(into, unit.problems.len() as u64);
    for problem in &unit.problems {
        put_bytes(into, problem.file.as_bytes());
        put(into, problem.reason.code());
        put_bytes(into, problem.detail.as_bytes());
    }
    put(into, u64::from(unit.layout.is_some()));
    if let Some(layout) = &unit.layout {
        put(into, layout.evidence.code());
        put_layout(into, layout);
    }
}

fn put_digest(into: &mut Vec<u8>, digest: Option<Digest>) {
    put_bytes(into, digest.as_ref().map_or(&[], |digest| &digest.0));
}

fn put_layout(into: &mut Vec<u8>, layout: &Layout) {
    put_bytes(into, layout.interface_file.as_bytes());
    put_bytes(into, layout.implementation_file.as_bytes());
    // The names of files come first.
    let mut names = FileNames::default();
    let mut slots = Vec::new();
    for part in [&layout.exported, &layout.hidden] {
        put(&mut slots, part.len() as u64);
        for slot in part {
            put_slot(&mut slots, slot, &mut names);
        }
    }
    put(into, names.names.len() as u64);
    for name in &names.names {
        put_bytes(into, name.as_bytes());
    }
    put(into, u64::from(layout.method_cache));
    into.extend_from_slice(&slots);
}
