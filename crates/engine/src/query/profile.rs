//! Queries about a recording's trace. Times are seconds since its start; `filter` is conditions in their
//! text form; keys are those that responses have given.

use memtrail_profile::calls;
use memtrail_profile::sites;
use serde::Deserialize;

queries! {
    /// A query about recordings and their traces.
    ProfileQuery {
        /// What recordings there are.
        About,
        /// Memory over time.
        Overview,
        /// What was measured of the process besides its allocations.
        Process,
        /// A flame graph.
        Flame,
        /// A flame graph in the order of time.
        TimeOrder,
        /// What entities are.
        Names,
        /// What functions, sites, modules or files allocate.
        Table,
        /// What a line of a table opens into.
        Branches,
        /// The functions and paths that carry the weight.
        HotFragments,
        /// Allocation time against lifetime.
        Density,
        /// How much has a name on its path.
        Search,
        /// Two recordings, or two filters, side by side.
        Compare,
        /// Filters that answer common questions.
        Presets,
        /// Names that a text may become.
        Complete,
        /// What conditions say.
        Conditions,
        /// A file for another tool.
        Export,
        /// Lines of a source file, with what each allocates.
        SourceText,
        /// Which call sites of a program that frees its memory itself allocate ever more than is freed.
        SiteLeaks,
        /// What grows in any process of a family.
        FamilyLeaks,
    }
}

