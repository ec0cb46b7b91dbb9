//! Files of the program and its libraries: names that are there but not in memory.

use std::io::Write as _;
use std::ops::Range;

use memtrail_ocaml::image::{Image, Line, lines};

use super::frozen::{StoppedProcess, View};
use super::mapped::file_name;

/// The start of a file and of what is loaded must be alike: its identity, and where its parts are.
const HEADER_BYTES: u64 = 64;
/// No more files than this are opened.
const MAX_FILES: usize = 256;

/// The files that are mapped in the process, each opened when it is needed.
pub(super) struct ObjectFiles<'a, F> {
    view: &'a View<'a, F>,
    opened: Vec<ObjectFile<'a>>,
}

struct ObjectFile<'a> {
    /// Where its first mapping is.
    base: u64,
    /// Nothing if it cannot be read, or is no longer the file that was loaded.
    image: Option<Image<'a>>,
    /// What is added to addresses in the file.
    bias: u64,
    /// Its private variables by address: start, size, name.
    variables: Option<Vec<(u64, u64, &'a [u8])>>,
}

impl<'a, F: StoppedProcess> ObjectFiles<'a, F> {
    pub(super) fn new(view: &'a View<'a, F>) -> Self {
        Self { view, opened: Vec::new() }
    }

    /// Where an address is, for people: a variable, `libfoo.so .bss+0x40`, or that it was allocated.
    pub(super) fn describe(&mut self, address: u64, into: &mut Vec<u8>) {
        let Some(file) = self.file(address) else {
            into.extend_from_slice(b"memory allocated in C");
            return;
        };
        let offset = address.wrapping_sub(file.bias);
        if let Some(name) = file.variable(offset) {
            into.extend_from_slice(name);
            return;
        }
        let section = file.image.as_ref().and_then(|image| image.section_at(offset));
        let (base, section) = (file.base, section.unwrap_or_default());
        let path = self.view.mapped.file(address).map_or(&b""[..], |(path, _)| path);
        into.extend_from_slice(file_name(path));
        // Writing to memory does not fail.
        let _ = match section {
            ([], _) => write!(into, "+{:#x}", address - base),
            (name, offset) => write!(into, " {}+{offset:#x}", String::from_utf8_lossy(name)),
        };
    }

    /// Calls `each` with lines of functions, which are in order: see [`lines`].
    pub(super) fn lines(
        &mut self,
        functions: &[Range<u64>],
        mut each: impl FnMut(usize, bool, Line<'a>),
    ) {
        let mut first = 0;
        while let Some(function) = functions.get(first) {
            let base = self.view.mapped.file(function.start).map(|(_, base)| base);
            let is_here = |other: &&Range<u64>| {
                self.view.mapped.file(other.start).map(|(_, base)| base) == base
            };
            let count = functions[first..].iter().take_while(is_here).count().max(1);
            let (start, end) = (first, first + count);
            first = end;
            let Some(file) = self.file(function.start) else { continue };
            let Some(image) = &file.image else { continue };
            let in_file = |at: u64| at.wrapping_sub(file.bias);
            let here: Vec<Range<u64>> = functions[start..end]
                .iter()
                .map(|function| in_file(function.start)..in_file(function.end))
                .collect();
            lines(image, &here, |place, is_first, line| each(start + place, is_first, line));
        }
    }

    /// The file that an address is in.
    fn file(&mut self, address: u64) -> Option<&mut ObjectFile<'a>> {
        let (path, base) = self.view.mapped.file(address)?;
        let known = self.opened.iter().position(|file| file.base == base);
        let place = known.or_else(|| {
            (self.opened.len() < MAX_FILES).then(|| {
                self.opened.push(ObjectFile::open(self.view, path, base));
                self.opened.len() - 1
            })
        })?;
        self.opened.get_mut(place)
    }
}

impl<'a> ObjectFile<'a> {
    fn open<F: StoppedProcess>(view: &'a View<'a, F>, path: &[u8], base: u64) -> Self {
        let loaded = (view.mapped.readable(base) >= HEADER_BYTES)
            .then(|| view.memory.slice(base, HEADER_BYTES))
            .flatten();
        let is_loaded =
            |bytes: &[u8]| loaded.is_some() && bytes.get(..HEADER_BYTES as usize) == loaded;
        let image = view.memory.file(path).filter(|bytes| is_loaded(bytes)).and_then(Image::parse);
        let first = image.as_ref().and_then(Image::first_address).unwrap_or(0);
        Self { base, image, bias: base.wrapping_sub(first), variables: None }
    }

    /// The private variable that covers an address of the file.
    fn variable(&mut self, at: u64) -> Option<&'a [u8]> {
        let image = self.image.as_ref()?;
        let variables = self.variables.get_or_insert_with(|| {
            let all = image.private_variables();
            let mut all: Vec<_> = all.map(|one| (one.address, one.size, one.name)).collect();
            all.sort_unstable();
            all
        });
        let after = variables.partition_point(|(start, _, _)| *start <= at);
        let (start, size, name) = variables.get(after.checked_sub(1)?)?;
        (at - start < *size).then_some(*name)
    }
}
