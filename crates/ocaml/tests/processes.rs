//! Real programs of each compiler: what they say of themselves is compared with what is read in their memory.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use crate::support::{Compiler, compilers};
use memtrail_ocaml::calibrate::{Phase, calibrate};
use memtrail_ocaml::debuginfo::{RawLocation, locations};
use memtrail_ocaml::frames::{Descriptor, FrameTable, UnitTable};
use memtrail_ocaml::layout::Machine;
use memtrail_ocaml::memory::Probed;
use memtrail_ocaml::memprof::Slot;
use memtrail_ocaml::stack::{CutParents, Position, Step, first_frame};
use memtrail_ocaml::{Address, Generation, Layout, Memory as _, Version, parameters, symbols};
use object::{Object as _, ObjectSymbol as _};

const SOURCE: &str = include_str!("programs/probe.ml");

/// Waits where it stands.
const PLAIN: &str = "(wait (); 0)";
/// Waits in a finaliser, which C calls.
const CALLED_BY_C: &str =
    "(Gc.finalise (fun _ -> wait ()) (ref (Sys.opaque_identity 1)); Gc.full_major (); 0)";
/// Waits in a fiber of a fiber.
const FIBER: &str = "(let open Effect.Deep in
    let rec inner n = if n = 0 then wait () else (inner (n - 1); ignore (Sys.opaque_identity n)) in
    let handler = { retc = Fun.id; exnc = raise; effc = (fun _ -> None) } in
    match_with (fun () -> match_with inner 3 handler; ignore (Sys.opaque_identity 1)) () handler; 0)";
/// Waits in a finaliser that C calls in a fiber.
const CALLED_BY_C_IN_A_FIBER: &str = "(let open Effect.Deep in
    Gc.finalise (fun _ -> wait ()) (ref (Sys.opaque_identity 1));
    match_with Gc.full_major () { retc = Fun.id; exnc = raise; effc = (fun _ -> None) }; 0)";

/// A function in a frame: line, columns, whether it raises, file, name.
type Place = (u32, u32, u32, bool, String, String);
/// A slot as the program printed it, and what the runtime said of it.
type Said = (u64, Vec<Place>);

/// What the program printed.
#[derive(Default)]
struct Report {
    slots: Vec<Said>,
    frames: Vec<Said>,
    parameters: String,
}

/// A program that waits, and everything needed to look at it.
struct Probe {
    child: Child,
    memory: Probed,
    layout: Layout,
    symbols: HashMap<String, Address>,
    report: Report,
}

impl Drop for Probe {
    fn drop(&mut self) {
        // Closes its input: it goes on and ends.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

fn version(compiler: &Compiler) -> Version {
    let release = compiler.version();
    let known = Version::ALL.into_iter().find(|version| release.starts_with(version.name()));
    known.unwrap_or_else(|| {
        panic!("{} is OCaml {release}, which the tests do not know", compiler.name)
    })
}

fn place(line: &str) -> Option<Place> {
    let mut parts = line.strip_prefix("location ")?.splitn(3, '\t');
    let (numbers, file, name) = (parts.next()?, parts.next()?, parts.next()?);
    let mut words = numbers.split(' ');
    let mut number = || words.next()?.parse().ok();
    let (line, start, end) = (number()?, number()?, number()?);
    Some((line, start, end, words.next()? == "true", file.to_owned(), name.to_owned()))
}

fn listen(output: impl std::io::Read) -> Report {
    let mut report = Report::default();
    for line in BufReader::new(output).lines() {
        let line = line.expect("text");
        let slot = |text: &str| (text.parse::<u64>().expect("a slot") << 1, Vec::new());
        match line.split_once(' ') {
            Some(("slot", rest)) => report.slots.push(slot(rest)),
            Some(("frame", rest)) => report.frames.push(slot(rest)),
            Some(("parameters", rest)) => rest.clone_into(&mut report.parameters),
            Some(("location", _)) => {
                let place = place(&line).unwrap_or_else(|| panic!("{line}"));
                let said = report.frames.last_mut().or(report.slots.last_mut());
                said.expect("a slot before its location").1.push(place);
            }
            _ if line == "ready" => break,
            _ => panic!("unexpected: {line}"),
        }
    }
    report
}

fn is_asleep(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("the program runs");
    status.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('S'))
}

impl Probe {
    /// Compiles the program, runs it and lets it come to rest. At fixed addresses, as its symbols are.
    fn start(compiler: &Compiler, step: &str) -> Self {
        let source = SOURCE.replace("STEP", step);
        let program =
            compiler.compile("ocamlopt", &source, &["-ccopt", "-no-pie", "-inline", "100"]);
        let bytes = program.bytes();
        let file = object::File::parse(&*bytes).expect("an executable");
        let symbols = file
            .symbols()
            .filter_map(|symbol| Some((symbol.name().ok()?.to_owned(), symbol.address())))
            .collect();
        let mut child = Command::new(&program.path)
            .env("OCAMLRUNPARAM", "s=64k,o=120,b")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let report = listen(child.stdout.take().expect("its output"));
        while !is_asleep(child.id()) {
            std::thread::yield_now();
        }
        let memory = Probed::open_process(child.id()).expect("its memory");
        Self {
            memory,
            layout: Layout::of(version(compiler), Machine::HERE),
            symbols,
            report,
            child,
        }
    }