parameters! {
    /// What recordings there are, and what is recorded of each run.
    About {}

    /// Memory over time: the whole by kind, and what the filter keeps.
    Overview {
        /// Number of the recording, from 0.
        rec: u32,
        /// Which of its blocks.
        filter: Vec<String>,
        /// Points at most.
        points: usize,
        /// Only from this time …
        from: Option<f64>,
        /// … to this one.
        to: Option<f64>,
    }

    /// Resident memory and garbage collections over time.
    Process {
        /// Number of the recording, from 0.
        rec: u32,
    }

    /// A flame graph around a focus.
    Flame {
        /// Number of the recording, from 0.
        rec: u32,
        /// Which of its blocks.
        filter: Vec<String>,
        /// Keys of a contiguous piece of a call path, outermost first; everything if empty.
        focus: Vec<String>,
        /// Boxes are at least this share of the focus.
        cutoff: f64,
        /// Maximum number of boxes.
        limit: usize,
        /// Direction from the focus.
        direction: Direction,
        /// Functions that occur several times on a path.
        recursion: Recursion,
    }

    /// A flame graph below a focus, in the order of time.
    TimeOrder {
        /// Number of the recording, from 0.
        rec: u32,
        /// Which of its blocks.
        filter: Vec<String>,
        /// Keys of a contiguous piece of a call path, outermost first; everything if empty.
        focus: Vec<String>,
        /// What the width stands for.
        order: Order,
        /// Functions that occur several times on a path.
        recursion: Recursion,
        /// Maximum number of columns that the width is divided into.
        columns: u64,
        /// As many once more from this time, or byte, …
        from: Option<f64>,
        /// … to this one.
        to: Option<f64>,
    }

    /// What entities are.
    Names {
        /// Number of the recording, from 0.
        rec: u32,
        /// Their numbers, as in the columns of answers.
        entities: Vec<u32>,
    }

    /// A table of all functions, sites, modules or files.
    Table {
        /// Number of the recording, from 0.
        rec: u32,
        /// Which of its blocks.
        filter: Vec<String>,
        /// What a row is about.
        by: By,
        /// Column to sort by.
        sort: Sort,
        /// Whether the largest come first.
        descending: bool,
        /// Only rows whose key has this text; case matters if it has a capital letter.
        find: String,
        /// Rows to leave out at the beginning.
        offset: usize,
        /// Maximum number of rows.
        limit: usize,
        /// What rows are compared with.
        baseline: Option<Side>,
    }

    /// What a line of a table opens into.
    Branches {
        /// Number of the recording, from 0.
        rec: u32,
        /// Which of its blocks.
        filter: Vec<String>,
        /// What the path is made of.
        by: By,
        /// Keys, outermost first.
        path: Vec<String>,
        /// Direction.
        direction: Branch,
        /// Maximum number of rows.
        limit: usize,
    }

    /// The functions and paths that carry the weight.
    HotFragments {
        /// Number of the recording, from 0.
        rec: u32,
        /// Which of its blocks.
        filter: Vec<String>,
    }

    /// Allocation time against lifetime.
    Density {
        /// Number of the recording, from 0.
        rec: u32,
        /// Which of its blocks.
        filter: Vec<String>,
    }

    /// How much has a name on its path.
    Search {
        /// Number of the recording, from 0.
        rec: u32,
        /// Which of its blocks.
        filter: Vec<String>,
        /// What names have.
        text: String,
        /// Whether `text` is a regular expression.
        regex: bool,
        /// Only on paths that have this.
        focus: Vec<String>,
        /// Functions that occur several times on a path.
        recursion: Recursion,
    }

    /// Two recordings, or two filters, side by side.
    Compare {
        /// Before.
        a: Side,
        /// After.
        b: Side,
        /// What makes the sides comparable.
        normalise: Normalise,
        /// How to show it.
        view: Shape,
        /// What a row is about.
        by: By,
        /// Column to sort by.
        sort: ChangeSort,
        /// Whether the largest come first.
        descending: bool,
        /// Only rows whose key has this text; case matters if it has a capital letter.
        find: String,
        /// Rows to leave out at the beginning.
        offset: usize,
        /// Rows or boxes at most.
        limit: usize,
        /// Boxes are at least this share of the focus.
        cutoff: f64,
        /// Keys of a contiguous piece of a call path, outermost first; everything if empty.
        focus: Vec<String>,
    }

    /// Filters that answer common questions.
    Presets {
        /// Number of the recording, from 0.
        rec: u32,
        /// What grew from this time …
        from: Option<f64>,
        /// … to this one.
        to: Option<f64>,
    }

    /// Names that a text may become.
    Complete {
        /// Number of the recording, from 0.
        rec: u32,
        /// What the names are of.
        kind: Named,
        /// What they contain.
        text: String,
        /// Maximum number of names.
        limit: usize,
    }

    /// What conditions say.
    Conditions {
        /// Each condition's text.
        texts: Vec<String>,
    }

    /// A file for another tool.
    Export {
        /// Number of the recording, from 0.
        rec: u32,
        /// Which of its blocks.
        filter: Vec<String>,
        /// The name of the format.
        format: String,
        /// Only paths that have this.
        focus: Vec<String>,
        /// Of a time window, `FROM..TO`: what was allocated in it, and what was live at its end. pprof and json only.
        window: Option<String>,
    }

    /// Lines of a source file, with what each allocates.
    SourceText {
        /// Number of the recording, from 0.
        rec: u32,
        /// Which of its blocks.
        filter: Vec<String>,
        /// The file, as the recording calls it.
        file: String,
        /// Of a long file, the lines around this one.
        line: u32,
    }

    /// Which call sites of a program that frees its memory itself allocate ever more than is freed.
    SiteLeaks {
        /// Number of the recording, from 0.
        rec: u32,
        /// Suspects at most.
        limit: usize,
    }

    /// What grows in any process of a family.
    FamilyLeaks {
        /// Number of the recording of all together, from 0.
        rec: u32,
        /// Suspects at most.
        limit: usize,
    }

    /// One side of a comparison.
    Side {
        /// Number of the recording, from 0.
        rec: u32,
        /// Which of its blocks.
        filter: Vec<String>,
    }
}

defaults! {
    About {}
    Overview { rec: 0, filter: vec![], points: 512, from: None, to: None, }
    Flame {
        rec: 0, filter: vec![], focus: vec![], cutoff: 1.0 / 2000.0, limit: 10_000,
        direction: Direction::Callees, recursion: Recursion::Folded,
    }
    TimeOrder {
        rec: 0, filter: vec![], focus: vec![], order: Order::Time, recursion: Recursion::Folded,
        columns: 1000, from: None, to: None,
    }
    Names { rec: 0, entities: vec![], }
    SiteLeaks { rec: 0, limit: 10, }
    FamilyLeaks { rec: 0, limit: 10, }
    Table {
        rec: 0, filter: vec![], by: By::Function, sort: Sort::Total, descending: true,
        find: String::new(), offset: 0, limit: 100, baseline: None,
    }
    Branches {
        rec: 0, filter: vec![], by: By::Function, path: vec![], direction: Branch::Callers,
        limit: 100,
    }
    HotFragments { rec: 0, filter: vec![], }
    Density { rec: 0, filter: vec![], }
    Search {
        rec: 0, filter: vec![], text: String::new(), regex: false, focus: vec![],
        recursion: Recursion::Folded,
    }
    Compare {
        a: Side::default(), b: Side::default(), normalise: Normalise::None, view: Shape::Table,
        by: By::Function, sort: ChangeSort::Delta, descending: true, find: String::new(),
        offset: 0, limit: 100, cutoff: 1.0 / 2000.0, focus: vec![],
    }
    Presets { rec: 0, from: None, to: None, }
    Complete { rec: 0, kind: Named::Function, text: String::new(), limit: 20, }
    Conditions { texts: vec![], }
    Process { rec: 0, }
    SourceText { rec: 0, filter: vec![], file: String::new(), line: 1, }
    Export { rec: 0, filter: vec![], format: String::new(), focus: vec![], window: None, }
    Side { rec: 0, filter: vec![], }
}

