//! What stands at return addresses: functions, inlined ones too, with files and lines.

use addr2line::Loader;
use memtrail_trace::Location;
use rustc_hash::FxHashMap;

use crate::modules::{self, Module};
use crate::names;

/// A function at a position of its source.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Symbol {
    function: String,
    file: String,
    line: u32,
    column: u32,
}

/// Frames of an allocator at most: a callstack of thousands of frames is not searched for its entry.
const ALLOCATOR_FRAMES: usize = 16;

/// What is at an address, the outermost function first; all others are inlined.
#[derive(Debug, Default)]
struct Frame {
    symbols: Vec<Symbol>,
    is_library: bool,
    /// Whether a program enters its allocator here: the functions further in are the allocator's.
    enters_allocator: bool,
}

/// The names of addresses that were met. A module's debug information is read when the first of its
/// addresses is met, and stays in memory.
pub struct Symbols {
    modules: Vec<(Module, File)>,
    frames: FxHashMap<u64, Frame>,
    /// Gives the process's modules as they are now, when an address is in none that is known.
    now: Now,
}

/// Modules, if there may be others than before.
type Now = Box<dyn Fn() -> Option<Vec<Module>> + Send + Sync>;

/// A module's file, read when the first of its addresses is met.
enum File {
    Unread,
    Read(Box<Loader>),
    Unreadable,
}

impl std::fmt::Debug for Symbols {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Symbols").field("frames", &self.frames.len()).finish_non_exhaustive()
    }
}

impl Symbols {
    /// Those of this process.
    pub fn of_this_process() -> Self {
        Self::of_list(|| Some(modules::parse(&std::fs::read_to_string("/proc/self/maps").ok()?)))
    }

    /// Names for a process whose modules are listed by `now`, which is asked again when an address is in none of them.
    pub fn of_list(now: impl Fn() -> Option<Vec<Module>> + Send + Sync + 'static) -> Self {
        Self { modules: Vec::new(), frames: FxHashMap::default(), now: Box::new(now) }
    }

    /// Those of a process that had these modules.
    pub fn of_modules(modules: Vec<Module>) -> Self {
        let modules = modules.into_iter().map(|module| (module, File::Unread)).collect();
        Self { modules, frames: FxHashMap::default(), now: Box::new(|| None) }
    }

    /// Looks return addresses up that have not been met.
    pub fn resolve(&mut self, callstack: &[u64]) {
        for &address in callstack {
            if !self.frames.contains_key(&address) {
                // The call is before the address to which it returns.
                let frame = self.look_up(address.saturating_sub(1));
                self.frames.insert(address, frame);
            }
        }
    }

    /// What stands at the code of a label.
    pub fn define_label(&mut self, code: u64, text: &str) {
        let symbol =
            Symbol { function: format!("[{text}]"), file: String::new(), line: 0, column: 0 };
        // Nothing was allocated by a label.
        let frame = Frame { symbols: vec![symbol], is_library: true, enters_allocator: false };
        self.frames.insert(code, frame);
    }

