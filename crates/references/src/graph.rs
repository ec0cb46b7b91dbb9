//! Blocks, the pointers between them, and the roots.

use memtrail_trace::BlockId;

/// The number of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node(pub u32);

/// The number of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Module(pub u32);

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// A thread's id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Thread(pub u32);

/// The number of a block of OCaml's heap, in the heap snapshot that was taken of the same copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HeapBlock(pub u32);

/// A block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its id in the trace; `None` if it was not sampled.
    pub sampled: Option<BlockId>,
    /// Its size.
    pub size: Bytes,
}

/// A pointer in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The block that it is in.
    pub from: Node,
    /// Its offset in that block.
    pub at: Bytes,
    /// The block that it refers to.
    pub to: Node,
}

/// Place of a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a variable of the program or of a library.
    Data {
        /// The file that it is in.
        module: Module,
        /// Its address in that file.
        address: u64,
        /// The variable there, as far as symbol tables have it.
        variable: Option<Variable>,
    },
    /// On the stack of a thread.
    Stack(Thread),
    /// In a thread-local variable, or in what libc has of the thread.
    ThreadLocal(Thread),
    /// An argument of the system call in which a thread waits.
    SystemCall(Thread),
    /// In a block of OCaml's heap.
    Heap {
        /// The block.
        block: HeapBlock,
        /// Its offset in that block.
        at: Bytes,
        /// Nothing retains the block. Only the heap snapshot tells, so files do not have it.
        is_garbage: bool,
    },
    /// In memory of which is not known whether it is in use: it is not the allocator's, and no variable.
    Elsewhere,
}

/// A variable that a pointer is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name, and where in it the pointer is: `table+0x18`.
    pub name: String,
    /// Position of its definition, as far as debug information has it: `server.c:14`.
    pub position: Option<String>,
}

/// A reference that is in no block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// Its place.
    pub place: Place,
    /// The block that it refers to.
    pub to: Node,
}

/// References that were found in a frozen copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct References {
    /// When the copy was made, in microseconds since the Unix epoch.
    pub taken_unix_us: u64,
    /// Paths of the executable and of libraries with variables that refer to blocks.
    pub modules: Vec<String>,
    /// All blocks.
    pub blocks: Vec<Block>,
    /// References between blocks, in the order of the blocks that they are in.
    pub edges: Vec<Edge>,
    /// All other references.
    pub roots: Vec<Root>,
}