selections! {
    /// Direction of a flame graph.
    Direction {
        /// What the focus calls.
        Callees,
        /// What calls the focus.
        Callers,
        /// Callees and callers, each on a side of the focus.
        Both,
    }

    /// What rows are about.
    By {
        /// Functions.
        Function,
        /// Places in functions that allocated.
        Site,
        /// Modules.
        Module,
        /// Source files.
        File,
    }

    /// Columns of a table.
    Sort {
        /// Bytes of the blocks on whose path it stands.
        Total,
        /// Bytes that it allocated itself.
        #[serde(rename = "self")]
        Own,
        /// Number of blocks.
        Blocks,
        /// Bytes never collected.
        Live,
        /// Mean lifetime.
        Lifetime,
        /// The key.
        Name,
    }

    /// What the width of a flame graph in the order of time stands for.
    Order {
        /// Seconds.
        Time,
        /// Bytes allocated: time that stops while nothing is allocated.
        Allocation,
    }

    /// What becomes of functions that occur several times on a path.
    Recursion {
        /// The outermost occurrence is shown.
        Folded,
        /// All occurrences are.
        Shown,
    }

    /// What a row opens into.
    Branch {
        /// What calls the path.
        Callers,
        /// What the path calls.
        Callees,
        /// The functions of a module or file; the sites of a function.
        Functions,
    }

    /// What makes two sides comparable.
    Normalise {
        /// Nothing: bytes.
        None,
        /// Bytes a second of the recording.
        Duration,
        /// Share of all that the recording allocated.
        Allocated,
    }

    /// How a comparison is shown.
    Shape {
        /// As rows.
        Table,
        /// As boxes.
        Flame,
    }

    /// Columns of a comparison.
    ChangeSort {
        /// The difference, whatever its sign.
        Delta,
        /// The first side.
        Before,
        /// The second side.
        After,
        /// The key.
        Name,
    }

    /// What names are of.
    Named {
        /// Functions.
        Function,
        /// Modules.
        Module,
        /// Source files.
        File,
        /// Threads.
        Thread,
        /// Processes.
        Process,
    }
}

impl From<By> for sites::By {
    fn from(by: By) -> Self {
        match by {
            By::Function => Self::Function,
            By::Site => Self::Site,
            By::Module => Self::Module,
            By::File => Self::File,
        }
    }
}

impl From<Direction> for calls::FlameSides {
    fn from(direction: Direction) -> Self {
        match direction {
            Direction::Callees => Self::Callees,
            Direction::Callers => Self::Callers,
            Direction::Both => Self::Both,
        }
    }
}

impl From<Recursion> for calls::Recursion {
    fn from(recursion: Recursion) -> Self {
        match recursion {
            Recursion::Folded => Self::Folded,
            Recursion::Shown => Self::Shown,
        }
    }
}

impl From<Sort> for calls::Column {
    fn from(sort: Sort) -> Self {
        match sort {
            Sort::Total => Self::Total,
            Sort::Own => Self::Own,
            Sort::Blocks => Self::Blocks,
            Sort::Live => Self::Live,
            Sort::Lifetime => Self::Lifetime,
            Sort::Name => Self::Name,
        }
    }
}

impl From<Branch> for calls::Branch {
    fn from(branch: Branch) -> Self {
        match branch {
            Branch::Callers => Self::Callers,
            Branch::Callees => Self::Callees,
            Branch::Functions => Self::Inside,
        }
    }
}