    /// A callstack, innermost first, without the innermost frames that are libraries'; with them, if it has no
    /// others.
    pub fn allocating<'a>(&self, callstack: &'a [u64]) -> &'a [u64] {
        let others = self.not_own(callstack.iter().copied());
        if others == callstack.len() { callstack } else { &callstack[others..] }
    }

    /// The number of innermost frames that are not the program's own: those of libraries, and those of an allocator that
    /// the program has in place of the system's.
    pub fn not_own(&self, innermost_first: impl Iterator<Item = u64> + Clone) -> usize {
        let enters =
            |address: &u64| self.frames.get(address).is_some_and(|frame| frame.enters_allocator);
        let allocator = innermost_first
            .clone()
            .take(ALLOCATOR_FRAMES)
            .position(|address| enters(&address))
            .unwrap_or(0);
        let outside = innermost_first.skip(allocator);
        allocator + outside.take_while(|address| self.is_library(*address)).count()
    }

    /// Whether what is at a return address is no function of the program's own.
    pub fn is_library(&self, address: u64) -> bool {
        self.frames.get(&address).is_none_or(|frame| frame.is_library)
    }

    /// What is at a return address that was [resolved](Self::resolve), the outermost function first.
    pub fn locations(&self, address: u64) -> impl DoubleEndedIterator<Item = Location<'_>> {
        let symbols = self.frames.get(&address).map_or(&[][..], |frame| &frame.symbols);
        symbols.iter().map(|symbol| Location {
            function: symbol.function.as_bytes(),
            file: symbol.file.as_bytes(),
            line: symbol.line,
            start_col: symbol.column,
            end_col: symbol.column,
        })
    }

    fn look_up(&mut self, address: u64) -> Frame {
        let Some((in_file, module, loader)) = self.module(address) else {
            return Frame::default();
        };
        let mut symbols = functions(loader, in_file);
        // What a program's own allocator has of names and files tells nothing of the program.
        let entry = symbols.iter().rposition(|symbol| names::enters_allocator(&symbol.function));
        if let Some(entry) = entry {
            symbols.truncate(entry + 1);
        }
        let is_library = |symbol: &Symbol| names::is_library(&symbol.function, &symbol.file);
        // Code without a name is the program's own, unless it is in the file of a library that everybody has.
        let is_of_library = !symbols.is_empty() && symbols.iter().all(is_library);
        let is_all_library = names::is_library_file(&module.path) || is_of_library;
        // What a function inlines of a library is the function's own.
        while !is_all_library && symbols.last().is_some_and(is_library) {
            symbols.pop();
        }
        Frame { symbols, is_library: is_all_library, enters_allocator: entry.is_some() }
    }

    /// The module of an address, and the address in its file.
    fn module(&mut self, address: u64) -> Option<(u64, &Module, &Loader)> {
        let find = |modules: &[(Module, File)]| {
            modules.iter().position(|(module, _)| module.in_file(address).is_some())
        };
        let at = if let Some(at) = find(&self.modules) {
            at
        } else {
            // A library that was loaded since, perhaps.
            for module in (self.now)()? {
                if !self.modules.iter().any(|(known, _)| *known == module) {
                    self.modules.push((module, File::Unread));
                }
            }
            find(&self.modules)?
        };
        let (module, file) = self.modules.get_mut(at)?;
        if matches!(file, File::Unread) {
            // Another file would give wrong names.
            let loader = module.is_at(&module.path).then(|| Loader::new(&module.path).ok());
            *file = match loader.flatten() {
                Some(loader) => File::Read(Box::new(loader)),
                None => File::Unreadable,
            };
        }
        match file {
            File::Read(loader) => Some((module.in_file(address)?, module, loader)),
            File::Unread | File::Unreadable => None,
        }
    }
}

/// True for languages whose functions have names within modules or classes.
fn has_modules(language: gimli::DwLang) -> bool {
    use gimli::{
        DW_LANG_C_plus_plus, DW_LANG_C_plus_plus_03, DW_LANG_C_plus_plus_11,
        DW_LANG_C_plus_plus_14, DW_LANG_C_plus_plus_17, DW_LANG_C_plus_plus_20, DW_LANG_Rust,
    };
    [
        DW_LANG_Rust,
        DW_LANG_C_plus_plus,
        DW_LANG_C_plus_plus_03,
        DW_LANG_C_plus_plus_11,
        DW_LANG_C_plus_plus_14,
        DW_LANG_C_plus_plus_17,
        DW_LANG_C_plus_plus_20,
    ]
    .contains(&language)
}

/// The functions at an address of a file, the outermost first. Without debug information that is the one of the
/// symbol table, at an unknown position; with that of lines alone, the position is known.
fn functions(loader: &Loader, address: u64) -> Vec<Symbol> {
    let mut symbols = Vec::new();
    let mut is_short = false;
    let of_symbol_table = || loader.find_symbol(address).map(names::demangled);
    let Ok(mut frames) = loader.find_frames(address) else { return symbols };
    while let Ok(Some(frame)) = frames.next() {
        let described = frame.function.as_ref();
        let name = described.and_then(|function| function.raw_name().ok());
        let function = name.as_ref().map(|name| names::demangled(name));
        // Debug information of lines alone has Rust's names without their modules, that of C++ has those of lambdas and of
        // functions of a file's own without their classes.
        is_short = described.and_then(|function| function.language).is_some_and(has_modules)
            && function.as_deref() == name.as_deref();
        let Some(function) = function.or_else(of_symbol_table) else { continue };
        let location = frame.location.as_ref();
        symbols.push(Symbol {
            function,
            file: location.and_then(|at| at.file).unwrap_or_default().into(),
            line: location.and_then(|at| at.line).unwrap_or(0),
            column: location.and_then(|at| at.column).unwrap_or(0).saturating_sub(1),
        });
    }
    // The outermost function is not inlined, so the symbol table has its whole name.
    if is_short
        && let (Some(outermost), Some(whole)) = (symbols.last_mut(), of_symbol_table())
        && whole.contains("::")
    {
        outermost.function = whole;
    }
    if symbols.is_empty()
        && let Some(function) = of_symbol_table()
    {
        symbols.push(Symbol { function, file: String::new(), line: 0, column: 0 });
    }
    symbols.reverse();
    symbols
}