    fn symbol(&self, name: &str) -> Address {
        *self.symbols.get(name).unwrap_or_else(|| panic!("no symbol {name}"))
    }

    /// OCaml 5's state is thread-local; the first domain's also is in a static table (`runtime/domain.c`).
    fn state(&self) -> Address {
        let variable = match self.layout.version {
            version if version.generation() == Generation::Single => {
                self.symbol(symbols::state::SINGLE)
            }
            Version::V5_0 | Version::V5_1 | Version::V5_2 => self.symbol("all_domains") + 8,
            version => {
                // Since 5.4, a list of domains is before the state.
                let before = if version < Version::V5_4 { 8 } else { 16 };
                self.memory.u64(self.symbol("all_domains")).expect("the table of domains") + before
            }
        };
        self.memory.u64(variable).expect("the state")
    }

    fn minor_heaps(&self) -> Option<(Address, Address)> {
        let [from, to] = symbols::state::MINOR_HEAPS.map(|name| self.symbols.get(name));
        Some((self.memory.u64(*from?)?, self.memory.u64(*to?)?))
    }

    fn table(&self) -> FrameTable {
        match self.layout.version.generation() {
            Generation::Single => FrameTable::single(
                &self.memory,
                self.symbol(symbols::callstack::DESCRIPTORS),
                self.symbol(symbols::callstack::DESCRIPTORS_MASK),
            ),
            // What `caml_get_frame_descrs` returns.
            Generation::Multicore => {
                FrameTable::multicore(&self.memory, self.symbol("current_frame_descrs"))
            }
        }
        .expect("the table of frames")
    }

    fn text(&self, at: Address) -> String {
        let mut into = [0; 1024];
        String::from_utf8_lossy(self.memory.c_string(at, &mut into).expect("text")).into_owned()
    }

    fn place(&self, raw: &RawLocation) -> Place {
        let (file, name) = (self.text(raw.file), self.text(raw.function));
        (raw.line, raw.start_column, raw.end_column, raw.is_raise, file, name)
    }

    fn places(&self, debuginfo: Option<Address>) -> Vec<Place> {
        let chain = debuginfo.into_iter();
        chain
            .flat_map(|at| locations(&self.memory, self.layout.packing, at))
            .map(|raw| self.place(&raw))
            .collect()
    }

