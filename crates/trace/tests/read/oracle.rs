//! Decodes a sound trace in the plainest way, from the specification alone: one byte after the
//! other, maps for tables, a copy of each backtrace. Anything out of order is a panic.

use std::collections::HashMap;

use memtrail_trace::Source;

use crate::read::{Seen, Spelled};

/// All that a trace says.
#[derive(Default)]
pub(crate) struct Oracle {
    pub(crate) events: Vec<Seen>,
    pub(crate) locations: HashMap<u64, Vec<Spelled>>,
    pub(crate) packets: u64,
    pub(crate) verified: u64,
    /// Prefixes beyond the backtrace before them.
    pub(crate) cut_backtraces: u64,
}

#[derive(Default)]
struct Domain {
    files: Vec<(String, Vec<String>)>,
    bucket_code: HashMap<u16, u64>,
    bucket_next: HashMap<u16, u16>,
    backtrace: Vec<u64>,
}

struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn number(&mut self, bytes: usize) -> u64 {
        let (number, rest) = self.0.split_at(bytes);
        self.0 = rest;
        number.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte))
    }

    fn vint(&mut self) -> i64 {
        match self.number(1) {
            253 => self.number(2) as i64,
            254 => i64::from(self.number(4) as u32 as i32),
            255 => (self.number(8) << 1) as i64 >> 1,
            small => small as i64,
        }
    }

    fn string(&mut self) -> String {
        let len = self.0.iter().position(|&byte| byte == 0).expect("a NUL");
        let text = String::from_utf8_lossy(&self.0[..len]).into_owned();
        self.0 = &self.0[len + 1..];
        text
    }
}

impl Oracle {
    pub(crate) fn read(mut trace: &[u8]) -> Self {
        let mut oracle = Self::default();
        let mut domains: HashMap<u64, Domain> = HashMap::new();
        let mut is_first = true;
        while !trace.is_empty() {
            let size = Bytes(&trace[4..]).number(4) as usize / 8;
            let (packet, rest) = trace.split_at(size);
            trace = rest;
            oracle.packets += 1;
            oracle.packet(&mut domains, packet, is_first);
            is_first = false;
        }
        oracle
    }

    fn packet(&mut self, domains: &mut HashMap<u64, Domain>, packet: &[u8], is_info: bool) {
        let mut at = Bytes(packet);
        assert_eq!(at.number(4), 0xC1FC_1FC1);
        at.number(4);
        let (begin, end) = (at.number(8), at.number(8));
        at.number(4);
        let version = at.number(2);
        at.number(8);
        let domain_id = if version == 3 { at.number(2) } else { 0 };
        let (bucket, next, code) = (at.number(2) as u16, at.number(2) as u16, at.number(8));
        let (mut id, end_id) = (at.number(8), at.number(8));
        if is_info {
            return;
        }
        let domain = domains.entry(domain_id).or_default();
        if bucket != 0xFFFF {
            self.verified += 1;
            assert_eq!(domain.bucket_next.get(&bucket).copied().unwrap_or(0), next);
            assert_eq!(domain.bucket_code.get(&bucket).copied().unwrap_or(0), code & (!0 >> 1));
        }
        while !at.0.is_empty() {
            let word = at.number(4);
            let mut time = begin >> 25 << 25 | (word & 0x1FF_FFFF);
            if time < begin {
                time += 1 << 25;
            }
            assert!((begin..=end).contains(&time));
            let domain_id = domain_id as u16;
            match word >> 25 {
                1 => self.location(domain, &mut at),
                3 => {
                    let id = (id as i64 - 1 - at.vint()) as u64;
                    self.events.push(Seen::Promote { time, id, domain: domain_id });
                }
                4 => {
                    let id = (id as i64 - 1 - at.vint()) as u64;
                    self.events.push(Seen::Collect { time, id, domain: domain_id });
                }
                event => {
                    let (length, samples, source);
                    let is_short = event != 2;
                    if is_short {
                        assert!((101..=116).contains(&event), "event {event}");
                        (length, samples, source) = (event - 100, 1, 0);
                    } else {
                        length = at.vint() as u64;
                        samples = at.vint() as u64;
                        source = at.number(1);
                    }
                    let source = [Source::Minor, Source::Major, Source::External][source as usize];
                    let prefix = at.vint() as usize;
                    let count = at.number(if is_short { 1 } else { 2 });
                    let backtrace = self.backtrace(domain, &mut at, prefix, count);
                    self.events.push(Seen::Alloc {
                        time,
                        id,
                        domain: domain_id,
                        length,
                        samples,
                        source,
                        backtrace,
                    });
                    id += 1;
                }
            }
        }
        assert_eq!(id, end_id);
    }

    fn backtrace(
        &mut self,
        domain: &mut Domain,
        at: &mut Bytes<'_>,
        prefix: usize,
        count: u64,
    ) -> Vec<u64> {
        let mut new = Vec::new();
        let mut bucket = 0;
        for _ in 0..count {
            let codeword = at.number(2) as u16;
            domain.bucket_next.insert(bucket, codeword >> 2);
            bucket = codeword >> 2;
            let predictions = match codeword & 3 {
                3 => {
                    domain.bucket_code.insert(bucket, at.number(8) & (!0 >> 1));
                    0
                }
                2 => at.number(1),
                n => u64::from(n),
            };
            new.push(domain.bucket_code.get(&bucket).copied().unwrap_or(0));
            for _ in 0..predictions {
                bucket = domain.bucket_next.get(&bucket).copied().unwrap_or(0);
                new.push(domain.bucket_code.get(&bucket).copied().unwrap_or(0));
            }
        }
        if prefix <= domain.backtrace.len() {
            domain.backtrace.truncate(prefix);
            domain.backtrace.extend(new);
        } else {
            self.cut_backtraces += 1;
        }
        domain.backtrace.clone()
    }

    fn location(&mut self, domain: &mut Domain, at: &mut Bytes<'_>) {
        let code = at.number(8) & (!0 >> 1);
        let count = at.number(1);
        let locations: Vec<Spelled> = (0..count)
            .map(|_| {
                let word = at.number(6);
                let bits = |from: u32, len: u32| word >> from & ((1 << len) - 1);
                let file = match bits(38, 5) {
                    31 => {
                        let name = at.string();
                        // The function table of the file that falls out goes to the new one.
                        let fallen =
                            if domain.files.len() == 31 { domain.files.pop() } else { None };
                        (name, fallen.map(|(_, functions)| functions).unwrap_or_default())
                    }
                    index => domain.files.remove(index as usize),
                };
                domain.files.insert(0, file);
                let (file, functions) = &mut domain.files[0];
                let function = match bits(43, 5) {
                    31 => {
                        functions.truncate(30);
                        at.string()
                    }
                    index => functions.remove(index as usize),
                };
                functions.insert(0, function.clone());
                let (line, start, end) = (bits(0, 20), bits(20, 8), bits(28, 10));
                (function, file.clone(), line as u32, start as u32, end as u32)
            })
            .collect();
        let first = self.locations.entry(code).or_insert_with(|| locations.clone());
        assert_eq!(*first, locations);
    }
}
