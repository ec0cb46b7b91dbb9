//! The table of call sites: what stands at each code.

use rustc_hash::FxHashMap;

use crate::info::Location;
use crate::strings::Strings;
use crate::units::{Code, FileId, FrameId, FunctionId};

/// One function at one source position, its strings as ids. [`Locations::resolve`] spells it out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Site {
    /// Function that has the call site.
    pub function: FunctionId,
    /// The source file.
    pub file: FileId,
    /// Line, from 1.
    pub line: u32,
    /// First column, from 0; 255 stands for anything beyond, too.
    pub start_col: u16,
    /// Column after the last; 1023 stands for anything beyond, too.
    pub end_col: u16,
}

impl Site {
    /// The line alone: all sites of one function on a line are equal then.
    #[must_use]
    pub fn line(self) -> Self {
        Self { start_col: 0, end_col: 0, ..self }
    }
}

/// Where a frame's sites are in the column of all sites.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    start: u32,
    len: u8,
    defined: bool,
}

/// What the trace says of each code. It grows while the trace is read: a code is defined before
/// the first event that uses it, unless the trace is damaged.
///
/// The format has eight bits for start columns and ten for end columns, so long lines lose them.
#[derive(Clone, Debug, Default)]
pub struct Locations {
    by_code: FxHashMap<Code, FrameId>,
    codes: Vec<Code>,
    spans: Vec<Span>,
    sites: Vec<Site>,
    files: Strings<FileId>,
    functions: Strings<FunctionId>,
}

impl Locations {
    /// How many codes have been met, defined or used. Frame ids are below it.
    pub fn frames(&self) -> usize {
        self.codes.len()
    }

    /// The frame of a code that has been met.
    pub fn frame(&self, code: Code) -> Option<FrameId> {
        self.by_code.get(&code).copied()
    }

    /// The code of a frame; 0, which is no code, for a frame of another table.
    pub fn code(&self, frame: FrameId) -> Code {
        self.codes.get(frame.0 as usize).copied().unwrap_or_default()
    }

    /// The sites of a frame, the caller first: more than one when calls were inlined, none when
    /// there is no debug information.
    pub fn at(&self, frame: FrameId) -> &[Site] {
        let span = self.spans.get(frame.0 as usize).copied().unwrap_or_default();
        let start = span.start as usize;
        self.sites.get(start..start + usize::from(span.len)).unwrap_or_default()
    }

    /// The sites of a code, as [`at`](Self::at).
    pub fn of(&self, code: Code) -> &[Site] {
        self.frame(code).map_or(&[], |frame| self.at(frame))
    }

    /// Whether the trace has said what stands at a frame, be it nothing.
    pub fn is_defined(&self, frame: FrameId) -> bool {
        self.spans.get(frame.0 as usize).is_some_and(|span| span.defined)
    }

    /// A site with its names.
    pub fn resolve(&self, site: Site) -> Location<'_> {
        Location {
            function: self.functions.get(site.function),
            file: self.files.get(site.file),
            line: site.line,
            start_col: site.start_col.into(),
            end_col: site.end_col.into(),
        }
    }

    /// The names of all functions.
    pub fn functions(&self) -> &Strings<FunctionId> {
        &self.functions
    }

    /// The names of all source files.
    pub fn files(&self) -> &Strings<FileId> {
        &self.files
    }

    pub(crate) fn file(&mut self, name: &[u8]) -> FileId {
        self.files.intern(name)
    }

    pub(crate) fn function(&mut self, name: &[u8]) -> FunctionId {
        self.functions.intern(name)
    }

    /// The frame of a code, new if the code has not been met.
    pub(crate) fn meet(&mut self, code: Code) -> FrameId {
        *self.by_code.entry(code).or_insert_with(|| {
            let frame = FrameId(self.codes.len() as u32);
            self.codes.push(code);
            self.spans.push(Span::default());
            frame
        })
    }

    /// Says what stands at `code`. The first definition stays; `false` if this one differs.
    pub(crate) fn define(&mut self, code: Code, sites: &[Site]) -> bool {
        let frame = self.meet(code);
        if self.is_defined(frame) {
            return self.at(frame) == sites;
        }
        if let Some(span) = self.spans.get_mut(frame.0 as usize) {
            *span = Span { start: self.sites.len() as u32, len: sites.len() as u8, defined: true };
            self.sites.extend_from_slice(sites);
        }
        true
    }
}