    /// The frames from the waiting one outwards.
    fn walk(&self, cut: impl Fn() -> Option<Address>) -> Vec<Descriptor> {
        let (memory, layout, state, table) =
            (&self.memory, &self.layout, self.state(), self.table());
        let has = |return_address| table.find(memory, return_address).is_some();
        let distance = first_frame(memory, layout, state, has).expect("a first frame");
        let mut position = Position::innermost(memory, layout, distance, state).expect("a stack");
        let mut frames = Vec::new();
        loop {
            let descriptor = table.find(memory, position.return_address).expect("a descriptor");
            if !descriptor.returns_to_c() {
                frames.push(descriptor);
            }
            match position.step(memory, layout, distance, &descriptor, &cut).expect("a stack") {
                Step::Frame(next) | Step::Chunk(next) => position = next,
                Step::End => return frames,
            }
        }
    }
}

/// With every compiler, where the runtime has what the step needs.
fn with_probes(steps: &[(&str, Version)], check: impl Fn(&Probe, &str)) {
    for compiler in compilers() {
        for &(step, since) in steps {
            if version(&compiler) >= since {
                check(&Probe::start(&compiler, step), &compiler.name);
            }
        }
    }
}

const EVERY: &[(&str, Version)] = &[
    (PLAIN, Version::V4_11),
    (CALLED_BY_C, Version::V4_11),
    (FIBER, Version::V5_0),
    (CALLED_BY_C_IN_A_FIBER, Version::V5_0),
];

#[test]
fn call_stacks_are_what_the_runtime_says() {
    with_probes(EVERY, |probe, compiler| {
        let walked = probe.walk(|| None);
        let said = &probe.report.frames;
        assert!(said.len() > 1, "{compiler}: {} frames", said.len());
        // The innermost frame went on from where it told its call stack to where it waits.
        let own = walked.len().checked_sub(said.len() - 1).expect("not fewer frames");
        let outer: Vec<_> = walked[own..].iter().map(|descriptor| descriptor.at).collect();
        let expected: Vec<_> = said[1..].iter().map(|(slot, _)| *slot).collect();
        assert_eq!(outer, expected, "{compiler}");
    });
}

#[test]
fn frames_behind_a_callback_in_a_fiber_are_found() {
    with_probes(&[(CALLED_BY_C_IN_A_FIBER, Version::V5_0)], |probe, compiler| {
        let alone = probe.walk(|| None);
        let state = probe.state();
        let cut = || CutParents::new(&probe.memory, &probe.layout, state)?.next();
        let whole = probe.walk(cut);
        assert!(whole.starts_with(&alone), "{compiler}");
        // The runtime's own ends at the fiber; the forty-one calls that lead to it are behind.
        let calls = |frames: &[Descriptor]| {
            let deep = |descriptor: &&Descriptor| {
                let places = probe.places(descriptor.debuginfo(&probe.memory));
                places.iter().any(|place| place.5 == "Probe.deep")
            };
            frames.iter().filter(deep).count()
        };
        assert!(calls(&whole) >= calls(&alone) + 41, "{compiler}: {}", calls(&whole));
    });
}

#[test]
fn slots_are_what_the_runtime_says() {
    with_probes(&[(PLAIN, Version::V4_11)], |probe, compiler| {
        let mut of_allocations = 0;
        for (raw, said) in probe.report.slots.iter().chain(&probe.report.frames) {
            let slot = Slot::read(raw | 1).expect("a slot");
            let debuginfo = match slot {
                Slot::Descriptor(at) => {
                    let descriptor = Descriptor::read(&probe.memory, at).expect("a descriptor");
                    let found = probe.table().find(&probe.memory, descriptor.return_address);
                    assert_eq!(found, Some(descriptor), "{compiler}");
                    descriptor.debuginfo(&probe.memory)
                }
                Slot::Debuginfo(at) => {
                    of_allocations += 1;
                    Some(at)
                }
            };
            assert_eq!(&probe.places(debuginfo), said, "{compiler}: {slot:?}");
        }
        if probe.layout.version.can_sample() {
            assert!(probe.report.slots.len() > 50, "{compiler}: {}", probe.report.slots.len());
            assert!(
                of_allocations > 5,
                "{compiler}: {of_allocations} of several allocations at once"
            );
        }
    });
}

#[test]
fn whole_frame_tables_make_sense() {
    with_probes(&[(PLAIN, Version::V4_11)], |probe, compiler| {
        let memory = &probe.memory;
        let (table, tables) = (probe.table(), probe.symbol(symbols::callstack::FRAME_TABLES));
        let (mut descriptors, mut located) = (0, 0);
        let mut names: Vec<String> = Vec::new();
        for unit in (0..).map_while(|i| memory.field(tables, 8 * i).filter(|&at| at != 0)) {
            let expected = memory.u64(unit).expect("a count");
            let all: Vec<_> = UnitTable::read(memory, unit).into_iter().flatten().collect();
            assert_eq!(all.len() as u64, expected, "{compiler}");
            for descriptor in &all {
                assert_eq!(
                    table.find(memory, descriptor.return_address),
                    Some(*descriptor),
                    "{compiler}"
                );
                for debuginfo in descriptor.debuginfos(memory) {
                    assert!(descriptor.owns_debuginfo(memory, debuginfo));
                    for place in probe.places(Some(debuginfo)) {
                        let (line, start, end, _, file, name) = place;
                        assert!(
                            line > 0 && start <= end,
                            "{compiler}: {file}:{line}:{start}-{end}"
                        );
                        assert!(file.contains(".ml"), "{compiler}: {file:?}");
                        names.push(name);
                        located += 1;
                    }
                }
            }
            descriptors += all.len();
        }
        assert!(descriptors > 1000 && located > 500, "{compiler}: {descriptors}, {located}");
        for name in ["Probe.several", "Probe.pair", "Probe.deep", "Probe.Make.run"] {
            assert!(names.iter().any(|known| known == name), "{compiler}: no {name}");
        }
    });
}

#[test]
fn runtimes_calibrate() {
    with_probes(EVERY, |probe, compiler| {
        let (memory, state) = (&probe.memory, probe.state());
        let heaps = probe.minor_heaps();
        assert_eq!(heaps.is_some(), probe.layout.version.generation() == Generation::Multicore);
        let calibrated = calibrate(memory, &probe.layout, state, heaps, Phase::Running);
        assert_eq!(calibrated, Ok(probe.layout), "{compiler}");
        for other in Version::ALL {
            // Neighbours whose layouts are the same, or differ only in what is looked for.
            let alike = [
                (Version::V4_13, Version::V4_14),
                (Version::V5_1, Version::V5_2),
                (Version::V5_4, Version::V5_5),
            ];
            let mine = probe.layout.version;
            if other == mine || alike.contains(&(mine.min(other), mine.max(other))) {
                continue;
            }
            let layout = Layout::of(other, Machine::HERE);
            match calibrate(memory, &layout, state, heaps, Phase::Running) {
                Err(_) => {}
                // 4.11 and 4.12 differ in fields that hold nothing to check; the symbols distinguish them.
                Ok(_)
                    if mine.generation() == Generation::Single
                        && other.generation() == Generation::Single => {}
                Ok(_) => panic!("{compiler} passes for {other}"),
            }
        }
        assert!(calibrate(memory, &probe.layout, state + 8, heaps, Phase::Running).is_err());
        assert!(calibrate(memory, &probe.layout, 0, heaps, Phase::Running).is_err());
    });
}

#[test]
fn parameters_are_what_the_program_says() {
    with_probes(&[(PLAIN, Version::V4_11)], |probe, compiler| {
        let mut out = [0; 512];
        let resolve = |name: &str| probe.symbols.get(name).copied();
        let text =
            parameters::write(&probe.memory, &probe.layout, probe.state(), resolve, &mut out);
        let text = String::from_utf8_lossy(text);
        if probe.layout.version.can_sample() {
            assert_eq!(text, probe.report.parameters, "{compiler}");
        } else {
            // There the runtime itself says that it does not know.
            assert!(probe.report.parameters.contains("not implemented"), "{compiler}");
        }
        let mut short = [0; 10];
        let cut =
            parameters::write(&probe.memory, &probe.layout, probe.state(), resolve, &mut short);
        assert!(text.as_bytes().starts_with(cut) && !cut.is_empty());
    });
}
